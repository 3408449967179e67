"""Hybrid CRAG's ladder with a model that writes: each module added in turn, over the same pages."""

from __future__ import annotations

import re
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

from bot.operations.application import Application
from core.domain import Question
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import ModelBudget, Resources
from core.pipeline.stage import Stage, run
from core.pipeline.stages.calculation import Convert, WorkOut
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.papers import AskModel, Calculate, OnlyFresh, Reason
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, Refuse, Retrieve
from core.pipeline.stages.understand import Understand
from core.pipeline.stages.write import Write
from core.ports import Prompt
from core.recipes.hybrid_crag import KEPT
from evaluation.gold import holds_any
from evaluation.papers.crag import TABLE_2, Asked, release_of
from evaluation.papers.kept_model import KeptModel, all_of
from evaluation.papers.tables import NONE, Section, Table, printed

_PRINTED = printed("crag")
LABELS: dict[str, str] = _PRINTED["labels"]
"""What a right answer has, by the question's id; empty where the label names none."""
ROWS = (2, 3, 4, 5, 6, 7, 8)
"""Rows of table 2 that a model writes, by their place."""
TABLES, CALCULATOR, REASONING, PREMISE, KNOWLEDGE = 4, 5, 6, 7, 8
_ROW = re.compile(r"^\|.*\|[ \t]*$\n?", re.MULTILINE)
_PREMISE = re.compile(r'^"false_premise":.*\n', re.MULTILINE)
_ALONE = " or corrects its premise"
_HOUR = 3_600.0


class WithoutTables:
    """Takes the tables out of what was found."""

    needs: Needs = ""

    async def __call__(self, context: QueryContext) -> None:
        """Set the texts of pages that have tables, and leave out those that have nothing else."""
        left = {item.number: _ROW.sub("", item.chunk.page).strip() for item in context.pages.evidence}
        kept = tuple(item for item in context.pages.evidence if _words(left[item.number]))
        context.found = replace(context.pages, evidence=kept)
        context.texts = {
            item.number: left[item.number] for item in kept if left[item.number] != item.chunk.page.strip()
        }


def _words(text: str) -> bool:
    """Return True if more than a heading is left of a page."""
    return any(re.search(r"\w", line) and not line.startswith("#") for line in text.splitlines())


class WithoutPremise:
    """A model that is not asked for the flag of a false premise."""

    def __init__(self, model: KeptModel) -> None:
        self._model = model
        self.name, self.context_tokens = model.name, model.context_tokens
        self.count_tokens, self.stream, self.health = model.count_tokens, model.stream, model.health

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Ask without the flag where it is asked for."""
        fields = schema["properties"]
        if "answerable" in fields:
            left = {name: value for name, value in fields.items() if name != "false_premise"}
            schema = schema | {"properties": left, "required": list(left)}
            system = _PREMISE.sub("", prompts[0].content).replace(_ALONE, "")
            prompts = (replace(prompts[0], content=system), *prompts[1:])
        return await self._model.structured(prompts, schema, max_tokens=max_tokens)


def stages(parts: Resources, model: KeptModel, row: int, *, predicts: bool) -> tuple[Stage, ...]:
    """Return the stages of a row of table 2; `predicts` says whether the attribute predictor is among them.

    No page counts as fresh, so a dynamic question is never answered, as in the paper.
    """
    writes = WithoutPremise(model) if row == REASONING else model
    budget = ModelBudget(model).letting(("calculate", "knowledge"), _HOUR)
    parts = replace(parts, model=writes, budget=budget)
    found = (Refuse(parts), Retrieve(parts, parts.searcher.by_cosine(KEPT)))
    return (
        *((WorkOut(),) if row >= CALCULATOR else ()),
        Understand(parts),
        *found,
        *((WithoutTables(),) if row < TABLES else ()),
        *((OnlyFresh(parts, limit=-1.0),) if predicts and row > ROWS[0] else ()),
        Judge(parts, is_strict=False),
        *((Calculate(parts),) if row >= CALCULATOR else ()),
        *((AskModel(parts),) if row >= KNOWLEDGE else ()),
        Reason(parts, is_new=True) if row >= REASONING else Write(parts, is_new=True),
        Judge(parts),
        Quote(parts),
        *((Convert(),) if row >= CALCULATOR else ()),
        Cite(parts),
    )


async def measure(app: Application, asked: Sequence[Asked], model: KeptModel, told: str) -> Section:
    """Ask every question of every row, all at once: the model says how many wait."""
    ways = [(row, predicts) for predicts in (True, False) for row in ROWS if predicts or row != ROWS[1]]
    parts = app.research.parts
    answers = await all_of(
        model,
        [_answers(asked, stages(parts, model, row, predicts=predicts)) for row, predicts in ways],
    )
    by_row = dict(zip(ways, answers, strict=True))
    whole = (*TABLE_2[ROWS[-1] + 1], *[NONE] * 4, NOTES[-1])
    titles = {True: "Table 2, written", False: "The same without the attribute predictor"}
    tables = []
    for predicts, title in titles.items():
        rows = [
            (*TABLE_2[row], *scores(asked, by_row[row, predicts]), NOTES[row - ROWS[0]])
            for row in ROWS
            if (row, predicts) in by_row
        ]
        rows += [whole] if predicts else []
        tables.append(Table(f"{title} ({model.name}, n = {len(asked)})", COLUMNS, tuple(rows)))
    return Section("crag-written", "", told, tuple(tables), _PRINTED["written_differs"])


COLUMNS = (
    "system", "paper: correct", "missing", "hallucination", "score",
    "correct", "missing", "hallucination", "score", "in this row",
)  # fmt: skip
NOTES = (
    "plain prompt, pages without their tables",
    "by the SVM; what is dynamic is not answered",
    "tables beside the text",
    "the model's expressions, worked out by us",
    "reasoning first, as structured output; the flag of a false premise is not asked for",
    "with the flag",
    "what the model says without pages, as an unverified note",
    "no mock API of it here",
)


def scores(asked: Sequence[Asked], answers: Sequence[str]) -> tuple[str, ...]:
    """Return correct, missing, hallucination and score in per cent, by the labels of all questions."""
    right = sum(is_right(one.key, text) for one, text in zip(asked, answers, strict=True))
    missing = sum(not text for text in answers)
    wrong = len(asked) - right - missing
    return tuple(f"{100 * count / len(asked):.1f}" for count in (right, missing, wrong, right - wrong))


def is_right(key: str, answer: str) -> bool:
    """Return True if an answer has what the label of a question names."""
    return bool(LABELS.get(key)) and holds_any(answer, [LABELS[key]])


def _answers(asked: Sequence[Asked], some: Sequence[Stage]) -> list[Coroutine[None, None, str]]:
    return [_answer(number, one, some) for number, one in enumerate(asked)]


async def _answer(number: int, one: Asked, some: Sequence[Stage]) -> str:
    question = Question(one.question, release=release_of(number))
    context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
    answer = await run(some, context)
    return "" if answer.route == "abstain" else answer.text
