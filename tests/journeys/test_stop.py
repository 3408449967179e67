"""A real process that is told to stop: what it has taken is handed over, and the next one takes it up."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sqlite3
import time
from pathlib import Path

import aiohttp

from tests.journeys.child import Served, on_slack, serving
from tests.journeys.house import Kettle, new_folder
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import answer, until
from tests.ollama_server import OllamaServer
from tests.patience import PATIENCE, SOON
from tests.platforms.slack_server import SlackServer

PORT = "Which port does the dashboard listen on?"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def status(port: int, path: str) -> int:
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as told:
            return told.status
    except aiohttp.ClientError:
        return 0


async def states(port: int, wanted: tuple[int, int], seconds: float = PATIENCE) -> None:
    """Wait until `/healthz` and `/readyz` answer so."""
    end = time.monotonic() + seconds
    while (found := (await status(port, "/healthz"), await status(port, "/readyz"))) != wanted:
        assert time.monotonic() < end, f"{found} instead of {wanted}"
        await asyncio.sleep(0.02)


def large(folder: Path, encoder_cache: Path) -> Kettle:
    """Return a Kettle that takes a while to index."""
    kettle = new_folder(folder, encoder_cache)
    for number in range(60):
        text = "\n\n".join(f"## Part {n}\n\nPage {number} says {n * number}. " * 3 for n in range(8))
        (kettle.folder / "docs" / "2.0" / f"page{number}.md").write_text(f"# Page {number}\n\n{text}")
    return kettle


def rows(kettle: Kettle, statement: str) -> int:
    with sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True) as connection:
        return int(connection.execute(statement).fetchone()[0])


def lingering(slack: SlackServer) -> None:
    """Let the bot's last words take as long as it grants them."""
    slack.fail("chat.update", "ratelimited", status=429, retry_after=30, times=50)


async def test_an_answer_is_taken_up_by_the_next_process(kettle: Kettle, ollama: OllamaServer) -> None:
    async with SlackServer() as slack:
        stage = SlackStage.watching(slack)
        ollama.script("hang")
        async with serving(kettle, **on_slack(slack, ollama)) as child:
            await until(lambda: slack.connected)
            said = await stage.say("ann", PORT, to="bot")
            await until(lambda: ollama.running)
            assert await child.stop() == 0
        async with serving(kettle, **on_slack(slack, ollama)) as child:
            assert PORTS["2.0"] in (await answer(stage, said)).text
            assert len(stage.replies(said)) == 1 and await child.stop() == 0


async def test_index_work_is_taken_up_by_the_next_process(tmp_path: Path, encoder_cache: Path) -> None:
    """What was embedded before is not embedded again, and nothing is there twice."""
    kettle, port = large(tmp_path / "kettle", encoder_cache), free_port()
    shown = {"THREADLORE_PLAYGROUND": "true", "THREADLORE_PORT": str(port), "LOG_FORMAT": "json"}
    async with serving(kettle, **shown) as child:
        await states(port, (200, 503))
        await until(lambda: rows(kettle, "SELECT count(*) FROM vectors") > 100, child.log)
        began = time.monotonic()
        assert await child.stop() == 0 and time.monotonic() - began < SOON
        assert "Traceback" not in child.log, child.log
        assert {"indexing"} < {json.loads(line)["event"] for line in child.log.splitlines()}, "all is JSON"
    assert rows(kettle, "SELECT count(*) FROM corpora") == 0, "it was stopped in the middle"
    kept = rows(kettle, "SELECT count(*) FROM vectors")
    async with serving(kettle, **shown) as child:
        await states(port, (200, 200), 3 * PATIENCE)  # the other pages are embedded meanwhile
        assert rows(kettle, "SELECT count(*) FROM vectors") > kept
        await until(lambda: rows(kettle, "SELECT count(*) FROM corpora WHERE release = '2.0'") == 1)
        assert await child.stop() == 0
    assert rows(kettle, "SELECT count(*) - count(DISTINCT text_hash) FROM vectors") == 0


async def test_while_it_stops_it_lives_but_is_not_ready(kettle: Kettle, ollama: OllamaServer) -> None:
    port = free_port()
    async with SlackServer() as slack:
        stage, given = SlackStage.watching(slack), on_slack(slack, ollama)
        ollama.script("hang")
        given |= {"THREADLORE_PLAYGROUND": "true", "THREADLORE_PORT": str(port)}
        async with serving(kettle, **given) as child:
            await states(port, (200, 200))
            await until(lambda: slack.connected)
            await stage.say("ann", PORT, to="bot")
            await until(lambda: ollama.running)
            lingering(slack)
            child.process.send_signal(signal.SIGTERM)
            await states(port, (200, 503))
            assert await asyncio.wait_for(child.process.wait(), SOON) == 0
        assert await status(port, "/healthz") == 0


async def test_a_second_signal_ends_it_at_once(kettle: Kettle, ollama: OllamaServer) -> None:
    async with SlackServer() as slack:
        stage = SlackStage.watching(slack)
        ollama.script("hang")
        async with serving(kettle, **on_slack(slack, ollama)) as child:
            await until(lambda: slack.connected)
            said = await stage.say("ann", PORT, to="bot")
            await until(lambda: ollama.running)
            lingering(slack)
            child.process.send_signal(signal.SIGTERM)
            await until(lambda: "handed over" in child.log)
            child.process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(child.process.wait(), SOON) == 128 + signal.SIGTERM
        slack._trouble.clear()
        async with serving(kettle, **on_slack(slack, ollama)) as child:
            assert PORTS["2.0"] in (await answer(stage, said)).text


async def test_a_vote_that_came_with_the_signal_is_counted(kettle: Kettle, ollama: OllamaServer) -> None:
    async with SlackServer() as slack:
        stage = SlackStage.watching(slack)
        async with serving(kettle, **on_slack(slack, ollama)) as child:
            await until(lambda: slack.connected)
            seen = await answer(stage, await stage.say("ann", PORT, to="bot"))
            await stop_with_votes(stage, child, seen)
        async with serving(kettle, **on_slack(slack, ollama)):
            await until(lambda: rows(kettle, "SELECT count(DISTINCT voter) FROM votes") == 3)


async def stop_with_votes(stage: SlackStage, child: Served, seen: object) -> None:
    for who in ("ann", "bob", "hal"):
        stage.server.react(
            {"ann": "U1", "bob": "U2", "hal": "UHAL"}[who],
            "C1",
            seen.id,
            "+1",  # type: ignore[attr-defined]
        )
    child.process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(child.process.wait(), SOON) == 0
