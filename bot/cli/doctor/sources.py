"""Examines where the documentation comes from: websites, repositories, packages, folders, channels."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from bot.home.findings import Finding, bad, find_catalogue, good, unsure
from bot.ports import platforms
from core.catalogue import load_catalogue
from core.errors import ConfigurationError, PlatformError, SourceAway, SourceError
from core.ingestion.sources import Kinds, open_source
from core.ingestion.sources.history.source import Options
from core.ports import PlacedSource
from core.ports.history import OpenReader
from core.settings import Settings
from core.workers.pool import pool_of

REACH_SECONDS = 5.0
"""Time that each address gets; all are tried at once, as somebody offline waits for all of it."""
GRACE_SECONDS = 1.0
"""Time beyond that after which an address is given up that keeps to no limit, such as a name server's."""


async def sources(settings: Settings, seconds: float = REACH_SECONDS) -> list[Finding]:
    """Look for the place of every source, on the network and on this machine, each once."""
    try:
        catalogue = load_catalogue(find_catalogue(settings), Kinds())
    except ConfigurationError:  # told by another examination
        return []
    placed: dict[str, PlacedSource] = {}
    workers = pool_of(settings)  # none is started: nothing is read
    for spec in catalogue.sources:
        if isinstance(spec.options, Options) and spec.options.channel:
            continue  # `history` asks for these
        source = open_source(spec, settings, workers)
        if isinstance(source, PlacedSource):
            placed.setdefault(source.name, source)
    return list(await asyncio.gather(*(_tried(name, one, seconds) for name, one in placed.items())))


async def _tried(name: str, source: PlacedSource, seconds: float) -> Finding:
    what = f"Source {name}"
    try:
        async with asyncio.timeout(seconds + GRACE_SECONDS):
            await _apart(lambda: source.reach(seconds))
    except SourceAway as error:
        return unsure(what, *_parts(error))
    except SourceError as error:
        return bad(what, *_parts(error))
    except TimeoutError:
        said = f"no answer within {seconds:g} s"
        return unsure(what, said, "check the network; what was read before keeps answering")
    return good(what, "is there")


def _parts(error: SourceError) -> tuple[str, str]:
    """Part what is wrong from what to do about it."""
    said, _, advice = str(error).rstrip(".").partition("; ")
    return said, advice


async def _apart(work: Callable[[], None]) -> None:
    """Run work in a thread that nobody waits for when it takes longer than it may."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def end(error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        failed: Exception | None = None
        try:
            work()
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            failed = error
        with suppress(RuntimeError):  # nobody waits any more
            loop.call_soon_threadsafe(end, failed)

    threading.Thread(target=run, daemon=True).start()
    await done


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
                told = f"#{channel.name} is private, and private messages are never used in public"
                return bad(what, told, "name a public channel in corpora.toml")
            if not channel.forum:
                await reader.page(channel)
    except PlatformError as error:
        told, _, advice = str(error).rstrip(".").partition(": ")
        return bad(what, told, advice)
    return good(what, f"#{channel.name} can be read")
