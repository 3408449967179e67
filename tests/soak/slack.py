"""The loopback Slack for hours: it tells of every answer, and keeps nothing that nobody looks at again."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from bot.conversation.answering import RESTARTING
from bot.rendering.answers import is_sign_of_work
from tests.platforms.slack_server import SlackServer

KEPT = 400
"""Envelopes that are kept: the bot may still acknowledge them."""


class Slack(SlackServer):
    """A Slack that calls `heard(channel, thread, message)` once for every finished answer."""

    def __init__(self, heard: Callable[[str, str, dict[str, Any]], None]) -> None:
        super().__init__()
        self.limits.enforced = False  # the bot is measured, not Slack's minutes
        self._heard = heard
        self._threads: dict[str, list[str]] = defaultdict(list)
        self._done: set[str] = set()

    def tick(self) -> str:
        """Return a timestamp of today, so that nothing looks old."""
        return f"{int(time.time())}.{next(self._numbers):07d}"

    def store(self, channel: str, user: str, text: str, thread: str | None, **more: Any) -> dict[str, Any]:
        message = super().store(channel, user, text, thread, **more)
        if thread:
            self._threads[thread].append(str(message["ts"]))
        self._look(channel, message)
        return message

    def changed(self, channel: str, message: dict[str, Any], before: dict[str, Any]) -> None:
        self._look(channel, message)
        super().changed(channel, message, before)

    def _look(self, channel: str, message: dict[str, Any]) -> None:
        text, thread = str(message.get("text", "")), str(message.get("thread_ts", ""))
        growing = message.get("streaming_state") == "in_progress"
        if message.get("bot_id") != self.bot_id or not thread or thread in self._done or growing:
            return
        if text and text != RESTARTING and not is_sign_of_work(text):
            self._done.add(thread)
            self._heard(channel, thread, message)

    def drop_thread(self, channel: str, thread: str) -> None:
        """Forget a question and its answers."""
        for ts in (thread, *self._threads.pop(thread, ())):
            self.messages[channel].pop(ts, None)
        self._done.discard(thread)

    def trim(self) -> None:
        """Drop what only tests look at."""
        now = asyncio.get_running_loop().time()
        late = self.envelopes[:-KEPT]
        self.envelopes[:] = [e for e in late if e["envelope_id"] in self._waiting] + self.envelopes[-KEPT:]
        self._sent = {envelope["envelope_id"]: envelope for envelope in self.envelopes}
        self._later[:] = [timer for timer in self._later if timer.when() > now and not timer.cancelled()]
        self.calls.clear()
        self.acknowledged.clear()
