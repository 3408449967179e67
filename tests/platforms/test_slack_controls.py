"""Buttons, menus, forms and whispers on the loopback Slack, and what Slack says no to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.platforms.slack.components import actions, pressed, view
from bot.ports.chat import Chat, Choice, Control, Field, Form, Person, Press, Reply, Responder
from core.domain import MessageRef, Scope
from core.errors import PlatformError
from core.languages import speaking
from tests.platforms.slack_blocks import check_actions
from tests.platforms.slack_bot import LONG, Recorder, chat_fixture, dispatch_fixture, serving, slack_fixture
from tests.platforms.slack_interactive import checked_view
from tests.platforms.slack_server import SlackServer

__all__ = ["chat_fixture", "dispatch_fixture", "slack_fixture"]

UP = Control("up", "👍", "a1")
MENU = Control(
    "release", "Another release", "a1", (Choice("a1 1.0", "1.0"), Choice("a1 2.0", "2.0 (latest)"))
)
FORM = Form(
    "wrong",
    "What was wrong?",
    "a1",
    (Field("what", "What?", (Choice("w", "Wrong"),), required=True), Field("better", "Better?")),
)
HELLO = Reply("Hello.", answer_id="a1", controls=(UP, MENU))


def elements(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]]


async def posted(chat: Chat, slack: SlackServer, reply: Reply = HELLO) -> tuple[MessageRef, ...]:
    root = slack.say("U1", "C1", "question")
    return await chat.post(MessageRef("slack", "C1", root, root), reply)


# --- what is shown ----------------------------------------------------------------------------


async def test_controls_hang_under_the_last_message_in_one_block(chat: Chat, slack: SlackServer) -> None:
    refs = await posted(chat, slack, replace(HELLO, markdown=LONG))
    said = [slack.messages["C1"][ref.message] for ref in refs]
    assert len(said) > 1 and not any(elements(message) for message in said[:-1])
    button, menu = elements(said[-1])
    assert (button["type"], button["value"], button["text"]["text"]) == ("button", "a1", "👍")
    assert menu["placeholder"]["text"] == "Another release"
    assert [option["value"] for option in menu["options"]] == ["a1 1.0", "a1 2.0"]


async def test_controls_come_and_go_with_edits_of_the_same_text(chat: Chat, slack: SlackServer) -> None:
    parts = await posted(chat, slack, replace(HELLO, controls=()))
    [message] = [slack.messages["C1"][part.message] for part in parts]
    assert not elements(message)
    await chat.edit(parts, HELLO)
    assert len(elements(message)) == 2
    updates = len(slack.called("chat.update"))
    await chat.edit(parts, HELLO)
    assert len(slack.called("chat.update")) == updates, "nothing has changed"
    await chat.edit(parts, replace(HELLO, controls=()))
    assert not elements(message)


async def test_controls_stay_where_the_markdown_block_is_refused(chat: Chat, slack: SlackServer) -> None:
    slack.refuses_markdown = True
    [ref] = await posted(chat, slack)
    message = slack.messages["C1"][ref.message]
    assert [b["type"] for b in message["blocks"]] == ["section", "actions"] and len(elements(message)) == 2


def test_limits_of_blocks_and_views_are_kept() -> None:
    many = tuple(Choice(f"a{n}", "x" * 200) for n in range(300))
    wide = [Control(f"c{n}", "y" * 100, "v", many if n % 2 else ()) for n in range(40)]
    [block] = actions(wide)
    check_actions(block)
    assert len(block["elements"]) == 25 and len(block["elements"][1]["options"]) == 100
    checked_view(
        view(replace(FORM, title="t" * 60, fields=(Field("a", "b" * 60, many),)), MessageRef("s", "c", "m"))
    )
    assert actions(()) == []
    assert actions([Control("m", "l", "", (Choice("v" * 151, "too long"), Choice("w", "fits")))])[0][
        "elements"
    ][0]["options"] == [{"text": {"type": "plain_text", "text": "fits", "emoji": True}, "value": "w"}]


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("Send", "Cancel")), ("de", ("Senden", "Abbrechen")), ("zh", ("发送", "取消"))],
)
def test_a_form_speaks_the_language_of_who_opens_it(language: str, words: tuple[str, str]) -> None:
    with speaking(language):
        opened = checked_view(view(FORM, MessageRef("slack", "C1", "1.0")))
    assert (opened["submit"]["text"], opened["close"]["text"]) == words


# --- what comes back --------------------------------------------------------------------------


async def test_a_press_comes_back_with_message_person_and_value(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    [ref] = await posted(chat, slack)
    message = slack.messages["C1"][ref.message]
    slack.press("U2", message, "up")
    slack.press("U2", message, "release", "a1 2.0")
    await slack.until(lambda: len(dispatch.presses) == 2)
    up, menu = dispatch.presses
    assert (up.name, up.value, up.ref, up.person.id, up.scope) == ("up", "a1", ref, "slack:U2", Scope())
    assert (menu.name, menu.value, menu.fields) == ("release", "a1 2.0", {})
    assert up.event and up.event != menu.event
    await slack.settled()
    assert slack.acknowledged[-2:] == [envelope["envelope_id"] for envelope in slack.envelopes[-2:]]


async def test_a_press_is_acknowledged_before_it_is_carried_out(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    seen: list[bool] = []

    async def carry_out(press: Press, responder: Responder) -> None:
        await slack.until(lambda: slack.envelopes[-1]["envelope_id"] in slack.acknowledged)
        seen.append(True)

    dispatch.on_press = carry_out
    [ref] = await posted(chat, slack)
    slack.press("U2", slack.messages["C1"][ref.message], "up")
    await slack.until(lambda: seen)


async def test_a_form_opens_and_what_is_sent_comes_back_with_the_message(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    async def carry_out(press: Press, responder: Responder) -> None:
        await (responder.reply(Reply("Thank you.")) if press.fields else responder.ask(FORM))

    dispatch.on_press = carry_out
    [ref] = await posted(chat, slack)
    slack.press("U2", slack.messages["C1"][ref.message], "up")
    await slack.until(lambda: "U2" in slack.views)
    assert slack.views["U2"]["title"]["text"] == "What was wrong?"
    slack.submit("U2", what="w", better="This & that.")
    await slack.until(lambda: slack.whispers)
    sent = dispatch.presses[-1]
    assert (sent.name, sent.value, sent.ref) == ("wrong", "a1", ref)
    assert sent.fields == {"what": "w", "better": "This & that."}
    [whisper] = slack.whispers
    assert (whisper["user"], whisper["text"], whisper["thread_ts"]) == ("U2", "Thank you.", ref.thread)
    dispatch.presses.clear()
    slack.press("U1", slack.messages["C1"][ref.message], "up")
    await slack.until(lambda: "U1" in slack.views)
    slack.submit("U1", what="w")
    await slack.until(lambda: len(dispatch.presses) == 2)
    assert dispatch.presses[-1].fields == {"what": "w"}, "what is left empty is not told"


async def test_a_trigger_that_came_too_late_is_an_error_with_slacks_code(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    refused: list[str] = []

    async def carry_out(press: Press, responder: Responder) -> None:
        try:
            await responder.ask(FORM)
        except PlatformError as error:
            refused.append(str(error))
            await responder.reply(Reply("Your 👎 counts.", controls=(UP,)))

    slack.trigger_seconds = -1.0
    dispatch.on_press = carry_out
    [ref] = await posted(chat, slack)
    slack.press("U2", slack.messages["C1"][ref.message], "up")
    await slack.until(lambda: slack.whispers)
    assert "expired_trigger_id" in refused[0] and elements(slack.whispers[0])


async def test_a_button_in_a_whisper_works_and_its_answer_stays_in_the_thread(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    async def carry_out(press: Press, responder: Responder) -> None:
        await responder.reply(Reply("Noted."))

    dispatch.on_press = carry_out
    [ref] = await posted(chat, slack)
    assert await chat.whisper(ref, Person("slack:U2"), Reply("What was wrong?", controls=(UP,)))
    slack.press("U2", slack.whispers[0], "up")
    await slack.until(lambda: len(slack.whispers) == 2)
    assert dispatch.presses[0].ref.thread == ref.thread == slack.whispers[1]["thread_ts"]
    assert slack.said("C1")[-1]["text"] == "Hello.", "the answer is not replaced"


async def test_presses_in_a_direct_message_are_outside_of_threads(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    async def carry_out(press: Press, responder: Responder) -> None:
        await responder.reply(Reply("Noted."))

    dispatch.on_press = carry_out
    said = slack.say("U1", "D1", "question")
    [ref] = await chat.post(MessageRef("slack", "D1", said), HELLO)
    slack.press("U1", slack.messages["D1"][ref.message], "up")
    await slack.until(lambda: slack.whispers)
    assert dispatch.presses[0].ref == ref and dispatch.presses[0].scope.kind == "direct"
    assert "thread_ts" not in slack.whispers[0]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "block_actions", "actions": []},
        {"type": "block_actions", "user": {"id": "U1"}, "actions": [{"action_id": "up"}]},
        {"type": "view_submission", "view": {"private_metadata": "not ours"}},
        {"type": "view_submission", "view": {"private_metadata": "[1]"}},
        {"type": "view_submission", "view": {"private_metadata": "7"}},
        {"type": "view_closed"},
    ],
)
def test_payloads_of_other_things_are_passed_over(body: dict[str, Any]) -> None:
    assert pressed(body) is None


async def test_a_menu_without_a_choice_is_no_trouble() -> None:
    body = {
        "type": "block_actions",
        "user": {"id": "U1"},
        "channel": {"id": "C1"},
        "container": {"type": "message", "message_ts": "1.2", "channel_id": "C1"},
        "actions": [{"action_id": "release", "type": "static_select", "selected_option": None}],
    }
    found = pressed(body)
    assert found is not None and found.value == ""


# --- messages, links, whispers ----------------------------------------------------------------


async def test_a_message_is_read_as_it_stands_now_with_what_it_answers(
    slack: SlackServer, chat: Chat
) -> None:
    root = slack.say("U1", "C1", f"<@{slack.bot_user}> how do I stream?")
    reply = slack.say("U2", "C1", "Use a *generator*.", root)
    slack.edit("C1", reply, "Use a generator &amp; `yield`.")
    message = await chat.message(MessageRef("slack", "C1", reply))
    assert message is not None
    assert message.text == "Use a generator & `yield`." and message.author.id == "slack:U2"
    assert message.ref == MessageRef("slack", "C1", reply, root) and message.scope == Scope()
    question = await chat.question_of(message.ref)
    assert question is not None and (question.text, question.author.id) == ("how do I stream?", "slack:U1")
    assert await chat.question_of(question.ref) is None
    assert await chat.message(MessageRef("slack", "C1", "1.000001")) is None
    assert await chat.message(MessageRef("slack", "C2", root)) is None, "the bot is not there"


async def test_a_bots_message_has_a_bot_as_its_author(slack: SlackServer, chat: Chat) -> None:
    [ref] = await posted(chat, slack)
    other = slack.say("U3", "C1", "beep", bot_id="BOTHER")
    for ts in (ref.message, other):
        message = await chat.message(MessageRef("slack", "C1", ts))
        assert message is not None and message.author.bot


async def test_a_refusal_that_is_no_answer_is_an_error(slack: SlackServer, chat: Chat) -> None:
    root = slack.say("U1", "C1", "question")
    slack.fail("conversations.replies", "fatal_error")
    with pytest.raises(PlatformError, match="fatal_error"):
        await chat.message(MessageRef("slack", "C1", root))


async def test_a_link_is_slacks_or_empty(slack: SlackServer, chat: Chat) -> None:
    [ref] = await posted(chat, slack)
    link = await chat.permalink(ref)
    assert link.startswith("https://fake.slack.com/archives/C1/p") and f"thread_ts={ref.thread}" in link
    assert await chat.permalink(MessageRef("slack", "C1", "1.000001")) == ""
    back = await chat.linked(link)
    assert back is not None and back.key == ref.key
    for other in ("https://example.org/p1", "https://fake.slack.com/archives/C1", link.replace("/p", "/q")):
        assert await chat.linked(other) is None


async def test_who_is_not_in_the_channel_is_told_directly(slack: SlackServer, chat: Chat) -> None:
    slack.add_user("UAWAY")
    [ref] = await posted(chat, slack)
    assert await chat.whisper(ref, Person("slack:UAWAY"), Reply("psst"))
    assert not slack.whispers
    assert [m["text"] for m in slack.said("DUAWAY")] == ["_In #c1:_\n\npsst"]


# --- channels ---------------------------------------------------------------------------------


async def test_a_channel_that_became_private_while_nobody_listened_is_told(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.channels["C1"]["kind"] = "group"
    async with serving(slack, dispatch):
        await slack.until(lambda: dispatch.looked_up == ["slack:C1", "slack:G1"])
        slack.channels["C2"]["kind"] = "group"
        slack.channels["C2"]["members"].add(slack.bot_user)
        await slack.disconnect()
        await slack.until(lambda: sorted(dispatch.looked_up[2:]) == ["slack:C1", "slack:C2", "slack:G1"])
    assert dispatch.private == []


async def test_a_channel_that_is_made_private_is_told_and_scoped_at_once(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "before")
        await slack.until(lambda: dispatch.messages)
        slack.convert("U1", "C1", "group")
        await slack.until(lambda: dispatch.private == ["slack:C1"])
        ts = slack.say("U1", "C1", "after")
        slack.messages["C1"][ts].pop("channel_type", None)
        await slack.until(lambda: len(dispatch.messages) == 2)
        assert dispatch.messages[1].scope == Scope("private", "slack:C1")
        slack.convert("U1", "C1", "channel")
        slack.say("U1", "C1", "public again")
        await slack.until(lambda: len(dispatch.messages) == 3)
        assert dispatch.messages[2].scope == Scope() and dispatch.private == ["slack:C1"]


async def test_what_is_private_is_asked_for_until_slack_says_it(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.fail("users.conversations", "ratelimited", status=429, retry_after=1)
    async with serving(slack, dispatch):
        await slack.until(lambda: dispatch.looked_up == ["slack:G1"])
