"""The serving process dies or is stopped in the middle of an answer, and starts again."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.journeys.child import on_slack, serving
from tests.journeys.house import Kettle, house, new_folder
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import answer, open_stage, until
from tests.ollama_server import Behaviour, OllamaServer
from tests.patience import SOON
from tests.platforms.slack_server import SlackServer

PORT = "Which port does the dashboard listen on?"


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


async def test_a_question_of_a_killed_process_is_answered_once_after_the_restart(
    kettle: Kettle, slack: SlackServer, ollama: OllamaServer
) -> None:
    stage = SlackStage.watching(slack)
    async with serving(kettle, **on_slack(slack, ollama)) as child:
        await until(lambda: slack.connected, child.log)
        voted = await stage.say("ann", "How do I run a job every night?", to="bot")
        await stage.react("ann", await answer(stage, voted), "👍")
        await until(lambda: votes(kettle) == 1)
        ollama.script("hang")
        said = await stage.say("ann", PORT, to="bot")
        [working] = await until(lambda: stage.replies(said))
        await until(lambda: ollama.running)
        await child.kill()
    assert not stage.replies(said)[0].finished
    async with serving(kettle, **on_slack(slack, ollama)) as child:
        seen = await answer(stage, said)
        assert seen.id == working.id and PORTS["2.0"] in seen.text
        slack.redeliver(next(e for e in slack.envelopes if PORT in str(e["payload"])))
        again = await stage.say("bob", "How can I run a job every night?", to="bot")
        assert "from community memory" in (await answer(stage, again)).text, "the vote is there"
        assert len(stage.replies(said)) == 1
        assert await child.stop() == 0


async def test_the_playground_answers_after_a_restart_too(kettle: Kettle, ollama: OllamaServer) -> None:
    ollama.script("hang")
    async with house(kettle, ollama_host=ollama.url) as bot, open_stage("web", bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: ollama.running)
        await bot.dispatch.stop()
        [seen] = await until(lambda: [s for s in stage.replies(said) if "restarted" in s.text])
    async with house(kettle) as bot, open_stage("web", bot) as stage:
        again = await answer(stage, said)
        assert again.id == seen.id and PORTS["2.0"] in again.text


async def test_a_question_that_is_too_old_is_not_answered_but_told_so(
    kettle: Kettle, slack: SlackServer, ollama: OllamaServer
) -> None:
    stage = SlackStage.watching(slack)
    ollama.script("hang")
    async with serving(kettle, **on_slack(slack, ollama)) as child:
        await until(lambda: slack.connected)
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: ollama.running)
        await child.kill()
    with sqlite3.connect(database(kettle)) as connection:
        connection.execute("UPDATE claims SET at = ?", (time.time() - 601,))
    async with house(kettle) as bot, SlackStage(bot, slack):
        [seen] = await until(lambda: [s for s in stage.replies(said) if s.finished])
        assert "ask again" in seen.text and PORTS["2.0"] not in seen.text and not seen.seeds
        assert ollama.calls == 1


async def test_a_bot_that_is_stopped_says_so_and_answers_when_it_is_back(
    kettle: Kettle, slack: SlackServer, ollama: OllamaServer
) -> None:
    stage = SlackStage.watching(slack)
    ollama.script(Behaviour("stall", after=5), "hang")
    async with serving(kettle, **on_slack(slack, ollama)) as child:
        await until(lambda: slack.connected)
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: ollama.running)
        stage.server.slash("U2", "C1", "/ask", "How do I run a job every night?")
        await until(lambda: slack.whispers)
        began = time.monotonic()
        assert await child.stop() == 0 and time.monotonic() - began < SOON
        assert "Traceback" not in child.log, child.log
    [seen] = stage.replies(said)
    assert seen.text == "I am being restarted and will answer this when I am back."
    async with house(kettle) as bot, SlackStage(bot, slack):
        await until(lambda: "Every night" in slack.whispers[-1]["text"])
        again = await answer(stage, said)
        assert again.id == seen.id and PORTS["2.0"] in again.text


async def test_what_was_taken_while_nobody_was_connected_is_answered_once(
    kettle: Kettle, slack: SlackServer
) -> None:
    """A connection that is lost and comes back asks for what is unanswered; nothing is said twice."""
    async with house(kettle) as bot, SlackStage(bot, slack) as stage:
        said = [await stage.say("ann", PORT, to="bot") for _ in range(3)]
        await slack.drop()
        late = await stage.say("ann", PORT, to="bot")
        for one in (*said, late):
            assert PORTS["2.0"] in (await answer(stage, one)).text
        await stage.quiet()
        assert all(len(stage.replies(one)) == 1 for one in (*said, late))


def database(kettle: Kettle) -> str:
    return str(kettle.home / "threadlore.sqlite3")


def votes(kettle: Kettle) -> int:
    with sqlite3.connect(f"file:{database(kettle)}?mode=ro", uri=True) as connection:
        return int(connection.execute("SELECT count(*) FROM votes").fetchone()[0])


async def test_a_bot_that_is_stopped_while_it_indexes_ends_soon_and_goes_on_later(
    tmp_path: Path, encoder_cache: Path
) -> None:
    kettle = new_folder(tmp_path / "kettle", encoder_cache)
    for number in range(200):
        text = "\n\n".join(f"## Part {n}\n\nPage {number} says {n * number}. " * 3 for n in range(8))
        (kettle.folder / "docs" / "2.0" / f"page{number}.md").write_text(f"# Page {number}\n\n{text}")
    async with SlackServer() as slack, serving(kettle, **on_slack(slack)) as child:
        stage = SlackStage.watching(slack)
        await until(lambda: slack.connected)
        seen = await answer(stage, await stage.say("ann", PORT, to="bot"))
        assert "not read" in seen.text
        began = time.monotonic()
        assert await child.stop() == 0 and time.monotonic() - began < SOON
        assert "Traceback" not in child.log, child.log


async def test_an_answer_that_slack_does_not_take_is_said_again(kettle: Kettle, slack: SlackServer) -> None:
    """Neither through the command's URL nor otherwise, for a moment; nothing acknowledged is lost."""
    async with house(kettle) as bot, SlackStage(bot, slack) as stage:
        slack.response_uses = 0
        for method in ("chat.postEphemeral", "chat.postMessage"):
            slack.fail(method, "team_added_to_org", times=1)
        stage.server.slash("U2", "C1", "/ask", "How do I run a job every night?")
        await until(lambda: slack.whispers and "Every night" in slack.whispers[-1]["text"])
