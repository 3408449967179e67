"""The playground as a server: its stream, what survives a restart, and who is let in."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.platforms.web.http.feed import Feed
from bot.platforms.web.http.requests import MAX_CHARACTERS
from bot.platforms.web.platform import connect
from bot.platforms.web.progress import examples
from bot.platforms.web.state import Posts
from bot.ports.chat import UP, Attachment, Reply
from core.domain import MessageRef
from core.errors import PlatformRejected
from tests.platforms.web_client import Client, Stream, serving, settings, until
from tests.platforms.web_dispatch import FakeDispatch


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Client]:
    async with serving(settings(tmp_path), FakeDispatch()) as client:
        yield client


# --- the stream -------------------------------------------------------------------------------


async def test_stream_resumes_after_the_last_event_seen(web: Client) -> None:
    _, state = await web.call("GET", "/api/state?person=ada")
    await web.say("one", channel="general")
    async with Stream(web, "ada", since=state["event"]) as stream:
        mark, data = await stream.until("posted")
        assert data["text"] == "one"
    await web.say("two", channel="general")
    await web.say("three", channel="general")
    async with Stream(web, "ada", since=state["event"], last_id=mark) as stream:
        assert [(await stream.until("posted"))[1]["text"] for _ in range(2)] == ["two", "three"]


@pytest.mark.parametrize("mark", ["another-7", "nonsense", "{run}-99"])
async def test_stream_that_cannot_be_resumed_asks_for_a_fresh_state(web: Client, mark: str) -> None:
    _, state = await web.call("GET", "/api/state?person=ada")
    async with Stream(web, "ada", last_id=mark.format(run=state["event"].split("-")[0])) as stream:
        assert (await stream.next())[0] == "reset"
        await web.say("go on", channel="general")
        _, data = await stream.until("posted")
        assert data["text"] == "go on"


def test_feed_keeps_the_latest_state_of_a_message_and_forgets_in_order() -> None:
    feed = Feed(limit=3)
    for text in ("a", "ab", "abc"):
        feed.publish("edited", {"text": text}, key="1")
    assert [event.data["text"] for event in feed.since(0) or []] == ["abc"]
    for key in ("2", "3", "4"):
        feed.publish("edited", {"text": key}, key=key)
    assert feed.since(0) is None
    assert [event.data["text"] for event in feed.since(3) or []] == ["2", "3", "4"]


async def test_progress_and_releases_are_pushed_while_indexing(web: Client) -> None:
    work = {
        "release": "2.0",
        "source": "s",
        "stage": "embedding",
        "done": 412,
        "total": 900,
        "rate": 38.0,
        "eta_s": 13.0,
    }
    async with Stream(web, "ben") as stream:
        web.dispatch.running = [work]
        _, data = await stream.until("progress")
        assert data["running"] == [work]
        _, data = await stream.until("releases")
        assert [release["name"] for release in data["releases"]] == ["2.0", "2.3", "3.1"]


# --- what survives ----------------------------------------------------------------------------


async def test_conversation_survives_a_restart(tmp_path: Path) -> None:
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        root = await web.say("How? \u2028 \N{PILE OF POO}")
        answer = await web.answer(root)
        await web.post("/api/reactions", person="ben", message=answer["id"], emoji=UP, added=True)
        gone = await web.say("Never mind", channel="general")
        await web.call("DELETE", f"/api/messages/{gone}", json={"person": "ada"})
        await web.post("/api/commands", person="ada", channel="help", text="/ask hello")
        before = [m for m in await web.messages("ada") if not m["only"]]
    file = tmp_path / "playground.jsonl"
    assert file.stat().st_mode & 0o077 == 0
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        after = await web.messages("ada")
        assert after == before
        assert after[1]["reactions"][UP] == ["ben"] and after[1]["controls"] == before[1]["controls"] != []
        new = await web.say("More", thread=root)
        assert int(new) > int(gone)
        assert len(file.read_text().splitlines()) >= 2


async def test_lines_that_cannot_be_read_are_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        await web.say("kept", channel="general")
    file = tmp_path / "playground.jsonl"
    good = json.loads(file.read_text())
    bad = [
        b'{"id": "1", "chan',
        b"\xff\xfe\x00",
        b"[1, 2]",
        b'{"id": "5"}',
        json.dumps(good | {"channel": "gone"}).encode(),
        json.dumps(good | {"text": 7}).encode(),
        json.dumps(good | {"at": 1e300}).encode(),
        json.dumps(good | {"id": "x"}).encode(),
        b"[" * 100_000,
    ]
    file.write_bytes(b"\n".join([*bad, file.read_bytes().strip(), b'{"id": "9", "torn']))
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        assert [m["text"] for m in await web.messages()] == ["kept"]
    assert "skipped 10 unreadable lines" in caplog.text
    assert len(file.read_text().splitlines()) == 1


async def test_answer_cut_by_a_restart_is_not_left_working(tmp_path: Path) -> None:
    dispatch = FakeDispatch()
    dispatch.open.clear()
    async with serving(settings(tmp_path), dispatch) as web:
        root = await web.say("How?")
        await until(lambda: bool(dispatch.histories))
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        broken = (await web.messages())[-1]
        assert broken["final"] and "restarted" in broken["text"]
        part = MessageRef("web", "help", broken["id"], root)
        assert await web.playground.chat.edit((part,), Reply("Here it is.")) == (
            part,
        )  # as a resumed answer does
        assert (await web.messages())[-1]["text"] == "Here it is."


async def test_home_that_cannot_be_written_costs_the_file_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "home").write_text("no folder")
    async with serving(settings(tmp_path / "home"), FakeDispatch()) as web:
        await web.say("hello", channel="general")
        assert [m["text"] for m in await web.messages()] == ["hello"]
    assert "will not survive a restart" in caplog.text


def test_oldest_conversations_go_first() -> None:
    posts = Posts(Feed(), limit=3)
    root = posts.add("general", "ada", "one")
    posts.files[root.id] = (Attachment("my-data.json", "{}"),)
    posts.add("general", "ben", "reply", thread=root.id)
    second = posts.add("general", "ada", "two")
    third = posts.add("general", "ada", "three")
    assert [post.id for post in posts.seen_by("ada")] == [second.id, third.id]
    assert not posts.files


def test_a_conversation_that_goes_on_stays_and_pages_are_told_what_goes() -> None:
    feed = Feed()
    posts = Posts(feed, limit=3)
    root = posts.add("general", "ada", "one")
    second = posts.add("general", "ben", "two")
    third = posts.add("general", "ada", "three")
    number = feed.number
    reply = posts.add("general", "ada", "a follow-up", thread=root.id)
    assert [post.id for post in posts.seen_by("ada")] == [root.id, third.id, reply.id]
    told = {"id": second.id, "channel": "general", "thread": ""}
    assert [each.data for each in feed.since(number) or () if each.kind == "deleted"] == [told]
    newer = [posts.add("general", "ben", "another", thread=root.id) for _ in range(3)]
    assert [post.id for post in posts.seen_by("ada")] == [root.id, newer[1].id, newer[2].id]


@pytest.mark.parametrize("steps", range(4))
async def test_who_leaves_as_news_come_is_gone(steps: int) -> None:
    feed = Feed()
    waiting = asyncio.create_task(feed.wait(feed.number, 9))
    await asyncio.sleep(0)
    feed.publish("channel", {})
    for _ in range(steps):
        await asyncio.sleep(0)
    heard = waiting.done()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled() is not heard


# --- the door ---------------------------------------------------------------------------------


async def test_busy_port_is_told_with_the_way_out(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PlatformRejected, match=rf"Port {port} .* is taken.*--port \d+.*THREADLORE_PORT="):
            async with serving(settings(tmp_path, port=port), FakeDispatch()):
                pass


async def test_host_that_is_not_ours_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlatformRejected, match="THREADLORE_HOST"):
        async with serving(settings(tmp_path, host="203.0.113.7"), FakeDispatch()):
            pass


def test_switched_off_playground_is_none(tmp_path: Path) -> None:
    assert connect(settings(tmp_path, playground=False), FakeDispatch()) is None  # type: ignore[arg-type]


async def test_bad_requests_are_told_in_one_sentence(web: Client) -> None:
    say: dict[str, Any] = {"person": "ada", "channel": "general", "text": "hi"}
    root = await web.say("root", channel="general")
    reply = await web.say("reply", channel="general", thread=root)
    for status, options in (
        (415, {"data": json.dumps(say), "headers": {"Content-Type": "text/plain"}}),
        (400, {"data": b"{", "headers": {"Content-Type": "application/json"}}),
        (400, {"data": b"\xff", "headers": {"Content-Type": "application/json"}}),
        (400, {"json": [1]}),
        (413, {"json": say | {"text": "x" * 300_000}}),
        (413, {"json": say | {"text": "x" * (MAX_CHARACTERS + 1)}}),
        (422, {"json": say | {"text": " \u0000\n"}}),
        (422, {"json": say | {"text": 5}}),
        (422, {"json": say | {"person": "eve"}}),
        (422, {"json": say | {"person": ["ada"]}}),
        (404, {"json": say | {"channel": "nowhere"}}),
        (404, {"json": say | {"channel": {}}}),
        (404, {"json": say | {"thread": "1"}}),
        (404, {"json": say | {"thread": reply}}),
        (404, {"json": say | {"thread": 5}}),
    ):
        got, told = await web.call("POST", "/api/messages", **options)
        assert (got, told["error"].count("."), told["error"].endswith(".")) == (status, 1, True), (
            options,
            told,
        )
    assert (await web.call("GET", "/api/state?person=eve"))[0] == 422
    assert (await web.call("GET", "/nothing"))[0] == 404
    assert (await web.call("PUT", "/api/messages", json={}))[0] == 405
    assert len(await web.messages()) == 2


async def test_text_that_no_database_takes_is_cleaned(web: Client) -> None:
    body = b'{"person": "ada", "channel": "general", "text": "a\\u0000b\\ud800c\\r\\nd"}'
    status, _ = await web.call(
        "POST", "/api/messages", data=body, headers={"Content-Type": "application/json"}
    )
    assert status == 201
    assert [m["text"] for m in await web.messages()] == ["abc\nd"]


async def test_page_and_its_parts_are_served_with_a_strict_policy(web: Client) -> None:
    for path, kind in (
        ("/", "text/html"),
        ("/app.js", "text/javascript"),
        ("/style.css", "text/css"),
        ("/favicon.svg", "image/svg+xml"),
    ):
        async with web.session.get(web.playground.url + path) as response:
            assert (response.status, response.content_type) == (200, kind)
            assert response.headers["Cache-Control"] == "no-store"
            policy = response.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
            assert "http" not in (await response.text()).replace("http://www.w3.org", "") or path == "/app.js"
    for path in ("/../web.py", "/%2e%2e%2fweb.py", "/index.html/x"):
        async with web.session.get(web.playground.url + path) as response:
            assert response.status == 404


def test_examples_name_releases_that_are_ready() -> None:
    releases = [
        {"name": "2.0", "ready": True},
        {"name": "3.1", "ready": True, "latest": True},
        {"name": "4.0"},
    ]
    assert examples("Flask", releases) == [
        "How do I install Flask 3.1?",
        "What changed in Flask 3.1?",
        "How do I configure Flask in 2.0?",
    ]
    assert all(question.endswith("?") for question in examples("", []))
