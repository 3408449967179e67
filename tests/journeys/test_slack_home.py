"""Slack's Home tab: what each person finds there, what its controls do, and what keeps it up to date."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.platforms.slack import home
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import PEOPLE, SlackStage
from tests.journeys.stage import answer, ask, told, until
from tests.platforms.slack_server import SlackServer

PORT = "Which port does the dashboard listen on?"
OTHER = "How do I set the port of the dashboard?"


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring tabs up to date soon; `tests/platforms/test_slack_home.py` shows that it is not too often."""
    monkeypatch.setattr(home, "PAUSE", 0.3)


@pytest.fixture(name="stage")
async def stage_fixture(bot: Bot, caplog: pytest.LogCaptureFixture) -> AsyncIterator[SlackStage]:
    async with SlackStage(bot) as stage:
        yield stage
    assert not [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR], caplog.text


async def opened(stage: SlackStage, who: str, part: str = "Your questions") -> str:
    """Open somebody's tab and return what stands there, once it has a part."""
    stage.server.home.open(PEOPLE[who])
    return await shows(stage, who, part)


async def shows(stage: SlackStage, who: str, part: str) -> str:
    """Wait until somebody's tab shows something, and return all of it."""

    def found() -> str:
        text = "\n".join(stage.server.home.texts(PEOPLE[who]))
        return text if part in text else ""

    return str(await until(found, f"{part!r} on the tab of {who}: {stage.server.home.texts(PEOPLE[who])}"))


def links(stage: SlackStage, who: str) -> list[str]:
    return [e["url"] for _, e in stage.server.home.elements(PEOPLE[who]) if e.get("url")]


def chosen(stage: SlackStage, who: str, action: str) -> Any:
    element = next(e for _, e in stage.server.home.elements(PEOPLE[who]) if e["action_id"] == action)
    return (element.get("initial_option") or {}).get("value") or element.get("initial_conversation")


async def test_everybody_finds_their_own_questions_and_what_their_public_channels_were_told(
    stage: SlackStage,
) -> None:
    nothing = await opened(stage, "ann", "You have not asked anything yet.")
    assert "Releases" in nothing and "*2.0*: 5 pages, indexed <!date^" in nothing
    assert "Settings of a channel" not in nothing
    seen = await ask(stage, PORT)
    secret = "Which port does the metrics endpoint listen on?"
    await ask(stage, secret, "private")
    stage.server.channels["C8"] = stage.server.channels["C1"] | {
        "id": "C8",
        "name": "c8",
        "members": {"U2", stage.server.bot_user},
    }
    stage.server.say("U2", "C8", f"<@UBOT> {OTHER}")
    await until(lambda: any(PORTS["2.0"] in m["text"] for m in stage.server.said("C8")))
    own = await opened(stage, "ann", secret)
    assert PORT in own and "2.0 · #c1 · <!date^" in own and OTHER not in own, "she is not in that channel"
    assert "Lately in your channels" in own
    link = f"https://fake.slack.com/archives/C1/p{seen.id.replace('.', '')}"
    assert any(one.startswith(link) for one in links(stage, "ann"))
    others = await opened(stage, "bob", "Lately in your channels")
    assert PORT in others and OTHER in others and secret not in others
    hal = await opened(stage, "hal", "Lately in your channels")
    assert secret not in hal, "what is private stands on no list of others, even of members"


async def test_a_tab_that_was_opened_follows_questions_and_votes(stage: SlackStage) -> None:
    await opened(stage, "ann", "You have not asked anything yet.")
    seen = await ask(stage, PORT)
    assert "👍" not in (await shows(stage, "ann", PORT)).split("Releases")[0]
    await stage.react("ann", seen, "👍")
    await shows(stage, "ann", "👍")
    await stage.react("ann", seen, "👍", added=False)
    await until(lambda: "👍" not in "\n".join(stage.server.home.texts("U1")))
    await stage.press("ann", seen, "down")
    await shows(stage, "ann", "👎")
    bob = await ask(stage, OTHER, who="bob")
    await stage.react("ann", bob, "👍")
    assert OTHER in (await shows(stage, "ann", "Your votes"))
    assert not stage.server.home.views.get("U2"), "nobody is given a tab that they did not open"
    published = stage.server.called("views.publish")
    assert all("hash" in call for call in published[1:]) and not stage.server.limits.refused


async def test_a_question_is_asked_in_a_form_and_answered_in_direct_messages(stage: SlackStage) -> None:
    await opened(stage, "ann")
    stage.server.home.press("U1", "own-ask")
    await until(lambda: stage.form("ann"))
    assert stage.form("ann") == ("Ask a question", ("question",))
    await stage.fill("ann", question=PORT)
    await shows(stage, "ann", "the answer comes there")
    await until(lambda: any(PORTS["2.0"] in m["text"] for m in stage.server.said("D1")))
    quoted = stage.server.said("D1")[0]
    assert PORT in quoted["text"] and not stage.server.said("C1")
    await shows(stage, "ann", PORT)
    await until(lambda: any("/archives/D1/" in link for link in links(stage, "ann")))
    said = await stage.say("ann", "And in 1.5?", "direct")
    more = await until(lambda: [m for m in stage.server.said("D1") if PORTS["1.5"] in m["text"]])
    assert more and said, "it goes on there as with a question that was written"


async def test_ones_release_is_chosen_there_and_counts_where_a_question_names_none(
    stage: SlackStage, bot: Bot
) -> None:
    await opened(stage, "ann", "I answer for the latest, *2.0*")
    assert chosen(stage, "ann", "own-release") == "latest"
    stage.server.home.press("U1", "own-release", "1.5")
    await shows(stage, "ann", "Your default release: *1.5*")
    await until(lambda: chosen(stage, "ann", "own-release") == "1.5")
    seen = await ask(stage, PORT)
    assert PORTS["1.5"] in seen.text
    await stage.press("ann", seen, "why")
    await told(stage, "ann", "it is the asker's default release")
    assert PORTS["2.0"] in (await ask(stage, f"{PORT} I use Kettle 2.0.")).text
    assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text, "nobody else's"
    stage.server.home.press("U1", "own-release", "latest")
    await shows(stage, "ann", "I answer for the latest, *2.0*")
    assert await bot.app.releases.of_person("slack:U1") == ""


async def test_admins_set_a_channels_mode_and_release_there(stage: SlackStage, bot: Bot) -> None:
    await opened(stage, "boss", "Settings of a channel")
    stage.server.home.press("UADMIN", "own-channel", "C1")
    await shows(stage, "boss", "*Mode*: mentions. I answer when mentioned there.")
    assert chosen(stage, "boss", "own-channel") == "C1"
    stage.server.home.press("UADMIN", "own-mode", "slack:C1 questions")
    await shows(stage, "boss", "#c1: questions (set by uadmin")
    assert PORTS["2.0"] in (await answer(stage, await stage.say("ann", PORT))).text
    stage.server.home.press("UADMIN", "own-about", "slack:C1 1.5")
    await shows(stage, "boss", "*Release*: 1.5, where a question names none.")
    assert PORTS["1.5"] in (await ask(stage, OTHER, who="bob")).text
    stage.server.home.press("UADMIN", "own-about", "slack:C1 default")
    await shows(stage, "boss", "*Release*: 2.0, where a question names none.")
    done = [(act.who, act.what, act.outcome) for act in await bot.app.audit.acts()]
    assert ("slack:UADMIN", "mode slack:C1 questions", "slack:C1 is questions") in done
    assert ("slack:UADMIN", "default-release slack:C1 1.5", "slack:C1 is 1.5") in done
    assert "2.0 `folder:docs/2.0`: read " in await shows(stage, "boss", "Sources (UTC)")


async def test_nobody_else_sets_anything_even_with_a_payload_of_their_own(
    stage: SlackStage, bot: Bot
) -> None:
    await opened(stage, "boss", "Settings of a channel")
    stage.server.home.press("UADMIN", "own-channel", "C1")
    await shows(stage, "boss", "*Mode*")
    await opened(stage, "ann")
    stage.server.home.views["U1"] = stage.server.home.views["UADMIN"]
    stage.server.home.press("U1", "own-mode", "slack:C1 off")
    await shows(stage, "ann", "Only admins may do that.")
    assert await bot.app.modes.mode("slack:C1") == "mentions"


async def test_a_tab_of_another_process_is_replaced_once_and_one_that_is_off_is_left_alone(
    stage: SlackStage, caplog: pytest.LogCaptureFixture
) -> None:
    await opened(stage, "ann", "You have not asked anything yet.")
    stage.server.home.publish("U1", {"type": "home", "blocks": [{"type": "divider"}]}, "")
    await ask(stage, PORT)
    await shows(stage, "ann", PORT)
    errors = [call.error for call in stage.server.calls if call.method == "views.publish"]
    assert errors.count("hash_conflict") == 1
    stage.server.home.enabled = False
    stage.server.home.open("U2")
    await until(lambda: "The app has no Home tab" in caplog.text)
    before = len(stage.server.calls)
    stage.server.home.open("U2")
    stage.server.home.open("U2", "messages")
    await stage.quiet()
    assert not [c for c in stage.server.calls[before:] if c.method == "views.publish"]


async def test_what_a_forgotten_person_asked_goes_from_the_tabs_of_others(stage: SlackStage) -> None:
    await ask(stage, PORT)
    assert PORT in await opened(stage, "bob", "Lately in your channels")
    await opened(stage, "ann", PORT)
    await stage.slash("ann", "threadlore", "me 1.5")
    await shows(stage, "ann", "Your default release: *1.5*")
    await stage.slash("ann", "threadlore", "forget me confirm")
    await until(lambda: PORT not in "\n".join(stage.server.home.texts("U2")))
    await shows(stage, "ann", "You have not asked anything yet.")
    await shows(stage, "ann", "I answer for the latest")


async def test_questions_on_a_tab_ping_nobody_and_fit(stage: SlackStage) -> None:
    await opened(stage, "ann")
    pinging = f"<!channel> <@U2> *{PORT}* https://evil.example " + "x" * 3000
    await ask(stage, pinging)
    text = await shows(stage, "ann", "Which port")
    assert "<!channel" not in text and "<@U2" not in text


async def test_after_a_restart_tabs_go_on_following(kettle: Kettle) -> None:
    names = kettle.home / "slack-tabs.json"
    async with SlackServer() as server:
        async with house(kettle) as bot, SlackStage(bot, server) as stage:
            await ask(stage, PORT, who="bob")
            await opened(stage, "ann", "You have not asked anything yet.")
            await opened(stage, "bob", PORT)
            await until(lambda: names.exists() and json.loads(names.read_text()) == ["U1", "U2"])
            assert names.stat().st_mode & 0o077 == 0
            assert len((await bot.app.my_data.of("slack:U2"))["Home tab that you opened"]) == 1
        async with house(kettle) as off:
            await off.app.people.forget("slack:U2")
            assert json.loads(names.read_text()) == ["U1"], "who is forgotten while Slack is not connected"
        server.home.publish("U1", {"type": "home", "blocks": [{"type": "divider"}]}, "")
        async with house(kettle) as later, SlackStage(later, server) as stage:
            await shows(stage, "ann", "You have not asked anything yet.")
            await ask(stage, OTHER)
            await shows(stage, "ann", OTHER)
            await stage.slash("ann", "threadlore", "opt-out confirm")
            await until(lambda: json.loads(names.read_text()) == [])
            await opened(stage, "ann")
            await stage.quiet()
            assert json.loads(names.read_text()) == [], "of who has opted out nothing is noted"


async def test_chosen_releases_hold_over_a_restart(kettle: Kettle) -> None:
    async with house(kettle) as bot, SlackStage(bot) as stage:
        await stage.slash("ann", "threadlore", "me 1.5")
        await told(stage, "ann", "Your default release: 1.5")
        await stage.slash("boss", "threadlore", "default-release <#C7|desk> 1.0")
        await told(stage, "boss", "#c7: questions that name no release are about 1.0 (set by uadmin")
    async with house(kettle) as later:
        assert await later.app.releases.of_person("slack:U1") == "1.5"
        assert await later.app.releases.of_channel("slack:C7") == "1.0"
