"""Encoders that all bots of a test run have, one after the other: what one embedded the next finds.

Most journeys ask the same questions of the same pages, so half of what their processes computed were vectors
that there had been before. A vector is a function of its text; what the encoder itself remembers and forgets
is tested in `tests/contracts/test_encoders.py`, on encoders of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from core.models.embedding.encoder import load_encoder
from core.ports import Encoder, Matrix, TokenEncoder

MOST = 20_000
"""Texts whose vectors are kept, 1.5 kB each."""
MOST_READ = 2_000
"""Texts whose tokens' vectors are kept, 30 kB each for a passage."""


class _Lent:
    """An encoder that nobody closes; what it embedded it does not embed again."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._whole: OrderedDict[str, Matrix] = OrderedDict()
        self._read: OrderedDict[str, Matrix] = OrderedDict()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    async def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions)."""
        found = {text: self._whole[text] for text in texts if text in self._whole}
        if missing := [text for text in dict.fromkeys(texts) if text not in found]:
            fresh = dict(zip(missing, await self._encoder.encode(missing), strict=True))
            found |= fresh
            _keep(self._whole, fresh, MOST)
        return self._rows(texts, found)

    async def encode_tokens(self, texts: Sequence[str]) -> tuple[Matrix, list[Matrix]]:
        """Return what `encode` does, and the vectors of each text's tokens."""
        kept = [text for text in dict.fromkeys(texts) if text in self._read and text in self._whole]
        found = {text: self._whole[text] for text in kept}
        read = {text: self._read[text] for text in kept}
        if missing := [text for text in dict.fromkeys(texts) if text not in found]:
            rows, tokens = await cast(TokenEncoder, self._encoder).encode_tokens(missing)
            whole, each = dict(zip(missing, rows, strict=True)), dict(zip(missing, tokens, strict=True))
            found, read = found | whole, read | each
            _keep(self._whole, whole, MOST)
            _keep(self._read, each, MOST_READ)
        return self._rows(texts, found), [read[text] for text in texts]

    def _rows(self, texts: Sequence[str], found: dict[str, Matrix]) -> Matrix:
        if not texts:
            return np.zeros((0, self._encoder.dimensions), np.float32)
        return np.stack([found[text] for text in texts])

    def close(self) -> None:
        """Leave it to the next bot."""
        self._encoder.forget()


def _keep(kept: OrderedDict[str, Matrix], fresh: dict[str, Matrix], most: int) -> None:
    kept.update(fresh)
    while len(kept) > most:
        kept.popitem(last=False)


LOADED: dict[str, Encoder] = {}


def one_for_all(model: str, folder: Path) -> Encoder:
    """Load an encoder once: each takes a tenth of a second and a hundred megabytes."""
    if model not in LOADED:
        LOADED[model] = cast(Encoder, _Lent(load_encoder(model, folder)))
    return LOADED[model]
