"""The widget's endpoints: which sites may ask, how often, what is refused; the bot behind them is a fake."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import aiohttp
import pytest
from aiohttp.test_utils import make_mocked_request

from bot.conversation.readers import Asked, Serving
from bot.platforms.web.platform import WithoutPlayground, connect
from bot.platforms.web.widget.conversations import IDLE_SECONDS, LONGEST, Conversations, Told
from bot.platforms.web.widget.sites import Sites, site_of
from bot.platforms.web.widget.widget import AT_ONCE, BODY_BYTES, MAX_CHARACTERS
from bot.ports.chat import Reply
from bot.privacy.exports import Holders
from core.errors import ConfigurationError, StorageUnavailable
from core.ports import Listener
from tests.platforms.web_client import settings, until
from tests.platforms.web_dispatch import FakeDispatch
from tests.platforms.widget_client import PAGE, SITE, Reader, widget

API = ("hello", "open", "ask", "follow", "vote", "forget")


class FakeReaders:
    """Answers with its question, once it may."""

    product, latest = "Flask", "3.1"
    releases = ("3.1", "2.3")

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.asked: list[Asked] = []
        self.votes: list[tuple[str, str, int | None]] = []
        self.fails: Exception | None = None
        self.is_kept = True

    def serving(self, site: str, address: str, chosen: str = "") -> Serving:
        return Serving(chosen or "3.1", "chosen" if chosen else "default")

    async def examples(self, site: str) -> tuple[str, ...]:
        return ("How do I begin?",)

    async def paused(self, site: str) -> str:
        return ""

    async def answer(self, asked: Asked, listener: Listener) -> Reply:
        self.asked.append(asked)
        await listener.text("You")
        await self.open.wait()
        if self.fails is not None:
            raise self.fails
        return Reply(f"You asked: {asked.text}", release=asked.release, answer_id=f"a{len(self.asked)}")

    async def vote(self, answer_id: str, reader: str, value: Literal[0, 1] | None) -> bool:
        if self.fails is not None:
            raise self.fails
        self.votes.append((answer_id, reader, value))
        return self.is_kept


@asynccontextmanager
async def serving(home: Path, readers: FakeReaders, **given: Any) -> AsyncIterator[Reader]:
    """Serve the widget with fake readers behind it."""
    dispatch: Any = FakeDispatch()
    dispatch.readers, dispatch.holders = readers, Holders(home, {})
    given = {"playground": False, "widget_origins": SITE, "widget_per_minute": 1000, **given}
    async with widget(settings(home, **given), dispatch) as reader:
        yield reader


@pytest.fixture
def readers() -> FakeReaders:
    return FakeReaders()


@pytest.fixture
async def reader(tmp_path: Path, readers: FakeReaders) -> AsyncIterator[Reader]:
    async with serving(tmp_path, readers) as reader:
        yield reader


async def fetched(reader: Reader, method: str, path: str, **options: Any) -> tuple[int, Any, Any]:
    async with reader.session.request(method, reader.url + path, **options) as response:
        text = await response.text()
        return response.status, response.headers, text


# --- which sites ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://docs.kettle.example",
        "https://docs.kettle.example:8443",
        "https://docs.kettle.example.evil.example",
        "https://evil-docs.kettle.example",
        "https://docs.kettle.example/",
        "HTTPS://DOCS.KETTLE.EXAMPLE",
        "null",
        "file://",
        "*",
        "",
    ],
)
async def test_a_site_that_is_not_listed_is_refused(
    reader: Reader, readers: FakeReaders, origin: str
) -> None:
    for name in API:
        method = "GET" if name == "hello" else "POST"
        body = {} if name == "hello" else {"json": {"text": "Hi", "page": PAGE}}
        path = f"/widget/api/{name}"
        status, headers, text = await fetched(reader, method, path, headers={"Origin": origin}, **body)
        assert status == 403 and "WIDGET_ORIGINS" in json.loads(text)["error"], name
        assert "Access-Control-Allow-Origin" not in headers
        status, headers, _ = await fetched(reader, "OPTIONS", path, headers={"Origin": origin})
        assert status == 403 and not any(name.startswith("Access-Control") for name in headers)
    assert readers.asked == []


async def test_a_request_without_an_origin_is_refused(reader: Reader, readers: FakeReaders) -> None:
    for name in API[1:]:
        status, headers, text = await fetched(reader, "POST", f"/widget/api/{name}", json={"text": "Hi"})
        assert status == 403 and "Origin" in json.loads(text)["error"]
        assert "Access-Control-Allow-Origin" not in headers
    assert (await fetched(reader, "GET", "/widget/api/hello"))[0] == 403
    assert readers.asked == []


async def test_a_listed_site_is_told_what_browsers_want_to_know(reader: Reader) -> None:
    own = {"Origin": SITE, "Sec-Fetch-Site": "cross-site"}
    status, headers, text = await fetched(reader, "GET", "/widget/api/hello?language=de", headers=own)
    assert status == 200 and json.loads(text) == {"product": "Flask", "label": "Frage stellen"}
    assert headers["Access-Control-Allow-Origin"] == SITE and headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in headers and "Set-Cookie" not in headers
    assert headers["Cache-Control"] == "private, max-age=600"
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    status, headers, _ = await fetched(reader, "OPTIONS", "/widget/api/ask", headers=own | wanted)
    assert (status, headers["Access-Control-Allow-Origin"]) == (204, SITE)
    assert headers["Access-Control-Allow-Headers"] == "Content-Type"
    assert headers["Access-Control-Allow-Methods"] == "GET, POST"
    url = f"{reader.url}/widget/api/ask"
    async with reader.session.post(url, **reader.sent(text="Hi")) as response:
        assert response.headers["Access-Control-Allow-Origin"] == SITE
        assert response.headers["X-Accel-Buffering"] == "no" and "Set-Cookie" not in response.headers


async def test_what_is_refused_to_a_listed_site_can_be_read_there(reader: Reader) -> None:
    for path, options in (("ask", {"data": b"nonsense"}), ("ask", {"json": {}}), ("nothing", {"json": {}})):
        headers = {"Origin": SITE, "Content-Type": "application/json"}
        status, told, text = await fetched(reader, "POST", f"/widget/api/{path}", headers=headers, **options)
        assert status in (400, 404, 405, 422) and json.loads(text)["error"]
        assert told["Access-Control-Allow-Origin"] == SITE


async def test_everything_else_stays_closed(tmp_path: Path, readers: FakeReaders) -> None:
    async with serving(tmp_path, readers, playground=None, slack_bot_token="xoxb-1") as reader:
        for path in ("/", "/dashboard", "/api/dashboard", "/metrics", "/api/state", "/healthz", "/app.js"):
            for headers in ({"Origin": SITE}, {"Origin": SITE, "Sec-Fetch-Site": "cross-site"}):
                status, told, _ = await fetched(reader, "GET", path, headers=headers)
                assert status == 403 and "Access-Control-Allow-Origin" not in told, path
            status, told, _ = await fetched(reader, "OPTIONS", path, headers={"Origin": SITE})
            assert status >= 400 and "Access-Control-Allow-Origin" not in told
        assert (await fetched(reader, "GET", "/dashboard"))[0] == 200


async def test_without_the_dashboard_there_is_the_widget_alone(reader: Reader) -> None:
    assert (await fetched(reader, "GET", "/healthz"))[0] == 200
    for path in ("/", "/dashboard", "/metrics", "/readyz", "/api/state", "/app.js", "/widget/../app.js"):
        assert (await fetched(reader, "GET", path))[0] == 404, path
    assert (await fetched(reader, "GET", "/widget.js"))[0] == 200


async def test_it_is_off_where_no_site_is_named(tmp_path: Path) -> None:
    dispatch: Any = FakeDispatch()
    assert connect(settings(tmp_path, playground=False), dispatch) is None
    async with widget(settings(tmp_path, slack_bot_token="xoxb-1"), dispatch, WithoutPlayground) as reader:
        for path in ("/widget.js", "/widget/panel.js", "/widget/api/hello"):
            assert (await fetched(reader, "GET", path))[0] == 404
            assert (await fetched(reader, "GET", path, headers={"Origin": SITE}))[0] == 403
        assert (await reader.call("open"))[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "docs.kettle.example", "bot.example.org:80"])
async def test_it_answers_to_its_own_names_alone(reader: Reader, host: str) -> None:
    headers = {"Origin": SITE, "Host": host}
    status, _, text = await fetched(reader, "GET", "/widget/api/hello", headers=headers)
    assert status == 403 and "THREADLORE_HOST" in text


async def test_the_script_is_the_same_for_everybody_and_kept_by_browsers(reader: Reader) -> None:
    status, headers, text = await fetched(
        reader, "GET", "/widget.js", headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert status == 200 and headers["Content-Type"].startswith("text/javascript")
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert headers["Cache-Control"] == "no-cache" and headers["X-Content-Type-Options"] == "nosniff"
    assert "eval(" not in text and "innerHTML" not in text and "document.cookie" not in text
    again = {"If-None-Match": headers["ETag"]}
    assert (await fetched(reader, "GET", "/widget.js", headers=again))[0] == 304
    for name in ("panel.js", "talk.js", "exchange.js", "icons.js", "markdown.js", "inline.js", "widget.css"):
        status, headers, text = await fetched(reader, "GET", f"/widget/{name}", headers={"Origin": SITE})
        assert status == 200 and headers["Access-Control-Allow-Origin"] == SITE, name
        assert "innerHTML" not in text and "eval(" not in text
        # a module is read only where its site may
        refused = await fetched(reader, "GET", f"/widget/{name}", headers={"Origin": "https://evil.example"})
        assert refused[0] == 403
    assert (await fetched(reader, "GET", "/widget/app.js"))[0] == 404


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("*", "stands for any site"),
        ("https://*.example.org", "stands for any site"),
        ("docs.example.org", "is no origin"),
        ("ftp://docs.example.org", "is no origin"),
        ("https://docs.example.org/en/", "write no path"),
        ("https://me@docs.example.org", "write no path"),
        ("null", "is no origin"),
        ("https://", "is no origin"),
    ],
)
def test_an_origin_that_cannot_be_is_refused_with_what_to_write(
    tmp_path: Path, given: str, told: str
) -> None:
    with pytest.raises(ConfigurationError, match="WIDGET_ORIGINS") as refused:
        settings(tmp_path, widget_origins=given)
    assert told in str(refused.value)


def test_origins_are_kept_as_browsers_send_them(tmp_path: Path) -> None:
    given = "https://Docs.Example.org/, http://localhost:8000,https://docs.example.org:443,http://[::1]:80"
    kept = ("https://docs.example.org", "http://localhost:8000", "http://[::1]")
    assert settings(tmp_path, widget_origins=given).widget_origins == kept
    assert settings(tmp_path, widget_origins="https://bücher.example").widget_origins == (
        "https://xn--bcher-kva.example",
    )
    assert settings(tmp_path).widget_origins == ()
    assert [site_of(origin) for origin in kept] == ["docs.example.org", "localhost:8000", "[::1]"]


# --- limits -----------------------------------------------------------------------------------


async def test_an_address_may_ask_so_often_and_all_together_so_often(
    tmp_path: Path, readers: FakeReaders
) -> None:
    given = {"widget_per_minute": 5, "widget_total_per_minute": 10, "widget_proxies": "127.0.0.0/8"}
    async with serving(tmp_path, readers, **given) as reader:
        for number in range(5):
            assert (await reader.ask(f"{number}?"))["answer"]
        url = f"{reader.url}/widget/api/ask"
        async with reader.session.post(url, **reader.sent(text="Once more?")) as response:
            told = await response.json()
            assert response.status == 429 and response.headers["Retry-After"] == str(told["retry"])
            assert 0 < told["retry"] <= 12 and f"{told['retry']} s" in told["error"]
        status, events = await reader.another(conversation="").stream("ask", text="A new tab?")
        assert status == 429, events
        said = await reader.stream("ask", text="Noch einmal?", language="de")
        assert said[1][0][1]["error"].startswith("Bitte frag in")
        asked = 5
        for number in range(20):
            other = reader.another(headers={"X-Forwarded-For": f"203.0.113.{number}"})
            asked += (await other.stream("ask", text="And I?"))[0] == 200
        assert asked == 10
        assert len(readers.asked) == asked


async def test_other_requests_have_a_limit_too(tmp_path: Path, readers: FakeReaders) -> None:
    async with serving(tmp_path, readers, widget_per_minute=1, widget_total_per_minute=1) as reader:
        found = [(await reader.call("open"))[0] for _ in range(12)]
        assert found[0] == 200 and found[-1] == 429 and found.count(200) == 10
        # but every page may ask whether it may show the widget
        own = {"Origin": SITE}
        asked = [await fetched(reader, "GET", "/widget/api/hello", headers=own) for _ in range(50)]
        assert {status for status, *_ in asked} == {200}


async def test_so_many_answers_are_written_at_once(reader: Reader, readers: FakeReaders) -> None:
    readers.open.clear()
    asking = [asyncio.create_task(reader.another().stream("ask", text="Why?")) for _ in range(AT_ONCE)]
    await until(lambda: len(readers.asked) == AT_ONCE)
    status, events = await reader.stream("ask", text="And I?")
    assert status == 503 and "Many people are asking" in events[0][1]["error"]
    readers.open.set()
    assert {(await one)[0] for one in asking} == {200}
    assert (await reader.ask("Now?"))["answer"]


@pytest.mark.parametrize(
    ("peer", "told", "name"),
    [
        ("198.51.100.7", [], "198.51.100.7"),
        ("198.51.100.7", ["203.0.113.9"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["6.6.6.6, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["6.6.6.6", "203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["6.6.6.6, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
        ("10.0.0.1", ["[2001:db8:1:2::9]:4711"], "2001:db8:1:2::1"),
        ("::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("2001:db8:1:2::1", [], "2001:db8:1:2:ffff::7"),
        ("fe80::1%eth0", [], "fe80::2"),
        ("", ["203.0.113.9"], ""),
    ],
)
def test_a_reader_is_their_address_and_a_proxy_is_believed_where_it_is_named(
    peer: str, told: list[str], name: str
) -> None:
    sites = Sites([SITE], ["10.0.0.0/8"])
    assert sites.reader(_request(peer, told)) == sites.reader(_request(name, []))
    assert sites.reader(_request(peer, told)) != sites.reader(_request("192.0.2.1", []))
    assert sites.reader(_request(peer, told)) != Sites([SITE], ["10.0.0.0/8"]).reader(_request(name, []))


def _request(peer: str, told: list[str]) -> Any:
    from multidict import CIMultiDict

    headers = CIMultiDict([("X-Forwarded-For", line) for line in told])
    made = make_mocked_request("POST", "/widget/api/ask", headers=headers)
    return made.clone(remote=peer)


async def test_it_is_served_over_ipv6(tmp_path: Path, readers: FakeReaders) -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    async with serving(tmp_path, readers, host="::1", widget_per_minute=5) as reader:
        assert reader.url.startswith("http://[::1]:")
        assert (await reader.ask("Why?"))["markdown"] == "You asked: Why?"


# --- what is sent -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({}, 422, "`text` must be a question"),
        ({"text": "  \n "}, 422, "`text` must be a question"),
        ({"text": ["Why?"]}, 422, "`text` must be a question"),
        ({"text": "x" * (MAX_CHARACTERS + 1)}, 413, "at most 2000 characters; yours has 2001"),
        ({"text": "x" * (BODY_BYTES + 1)}, 413, f"at most {BODY_BYTES} bytes"),
        ({"text": "Why?", "page": "x" * BODY_BYTES}, 413, f"at most {BODY_BYTES} bytes"),
    ],
)
async def test_what_cannot_be_asked_is_said(
    reader: Reader, readers: FakeReaders, body: dict[str, Any], status: int, told: str
) -> None:
    found, events = await reader.stream("ask", **body)
    assert found == status and told in events[0][1]["error"]
    assert readers.asked == []


@pytest.mark.parametrize("raw", [b"", b"[]", b'"x"', b"{" * 9000, b"\xff\xfe", b"null"])
async def test_a_body_that_is_no_object_is_refused(reader: Reader, raw: bytes) -> None:
    headers = {"Origin": SITE, "Content-Type": "application/json"}
    for name in API[1:]:
        status, _, text = await fetched(reader, "POST", f"/widget/api/{name}", data=raw, headers=headers)
        assert status == 400 and "JSON" in json.loads(text)["error"]


async def test_a_body_that_says_nothing_of_its_length_is_cut_off(reader: Reader) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b'{"text": "'
        for _ in range(40):
            yield b"x" * 1024

    headers = {"Origin": SITE, "Content-Type": "application/json"}
    status, _, text = await fetched(reader, "POST", "/widget/api/open", data=endless(), headers=headers)
    assert status == 413 and str(BODY_BYTES) in text


async def test_only_json_is_taken_so_that_browsers_ask_before(reader: Reader, readers: FakeReaders) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {"Origin": SITE, "Content-Type": kind}
        status, _, _ = await fetched(
            reader, "POST", "/widget/api/ask", data=b'{"text": "Hi"}', headers=headers
        )
        assert status == 415
    assert readers.asked == []


@pytest.mark.parametrize(
    "page", ["", None, 7, ["x"], "javascript:alert(1)", "http://[", "\x00\ud800", "x" * 9000]
)
async def test_an_address_may_be_anything(reader: Reader, page: object) -> None:
    status, told = await reader.call("open", page=page)
    assert status == 200 and told["said"] == "Answers are for Flask 3.1, the latest release."


async def test_a_bot_of_another_product_says_so(reader: Reader) -> None:
    assert (await reader.call("open", product="flask"))[0] == 200
    status, told = await reader.call("open", product="Django")
    assert (
        status == 409 and told["error"] == "This bot answers about Flask; correct data-product in the page."
    )


# --- conversations and votes ------------------------------------------------------------------


async def test_a_conversation_goes_on_with_what_was_said(reader: Reader, readers: FakeReaders) -> None:
    status, events = await reader.stream("ask", text="Why?", release="2.3")
    assert status == 200
    assert events[0][1] == {
        "conversation": reader.conversation,
        "said": "Answers are for Flask 2.3.",
        "release": "2.3",
    }
    assert events[-1][1]["markdown"] == "You asked: Why?"
    await reader.ask("And how?", release="2.3")
    await reader.ask("And when?", release="3.1")
    assert [one.moved for one in readers.asked] == [True, False, True]
    assert [one.question for one in readers.asked[-1].earlier] == ["Why?", "And how?"]
    assert readers.asked[0].site == "docs.kettle.example"


async def test_what_fails_is_said_and_not_kept(reader: Reader, readers: FakeReaders) -> None:
    for error in (StorageUnavailable("the disk is full"), RuntimeError("a secret of the code")):
        readers.fails = error
        _, events = await reader.stream("ask", text="Why?")
        assert events[-1][0] == "failed" and "secret" not in events[-1][1]["error"]
        assert "try again later" in events[-1][1]["error"] or "admins can see" in events[-1][1]["error"]
    _, told = await reader.call("open")
    assert told["conversation"]["told"] == [] and not told["conversation"]["asked"]


async def test_votes_are_those_of_one_reader(reader: Reader, readers: FakeReaders) -> None:
    first, second = reader.another(), reader.another()
    for one in (first, second):
        answer = (await one.ask("Why?"))["answer"]
        for vote in ("up", "up", "down", ""):
            assert await one.call("vote", answer=answer, vote=vote) == (200, {"vote": vote})
    assert [vote[2] for vote in readers.votes] == [1, 0, None] * 2
    assert len({vote[1] for vote in readers.votes}) == 2
    for answer, vote in (
        ("a9", "up"),
        ("a2", "up"),
        ("", ""),
        (None, "up"),
        ("a1", "sideways"),
        ("a1", None),
    ):
        status, told = await first.call("vote", answer=answer, vote=vote)
        assert status in (404, 422) and told["error"]
    readers.fails = StorageUnavailable("the disk is full")
    status, told = await first.call("vote", answer="a1", vote="up")
    assert status == 503 and "cannot save" in told["error"]
    assert (await first.call("open"))[1]["conversation"]["told"][0]["vote"] == ""
    readers.fails, readers.is_kept = None, False
    assert (await first.call("vote", answer="a1", vote="up"))[0] == 404


def test_conversations_end_and_the_oldest_make_room() -> None:
    now = [0.0]
    kept = Conversations(lambda: now[0], most=3)
    keys = [kept.begin(SITE).key for _ in range(4)]
    assert len(set(keys)) == 4 and [kept.of(key, SITE) is not None for key in keys] == [
        False,
        True,
        True,
        True,
    ]
    now[0] = IDLE_SECONDS - 1
    assert kept.of(keys[2], SITE)
    now[0] = IDLE_SECONDS + 1
    assert [kept.of(key, SITE) is not None for key in keys] == [False, False, True, False] and len(kept) == 1
    assert kept.of(keys[2], "https://other.example") is None
    assert kept.of(None, SITE) is None and kept.of(["x"], SITE) is None
    last = kept.of(keys[2], SITE)
    assert last is not None
    for number in range(LONGEST + 5):
        last.add(Told(f"{number}", "…", f"a{number}"))
    assert len(last.told) == LONGEST and last.told[0].question == "5"
    kept.forget({"a9"})
    assert last.with_answer("a9") is None and last.with_answer("a10") is not None
    assert last.with_answer("") is None


async def test_two_questions_of_one_conversation_are_answered_one_after_the_other(
    reader: Reader, readers: FakeReaders
) -> None:
    await reader.ask("Why?")
    readers.open.clear()
    asking = asyncio.create_task(reader.stream("ask", text="And how?"))
    await until(lambda: len(readers.asked) == 2)
    status, events = await reader.stream("ask", text="And when?")
    assert status == 409 and "start again" in events[0][1]["error"]
    # whoever starts again ends what is being written
    assert await reader.call("forget") == (200, {})
    assert (await asking)[1][-1][0] == "failed"
    readers.open.set()
    assert (await reader.another().ask("And when?"))["answer"]


async def test_a_stranger_cannot_hang_up_on_somebody(reader: Reader, readers: FakeReaders) -> None:
    readers.open.clear()
    url = f"{reader.url}/widget/api/ask"
    async with aiohttp.ClientSession() as other, other.post(url, **reader.sent(text="Why?")) as response:
        first = await response.content.readuntil(b"\n\n")
        key = json.loads(first.decode().split("data: ")[1])["conversation"]
    following = [asyncio.create_task(reader.another(conversation=key).stream("follow")) for _ in range(2)]
    await asyncio.sleep(0.05)
    readers.open.set()
    for one in following:
        assert (await one)[1][-1][1]["markdown"] == "You asked: Why?"
