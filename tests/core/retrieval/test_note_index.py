"""Release notes are found by version and by words: what the plain way finds, and however many there are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import ContextChunk, Dated, Evidence, News, Span, begins
from core.ports import Corpus, CorpusStore, SearchRow
from core.retrieval.found import Found
from core.retrieval.live import Live, PageViews, live_of, notes_in
from core.retrieval.release_notes.dated import entries_on
from core.retrieval.release_notes.index import NoteIndex, rank_of, settled
from core.retrieval.release_notes.names import named
from core.retrieval.release_notes.notes import HOLDING, Note, later
from core.retrieval.release_notes.requirements import dropped, drops
from core.retrieval.release_notes.search import DROPPED, MORE, NOTES, ReleaseNotes
from core.vocabulary import CHANGES, tells
from tests.fakes import FakeWords

KINDS = ("", *CHANGES)


class Shelf:
    """A store of pages that counts how many are read."""

    def __init__(self, pages: Sequence[ContextChunk]) -> None:
        self.pages = {page.id: page for page in pages}
        self.read = 0

    async def contexts(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        self.read += len(ids)
        return {key: self.pages[key] for key in ids if key in self.pages}


def shelved(release: str, pages: Sequence[ContextChunk]) -> tuple[Live, Shelf]:
    rows = [
        SearchRow(f"s{page.id}", page.id, "d", f"Changes {page.heading}", page.page, page.page, page.id)
        for page in pages
    ]
    notes = notes_in(rows)
    corpus = Corpus(release, "mini@256", 1, 0.0, 1, len(rows))
    return live_of(corpus, rows, notes, {page.id: page for page in pages}), Shelf(pages)


def reading(live: Live, shelf: Shelf) -> ReleaseNotes:
    views = PageViews(cast(CorpusStore, shelf))
    return ReleaseNotes({live.corpus.release: live}, views, FakeWords())


WORDS = (
    *(
        "added",
        "removed",
        "drop",
        "fixed",
        "deprecated",
        "supports",
        "requires",
        "minimum",
        "no longer supported",
    ),
    *(
        "Python 3.7",
        "python3.8",
        "Python",
        "Kettle.boil_water()",
        "boil",
        "boiling",
        "--keep-warm",
        "größe",
        "k8s",
    ),
    *(
        "flask-lid",
        "KettleLid",
        "config.from_file",
        "3.12",
        "pythonic",
        "and",
        "don't",
        "cup/lid",
        "BOIL_TIME",
    ),
)
HEADINGS = ("", " > Fixes", " > Internal changes", " > Added")
VERSIONS = st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple)
LINES = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=4)
ENTRY = st.tuples(VERSIONS, st.booleans(), st.sampled_from(HEADINGS), LINES)


def page_of(at: int, entry: tuple[tuple[int, ...], bool, str, list[str]]) -> ContextChunk:
    version, guide, heading, lines = entry
    told = ".".join(map(str, version))
    above = f"Upgrading > Upgrading to {told}.0" if guide else f"Version {told}.0"
    return ContextChunk(str(at), "changes.md", "Changes", above + heading, "", "\n".join(lines))


def plainly(notes: Sequence[Note], oldest_first: bool) -> list[Note]:
    """Return notes in the order of their versions, by looking at all of them."""

    def filled(note: Note) -> tuple[int, ...]:
        return (*note.version, *[0] * (6 - len(note.version)))

    return sorted(notes, key=filled, reverse=not oldest_first)


def plainly_best(live: Live, pages: dict[str, ContextChunk], span: Span, kind: str, keep: int) -> list[str]:
    """Return what `NoteIndex.best` does by looking at all notes."""
    notes = live.notes.read_in_order(range(len(live.notes)))
    asked = plainly([note for note in notes if span.covers(note.version)], oldest_first=False)
    found = [pages[n.context_id] for n in sorted(asked, key=lambda n: (n.guide, any(n.version[2:])))]
    if kind != "fixed":
        told = [page for page in found if not rank_of(page)] if kind else []
        found = told or sorted(found, key=rank_of)
    return [p.id for p in sorted(found, key=lambda p: not tells(kind, f"{p.heading}\n{p.page}"))][:keep]


@given(st.lists(ENTRY, max_size=12), VERSIONS, VERSIONS | st.just(()), st.sampled_from(KINDS))
def test_the_notes_of_a_span_are_those_that_a_look_at_all_finds(
    entries: list[Any], until: tuple[int, ...], after: tuple[int, ...], kind: str
) -> None:
    pages = [page_of(at, entry) for at, entry in enumerate(entries)]
    live, _ = shelved("2.0", pages)
    span, notes = Span("2.0", until, after), live.notes.notes
    covered = [at for at, note in enumerate(notes) if span.covers(note.version)]
    assert list(live.notes.covered(span)) == covered
    assert live.notes.behind(until) == sum(not later(note.version, until) for note in notes)
    by_id = {page.id: page for page in pages}
    assert live.notes.best(span, kind, 3) == plainly_best(live, by_id, span, kind, 3)
    known = settled(News((replace(span, release=""),)), {"3.0": live.notes, "2.0": NoteIndex()})
    ends = any(begins(note.version, until) for note in notes)
    assert (known is not None) is bool(covered and ends and until < (3, 0))


NAMES = st.sampled_from(("python", "kettle", "py", "größe", "flask-lid", "3.12"))
SUBJECTS = st.lists(
    st.sampled_from(("boil", "boiling", "boil_water()", "--keep-warm", "größe", "k8s", "flask-lid", "lid"))
    | st.sampled_from(
        ("config.from_file", "from_file", "3.12", "python", "don't", "cup", "boil_time", "time")
    ),
    min_size=1,
    max_size=2,
)


@given(st.lists(ENTRY, max_size=14), NAMES, SUBJECTS, st.sampled_from(tuple(CHANGES)))
def test_notes_tell_what_a_look_at_all_of_them_finds(
    entries: list[Any], name: str, subject: list[str], kind: str
) -> None:
    pages = [page_of(at, entry) for at, entry in enumerate(entries)]
    live, shelf = shelved("1", pages)
    notes, asked = reading(live, shelf), Dated(kind, tuple(subject))
    every = live.notes.read_in_order(range(len(live.notes)))
    by_id = {page.id: page for page in pages}

    newest = [by_id[note.context_id] for note in plainly(every, False) if not later(note.version, (1,))]
    needed = [(page.id, tuple(dropped(name, page.page))) for page in newest if dropped(name, page.page)]
    found = asyncio.run(notes.needing(name, "1"))
    assert [(item.chunk.id, item.matched) for item in found.evidence] == needed[:DROPPED]

    told = asyncio.run(notes.dropping(name, "3.7", "1"))
    known = drops(name, "3.7")
    wanted = next((page.id for page in newest if any(map(known.search, page.page.split("\n")))), None)
    assert (told.page.id if told else None) == wanted

    order = plainly(every, oldest_first=kind != "removed")
    on = [by_id[note.context_id] for note in order if entries_on(asked, by_id[note.context_id])]
    first = asyncio.run(notes.dated(asked, "1", Found())).evidence
    assert [item.chunk.id for item in first] == [page.id for page in on[:3]]


def grown(count: int) -> list[ContextChunk]:
    """Return that many notes, of which most say the same words, and as many other pages."""
    notes = [
        ContextChunk(
            f"n{n}",
            "changes.md",
            "Changes",
            f"Version {n // 100}.{n % 100}",
            "",
            f"- Added `part_{n}` for boiling.\n- It works with Python as before.\n"
            f"- {'Dropped Python 3.7.' if n == count // 2 else 'Requires patience.'}",
        )
        for n in range(count)
    ]
    others = [
        ContextChunk(f"p{n}", "guide.md", "Guide", f"Guide > part_{n}", "", f"Use part_{n} in a.b{n}.k8s.")
        for n in range(count)
    ]
    return [*notes, *others]


class Whole(tuple[Any, ...]):
    """What may be looked into at a place, and not be gone through."""

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("all of them are looked at")


class Texts(dict[str, str]):
    """The same of a mapping."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("all of them are looked at")

    items = values = __iter__  # type: ignore[assignment]


ASKED = {
    "needing python": (lambda notes: notes.needing("python", "99"), NOTES + MORE),
    "needing ruby": (lambda notes: notes.needing("ruby", "99"), 0),
    "dropping": (lambda notes: notes.dropping("Python", "3.7", "99"), NOTES),
    "dropping nothing": (lambda notes: notes.dropping("Python", "3.8", "99"), 0),
    "when a name came": (lambda notes: notes.dated(Dated("added", ("part_7",)), "99", Found()), NOTES),
    "when what all say came": (lambda notes: notes.dated(Dated("added", ("boil",)), "99", Found()), NOTES),
    "when nothing went": (lambda notes: notes.dated(Dated("removed", ("part_7",)), "99", Found()), 0),
    "a span": (lambda notes: notes.of(Span("99", (99,), (0, 0)), "added", 8), 16),
    "what became of a name": (lambda notes: notes.gone(["part_7"], "99"), NOTES),
    "what became of a common name": (lambda notes: notes.gone(["boiling"], "99"), HOLDING),
    "since when a name is there": (lambda notes: notes.came(["part_7"], "99", only_later=False), NOTES),
    "whether a name is there": (lambda notes: notes._has("k8s", "99"), 0),
}


@pytest.fixture(scope="module")
def small() -> tuple[Live, Shelf]:
    return shelved("99", grown(50))


@pytest.fixture(scope="module")
def large() -> tuple[Live, Shelf]:
    return shelved("99", grown(5_000))


@pytest.mark.parametrize("asked", ASKED)
async def test_a_question_reads_no_more_notes_where_there_are_more(
    asked: str, small: tuple[Live, Shelf], large: tuple[Live, Shelf]
) -> None:
    ask, most = ASKED[asked]
    told = []
    for live, shelf in (small, large):
        whole = replace(live.notes, notes=Whole(live.notes.notes), versions=Whole(live.notes.versions))
        shelf.read = 0
        text_of, titles = Texts(live.text_of), Texts(live.title_of)
        told.append(await ask(reading(replace(live, notes=whole, text_of=text_of, title_of=titles), shelf)))
        assert shelf.read <= most, f"{len(live.notes)} notes"
    assert bool(told[0]) == bool(told[1])


async def test_what_is_older_is_left_out_without_a_look_at_all_notes(large: tuple[Live, Shelf]) -> None:
    live, shelf = large
    whole = replace(live.notes, notes=Whole(live.notes.notes), place_of=Texts(live.notes.place_of))  # type: ignore[arg-type]
    notes = reading(replace(live, notes=whole), shelf)
    pages = [Evidence(n, shelf.pages[key], 1.0) for n, key in enumerate(("n4410", "p3", "n4000"), start=1)]
    left = notes.newer(Found(tuple(pages)), "99").evidence
    assert [item.chunk.id for item in left] == ["n4410", "p3"]
    assert notes.settled(News((Span("99", (30, 1), (20,)),))) is not None
    assert notes.settled(News((Span("99", (70,)),))) is None


async def test_where_most_pages_hold_the_words_reading_ends_at_a_bound() -> None:
    pages = [
        replace(page, page="- Requires oil.\n- The Python lid: minimum 3 cups, and Python of no version.")
        for page in grown(2 * HOLDING)[: 2 * HOLDING]
    ]
    live, shelf = shelved("99", pages)
    assert not (await reading(live, shelf).needing("python", "99")).evidence
    assert shelf.read == HOLDING


@given(
    st.lists(st.sampled_from(WORDS), max_size=5),
    st.sampled_from(("k8s", "größe", "-k", "x.y")),
    st.booleans(),
    st.booleans(),
)
def test_a_name_that_no_index_term_tells_is_found_alone_and_inside_of_others(
    words: list[str], name: str, is_inside: bool, is_there: bool
) -> None:
    text = " ".join([*words, f"`app.{name}`" if is_inside and name != "-k" else f"`{name}`" * is_there])
    page = ContextChunk("p", "guide.md", "Guide", "Guide > Words", "", text)

    async def has() -> bool:
        live, shelf = shelved("1", [page])
        fake = FakeWords()
        await fake.upsert(live.corpus.collection, [("sp", "Guide", text)])
        notes = ReleaseNotes({"1": live}, PageViews(cast(CorpusStore, shelf)), fake)
        return await notes._has(name, "1")

    assert asyncio.run(has()) is (named(name).search(text) is not None)
