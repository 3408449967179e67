"""Who is let in: by which names the web server answers, to pages of which sites, and with which tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import aiohttp
import aiohttp.web
import pytest
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from bot.platforms.web.http.guard import Guard
from bot.platforms.web.platform import Playground, WithoutPlayground, connect
from core.errors import StorageUnavailable
from core.system.hosts import is_loopback
from tests.platforms.web_client import Client, Stream, serving, settings
from tests.platforms.web_dispatch import FakeDispatch

SAY = {"person": "chloe", "channel": "general", "text": "hi"}
SLACK = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1"}
FOR_ALL = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/dashboard"),
    ("GET", "/api/dashboard"),
    ("GET", "/api/progress"),
    ("GET", "/api/threads"),
    ("GET", "/{name}"),
}
"""Routes that do not want the playground's token: they have rules of their own, or are code alone."""


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Client]:
    async with serving(settings(tmp_path), FakeDispatch()) as client:
        yield client


# --- names and sites --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.8.8.8", "[::1]:8080", "a.localhost", "localhost."],
)
def test_loopback_hosts(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", "[::2]", "[x", "127.1"],
)
def test_other_hosts(host: str) -> None:
    assert not is_loopback(host)


async def test_rebound_names_and_other_sites_are_refused(web: Client) -> None:
    own = web.playground.url
    for headers, status in (
        ({"Host": "evil.example:8080"}, 403),
        ({"Host": "10.0.0.1"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": own, "Sec-Fetch-Site": "same-origin"}, 201),
    ):
        assert (await web.call("POST", "/api/messages", json=SAY, headers=headers))[0] == status, headers
    assert (await web.call("GET", "/api/state?person=ada", headers={"Host": "evil.example"}))[0] == 403
    assert (await web.call("GET", "/api/events?person=ada", headers={"Origin": "https://evil.example"}))[
        0
    ] == 403


async def test_a_server_for_the_network_answers_to_no_name_that_a_site_could_have(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A site that the operator visits may have its name point here; it cannot send another one."""
    given = settings(tmp_path, host="0.0.0.0", allowed_hosts="bot.example.org, Other.example")
    async with serving(given, FakeDispatch()) as web:
        for host, status in (
            ("evil.example", 403),
            ("evil.example:8080", 403),
            ("bot.example.org.evil.example", 403),
            ("bot.example.org", 201),
            ("BOT.example.org.:443", 201),
            ("other.example", 201),
            ("192.168.1.7:8080", 201),
            ("[fd00::7]:8080", 201),
            ("localhost", 201),
        ):
            for path in ("/api/messages", "/api/presses", "/api/commands", "/api/reactions"):
                told, _ = await web.call("POST", path, json=SAY | {"text": "/ask x"}, headers={"Host": host})
                assert told == 403 if status == 403 else told != 403, (host, path)
            assert (await web.call("POST", "/api/messages", json=SAY, headers={"Host": host}))[0] == status
        refused = await web.call("GET", "/api/events?person=ada", headers={"Host": "evil.example"})
        assert refused[0] == 403 and "THREADLORE_ALLOWED_HOSTS" in refused[1]["error"]
        # a proxy may ask by its own name, or hand on the one it was asked by
        for headers, status in (
            ({"Host": "127.0.0.1", "Origin": "https://bot.example.org"}, 201),
            ({"Host": "bot.example.org", "Origin": "https://bot.example.org"}, 201),
            ({"Host": "bot.example.org", "Origin": "https://evil.example"}, 403),
            ({"Host": "evil.example", "Origin": "https://evil.example"}, 403),
            ({"Host": "evil.example", "Origin": "https://bot.example.org"}, 403),
        ):
            assert (await web.call("POST", "/api/messages", json=SAY, headers=headers))[0] == status, headers
        # monitors ask by the name that they know
        assert (await web.call("GET", "/healthz", headers={"Host": "threadlore"}))[0] == 200
        assert (await web.call("GET", "/readyz", headers={"Host": "threadlore"}))[0] == 503
        told = await web.call("GET", "/metrics", headers={"Host": "threadlore"})
        assert told[0] == 403 and "DASHBOARD_TOKEN" in told[1]["error"]
        headers = {"Host": "box.example", "Origin": "https://evil.example"}
        assert (await web.call("GET", "/healthz", headers=headers))[0] == 403
    assert "everybody, admins included" in caplog.text


async def test_a_number_of_thousands_of_digits_is_no_source(web: Client) -> None:
    answer = await web.answer(await web.say("How?"))
    for number in ("9" * 5000, "٣" * 20):
        path = f"/api/answers/{answer['answer']}/sources/{number}?person=ada"
        assert (await web.call("GET", path))[0] == 404


# --- tokens -----------------------------------------------------------------------------------


async def routes_without_a_token(web: Client) -> set[tuple[str, str]]:
    """Return the routes that answer without a token, and see that all others say what is missing."""
    found = set()
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as stranger:
        for route in web.playground._server.app.router.routes():
            assert route.resource is not None
            path = route.resource.canonical
            if route.method == "HEAD":
                continue
            filled = path.format(id="1", number="1", name="app.js") if "{" in path else path
            body = SAY | {
                "text": "/threadlore pause",
                "message": "1",
                "name": "x",
                "emoji": "👍",
                "added": True,
            }
            given = {} if route.method == "GET" else {"json": body}
            url = f"{web.playground.url}{filled}?person=chloe"
            async with stranger.request(route.method, url, **given) as response:
                if response.status != 401:
                    found.add((route.method, path))
                else:
                    assert "token" in (await response.json())["error"], path
    return found


@pytest.mark.parametrize(
    "given",
    [
        {**SLACK, "playground": True},
        {"discord_token": "x", "playground": True},
        {"host": "0.0.0.0"},
        {"allowed_hosts": "bot.example.org"},
        {"playground_token": "pl4y"},
    ],
)
async def test_without_the_token_nothing_of_the_playground_answers(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    given: dict[str, object],
) -> None:
    caplog.set_level("DEBUG")
    async with serving(settings(tmp_path, **given), FakeDispatch()) as web:
        assert await routes_without_a_token(web) == FOR_ALL
        assert web.dispatch.messages == web.dispatch.commands == web.dispatch.presses == []
        wrong = {"Authorization": f"Bearer {web.token[:-1]}{'y' if web.token[-1] == 'x' else 'x'}"}
        assert (await web.call("POST", "/api/messages", json=SAY, headers=wrong))[0] == 401
        assert (await web.call("POST", "/api/messages", json=SAY))[0] == 201, "with the token"
        async with Stream(web, "ada"):
            pass
        printed, link = capsys.readouterr().out, web.playground.link
    made = "playground_token" not in given
    assert printed == (f"Open the playground: {link}\n" if made else "") and len(web_token(link)) >= 4
    assert web_token(link) not in caplog.text, "the log is read by more people"


def web_token(link: str) -> str:
    return link.partition("?token=")[2]


async def test_the_link_leaves_a_cookie_that_opens_the_page_and_its_api(tmp_path: Path) -> None:
    async with serving(settings(tmp_path, **SLACK, playground=True), FakeDispatch()) as web:
        jar = aiohttp.CookieJar(unsafe=True)  # for an address in place of a name
        async with aiohttp.ClientSession(cookie_jar=jar) as browser:
            assert (await browser.get(f"{web.playground.url}/?token=wrong")).status == 401
            first = await browser.get(web.playground.link, allow_redirects=False)
            assert first.status == 303 and first.headers["Location"] == "/"
            assert {"HttpOnly", "SameSite=Lax"} <= set(first.headers["Set-Cookie"].split("; "))
            page = await browser.get(f"{web.playground.url}/")
            assert page.status == 200 and "app.js" in await page.text()
            assert (await browser.post(f"{web.playground.url}/api/messages", json=SAY)).status == 201
            opened = await browser.get(f"{web.playground.url}/api/dashboard")
            assert opened.status == 503, "the dashboard has a rule of its own, and no figures here"


@pytest.mark.parametrize("token", ["ab+cd/ef==", "ab&cd", "ab#cd", "tok%41en", "100%", "a b;c", "grün"])
async def test_a_token_may_have_any_characters(tmp_path: Path, token: str) -> None:
    async with serving(settings(tmp_path, host="0.0.0.0", playground_token=token), FakeDispatch()) as web:
        typed = f"{web.playground.url}/?token={quote(token, safe='+&%;/=')}"  # what browsers make of it
        for link in (web.playground.link, *(() if "#" in token else (typed,))):
            async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
                assert (await browser.get(URL(link, encoded=True))).status == 200, link
                assert (await browser.post(f"{web.playground.url}/api/messages", json=SAY)).status == 201


FOLLOWED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


async def test_a_link_on_another_site_opens_a_page_and_nothing_else(tmp_path: Path) -> None:
    given = settings(tmp_path, playground_token="pl4y", dashboard_token="d4sh")
    async with serving(given, FakeDispatch()) as web:
        cookies = {"threadlore_playground": "pl4y", "threadlore_dashboard": "d4sh"}
        for method, path, more, status in (
            ("GET", "/?token=pl4y", {}, 303),
            ("GET", "/", {}, 200),
            ("GET", "/dashboard?token=d4sh", {}, 303),
            ("GET", "/dashboard", {}, 200),
            ("GET", "/", {"Sec-Fetch-Dest": "iframe"}, 403),
            ("GET", "/dashboard", {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403),
            ("GET", "/api/state?person=ada", {}, 403),
            ("GET", "/api/dashboard", {}, 403),
            ("GET", "/app.js", {}, 403),
            ("POST", "/", {}, 403),
        ):
            async with web.session.request(
                method,
                web.playground.url + path,
                headers=FOLLOWED | more,
                cookies=cookies,
                allow_redirects=False,
            ) as answer:
                assert answer.status == status, (method, path, more)


async def test_a_cookie_that_goes_with_links_changes_nothing(tmp_path: Path) -> None:
    async with serving(settings(tmp_path, playground_token="pl4y"), FakeDispatch()) as web:
        changing = {
            (route.method, route.resource.canonical)
            for route in web.playground._server.app.router.routes()
            if route.resource is not None and route.method not in ("GET", "HEAD")
        }
        assert len(changing) >= 7
        for method, path in changing:
            url = web.playground.url + path.format(id="1")
            for headers, status in (
                ({"Origin": "https://evil.example", "Content-Type": "application/json"}, 403),
                ({"Origin": "null", "Content-Type": "application/json"}, 403),
                (FOLLOWED | {"Content-Type": "application/json"}, 403),
                ({"Content-Type": "text/plain"}, 415),
                ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
            ):
                async with web.session.request(
                    method,
                    url,
                    data='{"person": "ada"}',
                    headers=headers,
                    cookies={"threadlore_playground": "pl4y"},
                ) as answer:
                    assert answer.status == status, (method, path, headers)


async def test_a_token_is_another_one_at_each_start(tmp_path: Path) -> None:
    tokens = set()
    for _ in range(2):
        async with serving(settings(tmp_path, host="0.0.0.0"), FakeDispatch()) as web:
            tokens.add(web.token)
    assert len(tokens) == 2 and min(map(len, tokens)) >= 32


async def test_the_playgrounds_token_does_not_open_the_dashboard(tmp_path: Path) -> None:
    given = settings(tmp_path, host="0.0.0.0", playground_token="pl4y", dashboard_token="d4sh")
    async with serving(given, FakeDispatch()) as web:
        for path, token, status in (
            ("/api/dashboard", "pl4y", 401),
            ("/api/dashboard", "d4sh", 503),
            ("/api/state?person=ada", "d4sh", 401),
            ("/api/state?person=ada", "pl4y", 200),
        ):
            headers = {"Authorization": f"Bearer {token}"}
            assert (await web.call("GET", path, headers=headers))[0] == status, (path, token)


async def test_a_demo_on_this_machine_is_as_easy_as_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        assert web.playground.link == f"{web.playground.url}/" and capsys.readouterr().out == ""
        async with web.session.get(web.playground.link) as page:
            assert page.status == 200
        assert (await web.post("/api/messages", **SAY))[0] == 201


# --- beside Slack and Discord -----------------------------------------------------------------


def test_beside_slack_and_discord_there_is_a_playground_only_where_it_is_asked_for(tmp_path: Path) -> None:
    dispatch: object = FakeDispatch()
    for given, kind in (
        ({}, Playground),
        ({"playground": True}, Playground),
        ({"playground": False}, type(None)),
        (SLACK, WithoutPlayground),
        ({"slack_app_token": "xapp-1"}, WithoutPlayground),
        ({"discord_token": "x"}, WithoutPlayground),
        (SLACK | {"playground": True}, Playground),
        (SLACK | {"playground": False}, type(None)),
    ):
        assert type(connect(settings(tmp_path, **given), dispatch)) is kind, given  # type: ignore[arg-type]


async def test_without_a_playground_the_dashboard_and_what_machines_ask_are_there(tmp_path: Path) -> None:
    async with serving(settings(tmp_path, **SLACK), FakeDispatch(), WithoutPlayground) as web:
        for path, status in (
            ("/healthz", 200),
            ("/readyz", 503),
            ("/metrics", 503),
            ("/api/dashboard", 503),
            ("/", 404),
            ("/api/state?person=ada", 404),
        ):
            told, body = await web.call("GET", path)
            assert told == status, (path, body)
        assert "THREADLORE_PLAYGROUND=true" in (await web.call("GET", "/"))[1]["error"]
        for path in ("/dashboard", "/dashboard.js"):
            async with web.session.get(web.playground.url + path) as page:
                assert page.status == 200
        assert (await web.call("POST", "/api/messages", json=SAY))[0] == 404
        assert (await web.call("GET", "/healthz", headers={"Host": "evil.example"}))[0] == 403
    assert urlsplit(web.playground.url).path == ""


async def test_while_the_database_is_away_a_page_is_told_so_in_a_sentence() -> None:
    async def read(request: aiohttp.web.Request) -> aiohttp.web.Response:
        raise StorageUnavailable("The database fails.")

    app = aiohttp.web.Application(middlewares=[Guard("127.0.0.1").handle])
    app.router.add_get("/api/state", read)
    async with TestClient(TestServer(app)) as client:
        answer = await client.get("/api/state")
        assert answer.status == 503 and "cannot save anything" in (await answer.json())["error"]
