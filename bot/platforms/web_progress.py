"""What the playground's pages are told about releases and about index work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bot.platforms.web_feed import Feed

if TYPE_CHECKING:
    from bot.dispatch import Dispatch

log = logging.getLogger(__name__)

RELEASES_SECONDS = 10.0
"""How often releases are looked at while nothing is indexed (a command may change them)."""


def examples(product: str, releases: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return three questions to begin with, about releases that are ready where there are some."""
    ready = [release for release in releases if release.get("ready")] or list(releases)
    names = [str(release["name"]) for release in ready]
    latest = next((str(r["name"]) for r in ready if r.get("latest")), names[-1] if names else "")
    older = next((name for name in names if name != latest), latest)
    about = product or "it"
    return [
        f"How do I install {about} {latest}".strip() + "?",
        f"What changed in {about} {latest}".strip() + "?",
        f"How do I configure {about} in {older}?" if older else f"How do I configure {about}?",
    ]


async def watch(feed: Feed, dispatch: Dispatch, seconds: float) -> None:
    """Tell open pages about index work and releases, every `seconds` while they change."""
    loop = asyncio.get_running_loop()
    progress: Sequence[dict[str, Any]] = []
    releases: Sequence[dict[str, Any]] = []
    looked = 0.0
    while True:
        await asyncio.sleep(seconds)
        if not feed.readers:
            continue
        try:
            running = dispatch.progress()
            if running != progress:
                feed.publish("progress", {"running": running})
            if running or progress or loop.time() - looked > RELEASES_SECONDS:
                looked = loop.time()
                known = await dispatch.releases()
                if known != releases:
                    feed.publish("releases", {"releases": known})
                releases = known
            progress = running
        except Exception:  # a status that cannot be read once must not end the page's updates
            log.exception("the playground could not read the state of the index")
