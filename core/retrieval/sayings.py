"""What live releases say, to be compared with one another's pages: read once each, when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping

from core.retrieval.live import Live
from core.system.offload import aside
from core.text.said import Said


class Sayings:
    """All that each live release says; `product` is the name of what they are about."""

    def __init__(self, live: Mapping[str, Live], product: str) -> None:
        self._live = live
        self._product = product
        self._read: dict[str, tuple[Live, Said]] = {}

    async def of(self, release: str) -> Said:
        """Return all that a release says, nothing for one that is not live."""
        live = self._live.get(release)
        if live is None:
            return Said.nothing()
        known = self._read.get(release)
        if known is None or known[0] is not live:
            texts = live.text_of.values()
            known = live, await aside(len(texts), Said.of, texts, self._product)
            self._read[release] = known
        return known[1]
