"""Encoders by the name that corpora remember, each loaded when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from core.models.embedding.encoder import load_encoder
from core.ports import Encoder


class Encoders:
    """Loads encoders when they are first needed, by the name that corpora remember."""

    def __init__(self, model: str, cache: Path, load: Callable[[str, Path], Encoder] = load_encoder) -> None:
        self._model = model
        self._cache = cache
        self._load = load
        self._loaded: dict[str, Encoder] = {}
        self._loading = asyncio.Lock()

    async def current(self) -> Encoder:
        """Return the encoder that the settings name."""
        return await self._get(self._model)

    async def named(self, name: str) -> Encoder:
        """Return the encoder a corpus was built with: its name is `model@tokens`."""
        return await self._get(name.rpartition("@")[0] or name)

    def close(self) -> None:
        """End the threads of every encoder."""
        for encoder in self._loaded.values():
            encoder.close()
        self._loaded.clear()

    async def _get(self, model: str) -> Encoder:
        async with self._loading:
            if model not in self._loaded:
                self._loaded[model] = await asyncio.to_thread(self._load, model, self._cache)
            return self._loaded[model]
