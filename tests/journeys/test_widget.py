"""Readers of a documentation site ask the whole bot: for their page's release, in public, as nobody."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.app.overview import ErrorsSeen, Overview
from bot.platforms.web.platform import Playground
from core.community.overrides import EVERYWHERE
from core.domain import Question, Scope, Vote
from tests.journeys.house import Bot, Kettle, house, new_folder
from tests.ollama_server import OllamaServer
from tests.platforms.widget_client import PAGE, SITE, Reader, widget

PORT = "Which port does the dashboard listen on?"
UNKNOWN = "How do I limit the memory of worker processes?"
RETRIES = "How often is a failed job tried again?"
ON = {"widget_origins": SITE, "widget_per_minute": 1000, "widget_total_per_minute": 1000}
ROOM = Scope("private", "slack:C1")


@asynccontextmanager
async def on_site(kettle: Kettle, **given: Any) -> AsyncIterator[tuple[Bot, Reader]]:
    """Serve the widget of the whole bot."""
    async with house(kettle, **{**ON, **given}) as bot, widget(bot.settings, bot.dispatch) as reader:
        yield bot, reader


def rows(kettle: Kettle, statement: str) -> list[Any]:
    with closing(sqlite3.connect(kettle.home / "threadlore.sqlite3")) as database:
        return database.execute(statement).fetchall()


async def test_a_reader_is_answered_for_the_release_of_the_page(kettle: Kettle) -> None:
    async with on_site(kettle) as (_, reader):
        status, told = await reader.call("open")
        assert status == 200
        assert (told["product"], told["release"], told["page"]) == ("Kettle", "1.5", "1.5")
        assert told["said"] == "Answers are for Kettle 1.5."
        assert (told["releases"], told["latest"]) == (["2.0", "1.5", "1.0"], "2.0")
        assert told["conversation"] is None and len(told["examples"]) == 2
        answer = await reader.ask(PORT)
        assert answer["release"] == "1.5" and "7171" in answer["markdown"] and "[1]" in answer["markdown"]
        assert "https://kettle.example/1.5/dashboard" in answer["markdown"]
        assert answer["answer"] and answer["question"] == PORT
        # another page, the same conversation
        reader.page = f"{SITE}/en/stable/dashboard.html"
        assert "9090" in (await reader.ask(PORT))["markdown"]
        # what the question names counts more than the page, and goes on
        assert "7070" in (await reader.ask(f"{PORT} I use 1.0."))["markdown"]
        assert (await reader.ask("And how often is a failed job tried again?"))["release"] == "1.0"


@pytest.mark.parametrize(
    ("page", "given", "said"),
    [
        (f"{SITE}/", {}, "Answers are for Kettle 2.0, the latest release."),
        (f"{SITE}/en/9.9/", {}, "I have no docs for 9.9. Answers are for Kettle 2.0."),
        (PAGE, {"release": "1.0"}, "Answers are for Kettle 1.0."),
        (PAGE, {"release": "v2"}, "Answers are for Kettle 2.0."),
        (PAGE, {"release": "7"}, "I have no docs for 7. Answers are for Kettle 1.5."),
        (f"{SITE}/en/9.9/", {"language": "de-AT"}, "Für 9.9 habe ich keine Dokumentation."),
    ],
)
async def test_it_says_which_release_answers_are_for(
    kettle: Kettle, page: str, given: dict[str, str], said: str
) -> None:
    async with on_site(kettle) as (_, reader):
        reader.page = page
        _, told = await reader.call("open", **given)
        assert told["said"].startswith(said)
        assert (await reader.begun(PORT, **given))["said"] == told["said"]


async def test_a_site_may_have_a_release_of_its_own(kettle: Kettle) -> None:
    with kettle.config.open("a") as config:
        config.write('\n[channels."widget:docs.kettle.example"]\nrelease = "1.0"\n')
    async with on_site(kettle) as (_, reader):
        reader.page = f"{SITE}/jobs.html"
        _, told = await reader.call("open")
        assert told["said"] == "Answers are for Kettle 1.0."
        assert "7070" in (await reader.ask(PORT))["markdown"]


async def test_an_answer_streams_and_a_follow_up_knows_what_was_said(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    ollama.first_token_delay = 1.5  # what is read is shown after a second
    async with on_site(kettle, ollama_host=ollama.url) as (_, reader):
        status, events = await reader.stream("ask", text=PORT)
        kinds = [kind for kind, _ in events]
        assert status == 200 and kinds[0] == "begun" and kinds[-1] == "done"
        assert {"text", "reading"} & set(kinds)
        assert "7171" in events[-1][1]["markdown"]
        answer = await reader.ask("And in 2.0?")
        assert "9090" in answer["markdown"] and answer["release"] == "2.0"
        _, told = await reader.call("open")
        assert [one["question"] for one in told["conversation"]["told"]] == [PORT, "And in 2.0?"]


async def test_what_is_not_documented_is_said_with_links(kettle: Kettle, ollama: OllamaServer) -> None:
    async with on_site(kettle, ollama_host=ollama.url, fast=True) as (_, reader):
        ollama.say("I don't know.", "I don't know.")
        answer = await reader.ask(UNKNOWN)
        assert answer["markdown"].startswith("I don't know")
        assert "https://kettle.example/1.5/" in answer["markdown"]
        far = await reader.ask("How do zebras sleep?")
        assert "ask me how to do something with Kettle" in far["markdown"]
        for words in ("Hello!", "?"):
            told = (await reader.ask(words))["markdown"]
            assert told.startswith("I answer from the Kettle documentation")
        assert (await reader.ask("thank you"))["answer"] == ""


async def test_it_is_kept_as_a_question_that_nobody_asked(kettle: Kettle) -> None:
    async with on_site(kettle) as (bot, reader):
        answer = await reader.ask(PORT)
        assert rows(kettle, "select asker, channel, scope from answers") == [
            ("", "widget:docs.kettle.example", "public")
        ]
        assert await reader.call("vote", answer=answer["answer"], vote="up") == (200, {"vote": "up"})
        (voter,) = rows(kettle, "select voter from votes")[0]
        assert voter.startswith("widget:") and reader.conversation not in voter
        figures = await Overview(bot.app, ErrorsSeen()).figures()
        assert "widget:docs.kettle.example" in figures["channels"]


async def test_no_number_of_readers_promotes_or_takes_back_an_answer(kettle: Kettle) -> None:
    async with on_site(kettle) as (bot, reader):
        for number in range(8):
            one = reader.another()
            answer = await one.ask(RETRIES)
            assert "community memory" not in answer["markdown"], number
            assert (await one.call("vote", answer=answer["answer"], vote="up"))[0] == 200
        assert (await bot.counts())["high"] == 0
        # what people found good stays good, whatever readers say
        known = await bot.app.engine.answer(Question(RETRIES, "slack:U1", "slack:C9", release="1.5"))
        assert await bot.app.engine.feedback(Vote(known.id, "slack:U2", 1), helper=True)
        for _ in range(8):
            one = reader.another()
            answer = await one.ask(RETRIES)
            assert answer["remembered"].startswith("Remembered · found good by 1 person")
            assert (await one.call("vote", answer=answer["answer"], vote="down"))[0] == 200
        assert (await bot.counts())["high"] == 1 and await bot.app.memory.verify() == []
        # but whoever looks after the documentation hears of it
        gaps = await bot.app.statistics.gaps(1)
        assert any(RETRIES in repr(gap) for gap in gaps)


async def test_a_vote_is_toggled_and_changed(kettle: Kettle) -> None:
    async with on_site(kettle) as (bot, reader):
        answer = (await reader.ask(PORT))["answer"]
        reader_of = rows(kettle, "select count(*) from votes")
        assert reader_of == [(0,)]
        for vote, stands in (("up", 1), ("down", 0), ("", None), ("down", 0), ("down", 0), ("", None)):
            assert await reader.call("vote", answer=answer, vote=vote) == (200, {"vote": vote})
            voter = rows(kettle, "select voter from votes")[0][0]
            assert await bot.app.engine.opinion(answer, voter) == stands
        _, told = await reader.call("open")
        assert told["conversation"]["told"][0]["vote"] == ""


async def test_private_memory_is_never_heard(kettle: Kettle) -> None:
    async with on_site(kettle) as (bot, reader):
        secret = await bot.app.engine.answer(Question(RETRIES, "slack:U1", "slack:C1", ROOM, release="1.5"))
        assert await bot.app.engine.feedback(Vote(secret.id, "slack:U2", 1), helper=True)
        assert (await bot.counts())["high"] == 1
        answer = await reader.ask(RETRIES)
        assert not answer["remembered"] and "community memory" not in answer["markdown"]
        _, told = await reader.call("open")
        assert RETRIES not in told["examples"]
        # nor may it be voted on, nor read
        assert (await reader.call("vote", answer=secret.id, vote="up"))[0] == 404


async def test_platforms_that_do_not_share_share_nothing_with_readers(kettle: Kettle) -> None:
    with kettle.config.open("a") as config:
        config.write("\n[memory]\nshare_platforms = false\n")
    async with on_site(kettle) as (bot, reader):
        known = await bot.app.engine.answer(Question(RETRIES, "slack:U1", "slack:C9", release="2.0"))
        assert await bot.app.engine.feedback(Vote(known.id, "slack:U2", 1), helper=True)
        assert not (await reader.ask(RETRIES, release="2.0"))["remembered"]
        _, told = await reader.call("open")
        assert RETRIES not in told["examples"]


async def test_a_conversation_is_for_whoever_has_its_key(kettle: Kettle) -> None:
    other = "https://other.example"
    async with on_site(kettle, widget_origins=f"{SITE},{other}") as (_, reader):
        answer = await reader.ask(PORT)
        key = reader.conversation
        assert len(key) >= 32
        for stranger in (
            reader.another(conversation=key[:-1]),
            reader.another(conversation=""),
            reader.another(conversation=key, origin=other),
        ):
            _, told = await stranger.call("open")
            assert told["conversation"] is None
            assert (await stranger.call("vote", answer=answer["answer"], vote="up"))[0] == 404
            assert (await stranger.stream("follow"))[0] == 404
            assert (await stranger.call("forget")) == (200, {})
        assert (await reader.call("open"))[1]["conversation"]["id"] == key
        # who ends it cannot go on with it, and whoever asks again begins another one
        assert (await reader.call("forget")) == (200, {})
        assert (await reader.call("open"))[1]["conversation"] is None
        await reader.ask(PORT)
        assert reader.conversation != key


async def test_an_answer_is_found_although_its_page_went_away(kettle: Kettle, ollama: OllamaServer) -> None:
    ollama.tokens_per_second = 10.0
    async with on_site(kettle, ollama_host=ollama.url) as (_, reader):
        url = f"{reader.url}/widget/api/ask"
        async with reader.session.post(url, **reader.sent(text=PORT)) as response:
            first = await response.content.readuntil(b"\n\n")
            reader.conversation = first.decode().split('"conversation": "')[1].split('"')[0]
        _, told = await reader.call("open")
        assert told["conversation"]["asked"] == PORT
        status, said = await reader.call("ask", text=PORT)
        assert status == 409 and "still being answered" in said["error"]
        ollama.tokens_per_second = 0.0
        status, events = await reader.stream("follow")
        assert status == 200 and events[-1][0] == "done" and "7171" in events[-1][1]["markdown"]


async def test_who_is_forgotten_is_forgotten_in_conversations_too(kettle: Kettle) -> None:
    async with on_site(kettle) as (bot, reader):
        known = await bot.app.engine.answer(Question(RETRIES, "slack:U1", "slack:C9", release="1.5"))
        assert await bot.app.engine.feedback(Vote(known.id, "slack:U2", 1), helper=True)
        answer = await reader.ask(RETRIES)
        assert answer["remembered"]
        await bot.app.people.forget("slack:U1")
        assert (await reader.call("open"))[1]["conversation"]["told"] == []


async def test_a_pause_holds_for_readers(kettle: Kettle) -> None:
    async with on_site(kettle) as (bot, reader):
        await bot.app.pauses.begin(EVERYWHERE, 0, "slack:U9", "we move house")
        status, events = await reader.stream("ask", text=PORT)
        assert status == 503 and "I am paused" in events[0][1]["error"]
        assert "I am paused" in (await reader.call("open"))[1]["said"]
        await bot.app.pauses.end(EVERYWHERE)
        await bot.app.pauses.begin("widget:docs.kettle.example", 0, "slack:U9", "")
        assert (await reader.stream("ask", text=PORT))[0] == 503
        assert rows(kettle, "select count(*) from answers") == [(0,)]


async def test_while_nothing_is_read_it_says_so(kettle: Kettle, tmp_path: Path) -> None:
    async with on_site(new_folder(tmp_path / "empty", kettle.encoder_cache)) as (_, reader):
        _, told = await reader.call("open")
        assert (told["release"], told["releases"]) == ("", [])
        assert told["said"] == "The documentation is still being read. Ask again in a few minutes."
        status, events = await reader.stream("ask", text=PORT)
        assert status == 503 and events[0][1]["error"] == told["said"]


async def test_beside_the_playground_it_opens_nothing_of_it(kettle: Kettle) -> None:
    given = {"playground": True, "slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1"}
    async with (
        house(kettle, widget_origins=SITE, **given) as bot,
        widget(bot.settings, bot.dispatch, Playground) as reader,
    ):
        assert "7171" in (await reader.ask(PORT))["markdown"]
        for path in ("/", "/api/state?person=ada", "/api/events?person=chloe"):
            async with reader.session.get(reader.url + path) as response:
                assert response.status == 401, path
        for path in ("/api/state?person=ada", "/dashboard", "/api/dashboard", "/metrics", "/healthz"):
            async with reader.session.get(reader.url + path, headers={"Origin": SITE}) as response:
                assert response.status == 403, path
                assert "Access-Control-Allow-Origin" not in response.headers


async def test_it_waits_for_nobody_when_it_is_stopped(kettle: Kettle, ollama: OllamaServer) -> None:
    ollama.script("hang")
    async with aiohttp.ClientSession() as session, house(kettle, **ON, ollama_host=ollama.url) as bot:
        async with widget(bot.settings, bot.dispatch) as reader:
            response = await session.post(f"{reader.url}/widget/api/ask", **reader.sent(text=PORT))
            assert (await response.content.readuntil(b"\n\n")).startswith(b"event: begun")
            reading = asyncio.create_task(response.text())
            await asyncio.sleep(0)
        said = await reading
    assert '{"error": "The bot is restarting. Ask again in a moment."}' in said
