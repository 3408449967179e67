"""Reading the sources of a release: what was added, changed, removed, passed over, or failed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain import ChunkedDocument, RawDocument
from core.errors import NoDocument, SourceClosed, SourceError, TooCostly
from core.ingestion.parsing import UNLIMITED, Quota, cut, following, opened, patience
from core.ingestion.staying import check_empty, check_shrunk, staying
from core.ports import CorpusStore, Encoder, Source, StoredDocument, Unread, Workers

log = logging.getLogger(__name__)


DOING: Mapping[str, str] = {
    "reading": "reading",
    "embedding": "indexing",
    "indexing": "writing the index",
    "sentences": "learning its sentences",
}
"""What is said of each stage. In the last one a release answers already; its answers get better."""
UNITS: Mapping[str, str] = {"reading": "pages", "sentences": "sentences", "pairs": "pages"}
LEAST_SECONDS = 0.05
"""Time after which a rate tells something."""


@dataclass(slots=True)
class Progress:
    """How far a reindex is; `rate` in passages a second."""

    release: str
    stage: str = "reading"
    source: str = ""
    done: int = 0
    total: int = 0
    started: float = field(default_factory=time.monotonic)
    error: str = ""
    """Why it ended before its end."""
    ended_at: float = 0.0
    """When it ended, in seconds since the epoch; 0 while it goes on."""

    @property
    def doing(self) -> str:
        """Return the stage as people read it, on every page and line the same."""
        return DOING.get(self.stage, self.stage)

    @property
    def unit(self) -> str:
        """Return what is counted in this stage."""
        return UNITS.get(self.stage, "passages")

    @property
    def rate(self) -> float:
        """Return what is done a second since the stage began; 0 at its end, where that tells nothing."""
        taken = time.monotonic() - self.started
        return self.done / taken if taken >= LEAST_SECONDS and self.stage != "done" else 0.0

    @property
    def eta_s(self) -> float | None:
        """Estimate the seconds left; None while nothing is known."""
        return (self.total - self.done) / self.rate if self.rate and self.total else None

    def enter(self, stage: str, total: int) -> None:
        """Begin a stage."""
        self.stage, self.done, self.total, self.started = stage, 0, total, time.monotonic()

    def fail(self, error: str) -> None:
        """End with an error: who watches sees how far it came, and why no further."""
        self.stage, self.error, self.ended_at = "failed", error, time.time()

    def finish(self, total: int) -> None:
        """End with everything done."""
        self.enter("done", total)
        self.done, self.ended_at = total, time.time()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the sources of a release hold now, against its live corpus; lists of `source: path`."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: tuple[tuple[str, str, str], ...] = ()
    """(source, path, reason) of what was passed over."""
    failed: tuple[tuple[str, str], ...] = ()
    """(source, error) of sources that could not be read; their old documents stay."""
    kept: tuple[str, ...] = ()
    """Of `unchanged`, those that could not be read this time (`Unread`)."""

    @property
    def differs(self) -> bool:
        """Return True if the corpus would change."""
        return bool(self.added or self.changed or self.removed)

    def joined(self, other: Reading) -> Reading:
        """Return both readings as one."""
        return Reading(
            self.added + other.added,
            self.changed + other.changed,
            self.removed + other.removed,
            self.unchanged + other.unchanged,
            self.skipped + other.skipped,
            self.failed + other.failed,
            self.kept + other.kept,
        )


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Noted:
    """How reading one source went, to be written down when it is known what became of it."""

    source: str
    error: str
    skipped: tuple[tuple[str, str], ...]
    changed: bool | None


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The differences, the ids of the documents there are now, and how each source went."""

    reading: Reading
    ids: list[str]
    noted: tuple[Noted, ...]
    closed: bool = False
    """Whether pages of a source are to go although it failed (`SourceClosed`)."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One reading of a release: for which encoder, whom it is told to, and whether documents are kept.

    Nearly all pages of a source go only if it `may_shrink`.
    """

    release: str
    encoder: Encoder
    progress: Progress
    report: Report
    keep: bool
    may_shrink: bool


class Reader:
    """Reads sources and has what is new cut by `workers`; keeps it in the store where it is told to."""

    def __init__(
        self,
        store: CorpusStore,
        sources: Callable[[str], Sequence[Source]],
        workers: Workers,
        quota: Quota = UNLIMITED,
    ) -> None:
        self._store = store
        self._sources = sources
        self._workers = workers
        self._quota = quota

    def names(self, release: str) -> set[str]:
        """Return the names of a release's sources."""
        return {source.name for source in self._sources(release)}

    async def read(
        self,
        release: str,
        encoder: Encoder,
        progress: Progress,
        report: Report,
        keep: bool,
        only: Collection[str] = (),
        may_shrink: bool = False,
    ) -> ReadResult:
        """Read every source, or `only` those names. Documents of sources that are not read stay, if they
        were read before; so do nearly all of one source that are gone at once, unless it `may_shrink`.
        Raises StorageError, and OverQuota where there is too much to keep.

        Cancelling it ends the work of `workers`.
        """
        try:
            return await self._read(_Run(release, encoder, progress, report, keep, may_shrink), only)
        except asyncio.CancelledError:
            self._workers.interrupt()
            raise

    async def _read(self, run: _Run, only: Collection[str]) -> ReadResult:
        release, progress = run.release, run.progress
        progress.enter("reading", 0)
        live: dict[str, dict[str, StoredDocument]] = {}
        for document in await self._store.manifest(release):
            live.setdefault(document.source, {})[document.path] = document
        reading = Reading()
        ids: list[str] = []
        noted: list[Noted] = []
        kept, closed, lacking = 0, False, False
        for source in self._sources(release):
            progress.source = source.name
            before = live.pop(source.name, {})
            if only and before and source.name not in only:
                reading = reading.joined(Reading(unchanged=len(before)))
                ids += [document.id for document in before.values()]
                continue
            try:
                some, found, passages = await self._read_source(source, before, run, kept)
                kept += passages
            except SourceError as error:
                log.warning("source %s of %s failed: %s", source.name, release, error)
                failed = ((source.name, str(error)),)
                if isinstance(error, SourceClosed):
                    closed = True
                    some, found = Reading(failed=failed, removed=_named(source.name, before)), []
                else:
                    some, found = Reading(failed=failed), [document.id for document in before.values()]
                    lacking = lacking or not before
            passed = tuple((path, reason) for _, path, reason in some.skipped)
            changed = some.differs if before and not some.failed else None
            noted.append(Noted(source.name, some.failed[0][1] if some.failed else "", passed, changed))
            reading = reading.joined(some)
            ids += found
        if lacking:  # what could not be read may be one of these under another name
            ids += [document.id for documents in live.values() for document in documents.values()]
            reading = reading.joined(Reading(unchanged=sum(map(len, live.values()))))
            live = {}
        gone = tuple(entry for name, documents in live.items() for entry in _named(name, documents))
        return ReadResult(reading.joined(Reading(removed=gone)), ids, tuple(noted), closed)

    async def _read_source(
        self, source: Source, before: dict[str, StoredDocument], run: _Run, kept: int
    ) -> tuple[Reading, list[str], int]:
        """Read one source; return also how many passages are new, beside the `kept` of those before it."""
        passages = 0
        added: list[str] = []
        changed: list[str] = []
        skipped: list[tuple[str, str, str]] = []
        ids: dict[str, str] = {}
        people: dict[str, tuple[str, ...]] = {}
        async with opened(source, self._workers) as documents:
            while (raw := await asyncio.to_thread(following, source, documents)) is not None:
                run.progress.done += 1
                run.report(run.progress)
                old = before.get(raw.path)
                try:
                    document = await asyncio.to_thread(self._cut, raw, run, source.name, old)
                except SourceError as error:
                    reason = str(error) if isinstance(error, NoDocument) else Unread(error)
                    skipped.append((source.name, raw.path, reason))
                    continue
                if document is None:
                    assert old is not None
                    ids[raw.path] = old.id
                    people |= {old.id: raw.people} if raw.people else {}
                    continue
                (changed if old else added).append(f"{source.name}: {raw.path}")
                ids[raw.path] = document.id
                passages += len(document.searches)
                if run.keep:
                    self._quota.check_passages(run.release, kept + passages)
                    self._quota.check_disk()
                    await self._store.put(run.release, document)
        if people and run.keep:  # an older version did not write it down
            await self._store.wrote(people)
        skipped += [(source.name, path, reason) for path, reason in source.skipped]
        if not ids:
            check_empty(source, skipped)
        missing = [page for path, page in before.items() if path not in ids]
        stay, skipped = staying(source, skipped, missing)
        ids |= stay
        if not run.may_shrink:
            check_shrunk(source, len(before), len(ids))
        removed = _named(source.name, (path for path in before if path not in ids))
        unchanged = len(ids) - len(added) - len(changed)
        kept_pages = _named(source.name, stay)
        read = Reading(tuple(added), tuple(changed), removed, unchanged, tuple(skipped), kept=kept_pages)
        return read, list(ids.values()), passages

    def _cut(
        self, raw: RawDocument, run: _Run, source: str, before: StoredDocument | None
    ) -> ChunkedDocument | None:
        """Cut a document; None when it is as before. Raises SourceError."""
        known = before.hash if before else ""
        encoder = run.encoder
        given = (raw, run.release, source, encoder.count_tokens, encoder.max_tokens, known)
        try:
            return self._workers.run(cut, *given, patience=patience(raw))
        except TooCostly as error:
            log.warning("%s of %s: %s", raw.path, source, error)
            raise
        except SourceError as error:
            for trace in getattr(error, "__notes__", ()):
                log.error("%s cannot be parsed:\n%s", raw.path, trace)
            raise


def _named(source: str, paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{source}: {path}" for path in paths)
