"""Figures of everything that runs, as pages and machines ask for them."""

from __future__ import annotations

from typing import Any, Protocol


class Figures(Protocol):
    """Collects figures; nothing in them comes from a private channel or a direct message."""

    async def unready(self) -> str:
        """Return why nothing can be answered now, in one sentence; empty where it can."""

    async def figures(self) -> dict[str, Any]:
        """Return what a dashboard shows."""

    def progress(self) -> dict[str, Any]:
        """Return the index work that goes on, and how that of each release ended last."""

    async def metrics(self) -> bytes:
        """Return everything that counts, in Prometheus' text format."""
