"""Posts a message once, also where Slack does not say whether it did."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Container
from email.utils import parsedate_to_datetime
from typing import Any

from bot.platforms.slack.api import paging
from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.platforms.slack.text.reading import timestamp

log = logging.getLogger(__name__)

LOOK_SECONDS = (1.0, 3.0, 10.0)
"""Pauses before a message is looked for that may have been posted; what is not there is posted again."""
_NO_WORDS = re.compile(r":[\w+'-]+:|[\W_]")
"""What Slack may write otherwise than it was sent: emoji, and signs."""
_LABELLED = re.compile(r"<(?:mailto:)?([^<>|]*)\|[^<>]*>")
"""A link with its label, as Slack writes what was sent without: `<mailto:a@b.de|a@b.de>`, `<#C1|general>`."""
_COMPARED = 200
"""Letters that are compared."""


class Posting:
    """Posts messages; raises SlackRefused where Slack does not let it."""

    def __init__(self, api: SlackApi, known: Container[str]) -> None:
        """`known` are the keys of messages that were posted, and are not looked for."""
        self._api, self._known = api, known
        self._latest = ""

    def heard(self, ts: str) -> None:
        """Note the time of a message: what is posted from now on comes after it."""
        self._latest = max(self._latest, ts, key=timestamp)

    @property
    def latest(self) -> str:
        """Return the time of the latest message that is known, else when the bot signed in."""
        return self._latest or _since(self._api.date)

    async def post(self, given: dict[str, Any], after: str) -> dict[str, Any]:
        """Post a message; where it may be posted though Slack did not say so, look for it first.

        It is looked for among the messages `after` one; for "" the caller does it.
        """
        for attempt, pause in enumerate(LOOK_SECONDS, 1):
            try:
                return await self._api.carefully("chat.postMessage", **given)
            except SlackRefused as error:
                if not (error.in_doubt and after):
                    raise
                await asyncio.sleep(pause)
                if found := await self._found(after, given, error):
                    return found
                if attempt == len(LOOK_SECONDS):
                    raise
        raise AssertionError("unreachable")

    async def _found(self, after: str, given: dict[str, Any], doubt: SlackRefused) -> dict[str, Any]:
        """Return a message that was posted though nobody said so; empty where there is none.

        Raises the refusal that left it in `doubt` where that cannot be looked up.
        """
        channel, thread = str(given["channel"]), str(given.get("thread_ts") or "")
        try:
            async for message in paging.after(self._api, channel, after, thread):
                ts, is_own = str(message.get("ts")), message.get("bot_id") == self._api.bot
                is_new = timestamp(ts) > timestamp(after) and f"slack:{channel}:{ts}" not in self._known
                if is_own and is_new and _words(message.get("text")) == _words(given["text"]):
                    log.info("A message was posted though Slack did not say so.")
                    return {"ts": ts, "channel": channel}
        except SlackRefused as error:
            log.info("whether a message was posted cannot be looked up: %s", error)
            raise doubt from error
        return {}


def _since(date: str) -> str:
    """Return the time of a `Date` header as a message's; empty where there is none."""
    try:
        return f"{int(parsedate_to_datetime(date).timestamp())}.000000"
    except ValueError:
        return ""


def _words(text: object) -> str:
    """Return the beginning of a message by which it is known again; of a link its address."""
    return _NO_WORDS.sub("", _LABELLED.sub(r"\1", str(text)))[:_COMPARED]
