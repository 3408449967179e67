"""Reads messages of a channel or a thread page by page: Slack may give fewer than it is asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from bot.platforms.slack.api.client import SlackApi

PAGE = 200
"""Messages that are asked for at once."""
PAGES = 5


async def after(api: SlackApi, channel: str, oldest: str, thread: str = "") -> AsyncIterator[dict[str, Any]]:
    """Yield the messages after a time, of a thread where one is named; those of five pages at most.

    A page that ends early says so by a cursor (docs.slack.dev, conversations.history, `limit`). Raises
    SlackRefused.
    """
    given: dict[str, Any] = {"channel": channel, "oldest": oldest, "limit": PAGE}
    given |= {"ts": thread} if thread else {}
    for _page in range(PAGES):
        told = await api.call("conversations.replies" if thread else "conversations.history", **given)
        for message in told.get("messages") or ():
            yield message
        given["cursor"] = (told.get("response_metadata") or {}).get("next_cursor")
        if not given["cursor"]:
            return
