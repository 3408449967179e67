"""Reading what others wrote: whatever goes wrong is one source's, not the run's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, suppress

from core.domain import RawDocument
from core.errors import SourceError, ThreadloreError
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
