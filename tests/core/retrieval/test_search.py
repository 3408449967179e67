"""A search over an indexed product: the second look, its weights, and QAMR's own retriever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from core.domain import (
    Citation,
    ContextChunk,
    Document,
    Evidence,
    Product,
    QAPair,
    Queries,
    Recall,
    Release,
    Section,
)
from core.pipeline.stages.retrieve import opinions
from core.ports import CorpusStore, StoredDocument
from core.retrieval.confidence import DEFAULT_JUDGEMENT
from core.retrieval.found import Found, reranked
from core.retrieval.ranking import DEFAULT_RANKING, DEFAULT_WEIGHTS, LIFT
from core.retrieval.search import Searcher
from tests.core.evaluation.small import house

TEXTS = {
    "lid.md": "The lid opens with the red button. A lid that sticks needs oil.",
    "filter.md": "Pull the filter out of the spout. Rinse the filter with water.",
    "plate.md": "The heating plate is below. Its screws are tightened by hand.",
    "cord.md": "The cord winds around the base. Do not bend the cord.",
    "base.md": "The base has a red lamp. It goes out when water boils.",
    "spout.md": "The spout pours water. A filter sits behind the spout.",
}


async def indexed() -> tuple[Searcher, np.ndarray]:
    product = Product("Kettle", (), (Release("1.0", latest=True),))
    guides = [
        Document(path, path[:-3], "", (Section((path[:-3],), "", text),)) for path, text in TEXTS.items()
    ]
    named = Section(("Reference", "Kettle.rinse()"), "", "Rinse the filter with water.")
    parts, searcher = await house(product, {"1.0": [*guides, Document("api.md", "Reference", "", (named,))]})
    return searcher, await (await parts.parts.encoders.named("fake@256")).encode([QUESTION.base])


QUESTION = Queries("How do I rinse the filter with water?", "rinse filter water")


async def paths(searcher: Searcher, vectors: np.ndarray) -> list[str]:
    return [item.chunk.path for item in (await searcher.search(QUESTION, vectors, "1.0")).evidence]


async def test_a_guide_comes_before_the_reference_and_weights_can_turn_that() -> None:
    searcher, vectors = await indexed()
    shipped = await paths(searcher, vectors)
    assert set(shipped[:2]) == {"filter.md", "api.md"}
    far = replace(DEFAULT_RANKING, weights=DEFAULT_WEIGHTS | {"reference": -50.0})
    near = replace(DEFAULT_RANKING, weights=DEFAULT_WEIGHTS | {"reference": 50.0})
    assert (await paths(searcher.by(far), vectors))[-1] == "api.md"
    assert (await paths(searcher.by(near), vectors))[0] == "api.md"
    assert await paths(searcher, vectors) == shipped


async def test_signs_come_from_the_best_window() -> None:
    searcher, vectors = await indexed()
    found = await searcher.search(QUESTION, vectors, "1.0")
    assert found.signs.sentence > 0.5 and found.signs.joint > 0.5 and found.is_enough
    assert found.level == "sure"
    other = Queries("Who won the chess cup?", "won chess cup")
    lost = await searcher.search(other, np.roll(vectors, 7, axis=1), "1.0")
    assert lost.confidence < found.confidence and not lost.is_enough
    near = replace(DEFAULT_JUDGEMENT, enough=1.0, close=found.confidence)
    assert replace(found, judgement=near).level == "close" and not replace(found, judgement=near).is_enough
    far = replace(DEFAULT_JUDGEMENT, enough=1.0, close=1.0)
    assert replace(found, judgement=far).level == "none"


async def test_cosine_and_mmr_gives_four_different_pages_and_the_nearest_first() -> None:
    searcher, vectors = await indexed()
    searcher = searcher.by_cosine(mmr=True)
    found = await paths(searcher, vectors)
    assert len(found) == len(set(found)) == 4
    assert {"filter.md", "api.md"} <= set(found)


async def test_a_release_that_is_not_there_finds_nothing() -> None:
    searcher, vectors = await indexed()
    assert (await searcher.search(QUESTION, vectors, "9.9")).evidence == ()
    assert searcher.look(QUESTION, vectors, "9.9") is None


async def test_votes_on_nearly_the_same_question_move_pages() -> None:
    searcher, vectors = await indexed()
    usual = (await searcher.search(QUESTION, vectors, "1.0")).evidence
    first, last = usual[0].chunk, usual[-1].chunk

    async def by(voted: dict[str, float], lift: float = LIFT) -> list[str]:
        way = searcher.by(replace(DEFAULT_RANKING, lift=lift))
        found = await way.search(QUESTION, vectors, "1.0", voted=voted)
        return [item.chunk.id for item in found.evidence]

    same = [item.chunk.id for item in usual]
    assert await by({}) == await by({"other": 1.0}) == same
    assert (await by({last.hash: 1.0}, 50.0))[0] == last.id
    assert (await by({first.hash: -1.0}, 50.0))[-1] == first.id
    assert await by({last.hash: 1.0}, 0.0) == same


def test_near_questions_say_what_people_think_of_pages() -> None:
    cited = [Citation(1, "Page", "", "1.0", "page.md", key) for key in ("a", "b", "")]
    good = QAPair("p1", "?", "!", "1.0", "public", 0.9, tuple(cited))
    bad = QAPair("p2", "?", "!", "1.0", "public", 0.1, (cited[1],))
    said = opinions(Recall("reference", ((good, 0.8),), ((bad, 0.7),)), 0.6)
    assert said == {"a": pytest.approx(0.4), "b": pytest.approx(0.2)}
    assert opinions(Recall("avoid", (), ((bad, 0.6),)), 0.6) == {"b": 0.0}
    assert opinions(Recall("reference", ((good, 1.0),) * 3), 0.6)["a"] == 1.0


async def test_windows_of_sections_are_told_with_how_near_they_are_and_all_or_none() -> None:
    searcher, vectors = await indexed()
    found = (await searcher.search(QUESTION, vectors, "1.0")).evidence
    sections = await searcher.sections(found)
    assert list(sections) == [item.chunk.id for item in found]
    first = found[0].chunk
    unknown = sections | {
        first.id: (replace(first, page=first.page + "\n\n" + "What nobody embedded. " * 40),)
    }
    assert await searcher.windows_near(unknown, np.zeros((0, 0), np.float32)) == {}
    near = await searcher.windows_near(sections, vectors)
    assert near.keys() == sections.keys()
    texts = ["".join(text for text, _ in near[item.chunk.id]) for item in found]
    assert texts == [item.chunk.page for item in found]
    nearest = max(near, key=lambda key: max(cosine for _, cosine in near[key]))
    assert sections[nearest][0].path in ("filter.md", "api.md")
    searcher, vectors = await indexed()
    assert await searcher.windows_near(unknown, vectors) == {}, "as while another corpus goes live"


async def test_a_section_that_two_documents_include_is_found_once() -> None:
    product = Product("Kettle", (), (Release("1.0", latest=True),))
    told = Section(("Filter",), "", "Rinse the filter with water.")
    two = [Document(path, "Notes", "", (told,)) for path in ("notes.md", "CHANGES.md")]
    lid = Document("lid.md", "Lid", "", (Section(("Lid",), "", TEXTS["lid.md"]),))
    parts, searcher = await house(product, {"1.0": [*two, lid]})
    vectors = await (await parts.parts.encoders.named("fake@256")).encode([QUESTION.base])
    found = await paths(searcher, vectors)
    assert len(found) == 2 and "lid.md" in found


async def test_what_is_inside_of_a_section_is_known_in_reading_order() -> None:
    product = Product("Kettle", (), (Release("1.0", latest=True),))
    headings = ("Lid",), ("Lid", "Open"), ("Lid", "Open", "Wide"), ("Lid", "Shut"), ("Lids",), ("Filter",)
    told = [Section(heading, "", f"The {heading[-1]} of a kettle is told of here.") for heading in headings]
    _parts, searcher = await house(product, {"1.0": [Document("lid.md", "Kettle", "", tuple(told))]})
    pages = {page.heading: page for page in await searcher.pages_of("1.0")}
    found = [
        Evidence(1, pages["Lid"], 2.0),
        Evidence(2, pages["Filter"], 1.0),
        Evidence(3, pages["Lid > Open"], 1.0),
    ]
    inside = await searcher.under(found)
    assert {page: [item.chunk.heading for item in some] for page, some in inside.items()} == {
        pages["Lid"].id: ["Lid > Open", "Lid > Open > Wide", "Lid > Shut"],
        pages["Lid > Open"].id: ["Lid > Open > Wide"],
    }
    assert {item.score for item in inside[pages["Lid"].id]} == {2.0}


class _Reader:
    """A reranker that finds one page likelier than the others."""

    name = "reader"
    weighs = True

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        return [0.999 if "last" in passage else 0.001 for passage in passages]


async def test_a_reranker_that_weighs_is_added_to_the_scores_of_pages() -> None:
    pages = tuple(
        Evidence(n, ContextChunk(str(n), "p", name, name, "", name), score, (name,))
        for n, (name, score) in enumerate([("far ahead", 9.0), ("near", 5.0), ("last", 4.0)], start=1)
    )
    found = await reranked(_Reader(), "which?", Found(pages), 2)
    assert [item.chunk.title for item in found.evidence] == ["far ahead", "last"]
    assert [item.number for item in found.evidence] == [1, 2]
    assert found.lifts["3"]["reranker"] > 0 > found.lifts["1"]["reranker"]


async def test_when_pages_were_read_is_known_without_the_list_of_documents_each_time() -> None:
    searcher, vectors = await indexed()
    pages = [item.chunk.id for item in (await searcher.search(QUESTION, vectors, "1.0")).evidence]
    store, asked = searcher._store, list[str]()

    class Counting:
        runs = store.runs

        async def manifest(self, release: str) -> tuple[StoredDocument, ...]:
            asked.append(release)
            return await store.manifest(release)

    searcher._store = cast(CorpusStore, Counting())
    first = await searcher.read_at("1.0", pages)
    assert first == await searcher.read_at("1.0", pages) and set(first) == set(pages)
    assert asked == ["1.0"]
    searcher._store = store
    await searcher.load()
    searcher._store = cast(CorpusStore, Counting())
    await searcher.read_at("1.0", pages)
    assert asked == ["1.0", "1.0"], "it changes with the corpus"
