"""Late interaction: for each token of a question the nearest one of a text counts (MaxSim).

Khattab and Zaharia, ColBERT, 2020, section 3.2. Of texts a bit is kept for each number of a token's vector:
its sign, as in ColBERTv2's residuals of one bit (Santhanam et al. 2022, section 3.3), here without centroids.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.ports import Matrix

Numbers = NDArray[np.float64]
Bits = NDArray[np.uint8]
"""A row of bits for each token, packed: shape (tokens, dimensions / 8)."""
FEW = 128
"""Tokens that are multiplied at once: as many as stay in the processor's cache, which halves the time."""


def bits_of(tokens: Matrix) -> bytes:
    """Return what is kept of the vectors of a text's tokens, shape (tokens, dimensions)."""
    return np.packbits(tokens > 0, axis=1).tobytes()


def nearest(question: Matrix, texts: Sequence[Bits]) -> Numbers:
    """Return how near the nearest token of each text is to each of a question's: shape (texts, tokens).

    `question` has a unit vector for each token, shape (tokens, dimensions). Nearness is the cosine with the
    signs of the text's token; 0 for a text without tokens.
    """
    lengths = np.array([len(bits) for bits in texts], np.int64)
    found = np.zeros((len(texts), len(question)))
    if not len(question) or not lengths.sum():
        return found
    bits = np.concatenate([some for some in texts if len(some)])
    dimensions = question.shape[1]
    turned = np.ascontiguousarray(question.T)
    sums = np.empty((len(bits), len(question)), np.float32)
    for at in range(0, len(bits), FEW):
        ones = np.unpackbits(bits[at : at + FEW], axis=1, count=dimensions)
        np.matmul(ones.astype(np.float32), turned, out=sums[at : at + FEW])
    there = np.flatnonzero(lengths)
    starts = np.cumsum(lengths[there]) - lengths[there]
    # the cosine with signs of -1 and 1, worked out with 0 and 1
    best = 2.0 * np.maximum.reduceat(sums, starts, axis=0) - question.sum(axis=1)
    found[there] = best / np.sqrt(dimensions)
    return found


def matches(question: Matrix, pages: Sequence[Sequence[Bits]]) -> Numbers:
    """Return how well each page, given by its windows, holds the tokens of a question: shape (pages,).

    The mean of two: how well all its windows together do, and the best of them alone.
    """
    near = nearest(question, [bits for windows in pages for bits in windows])
    starts = np.cumsum([0, *map(len, pages)])[:-1]
    together = np.maximum.reduceat(near, starts, axis=0).mean(axis=1)
    alone = np.maximum.reduceat(near.mean(axis=1), starts)
    return np.asarray((together + alone) / 2.0)
