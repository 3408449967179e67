"""How well an answer is supported by its evidence, before anybody votes: the prior of its score.

Scorers, each from 0 to 1, and their mean: by the embedder (every sentence of the answer against what the
pages say), by terms (the share that the pages hold), and where they are configured by the model as a
judge and by BERTScore. The prior lies between .25 and .75, so that any single vote decides over it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence

import numpy as np

from core import prompts
from core.domain import Evidence
from core.errors import ModelError
from core.memory.scoring.score import support
from core.ports import CorpusStore, Encoder, LanguageModel, Matrix, Prompt
from core.text.words import one_line, sentences, window_texts

log = logging.getLogger(__name__)

Similarity = Callable[[str, str], float]
"""Says how alike an answer and its evidence are, 0 to 1; blocking."""

UNLIKE, ALIKE = 0.35, 0.85
"""Cosines of MiniLM between which a sentence counts as partly supported: unrelated sentences of one manual
are near the first, rewordings near the second (.72 to .75 is the median of human rewordings)."""
SENTENCES = 12
"""Sentences of an answer that are looked at."""
PAGES = 4
"""Pages of evidence that they are compared with, the best ones."""
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r"\[\d+\]|^[>#*\- ]+", re.MULTILINE)
_TOKENS = 200


class PriorScorer:
    """Scores answers by their evidence; what fails is left out, and the rest decides."""

    def __init__(
        self, corpora: CorpusStore, judge: LanguageModel | None = None, alike: Similarity | None = None
    ) -> None:
        self._corpora = corpora
        self._judge = judge
        self._alike = alike

    async def score(self, answer: str, evidence: Sequence[Evidence], encoder: Encoder) -> dict[str, float]:
        """Return what each scorer says, and their mean within .25 to .75 as `prior`."""
        terms = support(answer, evidence)
        found = {"terms": (terms - 0.25) * 2}
        said = statements(answer)
        if said and evidence:
            found["embedder"] = await self._by_embedder(said, evidence[:PAGES], encoder)
            if self._judge is not None:
                found |= await self._by_model(self._judge, said, evidence[:PAGES])
            if self._alike is not None:
                pages = "\n".join(item.chunk.page for item in evidence[:PAGES])
                found["bertscore"] = await asyncio.to_thread(self._alike, " ".join(said), pages)
        mean = sum(found.values()) / len(found)
        rounded = {name: round(value, 3) for name, value in found.items()}
        return rounded | {"prior": round(0.25 + 0.5 * min(1.0, max(0.0, mean)), 4)}

    async def _by_embedder(
        self, said: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder
    ) -> float:
        """Compare each sentence with the windows of the pages, whose vectors are kept from indexing."""
        texts: dict[str, str] = {}
        for item in evidence:
            texts |= window_texts(item.chunk)
        kept = await self._corpora.vectors(encoder.name, list(texts))
        missing = [text for key, text in texts.items() if key not in kept]
        fresh: Matrix = await encoder.encode([*said, *missing])
        held = np.vstack([fresh[len(said) :], *([np.stack(list(kept.values()))] if kept else [])])
        nearest = (fresh[: len(said)] @ held.T).max(axis=1)
        return float(np.clip((nearest - UNLIKE) / (ALIKE - UNLIKE), 0.0, 1.0).mean())

    async def _by_model(
        self, judge: LanguageModel, said: Sequence[str], evidence: Sequence[Evidence]
    ) -> dict[str, float]:
        system, user = prompts.supported(said, [item.chunk.page for item in evidence])
        try:
            output = await judge.structured(
                (Prompt("system", system), Prompt("user", user)), prompts.SUPPORTED_SCHEMA, max_tokens=_TOKENS
            )
        except ModelError as error:
            log.info("the model did not judge an answer: %s", error)
            return {}
        named = {number for number in output.get("supported") or () if isinstance(number, int)}
        return {"model": len(named & set(range(1, len(said) + 1))) / len(said)}


def statements(answer: str) -> list[str]:
    """Return the sentences of an answer without code, citations and marks of Markdown."""
    plain = _MARKS.sub("", _FENCE.sub("", answer))
    found = [one_line(sentence) for line in plain.split("\n") for sentence in sentences(line)]
    return [sentence for sentence in found if re.search(r"\w\W+\w", sentence)][:SENTENCES]
