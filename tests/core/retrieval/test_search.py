"""A search over an indexed product: the second look, its weights, and QAMR's own retriever."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.domain import Document, Product, Queries, Release, Section
from core.retrieval.confidence import DEFAULT_JUDGEMENT
from core.retrieval.rescoring import DEFAULT_RANKING, DEFAULT_WEIGHTS
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
    assert await searcher.pool(QUESTION, vectors, "9.9") is None


async def test_windows_of_sections_are_told_with_how_near_they_are_and_all_or_none() -> None:
    searcher, vectors = await indexed()
    found = (await searcher.search(QUESTION, vectors, "1.0")).evidence
    chunks = [item.chunk for item in found]
    parts = {chunk.id: (chunk.page,) for chunk in chunks}
    unknown = parts | {chunks[0].id: ("What nobody embedded.",)}
    assert await searcher.windows_near(chunks, unknown, vectors) == {}
    assert await searcher.windows_near(chunks, parts, np.zeros((0, 0), np.float32)) == {}
    near = await searcher.windows_near(chunks, parts, vectors)
    assert near.keys() == parts.keys()
    assert ["".join(text for text, _ in near[chunk.id]) for chunk in chunks] == [c.page for c in chunks]
    nearest = max(near, key=lambda key: max(cosine for _, cosine in near[key]))
    assert next(chunk for chunk in chunks if chunk.id == nearest).path in ("filter.md", "api.md")
    assert await searcher.windows_near(chunks, parts, vectors) == near
