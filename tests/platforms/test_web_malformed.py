"""Whatever is sent to the web server is refused: no mistake of a sender is one of ours (500)."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.patience import PATIENCE
from tests.platforms.web_client import Client, serving, settings
from tests.platforms.web_dispatch import FakeDispatch

HOST = b"Host: 127.0.0.1\r\n"
JSON = HOST + b"Content-Type: application/json\r\n"
SAY = {"person": "ada", "channel": "general", "text": "hi"}
DIGITS = b"9" * 5000
"""More digits than Python makes a number of."""
BOMB = gzip.compress(bytes(50_000_000))


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Client]:
    async with serving(settings(tmp_path), FakeDispatch()) as client:
        yield client


def get(target: bytes, more: bytes = b"", host: bytes = HOST, version: bytes = b"1.1") -> bytes:
    return b"GET " + target + b" HTTP/" + version + b"\r\n" + host + more + b"Connection: close\r\n\r\n"


def send(
    body: bytes,
    more: bytes = b"",
    target: bytes = b"/api/messages",
    head: bytes = JSON,
    method: bytes = b"POST",
) -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    start = method + b" " + target + b" HTTP/1.1\r\n" + head + more
    return start + length + b"Connection: close\r\n\r\n" + body


def said(path: str, **fields: object) -> bytes:
    return send(json.dumps({"person": "ada"} | fields).encode(), target=path.encode())


PACKED = b"Content-Encoding: gzip\r\n"
MALFORMED: dict[str, bytes] = {
    # Host
    "no host": get(b"/", host=b""),
    "no host, HTTP/1.0": get(b"/api/state?person=ada", host=b"", version=b"1.0"),
    "two hosts": get(b"/", b"Host: 127.0.0.1\r\n"),
    "host with a user": get(b"/", host=b"Host: a@127.0.0.1\r\n"),
    "host with a path": get(b"/", host=b"Host: 127.0.0.1/x\r\n"),
    "open bracket": get(b"/", host=b"Host: [::1\r\n"),
    "brackets around nothing": get(b"/", host=b"Host: []\r\n"),
    "empty host": get(b"/", host=b"Host: \r\n"),
    "bytes as host": get(b"/", host=b"Host: \xff\xfe\r\n"),
    "port of letters": get(b"/", host=b"Host: 127.0.0.1:http\r\n"),
    "port of many digits": get(b"/", host=b"Host: 127.0.0.1:" + DIGITS + b"\r\n"),
    "long host": get(b"/", host=b"Host: " + b"a" * 7000 + b"\r\n"),
    "host with a null": get(b"/", host=b"Host: 127.0.0.1\x00.evil\r\n"),
    # Origin
    "origin with an open bracket": get(b"/api/state?person=ada", b"Origin: http://[::1\r\n"),
    "origin without a scheme": get(b"/api/state?person=ada", b"Origin: 127.0.0.1\r\n"),
    "origin of bytes": get(b"/api/state?person=ada", b"Origin: \xff\xfe\r\n"),
    "origin with a port of letters": get(b"/api/state?person=ada", b"Origin: http://127.0.0.1:x\r\n"),
    "two origins": get(b"/api/state?person=ada", b"Origin: http://127.0.0.1\r\nOrigin: null\r\n"),
    "empty origin": get(b"/api/state?person=ada", b"Origin: \r\n"),
    # bodies
    "broken gzip": send(b"\x1f\x8b\x08\x00nonsense", PACKED),
    "cut gzip": send(gzip.compress(json.dumps(SAY).encode())[:-9], PACKED),
    "a gzip bomb": send(BOMB, PACKED),
    "deflate": send(zlib.compress(json.dumps(SAY).encode()), b"Content-Encoding: deflate\r\n"),
    "brotli": send(b"nonsense", b"Content-Encoding: br\r\n"),
    "zstd": send(b"nonsense", b"Content-Encoding: zstd\r\n"),
    "an unknown encoding": send(b"{}", b"Content-Encoding: \xff\r\n"),
    "no body": send(b""),
    "broken JSON": send(b'{"person": '),
    "JSON of bytes": send(b"\xff\xfe{}"),
    "deep JSON": send(b"[" * 100_000),
    "a long number": send(b'{"person": ' + DIGITS + b"}"),
    "not a number": send(b'{"person": NaN}'),
    "half a surrogate as a person": send(b'{"person": "\\ud800", "channel": "general", "text": "x"}'),
    "a wrong length": send(b"{}", b"Content-Length: 7\r\n"),
    "a length below zero": send(b"", b"Content-Length: -1\r\n"),
    "a length of letters": send(b"", b"Content-Length: many\r\n"),
    "length and chunks": send(b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\n"),
    "a broken chunk": JSON.join(
        [b"POST /api/messages HTTP/1.1\r\n", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"]
    ),
    "a content type of bytes": send(b"{}", head=HOST + b"Content-Type: \xff\xfe\r\n"),
    "a content type without an end": send(b"{}", head=HOST + b'Content-Type: application/json; x="\r\n'),
    "two content types": send(b"{}", b"Content-Type: text/plain\r\n"),
    "a charset that is none": send(b"{}", head=HOST + b"Content-Type: application/json; charset=nope\r\n"),
    "an expectation": send(b"{}", b"Expect: nonsense\r\n"),
    # addresses
    "a broken escape as a person": get(b"/api/state?person=%ff%zz"),
    "a null as a person": get(b"/api/state?person=%00"),
    "half a surrogate in the address": get(b"/api/state?person=%ed%a0%80"),
    "bytes in the address": get(b"/api/state?person=\xff"),
    "a null in the path": get(b"/%00"),
    "a way up": get(b"/%2e%2e/%2e%2e/etc/passwd"),
    "bytes in the path": get(b"/api/answers/%ff/why?person=ada"),
    "a source of many digits": get(b"/api/answers/a1/sources/" + DIGITS + b"?person=ada"),
    "a source of other digits": get(b"/api/answers/a1/sources/%D9%A3?person=ada"),
    "a file with a quote": get(b"/api/files/1/%22%0d%0aX:y?person=ada"),
    "a whole address": get(b"http://[::1/"),
    "another server's address": get(b"http://evil.example/api/state", host=b"Host: evil.example\r\n"),
    "a long address": get(b"/" + b"a" * 20_000),
    "a star": get(b"*"),
    "an address without a slash": get(b"api/state"),
    "many parameters": get(b"/api/state?" + b"&".join(b"p%d=1" % n for n in range(1000))),
    # headers
    "a huge header": get(b"/", b"X-Long: " + b"a" * 100_000 + b"\r\n"),
    "a thousand headers": get(b"/api/state", b"".join(b"X-%d: 1\r\n" % n for n in range(1000))),
    "a header without a colon": get(b"/", b"nonsense\r\n"),
    "a header with a null": get(b"/", b"X-A: \x00\r\n"),
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03nonsense\r\n\r\n",
    "another version": get(b"/", version=b"9.9"),
    "a method that is none": send(b"{}", method=b"EXPLODE"),
    "a method of bytes": send(b"{}", method=b"\xff\xff"),
    # what the API is told
    "an emoji that is none": said("/api/reactions", message="1", emoji={"a": 1}, added=True),
    "a message that is a list": said("/api/reactions", message=["1"], emoji="👍", added=True),
    "a press of nothing": said("/api/presses", message=None, name=None, value=None),
    "fields that are a list": said("/api/presses", message="1", name="x", value="", fields=[1]),
    "a thread that is an object": said("/api/messages", channel="general", text="x", thread={"a": 1}),
    "a command that is a number": said("/api/commands", channel="help", text=7),
    "another's message": send(b'{"person": "ada", "text": "x"}', target=b"/api/messages/1", method=b"PATCH"),
}
KEEPS_GOING: dict[str, bytes] = {
    "a mark of many digits": get(b"/api/events?person=ada", b"Last-Event-ID: {run}-" + DIGITS + b"\r\n"),
    "a mark of bytes": get(b"/api/events?person=ada", b"Last-Event-ID: \xff-\xff\r\n"),
    "cookies that are none": get(b"/api/state?person=ada", b'Cookie: \xff=\xff; ;=;a="\\\r\n'),
    "a token of bytes": get(b"/dashboard", b"Authorization: Bearer \xff\xfe\r\n"),
    "a token of bytes in the address": get(b"/dashboard?token=%ff%ed%a0%80"),
    "a range": get(b"/app.js", b"Range: bytes=9-1\r\n"),
}
"""Odd, but with an answer of its own."""


async def status_of(web: Client, request: bytes) -> int:
    """Send bytes and return the status of the answer, 0 where there is none."""
    address = urlsplit(web.playground.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(request)
        line = await asyncio.wait_for(reader.readline(), PATIENCE)
    except ConnectionError:  # refused before all of it was sent
        return 0
    finally:
        writer.close()
    return int(line.split()[1]) if line else 0


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_malformed_is_refused(web: Client, caplog: pytest.LogCaptureFixture, name: str) -> None:
    status = await status_of(web, MALFORMED[name])
    assert 400 <= status < 500 or status == 0, status
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert (await web.post("/api/messages", **SAY))[0] == 201, "it goes on serving"


@pytest.mark.parametrize("name", KEEPS_GOING)
async def test_what_is_odd_is_answered(web: Client, caplog: pytest.LogCaptureFixture, name: str) -> None:
    run = (await web.call("GET", "/api/state?person=ada"))[1]["event"].partition("-")[0]
    status = await status_of(web, KEEPS_GOING[name].replace(b"{run}", run.encode()))
    assert 200 <= status < 500, status
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("token", [b"\xff\xfe", b"\xed\xa0\x80", "ü".encode(), b"", b"wrong"])
async def test_a_token_of_any_bytes_is_a_wrong_one(tmp_path: Path, token: bytes) -> None:
    given = settings(tmp_path, dashboard_token="s3cret", playground_token="pl4y")
    async with serving(given, FakeDispatch()) as web:
        escaped = b"".join(b"%%%02x" % byte for byte in token)
        for path in (b"/dashboard", b"/"):
            for request in (
                get(path, b"Authorization: Bearer " + token + b"\r\n"),
                get(
                    path,
                    b"Cookie: threadlore_dashboard=" + token + b"; threadlore_playground=" + token + b"\r\n",
                ),
                get(path + b"?token=" + escaped),
            ):
                assert await status_of(web, request) == 401, (path, request)


async def test_a_balancer_asks_for_health_without_a_name_where_the_server_is_for_the_network(
    tmp_path: Path,
) -> None:
    async with serving(settings(tmp_path, host="0.0.0.0"), FakeDispatch()) as web:
        for path, more, status in (
            (b"/healthz", b"", 200),
            (b"/readyz", b"", 503),
            (b"/healthz", b"Origin: https://evil.example\r\n", 403),
            (b"/", b"", 400),
        ):
            assert await status_of(web, get(path, more, host=b"", version=b"1.0")) == status, path


async def test_a_small_body_that_unpacks_to_a_large_one_costs_nothing(web: Client) -> None:
    assert len(BOMB) < 256 * 1024
    assert await status_of(web, send(BOMB, PACKED)) == 415


async def test_head_of_the_stream_of_events_ends(web: Client) -> None:
    assert await status_of(web, get(b"/api/events?person=ada").replace(b"GET", b"HEAD", 1)) < 500
