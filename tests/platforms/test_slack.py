import asyncio
import gc
import re
import warnings
from pathlib import Path

import pytest
from aiohttp import web

from bot.platforms.slack.api import client
from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.connection import SCOPES
from bot.platforms.slack.platform import connect
from bot.ports.chat import Chat, Message, Reply
from core.errors import ConfigurationError, PlatformRejected
from core.settings import load_settings
from tests.patience import SOON
from tests.platforms.slack_bot import Recorder, dispatch_fixture, serving, settings_for, slack_fixture  # noqa: F401
from tests.platforms.slack_server import SlackServer

# --- configuration ----------------------------------------------------------------------------


def test_without_tokens_there_is_no_slack(dispatch: Recorder) -> None:
    assert connect(load_settings(None, slack_bot_token="", slack_app_token=" "), dispatch) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
def test_one_token_alone_is_a_mistake(missing: str, dispatch: Recorder) -> None:
    tokens = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1"} | {missing.lower(): ""}
    with pytest.raises(ConfigurationError, match=f"{missing} is missing"):
        connect(load_settings(None, **tokens), dispatch)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"bot_token": "xoxb-wrong"}, "SLACK_BOT_TOKEN.*invalid_auth"),
        ({"bot_token": "xapp-right"}, "SLACK_BOT_TOKEN.*not_allowed_token_type"),
        ({"app_token": "xapp-wrong"}, "SLACK_APP_TOKEN.*invalid_auth"),
        ({"app_token": "xoxb-right"}, "SLACK_APP_TOKEN.*not_allowed_token_type"),
    ],
)
async def test_a_refused_token_names_the_variable(
    given: dict[str, str], told: str, slack: SlackServer, dispatch: Recorder
) -> None:
    platform = connect(settings_for(slack, **given), dispatch)  # type: ignore[arg-type]
    assert platform
    with pytest.raises(PlatformRejected, match=told):
        await asyncio.wait_for(platform.run(), SOON)
    await asyncio.wait_for(platform.stop(), SOON)


@pytest.mark.parametrize("error", ["account_inactive", "token_revoked", "missing_scope"])
async def test_a_token_that_was_taken_back_is_refused(
    error: str, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.fail("auth.test", error)
    platform = connect(settings_for(slack), dispatch)  # type: ignore[arg-type]
    assert platform
    with pytest.raises(PlatformRejected, match=error):
        await asyncio.wait_for(platform.run(), SOON)


async def test_a_wrong_address_names_its_variable(slack: SlackServer, dispatch: Recorder) -> None:
    platform = connect(settings_for(slack, url=slack.url.replace("/api/", "/elsewhere")), dispatch)  # type: ignore[arg-type]
    assert platform
    with pytest.raises(PlatformRejected, match="SLACK_API_URL"):
        await asyncio.wait_for(platform.run(), SOON)


async def test_slack_being_down_at_the_start_is_waited_out(slack: SlackServer, dispatch: Recorder) -> None:
    slack.fail("auth.test", "internal_error", status=503)
    slack.fail("apps.connections.open", "ratelimited", status=429, retry_after=0)
    async with serving(slack, dispatch):
        assert slack.connected


@pytest.mark.parametrize("kind", ["application/json", "text/html"])
@pytest.mark.parametrize("status", [500, 503])
async def test_an_error_of_a_server_before_slack_is_waited_out_whatever_it_calls_its_words(
    status: int, kind: str, dispatch: Recorder
) -> None:
    class Before(SlackServer):
        """Slack behind a server that fails at first."""

        failures = 2

        async def _web(self, request: web.Request) -> web.Response:
            if self.failures:
                self.failures -= 1
                return web.Response(text="upstream connect error", status=status, content_type=kind)
            return await super()._web(request)

    async with Before() as slack, serving(slack, dispatch):
        assert slack.connected


async def test_the_time_that_slack_wants_to_be_left_alone_for_is_waited_at_the_start(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.fail("auth.test", "ratelimited", status=429, retry_after=1)
    begun = asyncio.get_running_loop().time()
    async with serving(slack, dispatch):
        assert asyncio.get_running_loop().time() - begun >= 1


async def test_a_socket_is_asked_for_again_only_when_slack_wants_to_hear_of_it(
    slack: SlackServer, dispatch: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "QUICK", 0.2)  # as patient as that it is with a call, and no longer
    slack.fail("apps.connections.open", "ratelimited", status=429, retry_after=2)
    async with serving(slack, dispatch):
        assert not slack.early


async def test_stopping_while_slack_is_unreachable(slack: SlackServer, dispatch: Recorder) -> None:
    platform = connect(settings_for(slack, url="http://127.0.0.1:9/api"), dispatch)  # type: ignore[arg-type]
    assert platform
    running = asyncio.create_task(platform.run())
    await asyncio.sleep(0.1)
    await asyncio.wait_for(platform.stop(), SOON)
    await running


async def test_a_base_url_without_a_slash_and_a_proxy_for_others(
    slack: SlackServer, dispatch: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-other")
    async with serving(slack, dispatch, url=slack.url.rstrip("/")):
        slack.say("U1", "C1", "hello")
        await slack.until(lambda: dispatch.messages)


async def test_missing_scopes_are_told(
    slack: SlackServer, dispatch: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    slack.scopes = ",".join(SCOPES - {"reactions:write"})
    async with serving(slack, dispatch):
        assert "lacks the scopes reactions:write" in caplog.text


# --- the socket -------------------------------------------------------------------------------


async def test_a_disconnect_frame_leads_to_a_new_connection(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        await slack.disconnect()
        await slack.until(lambda: slack.connections == 2)
        slack.say("U1", "C1", "still there?")
        await slack.until(lambda: dispatch.messages)
    assert dispatch.resumed == ["slack"]


async def test_a_dropped_connection_is_made_anew(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        await slack.drop()
        await slack.until(lambda: slack.connections == 2)
        slack.say("U1", "C1", "still there?")
        await slack.until(lambda: dispatch.messages)


async def test_a_token_revoked_later_ends_the_platform(slack: SlackServer, dispatch: Recorder) -> None:
    platform = connect(settings_for(slack), dispatch)  # type: ignore[arg-type]
    assert platform
    running = asyncio.create_task(platform.run())
    await slack.until(lambda: slack.connected)
    slack.fail("apps.connections.open", "token_revoked", times=9)
    await slack.disconnect("link_disabled")
    with pytest.raises(PlatformRejected, match="SLACK_APP_TOKEN"):
        await asyncio.wait_for(running, SOON)


async def test_stop_waits_for_work_in_progress_which_can_still_post(slack: SlackServer) -> None:
    async def answer(chat: Chat, message: Message) -> None:
        await asyncio.sleep(0.1)
        await chat.post(message.ref, Reply("done"))

    dispatch = Recorder(on_message=answer)
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "go")
        await slack.until(lambda: dispatch.messages)
    assert [m["text"] for m in slack.said("C1")] == ["done"]
    assert not [
        t for t in asyncio.all_tasks() if "ocket" in repr(t.get_coro()) and "aiohttp.client" in repr(t)
    ]


async def test_a_socket_url_that_does_not_work_is_given_up_for_a_new_one(slack: SlackServer) -> None:
    slack.broken_links = 1
    api = SlackApi(slack.bot_token, slack.app_token, slack.url, ping=0.02, stale_after=0.1)
    serving_it = asyncio.create_task(api.serve(await api.open_socket(), print, print, print, lambda: None))
    await slack.until(lambda: slack.connected)
    serving_it.cancel()
    await asyncio.gather(serving_it, return_exceptions=True)
    await api.close()
    assert len(slack.called("apps.connections.open")) == 2


async def test_nothing_is_left_open(slack: SlackServer, dispatch: Recorder) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    gc.collect()  # what other tests left
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        before = asyncio.all_tasks()
        async with serving(slack, dispatch):
            slack.say("U1", "C1", "hello")
            await slack.until(lambda: dispatch.messages)
            await slack.disconnect()
            await slack.until(lambda: slack.connections == 2)
            await slack.until(lambda: [c.method for c in slack.calls].count("users.conversations") == 2)
        left = {task for task in asyncio.all_tasks() - before if "aiohttp/web" not in repr(task)}
        gc.collect()
    assert not left and not complaints
    assert not [w for w in warned if issubclass(w.category, ResourceWarning)]


def test_the_manifest_asks_for_the_scopes_that_are_checked() -> None:
    manifest = (Path(__file__).parents[2] / "docs" / "slack-manifest.yaml").read_text("utf-8")
    scopes = manifest.partition("    bot:\n")[2].partition("settings:")[0]
    assert set(re.findall(r"- ([a-z_:]+)", scopes)) == SCOPES
    assert {"/ask", "/threadlore"} == set(re.findall(r"command: (\S+)", manifest))
