"""Rerankers of real integration packages, offline."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from core.errors import EncoderError
from core.models.reranker import load_reranker
from core.ports import Reranker
from tests.core.models.test_reranker import tiny  # noqa: F401  a fixture

PASSAGES = ["set the timer", "the lid", "oil the filter", "how to set the lid", "oil"]
CORE = "llama_index.core.postprocessor"
SBERT = "llama_index.postprocessor.sbert_rerank.SentenceTransformerRerank"


class Reversed(BaseNodePostprocessor):
    """Turns the order round, or does what a test says."""

    scored: list[float] = []  # noqa: RUF012  a field of pydantic
    fails: str = ""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if self.fails:
            raise RuntimeError(self.fails)
        assert query_bundle is not None and query_bundle.query_str
        for node, score in zip(nodes, self.scored, strict=False):
            node.score = score
        return nodes[::-1]


@pytest.fixture
def opened() -> Iterator[list[Reranker]]:
    found: list[Reranker] = []
    yield found
    for reranker in found:
        reranker.close()  # type: ignore[attr-defined]


async def scores(line: str, opened: list[Reranker], passages: list[str] = PASSAGES) -> list[float]:
    opened.append(load_reranker(line))
    return await opened[-1].scores("how do i set the timer", passages)


async def test_a_cross_encoder_of_an_integration_judges_every_passage(
    tiny: str,  # noqa: F811
    opened: list[Reranker],
) -> None:
    ours = await scores(tiny, opened)
    theirs = await scores(f'{SBERT}(model="{tiny}", device="cpu", top_n=2)', opened)
    assert opened[1].name == SBERT
    assert theirs == pytest.approx(ours, abs=1e-4), "top_n leaves nothing out"


async def test_what_a_postprocessor_drops_comes_last(opened: list[Reranker]) -> None:
    found = await scores(f"{CORE}.SimilarityPostprocessor(similarity_cutoff=0.5)", opened)
    assert found[:3] == sorted(found[:3], reverse=True) and found[2] > 0 and found[3:] == [0.0, 0.0]


async def test_one_that_orders_without_scores_is_taken_by_its_order(opened: list[Reranker]) -> None:
    found = await scores(f"{CORE}.LongContextReorder", opened)
    assert len(set(found)) == 5 and max(found) == 1.0 and min(found) > 0
    turned = await scores(f"{__name__}:Reversed", opened)
    assert turned == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


async def test_scores_of_any_size_come_into_range(opened: list[Reranker]) -> None:
    found = await scores(f"{__name__}:Reversed(scored=[-2000.0, -3.0, 0.0, 3.0, 2000.0])", opened)
    assert found == sorted(found) and (found[0], found[2], found[4]) == (0.0, 0.5, 1.0)
    near = await scores(f"{__name__}:Reversed(scored=[0.1, 0.9, 0.2, 0.3, 0.4])", opened)
    assert near == pytest.approx([0.1, 0.9, 0.2, 0.3, 0.4])


async def test_nothing_to_judge_costs_nothing(opened: list[Reranker]) -> None:
    assert await scores(f"{__name__}:Reversed(fails='asked')", opened, []) == []


async def test_what_fails_says_what_to_do(opened: list[Reranker]) -> None:
    with pytest.raises(EncoderError, match=r"does not order pages \(RuntimeError: no card\).*RERANKER_MODEL"):
        await scores(f"{__name__}:Reversed(fails='no card')", opened)
    with pytest.raises(
        EncoderError, match=r"RERANKER_MODEL: .*pip install llama-index-postprocessor-no-such"
    ):
        load_reranker("llama_index.postprocessor.no_such.Rerank")
