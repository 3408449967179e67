"""What a reindex may take: beyond it the old corpus goes on answering, and the next run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from core.errors import OverQuota, StorageError
from core.ingestion.embedding import EMBEDDED_AT_ONCE
from core.ingestion.indexer import Indexer
from core.ingestion.parsing import Quota
from core.ingestion.pregeneration.model import ModelPairs
from core.ingestion.pregeneration.rules import RULES
from core.ports import BUILD, SourceRun
from core.ports.corpora import Indexes
from core.retrieval.search import Searcher
from tests.contracts.samples import document as page_of
from tests.core.ingestion.test_indexer import PAGES, FullDisk, House
from tests.core.ingestion.test_pregeneration import TEXT
from tests.core.ingestion.test_pregeneration import House as Pairs
from tests.fake_workers import FakeWorkers
from tests.fakes import FakeModel


class Disk:
    """A disk of which a test says how much is free; every look takes one thing's room."""

    def __init__(self, free: int = 10**9, takes: int = 0) -> None:
        self.left, self.takes = free, takes

    def free(self) -> int:
        self.left -= self.takes
        return self.left


def limited(house: House, quota: Quota) -> House:
    house.indexer = Indexer(
        Indexes(house.store, house.vectors, house.words),
        lambda _: [house.source],
        house.searcher.load,
        FakeWorkers(),
        quota,
    )
    return house


async def build_of(house: House) -> SourceRun:
    return next(run for run in await house.store.runs() if run.source == BUILD)


def pages(count: int) -> dict[str, str]:
    return {
        f"p{n}.md": f"# Page {n}\n\nThe lid number {n} closes the kettle number {n}." for n in range(count)
    }


async def test_too_many_passages_leave_the_old_corpus_and_nothing_is_embedded() -> None:
    house = limited(House(dict(PAGES)), Quota(max_passages=3))
    first = await house.reindex()
    before = house.encoder.encoded
    house.source.pages |= pages(2)
    with pytest.raises(OverQuota, match=r"MAX_PASSAGES allows 3; leave pages out .* next run goes on"):
        await house.reindex()
    assert house.encoder.encoded == before
    assert (await house.store.live())["1.0"] == first.corpus
    assert (await house.ask("boils water lid"))[0] == "kettle.md"
    run = await build_of(house)
    assert run.failures == 1 and "MAX_PASSAGES" in run.error and run.succeeded_at > 0

    limited(house, Quota(max_passages=4))
    done = await house.reindex()
    assert (done.corpus.documents, done.embedded) == (4, 2)
    assert (await build_of(house)).failures == 0
    assert await house.store.leftovers("1.0") == 0


async def test_a_source_without_an_end_is_read_no_further_than_the_quota() -> None:
    house = limited(House(pages(500)), Quota(max_passages=10))
    given = 0
    documents = house.source.documents

    def counted():  # type: ignore[no-untyped-def]
        nonlocal given
        for document in documents():
            given += 1
            yield document

    house.source.documents = counted  # type: ignore[method-assign]
    with pytest.raises(OverQuota):
        await house.reindex()
    assert given == 11


@pytest.mark.parametrize("after", [0, 1, 2, 3])
async def test_a_disk_that_runs_low_at_any_moment_leaves_the_old_corpus(after: int) -> None:
    disk = Disk()
    house = limited(House(dict(PAGES)), Quota(reserve_bytes=500, free=disk.free))
    first = await house.reindex()
    house.source.pages["kettle.md"] = "# Kettle\n\nThe kettle sings."
    disk.left, disk.takes = 500 + after, 1
    with pytest.raises(OverQuota, match=r"DISK_RESERVE_MB\); free some space"):
        await house.reindex()
    assert (await house.store.live())["1.0"] == first.corpus
    assert (await house.ask("boils water lid"))[0] == "kettle.md"
    disk.left, disk.takes = 10**9, 0
    assert (await house.reindex()).reading.changed == ("folder:pages: kettle.md",)
    assert "sings" in " ".join(row.text for row in await house.store.rows("1.0"))


class Killing(House):
    """A house whose process ends after so many batches of passages were embedded."""

    async def killed_after(self, batches: int) -> int:
        """Reindex until then; return how many texts were encoded and kept."""
        put, kept = self.store.put_vectors, 0

        async def put_vectors(encoder: str, vectors, tokens=None) -> None:  # type: ignore[no-untyped-def]
            nonlocal kept
            if kept == batches * EMBEDDED_AT_ONCE:
                raise asyncio.CancelledError
            await put(encoder, vectors, tokens)
            kept += len(vectors)

        self.store.put_vectors = put_vectors  # type: ignore[method-assign]
        with pytest.raises(asyncio.CancelledError):
            await self.reindex()
        self.store.put_vectors = put  # type: ignore[method-assign]
        return kept


async def test_after_a_kill_only_what_was_not_embedded_is_embedded() -> None:
    house = Killing(pages(5 * EMBEDDED_AT_ONCE))
    assert await house.killed_after(3) == 3 * EMBEDDED_AT_ONCE
    assert await house.store.live() == {} and await house.store.runs() == ()
    done = await house.reindex()
    assert (done.corpus.chunks, done.embedded) == (5 * EMBEDDED_AT_ONCE, 2 * EMBEDDED_AT_ONCE)
    assert (await house.reindex()).embedded == 0


async def test_what_a_killed_run_read_is_due_again_at_once() -> None:
    house = Killing(pages(EMBEDDED_AT_ONCE))
    await house.reindex()
    read = {run.source: run.at for run in await house.store.runs()}
    house.source.pages |= {"new.md": "# New\n\n" + "Words that are new. " * 3}
    await house.killed_after(0)
    assert {run.source: run.at for run in await house.store.runs()} == read


async def test_a_full_disk_is_noted_and_a_run_that_fails_again_embeds_nothing_twice() -> None:
    house = House(pages(3 * EMBEDDED_AT_ONCE))
    house.store = store = FullDisk()
    house.searcher = Searcher(Indexes(house.store, house.vectors, house.words))
    limited(house, Quota())
    store.room = 2
    with pytest.raises(StorageError, match="full"):
        await house.reindex()
    with pytest.raises(StorageError, match="full"):
        await house.reindex()
    assert (await build_of(house)).failures == 2
    store.room = 10**9
    assert (await house.reindex()).embedded == EMBEDDED_AT_ONCE


async def test_one_page_that_trips_its_parser_and_one_source_that_breaks_are_told_alone() -> None:
    class Broken:
        name, skipped = "reader:broken", ()

        def documents(self) -> Sequence[object]:
            raise ZeroDivisionError("by somebody's plugin")

    house = House(dict(PAGES))
    house.indexer = Indexer(
        Indexes(house.store, house.vectors, house.words),
        lambda _: [Broken(), house.source],
        house.searcher.load,
        FakeWorkers(),
    )
    done = await house.reindex()
    assert done.corpus.documents == 2
    assert "ZeroDivisionError: by somebody's plugin" in done.reading.failed[0][1]


async def test_more_pairs_than_a_release_may_have_are_not_made_and_those_there_are_searched() -> None:
    house = Pairs(Quota(max_passages=3))
    await house.index(*(page_of(f"{name}.rst", text=TEXT) for name in "abc"))
    for _ in range(2):
        with pytest.raises(OverQuota, match=r"^4 pairs were made of the pages of 1.0 .*PREGENERATE=off"):
            await house.work.run("1.0", house.encoder)
        assert (await house.store.count("1.0", RULES)).done == 2
        assert len((await house.ids())[0]) == 8 and not house.work.running
    again = Pairs(Quota(max_passages=6))
    await again.index(*(page_of(f"{name}.rst", text=TEXT) for name in "abc"))
    counted = await again.work.run("1.0", again.encoder)
    assert counted and counted.pairs == 6, "as many as there may be"
    redone = await again.work.run("1.0", again.encoder, maker=ModelPairs(FakeModel(lambda _: {"pairs": []})))
    assert redone and redone.done == 3, "what takes the place of others is not counted with them"


async def test_a_disk_that_is_nearly_full_makes_no_pairs_and_the_next_run_goes_on() -> None:
    free = [10**9, 10**9, 0]  # for the first document, the second, and what they are embedded for
    house = Pairs(Quota(reserve_bytes=1_000, free=lambda: free.pop(0) if free else 0))
    await house.index(*(page_of(f"{name}.rst", text=TEXT) for name in "abc"))
    with pytest.raises(OverQuota, match="DISK_RESERVE_MB"):
        await house.work.run("1.0", house.encoder)
    assert (await house.store.count("1.0", RULES)).done == 2 and house.encoder.encoded == 0
    free += [10**9] * 9
    counted = await house.work.run("1.0", house.encoder)
    assert counted and counted.done == 3 and len((await house.ids())[0]) == 12
