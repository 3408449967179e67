"""Reindexing: what changes is built beside the live corpus, and nothing that fails loses it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import pytest

from bot.rendering.status import done_text
from core.domain import Queries, RawDocument
from core.errors import EncoderChanged, SourceError, StorageError
from core.ingestion.indexer import Indexer
from core.ingestion.reading import Progress
from core.ports import BUILD, LeftOut, PeoplesSource, Unread
from core.ports.corpora import Indexes
from core.retrieval.search import Searcher
from core.text.words import window_texts
from tests.fake_workers import FakeWorkers
from tests.fakes import FakeCorpora, FakeEncoder, FakeVectors, FakeWords


class Pages:
    """A source whose pages a test changes; `broken` makes reading it fail."""

    name = "folder:pages"
    kind = "markdown"

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages = pages
        self.broken = ""
        self.skipped: Sequence[tuple[str, str]] = ()

    def documents(self) -> Iterable[RawDocument]:
        if self.broken:
            raise SourceError(self.broken)
        for path, text in self.pages.items():
            yield RawDocument(path, f"https://docs.example/{path}", text.encode(), self.kind)


class PeoplesPages(Pages):
    """A source of what people said."""

    asks, withheld, may_be_empty = True, 0, False

    def heed(self, people: LeftOut) -> None: ...

    def withhold(self) -> None: ...


class Counted(FakeEncoder):
    """An encoder that counts what it encodes."""

    encoded = 0

    async def encode(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        self.encoded += len(texts)
        return await super().encode(texts)


class House:
    """An indexer on fakes."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.source = Pages(pages)
        self.store, self.vectors, self.words = FakeCorpora(), FakeVectors(), FakeWords()
        self.searcher = Searcher(Indexes(self.store, self.vectors, self.words))
        self.indexer = Indexer(
            Indexes(self.store, self.vectors, self.words),
            lambda _: [self.source],
            self.searcher.load,
            FakeWorkers(),
        )
        self.encoder = Counted()

    async def reindex(self, **options: bool):  # type: ignore[no-untyped-def]
        return await self.indexer.reindex("1.0", self.encoder, **options)

    async def ask(self, text: str) -> list[str]:
        vectors = await self.encoder.encode([text])
        found = await self.searcher.search(Queries(text, text), vectors, "1.0")
        return [item.chunk.path for item in found.evidence]


PAGES = {
    "kettle.md": "# Kettle\n\nThe kettle boils water when its lid is closed.",
    "teapot.md": "# Teapot\n\nThe teapot keeps brewed tea warm for an hour.",
}


async def test_pages_are_found_and_unchanged_ones_cost_nothing() -> None:
    house = House(dict(PAGES))
    first = await house.reindex()
    assert (first.corpus.documents, len(first.reading.added)) == (2, 2)
    assert (await house.ask("boils water lid"))[0] == "kettle.md"

    before = house.encoder.encoded
    again = await house.reindex()
    assert (again.embedded, again.reading.unchanged, again.corpus) == (0, 2, first.corpus)
    assert house.encoder.encoded == before


async def test_a_page_is_found_by_what_an_index_lists_it_under_and_does_not_say_so() -> None:
    listed = "Lid\n===\n\n.. index:: single: scalding; protection\n\nThe lid closes by itself."
    house = House({"lid.rst": listed, "cup.rst": "Cup\n===\n\nThe cup holds a quarter of a litre."})
    house.source.kind = "rst"
    await house.reindex()
    vectors = await house.encoder.encode(["scalding protection"])
    found = await house.searcher.search(Queries("scalding protection", "scalding protection"), vectors, "1.0")
    (first, *_) = found.evidence
    assert first.chunk.path == "lid.rst" and found.signs is not None
    assert all("scalding" not in text for item in found.evidence for text in (item.chunk.text, *item.matched))


async def test_windows_are_embedded_with_the_passages_and_where_an_older_version_left_them_out() -> None:
    house = House(
        {"kettle.md": "# Kettle\n\nThe kettle boils. Its lid is closed.\n\nIt whistles when it is done."}
    )
    corpus = (await house.reindex()).corpus
    (row,) = await house.store.rows("1.0")
    (page,) = (await house.store.contexts([row.context_id])).values()
    texts = window_texts(page)
    assert len(texts) == 2 and await house.store.missing_vectors(corpus.encoder, list(texts)) == set()
    before = house.encoder.encoded
    for key in texts:
        del house.store._vectors[corpus.encoder, key]
    house.store._views.clear()
    await house.searcher.load()
    query = Queries("Does it whistle when it is done?", "whistle done")
    vector = await house.encoder.encode([query.base])
    unaware = (await house.searcher.search(query, vector, "1.0")).signs.sentence
    again = await house.reindex()
    assert (again.corpus, again.embedded) == (corpus, 0) and house.encoder.encoded > before
    assert (await house.searcher.search(query, vector, "1.0")).signs.sentence > unaware
    assert await house.store.missing_vectors(corpus.encoder, list(texts)) == set()


async def test_a_first_corpus_answers_before_its_windows_are_embedded() -> None:
    text = "# Kettle\n\nThe kettle boils. Its lid is closed.\n\nIt whistles when it is done."
    house = House({"kettle.md": text})
    known: list[int] = []

    async def went_live(release: str) -> None:
        await house.searcher.load(release)
        rows = await house.store.rows(release)
        pages = await house.store.contexts([row.context_id for row in rows])
        texts = [key for page in pages.values() for key in window_texts(page)]
        known.append(len(texts) - len(await house.store.missing_vectors(house.encoder.name, texts)))

    house.indexer._on_live = went_live
    await house.reindex()
    house.source.pages["kettle.md"] = text.replace("boils", "sings")
    await house.reindex()
    assert known == [0, 2, 2]


async def test_windows_that_were_left_for_later_are_embedded_once() -> None:
    house = House({"kettle.md": "# Kettle\n\nThe kettle boils. Its lid is closed.\n\nIt whistles when done."})
    lived: list[str] = []

    async def went_live(release: str) -> None:
        lived.append(release)
        await house.searcher.load(release)

    house.indexer._on_live = went_live
    assert not await house.indexer.complete("1.0", house.encoder), "there is no corpus yet"
    await house.reindex(windows=False)
    before = house.encoder.encoded
    assert house.searcher.learning == {"1.0"}, "it answers, though not as well as it will"
    seen: list[tuple[str, int, int]] = []
    assert await house.indexer.complete(
        "1.0", house.encoder, lambda progress: seen.append((progress.stage, progress.done, progress.total))
    )
    after = house.encoder.encoded
    assert after > before and lived == ["1.0", "1.0"]
    assert seen == [("sentences", 0, 2), ("sentences", 2, 2), ("done", 1, 1)]
    assert not house.searcher.learning
    assert not await house.indexer.complete("1.0", house.encoder)
    assert house.encoder.encoded == after and house.indexer.running == {}


async def test_one_changed_page_embeds_that_page_and_the_old_text_is_gone() -> None:
    house = House(dict(PAGES))
    await house.reindex()
    house.source.pages["kettle.md"] = "# Kettle\n\nThe kettle whistles after four minutes."
    done = await house.reindex()
    assert done.reading.changed == ("folder:pages: kettle.md",)
    assert done.embedded == 1
    corpus = done.corpus
    rows = {row.id for row in await house.store.rows("1.0")}
    assert await house.vectors.ids(corpus.collection) == rows == await house.words.ids(corpus.collection)
    assert "boils" not in " ".join(row.text for row in await house.store.rows("1.0"))


async def test_what_a_cut_run_left_goes_with_the_next_run_that_changes_nothing() -> None:
    house = House(dict(PAGES))
    first = await house.reindex()
    cut = House({"cut.md": "# Cut\n\nA page of a run that ended before its corpus went live."})
    await cut.reindex()
    for row in await cut.store.rows("1.0"):
        await house.store.put("1.0", cut.store.document(row.document_id))
        await house.words.upsert(first.corpus.collection, [(row.id, row.title, row.text)])
    assert await house.store.leftovers("1.0") == 1
    assert (await house.reindex()).corpus == first.corpus
    assert await house.store.leftovers("1.0") == 0
    assert await house.words.ids(first.corpus.collection) == {r.id for r in await house.store.rows("1.0")}


async def test_a_search_during_which_the_corpus_changes_answers_from_the_new_one() -> None:
    house = House(dict(PAGES))
    await house.reindex()
    house.source.pages = {"kettle.md": "# Kettle\n\nThe new kettle boils water with its lid open."}
    looked_up = house.store.contexts

    async def meanwhile(ids: Sequence[str]):  # type: ignore[no-untyped-def]
        house.store.contexts = looked_up  # type: ignore[method-assign]
        await house.reindex()
        return await looked_up(ids)

    house.store.contexts = meanwhile  # type: ignore[method-assign]
    assert await house.ask("boils water lid") == ["kettle.md"]


async def test_a_deleted_page_never_answers_again() -> None:
    house = House(dict(PAGES))
    await house.reindex()
    del house.source.pages["teapot.md"]
    done = await house.reindex()
    assert done.reading.removed == ("folder:pages: teapot.md",)
    assert "teapot.md" not in await house.ask("teapot brewed tea warm")


async def test_nearly_all_pages_of_a_source_go_only_where_somebody_says_so() -> None:
    many = {f"{n}.md": f"# Part {n}\n\nWater boils at {n} degrees." for n in range(20)}
    house = House(many)
    await house.reindex()
    house.source.pages = {"README.md": "# Mounts\n\nThe documentation is mounted here."}
    done = await house.reindex()
    assert (done.corpus.documents, done.reading.removed) == (20, ())
    ((_, said),) = done.reading.failed
    assert "1 page where there were 20" in said and "index --rebuild" in said
    assert (await house.indexer.plan("1.0", house.encoder)).failed, "a dry run tells it"
    house.encoder = Counted("another")
    assert (await house.reindex(rebuild=True)).corpus.documents == 20, "that is for the encoder"
    assert (await house.reindex(rebuild=True)).corpus.documents == 1


async def test_many_pages_of_a_source_go_at_once_and_what_people_said_always() -> None:
    many = {f"{n}.md": f"# Part {n}\n\nWater boils at {n} degrees." for n in range(20)}
    house = House(dict(many))
    await house.reindex()
    house.source.pages = dict(list(many.items())[:3])
    assert (await house.reindex()).corpus.documents == 3
    peoples = House({})
    peoples.source = PeoplesPages(dict(many))
    await peoples.reindex()
    peoples.source.pages = {"1.md": many["1.md"]}
    assert (await peoples.reindex()).corpus.documents == 1


async def test_a_dry_run_tells_and_writes_nothing() -> None:
    house = House(dict(PAGES))
    await house.reindex()
    house.source.pages = {"kettle.md": "# Kettle\n\nNew words.", "cup.md": "# Cup\n\nHolds tea."}
    plan = await house.indexer.plan("1.0", house.encoder)
    assert plan.added == ("folder:pages: cup.md",)
    assert plan.changed == ("folder:pages: kettle.md",)
    assert plan.removed == ("folder:pages: teapot.md",)
    assert {d.path for d in await house.store.manifest("1.0")} == {"kettle.md", "teapot.md"}
    assert not await house.store.rows("1.0", ["cup.md"])


async def test_a_source_that_fails_keeps_its_old_pages_and_is_noted() -> None:
    house = House(dict(PAGES))
    await house.reindex()
    house.source.broken = "The disk is unplugged."
    done = await house.reindex()
    assert done.reading.failed == (("folder:pages", "The disk is unplugged."),)
    assert (await house.ask("boils water lid"))[0] == "kettle.md"
    run = next(run for run in await house.store.runs() if run.source == house.source.name)
    assert (run.failures, run.error) == (1, "The disk is unplugged.")


async def test_a_source_that_never_worked_is_an_error() -> None:
    house = House({})
    with pytest.raises(SourceError, match="no document that can be read"):
        await house.reindex()
    assert await house.store.live() == {}


async def test_what_cannot_be_read_is_passed_over_with_its_reason() -> None:
    house = House(dict(PAGES) | {"huge.md": "x" * 6_000_000, "binary.md": "a\0b"})
    done = await house.reindex()
    assert {path for _, path, _ in done.reading.skipped} == {"huge.md", "binary.md"}
    assert done.corpus.documents == 2
    run = next(run for run in await house.store.runs() if run.source == house.source.name)
    assert dict(run.skipped).keys() == {"huge.md", "binary.md"}


@pytest.mark.parametrize("text", ["x" * 6_000_000, "a\0b"])
async def test_a_page_that_cannot_be_parsed_any_more_stays_says_so_and_is_tried_again(text: str) -> None:
    house = House(dict(PAGES))
    await house.reindex()
    house.source.pages = dict(PAGES) | {"kettle.md": text}
    done = await house.reindex()
    assert done.reading.kept == ("folder:pages: kettle.md",) and not done.reading.removed
    assert (done.reading.unchanged, done.corpus.documents) == (2, 2)
    assert (await house.ask("boils water lid"))[0] == "kettle.md"
    run = next(run for run in await house.store.runs() if run.source == house.source.name)
    ((path, reason),) = run.skipped
    assert path == "kettle.md" and reason.endswith("; its earlier page stays")
    assert "(1 could not be read and stay as they were), 1 passed over" in done_text([done])

    house.source.pages["kettle.md"] = "# Kettle\n\nThe kettle whistles after four minutes."
    assert (await house.reindex()).reading.changed == ("folder:pages: kettle.md",)
    del house.source.pages["kettle.md"]
    done = await house.reindex()
    assert done.reading.removed == ("folder:pages: kettle.md",)


@pytest.mark.parametrize("text", ["", "---\ndraft: true\n---\n\n# Kettle\n\nIt boils.", "# Kettle\n"])
async def test_a_page_that_its_author_emptied_or_hid_goes(text: str) -> None:
    house = House(dict(PAGES))
    await house.reindex()
    house.source.pages["kettle.md"] = text
    assert (await house.reindex()).reading.removed == ("folder:pages: kettle.md",)


async def test_what_lies_in_a_place_that_cannot_be_read_now_stays_and_what_is_gone_goes() -> None:
    text = "# Kettle\n\nThe kettle boils water when its lid is closed."
    house = House(
        {path: text + path for path in ("a.md", "in/b.md", "in/c/d.md", "into.md", "gone.md", "w.md")}
    )
    await house.reindex()
    house.source.pages = {"e.md": text}
    house.source.skipped = [("a.md", Unread("x")), ("in/", Unread("x")), ("gone.md", "not there")]
    house.source.skipped += [("https://docs.example/w.md", Unread("x"))]
    reading = (await house.reindex()).reading
    assert [entry.rpartition(" ")[2] for entry in reading.kept] == ["a.md", "in/b.md", "in/c/d.md", "w.md"]
    assert [entry.rpartition(" ")[2] for entry in reading.removed] == ["gone.md", "into.md"]
    assert [reason for *_, reason in reading.skipped] == ["x; its earlier page stays"] * 2 + [
        "not there",
        "x; its earlier page stays",
    ]


async def test_what_people_said_does_not_stay_where_it_cannot_be_read() -> None:
    house = House(dict(PAGES))
    await house.reindex()
    source = house.source = PeoplesPages(dict(PAGES) | {"kettle.md": "a\0b"})
    assert isinstance(source, PeoplesSource)
    assert (await house.reindex()).reading.removed == ("folder:pages: kettle.md",)


async def test_another_encoder_is_refused_and_a_rebuild_serves_the_old_one_until_it_is_done() -> None:
    house = House(dict(PAGES))
    old = (await house.reindex()).corpus
    other = FakeEncoder("other@64", dimensions=64, max_tokens=64)
    with pytest.raises(EncoderChanged, match="index --rebuild"):
        await house.indexer.reindex("1.0", other)
    assert (await house.ask("boils water lid"))[0] == "kettle.md"

    stages = []

    def watch(progress: Progress) -> None:
        stages.append((progress.stage, house.searcher.corpora["1.0"].encoder))

    new = await house.indexer.reindex("1.0", other, watch, rebuild=True)
    assert {encoder for stage, encoder in stages if stage in ("reading", "embedding")} == {old.encoder}
    assert new.corpus.encoder == "other@64"
    assert await house.vectors.collections() == {new.corpus.collection}


class FullDisk(FakeCorpora):
    """A store whose disk fills up after some writes."""

    room = 10**9

    async def put_vectors(self, encoder, vectors, tokens=None):  # type: ignore[no-untyped-def]
        if self.room <= 0:
            raise StorageError("The disk that holds the home folder is full.")
        self.room -= 1
        await super().put_vectors(encoder, vectors, tokens)


async def test_a_full_disk_leaves_the_old_corpus_and_the_next_run_finishes() -> None:
    house = House(dict(PAGES))
    house.store = FullDisk()
    house.searcher = Searcher(Indexes(house.store, house.vectors, house.words))
    house.indexer = Indexer(
        Indexes(house.store, house.vectors, house.words),
        lambda _: [house.source],
        house.searcher.load,
        FakeWorkers(),
    )
    await house.reindex()
    house.source.pages["kettle.md"] = "# Kettle\n\nThe kettle sings."
    house.store.room = 0
    with pytest.raises(StorageError, match="full"):
        await house.reindex()
    assert (await house.ask("boils water lid"))[0] == "kettle.md"
    assert house.indexer.running == {}
    house.store.room = 10**9
    assert (await house.reindex()).reading.changed == ("folder:pages: kettle.md",)
    assert "sings" in " ".join(row.text for row in await house.store.rows("1.0"))


async def test_lost_indexes_are_rebuilt_from_the_store_without_embedding() -> None:
    house = House(dict(PAGES))
    corpus = (await house.reindex()).corpus
    before = house.encoder.encoded
    await house.vectors.drop(corpus.collection)
    await house.words.drop(corpus.collection)
    await house.vectors.upsert("corpus-left-over", ["x"], await house.encoder.encode(["x"]))
    before = house.encoder.encoded
    assert await house.indexer.reconcile() == 2 * corpus.chunks
    assert house.encoder.encoded == before
    assert await house.vectors.collections() == {corpus.collection}
    assert (await house.ask("boils water lid"))[0] == "kettle.md"


async def test_releases_are_built_one_at_a_time_and_progress_is_told() -> None:
    house = House(dict(PAGES))
    seen: list[tuple[str, str]] = []

    def hear(progress: Progress) -> None:
        seen.append((progress.release, progress.stage))

    await asyncio.gather(*(house.indexer.reindex(r, house.encoder, hear) for r in ("1.0", "2.0")))
    order = [release for release, _ in seen]
    assert order == sorted(order)
    assert seen[-1] == ("2.0", "done")
    assert {stage for _, stage in seen} >= {"reading", "embedding", "indexing", "done"}


async def test_the_same_release_twice_at_once_is_built_in_turns() -> None:
    house = House(dict(PAGES))
    first, second = await asyncio.gather(house.reindex(), house.reindex())
    assert (first.embedded > 0, second.embedded) == (True, 0)
    assert house.indexer.running == {}


async def test_windows_that_find_no_room_are_tried_again_soon() -> None:
    house = House({"kettle.md": "# Kettle\n\nThe kettle boils water.\n\nIt whistles when done."})
    house.store = FullDisk()
    house.searcher = Searcher(Indexes(house.store, house.vectors, house.words))
    house.indexer = Indexer(
        Indexes(house.store, house.vectors, house.words),
        lambda _: [house.source],
        house.searcher.load,
        FakeWorkers(),
    )
    await house.reindex(windows=False)
    house.store.room = 0
    with pytest.raises(StorageError, match="full"):
        await house.indexer.complete("1.0", house.encoder)
    assert (await house.ask("boils water lid"))[0] == "kettle.md", "it answers without them"
    [build] = [run for run in await house.store.runs() if run.source == BUILD]
    assert build.failures == 1 and "full" in build.error and house.indexer.running == {}
