"""Slack over Socket Mode: turns Slack's events into messages, reactions, commands and presses.

Slack wants each event acknowledged within three seconds and sends some of them more than once. An
event is acknowledged once dispatch has claimed it, a vote once it is counted, so that a process that
dies before that gets it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from bot.chat import Command, Message, Person, Press, Reaction
from bot.mrkdwn import unescaped
from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_chat import SlackChat
from bot.platforms.slack_command import SlackResponder
from bot.platforms.slack_controls import Pressed, pressed
from bot.platforms.slack_directory import Directory
from bot.platforms.slack_errors import TRANSIENT, SlackRefused, rejected
from bot.platforms.slack_reading import is_person
from core.domain import MessageRef
from core.errors import PlatformRejected

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


Work = Coroutine[Any, Any, None]


class Slack:
    """One Slack workspace."""

    name = "slack"

    def __init__(self, settings: Settings, dispatch: Dispatch) -> None:
        self._settings, self._dispatch = settings, dispatch
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._running = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._api: SlackApi
        self._directory: Directory
        self._chat: SlackChat

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
        self._chat = SlackChat(self._api, self._directory, self._settings.slack_streaming)
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
                pause = _BACKOFF[min(attempt, len(_BACKOFF) - 1)]
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
        reading = self._receive(event, channel, str(body.get("event_id") or ""))
        return self._start(self._in_order(channel, reading, seconds))

    def _on_command(self, body: Mapping[str, Any]) -> None:
        self._start(self._command(body))

    def _on_press(self, body: Mapping[str, Any]) -> None:
        if body.get("type") == "message_action":
            self._start(self._answer_this(body))
        elif found := pressed(body):
            self._start(self._press(found))

    def _start(self, work: Work) -> asyncio.Task[None]:
        task = asyncio.create_task(self._logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _logged(self, work: Work) -> None:
        try:
            await work
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

    async def _receive(self, event: dict[str, Any], channel: str, event_id: str) -> Work | None:
        match event.get("type"), event.get("subtype"):
            case ("reaction_added" | "reaction_removed") as kind, _:
                return await self._reaction(event, kind == "reaction_added", event_id)
            case "message", "message_deleted":
                before = event.get("previous_message") or {}
                return (
                    None
                    if self._chat.reader.own(before)
                    else self._deleted(channel, event.get("deleted_ts"), before)
                )
            case "message", "message_changed":
                return await self._changed(event, channel, event_id)
            case "message", "channel_convert_to_private":
                await self._directory.scope(channel, "group")
                return self._dispatch.channel_became_private(f"slack:{channel}")
            case "message", "channel_convert_to_public":
                await self._directory.scope(channel, "channel")
            case (("message" | "app_mention"), _):
                message = await self._message(event, channel, str(event.get("channel_type") or ""), event_id)
                return self._dispatch.message(self._chat, message) if message else None
        return None

    async def _changed(self, event: dict[str, Any], channel: str, event_id: str) -> Work | None:
        now, before = event.get("message") or {}, event.get("previous_message") or {}
        if now.get("subtype") == "tombstone":
            return (
                None
                if self._chat.reader.own(before)
                else self._deleted(channel, now.get("ts"), before or now)
            )
        # links that unfold and languages that are detected change a message as well, but not its words
        reworded = (
            now.get("text") != before.get("text") if before else "edited" in now or "attachments" not in now
        )
        if not reworded:
            return None
        message = await self._message(now, channel, str(event.get("channel_type") or ""), event_id)
        return self._dispatch.edited(self._chat, message) if message else None

    def _deleted(self, channel: str, ts: object, before: dict[str, Any]) -> Work:
        thread = str(before.get("thread_ts") or ("" if channel.startswith("D") else ts))
        return self._dispatch.deleted(self._chat, MessageRef("slack", channel, str(ts), thread))

    async def _message(self, event: dict[str, Any], channel: str, kind: str, event_id: str) -> Message | None:
        reader = self._chat.reader
        if reader.own(event) or not is_person(event):
            return None
        if kind == "mpim" and not reader.read(str(event.get("text") or ""))[1]:
            # people who talk among themselves; only a channel of two is a talk with the bot
            return None
        message = await reader.message_from(event, channel, kind, event_id)
        team = str(event.get("user_team") or event.get("team") or "")
        self._chat.heard(message.ref, str(event["user"]), team)
        return message

    async def _reaction(self, event: dict[str, Any], added: bool, event_id: str) -> Work | None:
        item, user = event.get("item") or {}, str(event.get("user") or "")
        if item.get("type") != "message" or not user or user == self._chat.user:
            return None
        person = await self._directory.person(user)
        ref = MessageRef("slack", str(item["channel"]), str(item["ts"]))
        author = f"slack:{event['item_user']}" if event.get("item_user") else ""
        reaction = Reaction(ref, person, str(event.get("reaction") or ""), added, event_id, author)
        return self._dispatch.reaction(self._chat, reaction)

    async def _press(self, found: Pressed) -> None:
        # a form has to be opened within three seconds, so both are looked up at once
        scope, person = await asyncio.gather(
            self._directory.scope(found.ref.channel), self._directory.person(found.user)
        )
        thread = found.ref.thread or ("" if scope.kind == "direct" else found.ref.message)
        ref = replace(found.ref, thread=thread)
        press = Press(found.name, found.value, ref, person, scope, found.fields, found.trigger)
        responder = SlackResponder(self._api, self._chat, "", ref, found.user, found.trigger)
        await self._dispatch.press(self._chat, press, responder)

    async def _answer_this(self, body: Mapping[str, Any]) -> None:
        """Ask with the words of a message that somebody chose "Answer this" under, for them alone."""
        channel, user = str(body["channel"]["id"]), str(body["user"]["id"])
        message = await self._chat.reader.message_from(body["message"], channel)
        person = await self._directory.person(user)
        event = str(body.get("trigger_id") or "")
        author = message.author.id
        command = Command("ask", message.text, person, message.ref, message.scope, event, author)
        url = str(body.get("response_url") or "")
        responder = SlackResponder(self._api, self._chat, url, message.ref, user)
        await self._dispatch.command(self._chat, command, responder)

    async def _command(self, body: Mapping[str, Any]) -> None:
        channel, user = str(body.get("channel_id") or ""), str(body.get("user_id") or "")
        where = MessageRef("slack", channel, "", "")
        scope = await self._directory.scope(channel)
        person: Person = await self._directory.person(user)
        # a workspace may have given the commands other names: /flask-ask is /ask
        name = "ask" if str(body.get("command") or "").casefold().endswith("ask") else "threadlore"
        written = str(body.get("text") or "")
        # in a command for admins a mention is an account, not a name
        text = self._chat.reader.read(written)[0] if name == "ask" else unescaped(written)
        command = Command(name, text, person, where, scope, str(body.get("trigger_id") or ""))
        responder = SlackResponder(self._api, self._chat, str(body.get("response_url") or ""), where, user)
        await self._dispatch.command(self._chat, command, responder)
