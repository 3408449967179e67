"""Slack over Socket Mode: the connection, and when its events are acknowledged.

Slack wants each event acknowledged within three seconds, else it sends it again. An event is acknowledged
once dispatch has claimed it, a vote once it is counted, however long that takes, so that a process that dies
before that gets it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import PACING, TRANSIENT, Pacing, SlackRefused, rejected
from bot.platforms.slack.chat import SlackChat
from bot.platforms.slack.components import pressed
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.doctor import SCOPES
from bot.platforms.slack.events import Events, Work
from bot.platforms.slack.home import HomeTabs
from core.errors import PlatformError, PlatformRejected, StorageUnavailable

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch
    from core.settings import Settings

log = logging.getLogger(__name__)

_GRACE = 10.0
"""Seconds that work in progress gets when the platform stops."""
_BACKOFF = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between attempts to reach Slack at start; the last one repeats."""


async def _nothing(before: float, dry_run: bool) -> int:
    """Keep nothing that could expire."""
    return 0


class Slack:
    """One Slack workspace."""

    name = "slack"

    def __init__(self, settings: Settings, dispatch: Dispatch, pacing: Pacing = PACING) -> None:
        self._settings, self._dispatch, self._pacing = settings, dispatch, pacing
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._running = self._resumed = False
        self._tasks: set[asyncio.Task[bool]] = set()
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._ids: dict[str, str] = {}
        """What channels that got another id are called now, by what they were."""
        self._api: SlackApi
        self._directory: Directory
        self._chat: SlackChat
        self._events: Events
        self._tabs: HomeTabs | None = None

    # --- the connection -----------------------------------------------------------------------

    async def run(self) -> None:
        """Serve until `stop`; raises PlatformRejected when a token is refused."""
        settings = self._settings
        self._running = True
        self._api = SlackApi(
            settings.slack_bot_token.get_secret_value().strip(),
            settings.slack_app_token.get_secret_value().strip(),
            settings.slack_api_url,
            others=settings.cluster,
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
        given: dict[str, Any] = {"pacing": self._pacing, "votes": self._settings.slack_votes}
        given["is_out"] = self._dispatch.is_out
        self._chat = SlackChat(self._api, self._directory, streaming, **given)
        self._tabs = HomeTabs(self._api, self._directory, self._chat, self._dispatch, self._settings.home)
        self._events = Events(self._api, self._directory, self._chat, self._dispatch, self._tabs, self._start)
        log.info("Signed in to Slack as %s in %s.", who.get("user"), who.get("team"))
        url = await self._reach("SLACK_APP_TOKEN", self._api.open_socket)
        with self._dispatch.holders.running(self.name, forget=self._tabs.forget, expire=_nothing):
            await self._tabs.restore()
            await self._api.serve(url, self._on_event, self._on_command, self._on_press, self._on_connected)

    async def _reach(self, variable: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Ask until Slack answers; raises PlatformRejected when the answer is no."""
        attempt = 0
        while True:
            try:
                return await ask()
            except SlackRefused as error:
                if error.status == 404 or ("JSON" in error.code and error.status < 500):
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
        if self._tabs is not None:
            self._tabs.stop()
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
        if not self._resumed:
            self._resumed = True
            self._start(self._dispatch.resume(self._chat))
        self._start(self._closed_meanwhile())
        self._dispatch.recount.begin(self._chat, self._chat.reader)

    async def _closed_meanwhile(self) -> None:
        """Keep inside what was learnt in channels that became private while Slack could not say so."""
        for channel in await self._directory.closed():
            await self._dispatch.channel_became_private(channel, now=False)

    async def _on_event(self, body: Mapping[str, Any]) -> bool:
        """Hand an event over; return True once it may be acknowledged, False if it must come again."""
        event = self._renamed(body.get("event") or {})
        item = event.get("item")
        within = item.get("channel") if isinstance(item, Mapping) else ""
        channel = str(event.get("channel") or within or event.get("new_channel_id") or "")
        shared = body.get("is_ext_shared_channel")
        taken = asyncio.Event()
        reading = self._events.receive(
            event,
            channel,
            str(body.get("event_id") or ""),
            None if shared is None else bool(shared),
            taken.set,
        )
        dealing = self._start(self._in_order(channel, reading))
        waiting = asyncio.create_task(taken.wait())
        try:
            await asyncio.wait({dealing, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        return taken.is_set() or (dealing.done() and not dealing.cancelled() and dealing.result())

    def _renamed(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an event that names a channel by the id that it had before as one of what it is now."""
        if event.get("type") == "channel_id_changed":
            self._ids[str(event.get("old_channel_id"))] = str(event.get("new_channel_id"))
            return event
        item = event.get("item")
        if isinstance(item, Mapping) and (now := self._ids.get(str(item.get("channel")))):
            event = {**event, "item": {**item, "channel": now}}
        if now := self._ids.get(str(event.get("channel"))):
            event = {**event, "channel": now}
        return event

    async def _on_command(self, body: Mapping[str, Any]) -> None:
        """Return when a slash command may be acknowledged; it is carried out afterwards."""
        if await self._events.note_command(body):
            self._start(self._events.command(body))

    async def _on_press(self, body: Mapping[str, Any]) -> None:
        """Return when a press may be acknowledged; it is dealt with afterwards."""
        if body.get("type") == "message_action":
            if await self._events.note_answer_this(body):
                self._start(self._events.answer_this(body))
        elif (found := pressed(body)) and await self._events.note_press(found):
            self._start(self._events.press(found))

    def _start(self, work: Work) -> asyncio.Task[bool]:
        task = asyncio.create_task(self._logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _logged(self, work: Work) -> bool:
        """Do some work; return False if it could not be kept, so that it must be told again."""
        try:
            await work
        except StorageUnavailable as error:
            log.error("An event from Slack could not be kept: %s", error)
            return False
        except PlatformError as error:
            log.warning("Slack did not let an event be handled: %s", error)
        except Exception:  # an event that cannot be handled must not stop the ones after it
            log.exception("An event from Slack could not be handled")
        return True

    async def _in_order(self, channel: str, reading: Coroutine[Any, Any, Work | None]) -> None:
        """Hand a channel's events over in the order they came, though reading one may take a look-up."""
        lock = self._order.setdefault(channel, asyncio.Lock())
        async with lock:
            handing_over = await reading
            if handing_over is None:
                return
            # it takes its place among the channel's messages at once, and need not be waited for
            dealing = asyncio.create_task(handing_over)
            await asyncio.sleep(0)
        try:
            await asyncio.shield(dealing)
        except asyncio.CancelledError:
            dealing.cancel()
            await asyncio.wait({dealing})
            raise
