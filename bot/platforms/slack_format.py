"""Cuts an answer to what Slack takes in one message, and writes it as blocks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bot.chat import Control
from bot.mrkdwn import defuse, escape, to_mrkdwn
from bot.platforms.slack_controls import actions
from bot.platforms.slack_errors import BAD_BLOCKS, SlackRefused
from bot.splitting import SMALLEST, split

log = logging.getLogger(__name__)

TEXT_BYTES = 4_000
"""Bytes of escaped text that `chat.update` takes (docs.slack.dev, chat.update)."""
ROOMY = 3_600
"""Bytes aimed at, with room for what the way to mrkdwn adds."""
LEAST = 4 * SMALLEST
"""Bytes below which a text that is still refused as too long is not cut further."""
SECTION = 3_000
"""Characters of a section block."""

Send = Callable[[dict[str, Any]], Awaitable[Any]]


def measure(markdown: str) -> int:
    """Count the bytes of escaped text; a line may become a bullet, which takes two more."""
    return len(escape(markdown).encode()) + 2 * markdown.count("\n")


def cut(markdown: str, limit: int = ROOMY) -> list[str]:
    """Cut Markdown to parts whose mrkdwn `chat.update` takes."""
    parts: list[str] = []
    for part in split(markdown.strip() or "…", limit, measure):
        fits = len(to_mrkdwn(part).encode()) <= TEXT_BYTES or limit < LEAST
        parts += [part] if fits else cut(part, limit // 2)
    return parts


class Composer:
    """Writes payloads: the `markdown` block, or sections for a server that refuses it."""

    def __init__(self) -> None:
        self.markdown_block = True

    async def send(self, markdown: str, controls: Sequence[Control], send: Send) -> Any:
        """Send one part with what hangs under it, once more as sections when the block is refused.

        Raises SlackRefused.
        """
        text, below = to_mrkdwn(markdown), actions(controls)
        if self.markdown_block:
            try:
                shown = {"type": "markdown", "text": defuse(markdown)}
                return await send({"text": text, "blocks": [shown, *below]})
            except SlackRefused as error:
                if error.code not in BAD_BLOCKS:
                    raise
                log.warning("Slack refuses the markdown block, so sections are sent instead: %s", error)
        sections = [to_mrkdwn(piece) for piece in split(markdown, SECTION - 600, measure)]
        blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": s[:SECTION]}} for s in sections]
        try:
            answer = await send({"text": text, "blocks": blocks + below})
        except SlackRefused as error:
            if error.code not in BAD_BLOCKS:
                raise
            return await send({"text": text, "blocks": []})
        self.markdown_block = False
        return answer
