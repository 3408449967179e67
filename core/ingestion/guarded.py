"""Reading what others wrote: what goes wrong is one source's, and a corpus has its limits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from core.domain import RawDocument
from core.errors import OverQuota, SourceError, ThreadloreError
from core.ports import Source, Workers

log = logging.getLogger(__name__)


@asynccontextmanager
async def opened(source: Source, workers: Workers) -> AsyncIterator[Iterator[RawDocument]]:
    """Begin to read a source in a thread, and let go of it in one: a crawler may have to be waited for.

    Whatever breaks the reading off ends what `workers` do for it.
    """
    documents = await asyncio.to_thread(_begun, source)
    try:
        yield documents
    except BaseException:  # also when it is cancelled, for a crawler waits for its worker
        workers.interrupt()
        raise
    finally:
        await asyncio.to_thread(_ended, documents)


def _ended(documents: Iterator[RawDocument]) -> None:
    if isinstance(documents, Generator):
        with suppress(ValueError):  # a thread whose caller was cancelled still reads; it ends by itself
            documents.close()


def _begun(source: Source) -> Iterator[RawDocument]:
    """Begin to read a source; whatever goes wrong is a SourceError."""
    try:
        return iter(source.documents())
    except ThreadloreError:
        raise
    except Exception as error:  # anything may lie in a source, and the others are to be read
        raise _broken(source, error) from error


def following(source: Source, documents: Iterator[RawDocument]) -> RawDocument | None:
    """Return the next document, None at the end; whatever goes wrong is a SourceError."""
    try:
        return next(documents, None)
    except ThreadloreError:
        raise
    except Exception as error:  # anything may lie in a source, and the others are to be read
        raise _broken(source, error) from error


def _broken(source: Source, error: Exception) -> SourceError:
    log.error("%s cannot be read", source.name, exc_info=error)
    return SourceError(
        f"{source.name} cannot be read ({type(error).__name__}: {error}); the log says where. Its pages of "
        f"before stay."
    )


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of a reindex, and of pairs made of documents, looked at before each batch; 0 is no limit.

    `max_passages` is of one release, `reserve_bytes` what stays free where `free` looks.
    """

    max_passages: int = 0
    reserve_bytes: int = 0
    free: Callable[[], int] = lambda: 0

    def is_over(self, count: int) -> bool:
        """Return True if these are more passages than one release may have."""
        return bool(self.max_passages) and count > self.max_passages

    def check_passages(self, release: str, count: int) -> None:
        """Raise OverQuota where a corpus would have too many passages."""
        if self.is_over(count):
            raise OverQuota(
                f"The pages of {release} have {count:,} passages and more may come, MAX_PASSAGES allows "
                f"{self.max_passages:,}; leave pages out (`exclude`, `max_pages`), or raise it. What was "
                f"indexed before goes on answering, and the next run goes on where this one stopped."
            )

    def check_pairs(self, release: str, count: int) -> None:
        """Raise OverQuota where more pairs were made of a release's pages than it may have passages."""
        if self.is_over(count):
            raise OverQuota(
                f"{count:,} pairs were made of the pages of {release} and more may come, MAX_PASSAGES allows "
                f"{self.max_passages:,}; raise it, leave pages out (`exclude`, `max_pages`), or make no more "
                f"pairs (PREGENERATE=off). What was made is searched, and the next run goes on where this "
                f"one stopped."
            )

    def check_disk(self) -> None:
        """Raise OverQuota where too little of the disk is left."""
        if self.reserve_bytes and (free := self.free()) < self.reserve_bytes:
            raise OverQuota(
                f"The disk of the home folder has {free / 1e6:,.0f} MB left, an index leaves "
                f"{self.reserve_bytes / 1e6:,.0f} MB free (DISK_RESERVE_MB); free some space. What was "
                f"indexed before goes on answering, and the next run goes on where this one stopped."
            )


UNLIMITED = Quota()
