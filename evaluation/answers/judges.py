"""The six judged metrics of QAMR IV-B, with a model as the judge and its verdicts kept.

Statements are sentences that we number, and the model names the numbers: denominators do not depend on
how a model would cut the text (ours; DeepEval lets the model cut).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from core.domain import content_hash
from core.errors import ModelMalformed, ModelRefused
from core.generation.context.by_rule import shorten
from core.generation.quotes.blocks import prose, split
from core.ports import LanguageModel, Prompt
from core.prompts import DONT_KNOW
from core.system.json_parts import lines_of
from evaluation.answers.judge_prompts import (
    BETTER_SCHEMA,
    CRITERIA_SCHEMA,
    GROUPS,
    JUDGE_VERSION,
    NO_ANSWER,
    PICK_SCHEMA,
    better,
    criteria,
    pick,
)
from evaluation.metrics import Outcome

log = logging.getLogger(__name__)

METRICS = (
    "answer_correctness",
    "answer_relevancy",
    "faithfulness",
    "contextual_precision",
    "contextual_recall",
    "contextual_relevancy",
)
VERDICT_TOKENS = 400
"""Room for a verdict with its reasoning."""
_FIXED_TOKENS = 900
"""Room for definitions, question, truth and answer beside the passages."""


class Verdicts:
    """Verdicts by what was asked, in a file of JSON lines that is only ever appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: dict[str, dict[str, Any]] = {}
        if path.exists():
            for raw in lines_of(path.read_text("utf-8")):
                try:
                    entry = json.loads(raw)
                except json.JSONDecodeError:
                    continue  # a line that a killed run left unfinished
                if isinstance(entry, dict) and isinstance(entry.get("verdict"), dict):
                    self._kept[str(entry.get("key"))] = entry["verdict"]

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a kept verdict."""
        return self._kept.get(key)

    def put(self, key: str, verdict: Mapping[str, Any]) -> None:
        """Keep a verdict; blocking, so call it in a worker thread."""
        self._kept[key] = dict(verdict)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        torn = self._path.exists() and not self._path.read_bytes().endswith(b"\n")
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" if torn and self._path.stat().st_size else "")
            file.write(json.dumps({"key": key, "verdict": verdict}, ensure_ascii=False) + "\n")


class Judge:
    """Scores answers and the passages behind them, each metric 0 to 1."""

    def __init__(self, model: LanguageModel, verdicts: Verdicts) -> None:
        self._model = model
        self._verdicts = verdicts
        self.failed = 0
        """Verdicts that the model could not be brought to give."""

    @property
    def name(self) -> str:
        """Name the model that judges."""
        return self._model.name

    async def preferred(
        self, question: str, truth: str, first: str, second: str
    ) -> Literal["first", "second", "tie", "position", ""]:
        """Say which of two answers is better, asked in both orders; `position` where the order decides.

        The same text twice is a tie without a call; "" where the model could not be brought to a verdict.
        """
        if first == second:
            return "tie"
        room = max(200, (self._model.context_tokens - VERDICT_TOKENS - _FIXED_TOKENS) // 3)
        count = self._model.count_tokens
        one, other, true = (shorten(text, (), room, count) for text in (first, second, truth))
        replies = [
            await self._ask(better(question, true, *two), BETTER_SCHEMA)
            for two in ((one, other), (other, one))
        ]
        said = [reply.get("better") if reply else None for reply in replies]
        if any(verdict not in ("1", "2", "neither") for verdict in said):
            return ""
        if said == ["neither", "neither"]:
            return "tie"
        if said == ["1", "2"]:
            return "first"
        return "second" if said == ["2", "1"] else "position"

    async def means(self, outcomes: Sequence[Outcome]) -> dict[str, float | None]:
        """Return the mean of each metric over the questions that it applies to."""
        scores = [await self.score(outcome) for outcome in outcomes if not outcome.refused]
        found: dict[str, float | None] = {}
        for metric in METRICS:
            some = [value for score in scores if (value := score.get(metric)) is not None]
            found[metric] = round(sum(some) / len(some), 4) if some else None
        return found

    async def score(self, outcome: Outcome) -> dict[str, float | None]:
        """Judge one answer; a metric that does not apply, or got no verdict, is None.

        An answer that says nothing is judged for correctness only, a question without a true answer
        for correctness and what the answer rests on.
        """
        question = outcome.line.question
        truth = outcome.line.answer if outcome.line.answerable else NO_ANSWER
        answer = outcome.answer or DONT_KNOW
        found: dict[str, float | None] = {
            "answer_correctness": await self._correctness(question, answer, truth)
        }
        passages = self._fitting(outcome.contexts)
        if outcome.answer:
            said = statements(outcome.answer)
            text = "\n\n".join(passages)
            found["answer_relevancy"] = await self._share("answer_relevancy", said, question=question)
            found["faithfulness"] = await self._share("faithfulness", said, text=text)
        if outcome.line.answerable and passages:
            text = "\n\n".join(passages)
            found["contextual_precision"] = await self._precision(passages, question, truth)
            found["contextual_recall"] = await self._share(
                "contextual_recall", statements(truth), question=question, text=text
            )
            found["contextual_relevancy"] = await self._share(
                "contextual_relevancy", statements(text), question=question
            )
        return found

    async def _correctness(self, question: str, answer: str, truth: str) -> float | None:
        verdicts: list[bool] = []
        for group in GROUPS:
            reply = await self._ask(criteria(group, question, answer, truth), CRITERIA_SCHEMA)
            if reply is not None:
                verdicts += [reply.get("first") is True, reply.get("second") is True]
        return sum(verdicts) / len(verdicts) if verdicts else None

    async def _share(self, metric: str, items: Sequence[str], **material: str) -> float | None:
        picked = await self._picked(metric, items, **material)
        return len(picked) / len(items) if picked is not None and items else None

    async def _precision(self, passages: Sequence[str], question: str, truth: str) -> float | None:
        picked = await self._picked("contextual_precision", passages, question=question, truth=truth)
        return None if picked is None else contextual_precision(picked, len(passages))

    async def _picked(self, metric: str, items: Sequence[str], **material: str) -> set[int] | None:
        if not items:
            return None
        reply = await self._ask(pick(metric, items, **material), PICK_SCHEMA)
        if reply is None:
            return None
        numbers = reply.get("numbers")
        return (
            {n for n in numbers if isinstance(n, int) and 1 <= n <= len(items)}
            if isinstance(numbers, list)
            else None
        )

    async def _ask(self, told: tuple[str, str], schema: dict[str, Any]) -> dict[str, Any] | None:
        key = content_hash(JUDGE_VERSION, self._model.name, *told)
        kept = self._verdicts.get(key)
        if kept is not None:
            return kept
        prompts = (Prompt("system", told[0]), Prompt("user", told[1]))
        try:
            verdict = await self._model.structured(prompts, schema, max_tokens=VERDICT_TOKENS)
        except (ModelMalformed, ModelRefused) as error:
            self.failed += 1
            log.warning("a verdict is left out: %s", error)
            return None
        await asyncio.to_thread(self._verdicts.put, key, verdict)
        return verdict

    def _fitting(self, contexts: Sequence[str]) -> list[str]:
        """Cut passages evenly to what the judge's context holds."""
        kept = [text for text in contexts if text.strip()]
        if not kept:
            return []
        count = self._model.count_tokens
        room = max(200, self._model.context_tokens - VERDICT_TOKENS - _FIXED_TOKENS)
        return [shorten(text, (), room // len(kept), count) for text in kept]


def contextual_precision(relevant: set[int], passages: int) -> float:
    """Return (1/|relevant|) Σ_k (relevant in the first k / k) · [k is relevant]; ranks from 1 (IV-B4)."""
    seen, total = 0, 0.0
    for rank in range(1, passages + 1):
        if rank in relevant:
            seen += 1
            total += seen / rank
    return total / seen if seen else 0.0


def statements(markdown: str) -> list[str]:
    """Cut Markdown to statements: sentences of prose, and each code block or table whole."""
    found: list[str] = []
    for block in split(markdown):
        if block.kind in ("heading", "rule"):
            continue
        found += prose(block) if block.kind in ("paragraph", "item") else [block.text]
    return [text for text in found if any(character.isalnum() for character in text)]
