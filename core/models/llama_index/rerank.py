"""Node postprocessors of llama-index, which the reranker can score passages by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.errors import EncoderError
from core.models.llama_index.integration import build

SETTING = "RERANKER_MODEL"
_KEPT = ("top_n", "top_k")
"""Options by which postprocessors say how many they keep; here all are judged."""


class Postprocessor:
    """Scores of the passages by a node postprocessor of llama-index; blocking.

    Its scores count as they are where all lie in 0..1, else by the logistic function. One that gives no
    scores of its own, but an order, is taken by that. What it drops gets 0.
    """

    def __init__(self, line: str) -> None:
        kind = "llama_index.core.postprocessor.types:BaseNodePostprocessor"
        self._named = build(line, SETTING, kind, EncoderError)
        self.name = self._named.path

    def __call__(self, question: str, passages: list[str]) -> list[float]:
        """Return one score in 0..1 for each passage; raises EncoderError, which says what to do."""
        from llama_index.core.schema import NodeWithScore, TextNode

        count = len(passages)
        given = {str(place): 1.0 - place / count for place in range(count)}
        nodes = [
            NodeWithScore(node=TextNode(id_=key, text=passages[int(key)]), score=score)
            for key, score in given.items()
        ]
        made = self._named.made
        whole = {name: count for name in _KEPT if isinstance(getattr(made, name, None), int)}
        try:
            kept = made.model_copy(update=whole).postprocess_nodes(nodes, query_str=question)
            found = {item.node.node_id: item.score for item in kept if item.node.node_id in given}
            return _scores(given, found)
        except Exception as error:  # noqa: BLE001  an integration is anybody's code and raises whatever it likes
            told = self._named.told(error)
            raise EncoderError(
                f"{self.name} does not order pages ({told}). Start what it asks, or correct its options in"
                f" {SETTING}, or leave it empty to do without."
            ) from None


def _scores(given: Mapping[str, float], found: Mapping[str, Any]) -> list[float]:
    """Return the scores in the order of the passages; `found` are those that are kept, best first."""
    if all(score is None or score == given[key] for key, score in found.items()):
        ranks = {key: 1.0 - rank / len(given) for rank, key in enumerate(found)}
        return [ranks.get(key, 0.0) for key in given]
    scores = {key: 0.0 if score is None else float(score) for key, score in found.items()}
    if any(not 0.0 <= score <= 1.0 for score in scores.values()):
        scores = {key: _logistic(score) for key, score in scores.items()}
    return [scores.get(key, 0.0) for key in given]


def _logistic(score: float) -> float:
    return 1.0 / (1.0 + math.exp(-score)) if score > -700 else 0.0
