"""Embedding many texts on a GPU, where it gives the processor's vectors.

Questions stay on the processor: a single one takes it some milliseconds, and it is always there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from core.ports import Matrix

log = logging.getLogger(__name__)
T = TypeVar("T")


class Run(Protocol):
    """Embeds texts, here and now."""

    def __call__(self, texts: list[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""

    def with_tokens(self, texts: list[str]) -> tuple[Matrix, list[Matrix]]:
        """Return the same, and the unit vectors of each text's tokens, of shape (tokens, dimensions)."""


Device = Literal["auto", "cpu", "cuda"]
SAME_COSINE = 0.9999
"""Least cosine between vectors of one text made in two ways."""
PROBE = ["How do I run it?", "one two three " * 40, "`app.run(debug=True)` in 3.1", "ja"]
"""Texts that are embedded in both ways before one of them is used."""
AT_ONCE = 3
"""Batches on a GPU at once: while one is computed, others go there and come from there."""
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""Where a GPU of NVIDIA shows, on Linux itself and below Windows."""


def wanted(device: Device) -> bool:
    """Return True if a GPU is to be tried: it is asked for, or there seems to be one; loads nothing."""
    return device == "cuda" or (device == "auto" and any(path.exists() for path in _DEVICES))


class OnGpu:
    """Embeds by what `open_` gives, which is called when there is first something to embed.

    Where that fails, or gives other vectors than `ours`, it is done by `ours`.
    """

    def __init__(self, ours: Run, open_: Callable[[], Run]) -> None:
        self._ours = ours
        self._open = open_
        self._run: Run | None = None
        self._opening = threading.Lock()
        self.problem = ""
        """Why the processor embeds, where it does."""

    def __call__(self, texts: list[str]) -> Matrix:
        """Return float32 of shape (len(texts), dimensions), rows of unit length."""
        return self._done(texts, lambda run: run(texts))

    def with_tokens(self, texts: list[str]) -> tuple[Matrix, list[Matrix]]:
        """Return the same, and the unit vectors of each text's tokens."""
        return self._done(texts, lambda run: run.with_tokens(texts))

    def _done(self, texts: list[str], work: Callable[[Run], T]) -> T:
        """Return what the GPU makes of texts; where it fails (it may want memory), the processor does it."""
        run = self.opened()
        try:
            return work(run)
        except Exception as error:  # libraries and drivers fail in any way; the processor works
            if run is self._ours:
                raise
            log.warning("%d texts are embedded on the processor, for the GPU failed: %s", len(texts), error)
            return work(self._ours)

    @property
    def in_use(self) -> bool:
        """Whether the GPU has been found to work; loads nothing."""
        return self._run is not None and self._run is not self._ours

    def works(self) -> bool:
        """Return True if the GPU embeds; loads what is to do it, blocking."""
        return self.opened() is not self._ours

    def opened(self) -> Run:
        """Return what embeds."""
        with self._opening:
            if self._run is None:
                self._run = self._tried()
            return self._run

    def _tried(self) -> Run:
        try:
            run = self._open()
            near = float((run(PROBE) * self._ours(PROBE)).sum(axis=1).min())
        except Exception as error:  # noqa: BLE001 - libraries and drivers fail in any way; the processor works
            self.problem = str(error).partition("\n")[0] or type(error).__name__
        else:
            if near >= SAME_COSINE:
                return run
            self.problem = f"its vectors are not the processor's (cosine {near:.5f})"
        log.warning("texts are embedded on the processor, for the GPU cannot: %s", self.problem)
        return self._ours
