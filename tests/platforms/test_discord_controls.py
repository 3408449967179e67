"""Buttons, menus and forms: how they look, what a press becomes, and that it is acknowledged in time."""

from __future__ import annotations

import asyncio

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simcord.components import walk_components

from bot.platforms.discord.components import LINES, control_id, modal, pressed, view
from bot.ports.chat import Choice, Control, Field, Form, Reply
from core.domain import MessageRef, Scope
from core.errors import PlatformError, ThreadloreError

pytest_plugins = ["tests.platforms.discord_world"]

RELEASES = (Choice("a1 2.3", "2.3: says something else"), Choice("a1 2.0", "2.0"))
CONTROLS = (
    Control("up", "👍", "a1"),
    Control("release", "Another release", "a1", RELEASES),
    Control("why", "Why?", "a1"),
)
WRONG = Form(
    "wrong",
    "What was wrong?",
    "a1",
    (
        Field("what", "What was it?", (Choice("outdated", "It is outdated"),), required=True),
        Field("better", "A better answer"),
    ),
)


@pytest.fixture
async def said(world, recorder):
    """An answer with controls under it."""
    recorder.answer, recorder.controls = "Like this.", CONTROLS
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    return world.thread_of(asked).last_message


def stored(world, message):
    return world.env.backend.get_message(message.channel.id, message.id)


def ids(world, message) -> list[str]:
    parts = walk_components(stored(world, message).components)
    return [part["custom_id"] for part in parts if "custom_id" in part]


async def test_controls_hang_under_the_last_message_in_rows(world, recorder, platform, said):
    rows = stored(world, said).components
    assert [len(row["components"]) for row in rows] == [2, 1]
    assert [button["label"] for button in rows[0]["components"]] == ["👍", "Why?"]
    menu = rows[1]["components"][0]
    assert menu["placeholder"] == "Another release"
    assert [line["value"] for line in menu["options"]] == ["a1 2.3", "a1 2.0"]
    assert ids(world, said) == ["tl|up|a1", "tl|why|a1", "tl|release|a1"]
    long = Reply("\n\n".join("word " * 150 for _ in range(4)), controls=CONTROLS)
    first, last = await platform.chat.edit(recorder.parts, long)
    thread = world.help.threads[0]
    below = {str(m.id): ids(world, m) for m in thread.history()}
    assert below[first.message] == [] and len(below[last.message]) == 3
    await platform.chat.edit((first, last), Reply("Growing", final=True))
    assert ids(world, said) == []


async def test_controls_that_stay_as_they_are_are_not_sent_again(world, recorder, platform, said):
    before = len(world.env.http_requests)
    await platform.chat.edit(recorder.parts, Reply("Like this.", controls=CONTROLS))
    assert len(world.env.http_requests) == before


async def test_a_press_is_handed_over_and_acknowledged(world, recorder, said):
    result = await world.bob.click(said, label="👍")
    assert result.acknowledged and not result.ephemeral and result.followups == []
    [press] = recorder.of("press")
    assert (press.name, press.value, press.fields) == ("up", "a1", {})
    assert press.ref == recorder.parts[0] and press.scope == Scope() and press.event
    assert press.person.id == f"discord:{world.bob.id}" and press.person.name == "Bob"
    await world.bob.select(said, ["a1 2.0"])
    assert recorder.of("press")[-1].value == "a1 2.0" and recorder.of("press")[-1].name == "release"
    assert stored(world, said).content == "Like this."


async def test_a_press_is_answered_to_whom_it_comes_from(world, recorder, said):
    async def answer(press, responder):
        await responder.reply(Reply("One moment", controls=(Control("share", "Share", "a1"),)))
        await responder.reply(Reply("It comes from [the docs](https://example.org/a)."))

    recorder.on_press = answer
    result = await world.bob.click(said, label="Why?")
    assert result.ephemeral and result.followups == []
    assert result.response.content == "It comes from [the docs](<https://example.org/a>)."
    assert result.response.components == []
    assert stored(world, said).content == "Like this." and len(ids(world, said)) == 3


async def test_a_form_opens_and_what_is_sent_comes_back(world, recorder, said):
    async def answer(press, responder):
        if press.fields:
            await responder.reply(Reply("Thank you."))
        else:
            await responder.ask(WRONG)

    recorder.on_press = answer
    shown = await world.bob.click(said, label="👍")
    assert shown.modal["title"] == "What was wrong?" and shown.modal["custom_id"] == "tl|wrong|a1"
    what, better = (label["component"] for label in shown.modal["components"])
    assert (what["type"], what["required"], better["required"]) == (3, True, False)
    sent = await world.bob.submit_modal(shown, {"what": ["outdated"], "better": "Use `app.run`."})
    assert sent.ephemeral and sent.response.content == "Thank you."
    press = recorder.of("press")[-1]
    assert press.fields == {"what": "outdated", "better": "Use `app.run`."}
    assert (press.name, press.value, press.ref) == ("wrong", "a1", recorder.parts[0])
    shown = await world.bob.click(said, label="👍")
    await world.bob.submit_modal(shown, {"what": ["outdated"]})
    assert recorder.of("press")[-1].fields == {"what": "outdated", "better": ""}


async def test_a_press_that_takes_long_is_acknowledged_and_answered_later(world, recorder, said):
    async def answer(press, responder):
        await asyncio.sleep(60)
        await responder.reply(Reply("Late, but here."))
        await responder.reply(Reply("Late, and changed."))

    recorder.on_press = answer
    result = await world.bob.click(said, label="Why?")  # comes back when that second is over
    assert result.acknowledged and not result.ephemeral and result.followups == []
    await world.env.advance_time(60)
    [followup] = result.followups
    assert followup.content == "Late, and changed." and followup.ephemeral
    assert stored(world, said).content == "Like this."


async def test_a_form_that_comes_too_late_is_a_button_that_opens_it(world, recorder, said):
    async def answer(press, responder):
        if press.name == "up":
            await asyncio.sleep(60)
        await responder.ask(WRONG)

    recorder.on_press = answer
    result = await world.bob.click(said, label="👍")
    await world.env.advance_time(60)
    [followup] = result.followups
    shown = await world.bob.click(followup, label="Open")
    assert recorder.of("press")[-1].name == "wrong" and shown.modal["title"] == "What was wrong?"


async def test_a_press_that_breaks_is_told(world, recorder, said, caplog):
    async def broken(press, responder):
        raise RuntimeError("no engine today")

    recorder.on_press = broken
    result = await world.bob.click(said, label="👍")
    assert result.response.content == ThreadloreError.told and "no engine today" in caplog.text


async def test_a_form_that_discord_refuses_says_what_to_do(world, recorder, said):
    failures = []

    async def answer(press, responder):
        try:
            await responder.ask(WRONG)
        except PlatformError as error:
            failures.append(str(error))

    recorder.on_press = answer
    world.env.inject_error("POST", "/interactions/*", status=404, code=10062, message="Unknown interaction")
    await world.bob.click(said, label="👍")
    assert "press the button again" in failures[0]


async def test_a_press_that_cannot_be_acknowledged_still_counts(world, recorder, said, caplog):
    world.env.inject_error("POST", "/interactions/*", status=404, code=10062, message="Unknown interaction")
    await world.bob.click(said, label="👍")
    assert recorder.of("press") and "acknowledged too late" in caplog.text


async def test_a_press_that_discord_acknowledged_unheard_is_answered(world, recorder, said, caplog):
    """After a 5xx discord.py asks again, and hears that the interaction is acknowledged already."""
    recorder.on_press = lambda press, responder: responder.reply(Reply("Counted."))
    world.env.inject_error("POST", "/interactions/*", status=400, code=40060, message="acknowledged")
    result = await world.bob.click(said, label="👍")
    assert [followup.content for followup in result.followups] == ["Counted."]
    assert [followup.flags.ephemeral for followup in result.followups] == [True]
    posted = world.env.http_requests[-1]
    assert posted.path.startswith("/webhooks/") and posted.json["allowed_mentions"] == {"parse": []}


async def test_a_form_after_an_acknowledgement_unheard_is_a_button_that_opens_it(world, recorder, said):
    recorder.on_press = lambda press, responder: responder.ask(WRONG)
    world.env.inject_error("POST", "/interactions/*", status=400, code=40060, message="acknowledged")
    result = await world.bob.click(said, label="👍")
    [followup] = result.followups
    shown = await world.bob.click(followup, label="Open")
    assert shown.modal["title"] == "What was wrong?"


async def test_a_press_tells_whether_its_person_may_write_there(world, recorder):
    seen = discord.PermissionOverwrite(send_messages=False)
    channel = world.guild.create_text_channel("news", overwrites={world.bob: seen})
    for place in (channel, world.help):
        message = await world.env.bot.get_channel(place.id).send("Like this.", view=view(CONTROLS))
        await world.bob.click(message, label="Why?")
    assert [press.may_write for press in recorder.of("press")] == [False, True]


@pytest.mark.parametrize(("code", "again"), [(10015, False), (50027, False), (10062, False), (0, True)])
async def test_an_interaction_that_is_over_is_answered_no_more(world, recorder, said, code, again):
    """Each further try is refused as well, and counts to the refusals for which Discord bans a bot."""
    failures = []

    async def answer(press, responder):
        try:
            await responder.reply(Reply("Counted."))
        except PlatformError as error:
            failures.append(error.retryable)

    recorder.on_press = answer
    world.env.inject_error("POST", "/interactions/*", status=404, code=code, message="over")
    await world.bob.click(said, label="👍")
    assert failures == [again]


async def test_controls_work_after_a_restart(world, recorder, platform, said):
    assert not world.env.bot._connection._view_store._views  # nothing is kept that a new process lacks
    await world.bob.click(said, custom_id="tl|why|a1")
    assert recorder.of("press")[-1].name == "why"


async def test_what_is_not_ours_is_left_alone(world, recorder, platform, said):
    foreign = discord.ui.View(timeout=None)
    foreign.add_item(discord.ui.Button(label="Other", custom_id="poll|yes"))
    message = await world.env.bot.get_channel(world.help.id).send("Poll", view=foreign)
    foreign.stop()
    await world.bob.click(message, label="Other")
    assert recorder.of("press") == []


async def test_controls_in_direct_messages(world, recorder):
    recorder.answer, recorder.controls = "In `instance/`.", CONTROLS
    await world.alice.send_dm("where is the config?")
    await world.alice.user.click(world.alice.user.dm_channel.last_message, label="👍")
    [press] = recorder.of("press")
    channel = str(world.alice.user.dm_channel.id)
    assert press.scope == Scope("direct", f"discord:{channel}") and press.ref == recorder.parts[0]
    assert press.ref == MessageRef("discord", channel, press.ref.message, "")


@given(st.text(st.characters(exclude_characters="|"), min_size=1, max_size=10), st.text(max_size=80))
def test_an_id_says_what_was_put_into_it(name, value):
    assert pressed({"custom_id": control_id(name, value)}) == (name, value)
    assert len(control_id(name, value)) <= 100


async def test_what_is_too_long_for_discord_is_cut():
    lines = tuple(Choice(str(n), "label " * 30) for n in range(40))
    menu = view([Control("release", "Another", "a1", lines)]).to_components()[0]["components"][0]
    assert len(menu["options"]) == LINES and all(len(line["label"]) == 100 for line in menu["options"])
    button = view([Control("why", "W" * 200, "a1")]).to_components()[0]["components"][0]
    assert len(button["label"]) == 80
    window = modal(
        Form("wrong", "T" * 90, "a1", (Field("what", "F" * 90), Field("why", "G " * 90)))
    ).to_dict()
    assert len(window["title"]) == 45
    shown = [(len(part["label"]), len(part["description"])) for part in window["components"]]
    assert shown == [(45, 90), (43, 99)], "what does not fit into a label stands below it"
