"""In which of many texts a word stands, kept in little room: worked out once, looked up by bisection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int32]
"""Places of texts, in order."""


def nowhere() -> Places:
    """Return no places."""
    return np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class Postings:
    """The places of texts that have a word, by the word.

    `spelled` holds all words as UTF-8, one behind the other in their order, `ends` where each of them ends
    there, and `until` where its places end in `places`.
    """

    spelled: bytes = b""
    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    until: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    places: Places = field(default_factory=nowhere)

    @classmethod
    def of(cls, said: Mapping[str, Iterable[int]]) -> Postings:
        """Note the places of each word, which are given in order."""
        words = sorted((word.encode("utf-8", "surrogatepass"), places) for word, places in said.items())
        found = [np.fromiter(places, np.int32) for _, places in words]
        if not found:
            return cls()
        return cls(
            b"".join(word for word, _ in words),
            np.cumsum([len(word) for word, _ in words]),
            np.cumsum([len(places) for places in found]),
            np.concatenate(found),
        )

    def __len__(self) -> int:
        return len(self.ends)

    def of_word(self, word: str) -> Places:
        """Return the places of the texts that have a word."""
        key = word.encode("utf-8", "surrogatepass")
        at = self._first(key)
        return self._between(at, at + 1) if at < len(self) and self._word(at) == key else nowhere()

    def beginning(self, part: str) -> Places:
        """Return the places of the texts that have a word which begins so."""
        key = part.encode("utf-8", "surrogatepass")
        return np.unique(self._between(self._first(key), self._first(key + b"\xff")))

    def _first(self, key: bytes) -> int:
        return bisect_left(range(len(self)), key, key=self._word)

    def _word(self, at: int) -> bytes:
        return self.spelled[int(self.ends[at - 1]) if at else 0 : int(self.ends[at])]

    def _between(self, first: int, end: int) -> Places:
        start = int(self.until[first - 1]) if first else 0
        return self.places[start : int(self.until[end - 1])] if end > first else nowhere()


def common(lists: Iterable[Places]) -> Places:
    """Return the places that are in each of the lists, looked for from the shortest one on."""
    first, *rest = sorted(lists, key=len) or [nowhere()]
    for more in rest:
        at = np.searchsorted(more, first)
        inside = at < len(more)
        first = first[inside][more[at[inside]] == first[inside]]
    return first
