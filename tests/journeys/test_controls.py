"""The buttons, the menu and the form under an answer, on every platform."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interactions.gratitude import LASTING
from bot.interactions.presses import DELETED, FORGOTTEN, KEPT, NOT_YOURS, NOTED, OLD
from bot.ports.chat import Control
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import (
    EVERYWHERE,
    ON_EACH_WIRE,
    Said,
    Seen,
    Stage,
    answer,
    ask,
    open_stage,
    squeezed,
    told,
    until,
)
from tests.ollama_server import Behaviour, OllamaServer
from tests.platforms.slack_server import SlackServer
from tests.platforms.web_client import until as eventually

PLATFORMS = ["fake", "slack", "discord", "web"]
PORT = "Which port does the dashboard listen on?"
REWORDED = "On which port is the dashboard listening?"
REUSED = "from community memory"


async def asked(stage: Stage, text: str = PORT, place: str = "public") -> tuple[Said, Seen]:
    """Let ann ask, and return her message and the answer."""
    said = await stage.say("ann", text, place, to="bot")
    return said, await answer(stage, said)


async def counts(bot: Bot, high: int, low: int) -> None:
    """Wait until memory holds as many good and bad answers."""
    for _ in range(500):
        now = await bot.counts()
        if (now["high"], now["low"]) == (high, low):
            return
        await until(lambda: True)
        await FakeStage(bot).quiet()
    raise AssertionError(f"{now} is not {high} good and {low} bad")


# --- what hangs there -------------------------------------------------------------------------


@EVERYWHERE
async def test_a_finished_answer_has_its_controls(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        assert set(seen.controls) == {"up", "down", "why", "delete", "release"}


@pytest.mark.parametrize("platform", ["slack", "web"])  # simcord waits for a model that stalls
async def test_a_growing_answer_has_none(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.script(Behaviour("stall", after=4))
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: ollama.running)
        growing = await until(lambda: stage.replies(said))
        assert growing[-1].controls == ()


# --- votes ------------------------------------------------------------------------------------


@EVERYWHERE
async def test_a_pressed_thumb_is_a_vote_and_the_latest_counts(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.press("ann", seen, "up")
        assert LASTING in await told(stage, "ann", "counts")
        await counts(bot, 1, 0)
        assert REUSED in (await ask(stage, REWORDED)).text
        await stage.press("ann", seen, "down")
        await counts(bot, 0, 1)
        await stage.press("ann", seen, "up")
        await counts(bot, 1, 0)


async def test_a_thumb_says_what_it_has_just_done(kettle: Kettle) -> None:
    async with house(kettle, min_voters=2) as bot:
        stage = FakeStage(bot)
        _, seen = await asked(stage)
        await stage.press("ann", seen, "up")
        await told(stage, "ann", "Your 👍 counts. One more 👍 and it is remembered.")
        assert REUSED not in (await ask(stage, REWORDED)).text
        await stage.press("bob", seen, "up")
        await told(stage, "bob", "2 people found this answer good: anyone who asks again gets it right away.")
        assert REUSED in (await ask(stage, REWORDED)).text


def times(stage: Stage, sentence: str) -> int:
    """Count how often ann was told a sentence."""
    return sum(sentence in text for text in stage.heard("ann"))


@ON_EACH_WIRE
async def test_a_pressed_thumb_is_taken_back_by_the_same_button(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        for name, thumb, stores in (("up", "👍", (1, 0)), ("down", "👎", (0, 1))):
            for _again in range(2):
                await stage.press("ann", seen, name)
                await counts(bot, *stores)
                taken = f"Your {thumb} is taken back."
                before = times(stage, taken)
                await stage.press("ann", seen, name)
                await counts(bot, 0, 0)
                await until(lambda taken=taken, before=before: times(stage, taken) > before)
        await stage.press("bob", seen, "up")
        await stage.press("ann", seen, "down")
        await counts(bot, 0, 1)
        await stage.press("ann", seen, "down")
        await counts(bot, 1, 0)


@EVERYWHERE
async def test_a_button_takes_back_what_stands_whichever_way_it_was_put(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.react("ann", seen, "👍")
        await counts(bot, 1, 0)
        await stage.press("ann", seen, "up")
        await told(stage, "ann", "Your 👍 is taken back.")
        await counts(bot, 0, 0)


@EVERYWHERE
async def test_a_button_and_a_reaction_of_one_person_are_one_opinion(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.press("ann", seen, "up")
        await counts(bot, 1, 0)
        await stage.react("ann", seen, "👎")
        await counts(bot, 0, 1)
        pair = (await bot.app.memory.everything())[0]
        assert len(pair.opinions) == 1


# --- what was wrong ---------------------------------------------------------------------------


@ON_EACH_WIRE
async def test_a_pressed_thumb_down_counts_at_once_and_opens_the_form(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.press("bob", seen, "down")
        title, fields = await until(lambda: stage.form("bob"))
        assert (title, fields) == ("What was wrong?", ("what", "better"))
        await counts(bot, 0, 1)
        await stage.fill("bob", what="outdated")
        assert NOTED in await told(stage, "bob", "noted")
        await stage.press("ann", seen, "why")
        assert "1 person said: it is outdated." in await told(stage, "ann", "outdated")


@EVERYWHERE
async def test_a_better_answer_of_anybody_is_kept_for_admins(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.press("bob", seen, "down")
        await until(lambda: stage.form("bob"))
        await stage.fill("bob", what="wrong", better="It is port 8443 behind the proxy.")
        assert KEPT in await told(stage, "bob", "admins see it")
        kept = (await bot.app.engine.accepted.corrections())[0]
        assert (kept.what, kept.better, kept.pair_id) == ("wrong", "It is port 8443 behind the proxy.", "")
        assert "8443" not in (await ask(stage, REWORDED)).text


@pytest.mark.parametrize("platform", ["fake", "slack"])
async def test_admins_read_the_corrections(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.press("bob", seen, "down")
        await until(lambda: stage.form("bob"))
        await stage.fill("bob", what="wrong", better="It is port 8443 behind the proxy.")
        await told(stage, "bob", "admins see it")
        await stage.slash("boss", "threadlore", "memory corrections")
        heard = await told(stage, "boss", "8443")
        assert PORT in heard and "it is wrong" in heard.lower()


@ON_EACH_WIRE
async def test_a_better_answer_of_a_helper_is_reused_in_their_name(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.press("hal", seen, "down")
        await until(lambda: stage.form("hal"))
        await stage.fill("hal", what="wrong", better="It is port 8443 behind the proxy.")
        await told(stage, "hal", "remembered for this question")
        again = await ask(stage, REWORDED)
        assert "8443" in again.text and REUSED in again.text and "Answer by" in again.text


async def test_a_thumb_down_by_reaction_is_asked_what_was_wrong_where_one_can_whisper(bot: Bot) -> None:
    for platform in ("fake", "slack", "web"):
        async with open_stage(platform, bot) as stage:
            _, seen = await asked(stage, f"{PORT} ({platform})")
            await stage.react("bob", seen, "👎")
            await told(stage, "bob", "What was wrong with the answer?")
            await stage.press("bob", seen, "wrong")
            assert await until(lambda stage=stage: stage.form("bob"))
            await stage.fill("bob", what="It is not what I asked")
            await told(stage, "bob", "noted")


async def test_a_form_that_comes_too_late_is_offered_by_a_button_and_the_vote_counts(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        _, seen = await asked(stage)
        stage.server.trigger_seconds = -1.0
        await stage.press("bob", seen, "down")
        await told(stage, "bob", "What was wrong with the answer?")
        await counts(bot, 0, 1)
        stage.server.trigger_seconds = 3.0
        await stage.press("bob", seen, "wrong")
        assert await until(lambda: stage.form("bob"))


# --- another release --------------------------------------------------------------------------


@ON_EACH_WIRE
async def test_the_menu_asks_again_for_another_release_in_a_reply_of_its_own(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said, first = await asked(stage)
        assert PORTS["2.0"] in first.text
        await stage.press("bob", first, "release", "1.5")
        second = await answer(stage, said, 2)
        assert PORTS["1.5"] in second.text and "Kettle 1.5" in squeezed(second.text)
        assert PORTS["2.0"] in stage.replies(said)[0].text, "the first answer stays as it was"
        assert "release" in second.controls
        await stage.press("bob", second, "up")
        await counts(bot, 1, 0)
        await stage.press("ann", first, "release", "1.5")
        await told(stage, "ann", "answered for 1.5 already")
        await stage.quiet()
        assert len(stage.replies(said)) == 2


@EVERYWHERE
async def test_another_release_replaces_the_one_that_was_named(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said, first = await asked(stage, f"{PORT[:-1]} in 1.5?")
        assert PORTS["1.5"] in first.text
        await stage.press("ann", first, "release", "2.0")
        assert PORTS["2.0"] in (await answer(stage, said, 2)).text


@EVERYWHERE
async def test_a_press_of_somebody_else_does_not_take_the_thread_over(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said, first = await asked(stage)
        await stage.press("bob", first, "release", "1.5")
        await answer(stage, said, 2)
        await stage.say("ann", "Which port does it listen on in 2.0?", under=said)
        third = await answer(stage, said, 3)
        assert "Kettle 2.0" in squeezed(third.text), "ann is still the one who is heard"


async def test_another_release_of_a_shared_answer_goes_on_under_it(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:

        def shared() -> list[dict[str, Any]]:
            """What nobody has replied to, with the thumbs that come when the bot knows where it stands."""
            said = [m for m in stage.server.said("C1") if not m.get("thread_ts")]
            return [m for m in said if len(m.get("reactions", ())) == 2]

        for text, part in ((PORT, PORTS["2.0"]), ("How often is a failed job tried again?", "8 times")):
            await stage.slash("ann", "ask", text)
            await told(stage, "ann", part)
            await stage.press("ann", Seen("none", ""), "share")
            [post] = await until(shared)
            await stage.press("bob", Seen(post["ts"], ""), "release", "1.5")
            said = Said(post["ts"], "public", post["ts"])
            assert "Kettle 1.5" in squeezed((await answer(stage, said, 2)).text)


async def test_a_deleted_question_takes_the_answers_for_other_releases_along(bot: Bot) -> None:
    stage = FakeStage(bot)
    said, first = await asked(stage)
    await stage.press("ann", first, "release", "1.5")
    await answer(stage, said, 2)
    await stage.delete(said)
    assert stage.replies(said) == []


async def test_an_answer_for_another_release_is_given_after_a_restart(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        said, first = await asked(stage)
        bot.dispatch._answering.stopping = True
        await stage.press("ann", first, "release", "1.5")
        await told(stage, "ann", "restarted")
    async with house(kettle) as bot:
        later = FakeStage(bot, stage.chat)
        await later.press("ann", first, "release", "1.5")
        assert PORTS["1.5"] in (await answer(later, said, 2)).text


# --- why, delete ------------------------------------------------------------------------------


@EVERYWHERE
async def test_why_tells_one_person_what_led_to_an_answer(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said, seen = await asked(stage)
        await stage.press("bob", seen, "why")
        heard = await told(stage, "bob", "it is the latest")
        assert "Page 1:" in heard and len(stage.replies(said)) == 1
        assert not stage.heard("ann")


@ON_EACH_WIRE
async def test_the_asker_and_admins_delete_an_answer_and_nobody_else(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said, seen = await asked(stage)
        await stage.press("bob", seen, "delete")
        assert NOT_YOURS in await told(stage, "bob", "Only the asker")
        assert stage.replies(said)
        await stage.press("ann", seen, "delete")
        await until(lambda: not stage.replies(said))
        assert DELETED in await told(stage, "ann", "deleted")
        said, seen = await asked(stage, REWORDED)
        await stage.press("boss", seen, "delete")
        await until(lambda: not stage.replies(said))
        await eventually(bot.app.audit.acts)  # written down after it was done
        [act] = await bot.app.audit.acts()
        assert act.what.startswith("delete a") and act.outcome == "done", "an admin's, not the asker's own"


# --- what must not break ----------------------------------------------------------------------


@pytest.mark.parametrize("platform", ["fake", "slack", "discord"])
async def test_controls_of_a_forgotten_answer_say_so(platform: str, bot: Bot) -> None:
    # the playground takes a forgotten answer off the page
    async with open_stage(platform, bot) as stage:
        _, seen = await asked(stage)
        await stage.press("ann", seen, "up")
        await counts(bot, 1, 0)
        [pair] = await bot.app.memory.everything()
        await bot.app.people.forget(pair.asker)
        for name in ("up", "down", "why", "delete"):
            before = len(stage.heard("bob"))
            await stage.press("bob", seen, name)
            await until(lambda before=before: len(stage.heard("bob")) > before)
            assert FORGOTTEN in stage.heard("bob")[-1]


async def test_controls_work_after_a_restart(kettle: Kettle) -> None:
    async with SlackServer() as server:
        async with house(kettle) as bot, SlackStage(bot, server) as stage:
            _, seen = await asked(stage)
        async with house(kettle) as bot, SlackStage(bot, server) as stage:
            await stage.press("ann", seen, "up")
            await counts(bot, 1, 0)


async def test_a_control_that_nobody_knows_any_more_says_so(bot: Bot) -> None:
    stage = FakeStage(bot)
    _, seen = await asked(stage)
    kept = stage.chat.of(seen.id)
    kept["controls"] = (*kept["controls"], Control("dance", "Dance", kept["controls"][0].value))
    await stage.press("ann", seen, "dance")
    assert stage.heard("ann") == [OLD]


async def test_a_press_that_comes_twice_counts_once(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        _, seen = await asked(stage)
        await stage.press("bob", seen, "up")
        await counts(bot, 1, 0)
        votes = (await bot.counts())["votes"]
        stage.server.redeliver(stage.server.envelopes[-1])
        await stage.quiet()
        assert (await bot.counts())["votes"] == votes
