"""Examines the channels that sources of kind `history` read live: can each be read, and what to do if not."""

from __future__ import annotations

from bot.home.configuration import find_catalogue
from bot.home.findings import Finding, bad, good
from bot.ports import platforms
from core.catalogue import load_catalogue
from core.errors import ConfigurationError, PlatformError
from core.ingestion.sources import Kinds
from core.ingestion.sources.history.source import Options
from core.ports.history import OpenReader
from core.settings import Settings


async def history(settings: Settings) -> list[Finding]:
    """Ask for what each channel is and for its newest messages; empty where no channel is read."""
    try:
        catalogue = load_catalogue(find_catalogue(settings), Kinds())
    except ConfigurationError:  # told by another examination
        return []
    named = [key for s in catalogue.sources if isinstance(s.options, Options) for key in s.options.channel]
    openers = platforms.readers(settings)
    return [await _channel(key, openers) for key in dict.fromkeys(named)]


async def _channel(key: str, openers: dict[str, OpenReader]) -> Finding:
    what, (platform, _, place) = f"History of {key}", key.partition(":")
    if platform not in openers:
        known = " or ".join(f'"{name}:…"' for name in sorted(openers))
        return bad(what, f"there is no history of {platform} to read", f"write {known} in corpora.toml")
    try:
        async with openers[platform]() as reader:
            channel = await reader.channel(place)
            if not channel.public:
                told = f"#{channel.name} is private, and nothing private is told in public"
                return bad(what, told, "name a public channel in corpora.toml")
            if not channel.forum:
                await reader.page(channel)
    except PlatformError as error:
        told, _, advice = str(error).rstrip(".").partition(": ")
        return bad(what, told, advice)
    return good(what, f"#{channel.name} can be read")
