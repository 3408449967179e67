"""Vectors of texts that are embedded once for all runs of a simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.domain import Vector
from core.ports import Encoder, Matrix


class Texts:
    """The `Encoder` port with a vector kept of every text; shared by the runs of a simulation."""

    def __init__(self, encoder: Encoder) -> None:
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self.max_tokens = encoder.max_tokens
        self.count_tokens = encoder.count_tokens
        self._encoder = encoder
        self._kept: dict[str, Vector] = {}

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if missing:
            self._kept |= zip(missing, await self._encoder.encode(missing), strict=True)
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        return np.stack([self._kept[text] for text in texts])

    async def one(self, text: str) -> Vector:
        """Return the vector of one text."""
        vector: Vector = (await self.encode([text]))[0]
        return vector

    def forget(self) -> None:
        """Keep everything: that is what this is for."""

    def close(self) -> None:
        """Leave the encoder to its owner."""
