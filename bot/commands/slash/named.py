"""People and channels by their names, in what a command answers."""

from __future__ import annotations

import asyncio
import re

from bot.escalation.texts import named
from bot.ports.chat import Chat

_CODE = re.compile(r"(?P<fence>```.*?(?:```|\Z))|`(?P<span>[^`\n]+)`", re.DOTALL)
_COMMAND = re.compile(r"/?threadlore\b")


def account_on(platform: str) -> re.Pattern[str]:
    """Return what finds a platform's accounts and channels in a text."""
    return re.compile(rf"(?<![\w:/.-]){re.escape(platform)}:(\w+)(?!\w|:\w)")


async def with_names(text: str, chat: Chat) -> str:
    """Return Markdown with the platform's accounts and channels (`slack:U1`) by their names.

    What to type keeps its ids, and so does what the platform does not name to everybody.
    """
    account = account_on(chat.name)
    ids = sorted({found for part in _parts(text) for found in account.findall(part)})
    known = await asyncio.gather(*(chat.name_of(one) for one in ids))
    names = {one: _shown(name) for one, name in zip(ids, known, strict=True) if name}
    if not names:
        return text

    def told(found: re.Match[str]) -> str:
        return names.get(found[1], found[0])

    def code(found: re.Match[str]) -> str:
        span = found["span"] or ""
        if not _is_told(found):
            return found[0]
        whole = account.fullmatch(span)
        return names.get(whole[1], found[0]) if whole else f"`{account.sub(told, span)}`"

    written, done = [], 0
    for found in _CODE.finditer(text):
        written += [account.sub(told, text[done : found.start()]), code(found)]
        done = found.end()
    return "".join([*written, account.sub(told, text[done:])])


def _parts(text: str) -> list[str]:
    """Return what is told by names: prose, and code that nobody is to type."""
    parts, done = [], 0
    for found in _CODE.finditer(text):
        parts += [text[done : found.start()], found["span"] if _is_told(found) else ""]
        done = found.end()
    return [*parts, text[done:]]


def _is_told(found: re.Match[str]) -> bool:
    return bool(found["span"]) and not _COMMAND.match(found["span"])


def _shown(name: str) -> str:
    return f"#{named(name[1:])}" if name.startswith("#") else named(name)
