"""What was said in Slack before a message: the latest turns of its thread, or of its channel."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from time import time
from typing import Any

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.platforms.slack.text.reading import Reader, is_person, timestamp, written
from bot.rendering.answers import said
from core.domain import MessageRef, Turn

log = logging.getLogger(__name__)

_PAGE = 200
_PAGES = 5
"""Messages of a page, and pages of a conversation that are read at most."""
_SPANS, _PAGES_OF_SPAN = 6, 2
"""Spans of time of a long thread that are tried, and pages of each."""
_SHORTEST = 1.0
"""Seconds of the shortest span."""


class Earlier:
    """Reads what was said before a message; where Slack refuses, what is sure to be the latest of it."""

    def __init__(self, api: SlackApi, reader: Reader) -> None:
        self._api, self._reader = api, reader

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return up to `limit` turns before a message, oldest first; fewer where Slack refuses."""
        if limit < 1 or (before.thread and before.thread == before.message):
            return ()
        turns = await (self._thread if before.thread else self._channel)(before, limit)
        return tuple(turns[-limit:])

    async def _channel(self, before: MessageRef, limit: int) -> list[Turn]:
        """Return the latest turns of a channel, of which a page has the newest messages first."""
        found: dict[str, dict[str, Any]] = {}
        given: dict[str, Any] = {"limit": min(_PAGE, limit * 3)}
        turns: list[Turn] = []
        try:
            for _ in range(_PAGES):
                page, cursor = await self._page("conversations.history", before, given)
                found |= page
                turns = self._turns(found, before)
                if not cursor or len(turns) >= limit:
                    break
                given["cursor"] = cursor
        except SlackRefused as error:
            self._refused(before, error)
        return turns

    async def _thread(self, before: MessageRef, limit: int) -> list[Turn]:
        """Return the latest turns of a thread, at least as many as asked for if Slack gives them.

        A page has the oldest messages of a span of time first, so only a span that is read to its end says
        what was said last. Of a long thread spans are tried between one that held too little and one that
        held too much.
        """
        turns: list[Turn] = []
        end = float(before.message) if before.message else time()
        few, many = _SHORTEST, max(end - float(before.thread), _SHORTEST)
        try:
            if (whole := await self._read(before, {}, _PAGES)) is not None:
                return self._turns(whole, before)
            for _ in range(_SPANS):
                span = math.sqrt(few * many)
                found = await self._read(before, {"oldest": f"{end - span:.6f}"}, _PAGES_OF_SPAN)
                if found is None:
                    many = span
                    continue
                few, turns = span, self._turns(found, before)
                if len(turns) >= limit:
                    break
        except SlackRefused as error:
            self._refused(before, error)
        return turns

    async def _read(
        self, before: MessageRef, span: dict[str, str], pages: int
    ) -> dict[str, dict[str, Any]] | None:
        """Return the messages of a span of a thread; None where it takes more than so many pages."""
        given: dict[str, Any] = {"ts": before.thread, "limit": _PAGE, **span}
        found: dict[str, dict[str, Any]] = {}
        for _ in range(pages):
            page, cursor = await self._page("conversations.replies", before, given)
            found |= page
            if not cursor:
                return found
            replies = int(found.get(before.thread, {}).get("reply_count") or 0)
            if not span and replies > pages * len(page):
                return None  # to read them all is not even begun
            given["cursor"] = cursor
        return None

    async def _page(
        self, method: str, before: MessageRef, given: dict[str, Any]
    ) -> tuple[dict[str, dict[str, Any]], str]:
        """Return a page of messages by their times, and where the next one begins; empty for the last."""
        until = {"latest": before.message, "inclusive": False} if before.message else {}
        page = await self._api.call(method, quick=True, channel=before.channel, **until, **given)
        found = {str(message.get("ts")): message for message in page.get("messages") or ()}
        return found, str((page.get("response_metadata") or {}).get("next_cursor") or "")

    def _refused(self, before: MessageRef, error: SlackRefused) -> None:
        log.warning("Slack does not give the conversation before %s: %s", before.key, error)

    def _turns(self, found: dict[str, dict[str, Any]], before: MessageRef) -> list[Turn]:
        end = timestamp(before.message) if before.message else (math.inf, 0)
        turns: list[Turn] = []
        for ts, message in sorted(found.items(), key=lambda item: timestamp(item[0])):
            text, _ = self._reader.read(written(message))
            passed_on = [one for one in self._reader.shared(message) if one[1]]
            if timestamp(ts) >= end or not (text or passed_on):
                continue
            if self._reader.own(message):
                told, key = said(text), MessageRef("slack", before.channel, ts).key
                if turns and turns[-1].role == "assistant":
                    # a long answer takes several messages
                    turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n\n{told}".strip(), last=key)
                else:
                    turns.append(Turn("assistant", told, message=key))
            elif is_person(message):
                sender = f"slack:{message['user']}"
                turns += [Turn("user", text, sender, at=float(ts))] if text else []
                # of whoever opted out, or was forgotten since, it is left out as their own messages are
                turns += [
                    Turn("user", words, by or sender, at=min(float(ts), float(share.get("ts") or ts)))
                    for by, words, share in passed_on
                ]
        return turns
