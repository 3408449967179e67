"""Answers that stream into a message by Slack's own methods, where a workspace has them.

A stream can only be added to, and Slack refuses `chat.update` on a message that streams. So the sign of work,
the pages and the words are added as they come, and the finished answer replaces all of it once the stream
is stopped: it is the same message as where there are no streams, with its sources and its buttons.

Facts (docs.slack.dev, methods `chat.startStream`, `chat.appendStream`, `chat.stopStream`): a thread and the
person who is answered are needed; 12,000 characters a call; tiers 2, 4 and 2. Slack ends a stream by itself
after some minutes, or without a word for half a minute (python-slack-sdk, issue 1859):
`message_not_in_streaming_state`. From then on the message is edited like any other.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from bot.platforms.slack.api.client import QUICK, SlackApi
from bot.platforms.slack.api.errors import NO_STREAMS, TRANSIENT, SlackRefused
from bot.platforms.slack.text.mrkdwn import defuse
from bot.ports.chat import Reply
from bot.rendering.harmless import harmless
from core.errors import ThreadloreError

log = logging.getLogger(__name__)

LONGEST = 11_000
"""Characters that are streamed; Slack takes 12,000. What goes beyond comes with the finished answer."""
PAUSE = 30.0
"""Seconds without a new stream after Slack has said that there are too many, where it names no time, or has
said nothing."""
_WORD = 40
"""Characters up to which the last word of a growing text waits for its end."""
_MENTION = re.compile("[<@&]")
"""What a word that may yet become a mention has in it."""


@dataclass(slots=True)
class _Stream:
    """One message that streams: what was said about the work, and the words of the answer so far."""

    shown: int = 0
    note: str = ""
    words: str | None = None


class Streams:
    """Starts, feeds and stops streams, and remembers where there can be none."""

    def __init__(self, api: SlackApi, enabled: bool = True, clock: Callable[[], float] = monotonic) -> None:
        self._api, self._clock = api, clock
        self.enabled = enabled
        self._refusing: set[str] = set()
        self._paused = -math.inf
        self._open: dict[tuple[str, str], _Stream] = {}
        self._late: set[asyncio.Task[None]] = set()

    def __contains__(self, place: tuple[str, str]) -> bool:
        """Return True if the message at a place (channel, ts) streams."""
        return place in self._open

    async def start(self, channel: str, thread: str, user: str, team: str, reply: Reply) -> str:
        """Start a stream in a thread and return its ts; empty where there can be none now.

        Raises SlackRefused where one may have begun though Slack did not say so.
        """
        possible = self.enabled and thread and user and channel not in self._refusing
        if not possible or self._clock() < self._paused:
            return ""
        said = noted(reply.markdown)
        given = {"channel": channel, "thread_ts": thread, "markdown_text": said}
        if not channel.startswith("D"):  # a direct channel has one reader, who is not named
            given |= {"recipient_user_id": user} | ({"recipient_team_id": team} if team else {})
        starting = asyncio.create_task(self._api.once("chat.startStream", **given))
        try:
            await asyncio.wait({starting}, timeout=QUICK)
        except asyncio.CancelledError:  # the question was deleted
            self._take_back(channel, starting)
            raise
        if not starting.done():
            log.info("Slack does not say whether a stream began, so the answer is posted without one.")
            self._pause()
            self._take_back(channel, starting)
            return ""
        try:
            ts = str(starting.result().get("ts") or "")
        except SlackRefused as error:
            self._learn(channel, error)
            if error.in_doubt:
                raise
            return ""
        self._open[channel, ts] = _Stream(len(said), note=said)
        return ts

    def _take_back(self, channel: str, starting: asyncio.Task[dict[str, Any]]) -> None:
        """Delete the message of a stream that begins when nobody waits for it any more."""

        async def take_back() -> None:
            with suppress(ThreadloreError):
                ts = str((await starting).get("ts") or "")
                await self.stop(channel, ts)
                await self._api.call("chat.delete", channel=channel, ts=ts)

        task = asyncio.create_task(take_back())
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    def _pause(self, seconds: float = 0.0) -> None:
        self._paused = self._clock() + max(PAUSE, seconds)

    def _learn(self, channel: str, error: SlackRefused) -> None:
        """Remember what a refused stream says about the next one."""
        if "channel_type" in error.code:
            self._refusing.add(channel)
            log.info("Slack streams nothing in %s, so answers there are edited: %s", channel, error)
        elif error.code in NO_STREAMS or error.code.startswith("method_not_supported"):
            self.enabled = False
            log.info("This workspace has no streams, so answers are edited while they grow: %s", error)
        else:
            if error.status == 429 or error.in_doubt:
                self._pause(error.retry_after)
            log.info("An answer is not streamed this time: %s", error)

    async def add(self, channel: str, ts: str, reply: Reply) -> None:
        """Add what a growing reply says more than before; end the stream where words were taken back.

        Raises SlackRefused. A stream that is over is none any more, and its message can be edited.
        """
        stream = self._open[channel, ts]
        said = settled(reply.markdown) if reply.grows else noted(reply.markdown)
        if _contradicts(stream, said, reply.grows):
            await self.stop(channel, ts)
            return
        new = _news(stream, said, reply.grows)
        if not new or stream.shown + len(new) > LONGEST:
            return
        try:
            await self._api.call("chat.appendStream", quick=True, channel=channel, ts=ts, markdown_text=new)
        except SlackRefused as error:
            if error.status != 429 and error.code not in TRANSIENT:
                del self._open[channel, ts]
            raise
        stream.shown += len(new)
        if reply.grows:
            stream.words = said
        else:
            stream.note = said

    async def stop(self, channel: str, ts: str) -> None:
        """End a stream, also one of a process that died; that it has ended already is no error."""
        self._open.pop((channel, ts), None)
        with suppress(SlackRefused):
            await self._api.call("chat.stopStream", channel=channel, ts=ts)


def _contradicts(stream: _Stream, said: str, grows: bool) -> bool:
    """Return True if a reply goes back on words that are shown: another answer, or the work begun again."""
    shown = stream.words or ""
    return bool(shown) and not (grows and (said.startswith(shown) or shown.startswith(said)))


def _news(stream: _Stream, said: str, grows: bool) -> str:
    """Return what to add to a stream that is not contradicted."""
    return said[len(stream.words or "") :] if grows else said if said != stream.note else ""


def noted(markdown: str) -> str:
    """Return what is said about the work, with a blank line after it: white space in front may be lost."""
    return f"{defuse(harmless(markdown).strip())}\n\n"


def settled(markdown: str) -> str:
    """Return as much of a growing text as can be shown for good: whole words, no half of a mention."""
    text = markdown.removesuffix("…").rstrip()
    word = (text.split() or [""])[-1]
    waits = len(word) <= _WORD or _MENTION.search(word)
    return defuse(text[: len(text) - len(word)] if waits else text)
