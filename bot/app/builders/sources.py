"""Builds the sources of every release, those of what people said with who is left out of them."""

from __future__ import annotations

from bot.operations.live_history import Sources
from bot.ports import platforms
from core.catalogue import Catalogue
from core.ingestion.live.channels import LiveChannels
from core.ingestion.sources import open_source
from core.ingestion.sources.history.source import HistorySource
from core.ports import LeftOut, PeoplesSource, Workers
from core.privacy.names import Privacy
from core.settings import Settings


def open_sources(
    *, catalogue: Catalogue, settings: Settings, privacy: Privacy, workers: Workers
) -> tuple[Sources, LiveChannels]:
    """Build the sources of every release, and what reads live channels for them; nothing is read yet."""
    live = LiveChannels(settings.home, platforms.readers(settings))
    sources = {
        release.name: [open_source(spec, settings, workers) for spec in catalogue.sources_of(release.name)]
        for release in catalogue.product.releases
    }
    left_out = LeftOut(privacy.is_out, privacy.forgotten, privacy.names.of_pages)
    channels = []
    for source in (source for opened in sources.values() for source in opened):
        if isinstance(source, PeoplesSource):
            source.heed(left_out)
        if isinstance(source, HistorySource):
            source.read_by(live)
            channels += [(key, source.reach) for key in source.channels]
    live.sweep(channels)
    return sources, live
