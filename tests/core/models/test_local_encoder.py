"""An encoder in this process, asked by several at once."""

from __future__ import annotations

import asyncio
import time

import numpy as np

from core.models.embedding import local
from core.models.embedding.local import LocalEncoder
from core.ports import Matrix


class Run:
    """Takes a moment for each call, and tells two tokens of each text."""

    def __call__(self, texts: list[str]) -> Matrix:
        return np.ones((len(texts), 4), np.float32) / 2

    def with_tokens(self, texts: list[str]) -> tuple[Matrix, list[Matrix]]:
        time.sleep(0.02)
        return self(texts), [np.full((2, 4), int(text), np.float32) for text in texts]


async def test_tokens_of_texts_that_others_push_out_meanwhile_are_told() -> None:
    encoder = LocalEncoder("x", 4, 256, Run(), len)
    try:
        await encoder.encode_tokens([str(number) for number in range(15)])
        known_and_new = encoder.encode_tokens([*(str(number) for number in range(15)), "999"])
        others = [
            encoder.encode_tokens([str(start + number) for number in range(16)])
            for start in range(100, 100 + 2 * local.READ, 16)
        ]
        *_, (rows, tokens) = await asyncio.gather(*others, known_and_new)
        assert [int(one[0, 0]) for one in tokens] == [*range(15), 999] and rows.shape == (16, 4)
    finally:
        encoder.close()
