"""Slack over Socket Mode: the connection, and when its events are acknowledged.

Slack wants each event acknowledged within three seconds and sends some of them more than once. An
event is acknowledged once dispatch has claimed it, a vote once it is counted, so that a process that
dies before that gets it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_chat import SlackChat
from bot.platforms.slack_controls import pressed
from bot.platforms.slack_directory import Directory
from bot.platforms.slack_errors import TRANSIENT, SlackRefused, rejected
from bot.platforms.slack_events import Events, Work
from bot.platforms.slack_pace import PACING, Pacing
from core.errors import PlatformError, PlatformRejected

if TYPE_CHECKING:
    from bot.dispatch import Dispatch
    from core.settings import Settings

log = logging.getLogger(__name__)

# fmt: off
SCOPES = frozenset({
    "app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "groups:history",
    "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read", "reactions:read",
    "reactions:write", "users:read",
})
# fmt: on
"""Bot token scopes; the same as in docs/slack-manifest.yaml."""
_GRACE = 10.0
"""Seconds that work in progress gets when the platform stops."""
_COUNTED = 2.0
"""Seconds within which a vote is counted."""
_CLAIMED = 0.5
"""Seconds within which a message is claimed; answering it may take longer."""
_BACKOFF = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between attempts to reach Slack at start; the last one repeats."""


class Slack:
    """One Slack workspace."""

    name = "slack"

    def __init__(self, settings: Settings, dispatch: Dispatch, pacing: Pacing = PACING) -> None:
        self._settings, self._dispatch, self._pacing = settings, dispatch, pacing
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._running = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._api: SlackApi
        self._directory: Directory
        self._chat: SlackChat
        self._events: Events

    # --- the connection -----------------------------------------------------------------------

    async def run(self) -> None:
        """Serve until `stop`; raises PlatformRejected when a token is refused."""
        settings = self._settings
        self._running = True
        self._api = SlackApi(
            settings.slack_bot_token.get_secret_value().strip(),
            settings.slack_app_token.get_secret_value().strip(),
            settings.slack_api_url,
        )
        serving = asyncio.create_task(self._serve())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
        finally:
            self._api.mute()
            for task in (serving, stopping):
                task.cancel()
            await asyncio.gather(serving, stopping, return_exceptions=True)
            await self._finish_work()
            await self._api.close()
            self._stopped.set()

    async def stop(self) -> None:
        """Take no more events, let work in progress end, and close the connection."""
        self._stopping.set()
        if self._running:
            await self._stopped.wait()

    async def _serve(self) -> None:
        who, granted = await self._reach("SLACK_BOT_TOKEN", self._api.identity)
        if granted and (missing := sorted(SCOPES - granted)):
            log.warning(
                "The Slack app lacks the scopes %s: add them (docs/slack-manifest.yaml) and reinstall it.",
                ", ".join(missing),
            )
        self._directory = Directory(self._api, self._settings.admins, self._settings.helpers)
        streaming = self._settings.slack_streaming
        self._chat = SlackChat(self._api, self._directory, streaming, pacing=self._pacing)
        self._events = Events(self._api, self._directory, self._chat, self._dispatch)
        log.info("Signed in to Slack as %s in %s.", who.get("user"), who.get("team"))
        url = await self._reach("SLACK_APP_TOKEN", self._api.open_socket)
        await self._api.serve(url, self._on_event, self._on_command, self._on_press, self._on_connected)

    async def _reach(self, variable: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Ask until Slack answers; raises PlatformRejected when the answer is no."""
        attempt = 0
        while True:
            try:
                return await ask()
            except SlackRefused as error:
                if error.status == 404 or "JSON" in error.code:
                    raise PlatformRejected(
                        f"SLACK_API_URL ({self._settings.slack_api_url}) is not Slack's Web API: correct it."
                    ) from error
                if error.status < 500 and error.code not in TRANSIENT:
                    raise rejected(variable, error) from error
                pause = max(_BACKOFF[min(attempt, len(_BACKOFF) - 1)], error.retry_after)
                log.warning("Slack does not answer, next attempt in %g s: %s", pause, error)
                attempt += 1
                await asyncio.sleep(pause)

    async def _finish_work(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                # reading an event starts the task that hands it over
                while self._tasks:
                    await asyncio.wait(self._tasks)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- events -------------------------------------------------------------------------------

    def _on_connected(self) -> None:
        self._start(self._dispatch.resume(self._chat))

    def _on_event(self, body: Mapping[str, Any]) -> asyncio.Task[None]:
        """Hand an event over; the task is done when it may be acknowledged."""
        event = body.get("event") or {}
        item = event.get("item") or {}
        channel = str(event.get("channel") or item.get("channel") or "")
        seconds = _COUNTED if str(event.get("type")).startswith("reaction") else _CLAIMED
        shared = body.get("is_ext_shared_channel")
        reading = self._events.receive(
            event, channel, str(body.get("event_id") or ""), None if shared is None else bool(shared)
        )
        return self._start(self._in_order(channel, reading, seconds))

    def _on_command(self, body: Mapping[str, Any]) -> None:
        self._start(self._events.command(body))

    def _on_press(self, body: Mapping[str, Any]) -> None:
        if body.get("type") == "message_action":
            self._start(self._events.answer_this(body))
        elif found := pressed(body):
            self._start(self._events.press(found))

    def _start(self, work: Work) -> asyncio.Task[None]:
        task = asyncio.create_task(self._logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _logged(self, work: Work) -> None:
        try:
            await work
        except PlatformError as error:
            log.warning("Slack did not let an event be handled: %s", error)
        except Exception:  # an event that cannot be handled must not stop the ones after it
            log.exception("An event from Slack could not be handled")

    async def _in_order(
        self, channel: str, reading: Coroutine[Any, Any, Work | None], seconds: float
    ) -> None:
        """Hand a channel's events over in the order they came, though reading one may take a look-up.

        Then wait until dispatch is done, up to so many seconds.
        """
        lock = self._order.setdefault(channel, asyncio.Lock())
        async with lock:
            handing_over = await reading
            if handing_over is None:
                return
            started = self._start(handing_over)
        await asyncio.wait({started}, timeout=seconds)
