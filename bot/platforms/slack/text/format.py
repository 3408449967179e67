"""Cuts an answer to what Slack takes in one message, and writes it as blocks."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bot.platforms.slack.api.errors import BAD_BLOCKS, SlackRefused
from bot.platforms.slack.components import actions
from bot.platforms.slack.text.mrkdwn import defuse, escape, to_mrkdwn
from bot.ports.chat import Control
from bot.rendering.harmless import harmless
from bot.rendering.splitting import SMALLEST, broken, split
from bot.rendering.times import in_zone
from core.text.markup import code

log = logging.getLogger(__name__)

TEXT_BYTES = 4_000
"""Bytes of escaped text that `chat.update` takes (docs.slack.dev, chat.update)."""
ROOMY = 3_600
"""Bytes aimed at, with room for what the way to mrkdwn adds."""
LEAST = 4 * SMALLEST
"""Bytes below which a text that is still refused as too long is not cut further."""
SECTION = 3_000
"""Characters of a section block."""

_FOOTER = re.compile(r"\n\n\*(?![*\s])([^*\n]+)\*\Z")
"""The line under an answer that says which release it speaks for."""
_TAG = re.compile(
    r"(?<!\\)((?:\\\\)*+)<(?=[A-Za-z/!?])(?!(?:https?://|mailto:)[^\s<>|]{1,2000}>)", re.IGNORECASE
)

Send = Callable[[dict[str, Any]], Awaitable[Any]]


def measure(markdown: str) -> int:
    """Count the bytes of escaped text; a line may become a bullet, which takes two more."""
    return len(escape(markdown).encode()) + 2 * markdown.count("\n")


def cut(markdown: str, limit: int = ROOMY, most: int = TEXT_BYTES) -> list[str]:
    """Cut Markdown to parts whose mrkdwn has at most so many bytes: as many as `chat.update` takes."""
    parts: list[str] = []
    for part in split(harmless(markdown).strip() or "…", limit, measure):
        fits = len(to_mrkdwn(part).encode()) <= most or limit < LEAST
        parts += [part] if fits else cut(part, limit // 2, most)
    return parts


def sections(markdown: str, limit: int = SECTION - 600, has_times: bool = False) -> list[str]:
    """Cut Markdown to texts of section blocks; a table, or times, may take many times their own room."""
    texts: list[str] = []
    for piece in split(markdown, limit, measure):
        said = in_zone(to_mrkdwn(piece), _date) if has_times else to_mrkdwn(piece)
        fits = len(said) <= SECTION or limit < LEAST
        texts += [said[:SECTION]] if fits else sections(piece, limit // 2, has_times)
    return texts


def _date(seconds: int, written: str) -> str:
    """Write a time that Slack shows in the reader's zone (docs.slack.dev, formatting message text)."""
    return f"<!date^{seconds}^{{date_num}} {{time}}|{written}>"


def without_tags(markdown: str) -> str:
    """Write what looks like a tag of HTML or of Slack's notation as text; Markdown may hold both."""
    parts, done = [], 0
    for start, end in code(markdown, alike=True):
        parts += [_TAG.sub(r"\1&lt;", markdown[done:start]), markdown[start:end]]
        done = end
    return "".join([*parts, _TAG.sub(r"\1&lt;", markdown[done:])])


def calling(calls: Sequence[str], payload: dict[str, Any]) -> dict[str, Any]:
    """Put those whom a message calls above it: people (`U…`) and user groups (`S…`).

    What has no blocks gets none: Slack shows the text only where there are none.
    """
    if not calls:
        return payload
    called = " ".join(f"<!subteam^{one}>" if one.startswith("S") else f"<@{one}>" for one in calls)
    section = {"type": "section", "text": {"type": "mrkdwn", "text": called}}
    blocks = [section, *payload["blocks"]] if payload["blocks"] else []
    return {"text": f"{called} {payload['text']}", "blocks": blocks}


class Composer:
    """Writes payloads: the `markdown` block, or sections for a server that refuses it.

    What an answer says of itself in its last line stands below in small print.
    """

    def __init__(self) -> None:
        self.markdown_block = True

    async def send(
        self, markdown: str, controls: Sequence[Control], send: Send, has_times: bool = False
    ) -> Any:
        """Send one part with what hangs under it, once more as sections when the block is refused.

        What has times goes as sections at once: the `markdown` block knows none. Raises SlackRefused.
        """
        has_times = has_times and in_zone(markdown, _date) != markdown
        text, below = to_mrkdwn(markdown), actions(controls)
        if footer := _FOOTER.search(markdown):
            markdown = markdown[: footer.start()]
            said = {"type": "mrkdwn", "text": to_mrkdwn(footer[1])}
            below = [{"type": "context", "elements": [said]}, *below]
        never = False
        if self.markdown_block and not has_times:
            try:
                shown = {"type": "markdown", "text": defuse(broken(without_tags(markdown)))}
                return await send({"text": text, "blocks": [shown, *below]})
            except SlackRefused as error:
                if error.code not in BAD_BLOCKS:
                    raise
                log.warning("Slack refuses the markdown block, so sections are sent instead: %s", error)
                never = "unsupported" in error.code + error.detail
        blocks = [
            {"type": "section", "text": {"type": "mrkdwn", "text": s}}
            for s in sections(markdown, has_times=has_times)
        ]
        try:
            answer = await send({"text": text, "blocks": blocks + below})
        except SlackRefused as error:
            if error.code not in BAD_BLOCKS:
                raise
            return await send({"text": text, "blocks": []})
        # a server that does not know the block is not asked again; another answer may suit it better
        self.markdown_block = self.markdown_block and not never
        return answer
