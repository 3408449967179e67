"""`threadlore evaluate --recipe`: whole recipes side by side on the same labelled questions.

The stages are those that serve; nothing is kept, and memory is withheld, so that no figure depends on what a
home happens to remember, nor on the order of the questions.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.domain import Answer, Question
from core.errors import UsageError
from core.generation.citations import uncited
from core.generation.quotes.quote import without_introduction
from core.pipeline.context import QueryContext
from core.pipeline.stage import Stage, run
from core.recipes import recipe_of, recipes
from evaluation.counted import Counted
from evaluation.gold import GoldLine, Half, is_right, rank_of, read_gold
from evaluation.metrics import Outcome, summary
from evaluation.pipeline import Parts
from evaluation.telling import Tell, silent

ALL = "all"
COLUMNS = (
    ("name", "recipe"),
    ("n", "questions"),
    ("hit@1", "hit@1"),
    ("hit@3", "hit@3"),
    ("hit@8", "hit@8"),
    ("must_contain", "answer right"),
    ("written", "written"),
    ("quoted", "quoted"),
    ("abstentions", "abstained"),
    ("refusals", "refused"),
    ("answerable_lost", "lost"),
    ("model_calls", "calls"),
    ("ms_p50", "ms"),
)
"""Figures of the table: names in `recipes.json`, and what stands above them."""


async def compare(
    parts: Parts, gold: Path, names: Sequence[str], half: Half = "all", tell: Tell = silent
) -> list[dict[str, Any]]:
    """Ask every gold question by each recipe, one after the other; return a row of figures for each recipe.

    `all` stands for every recipe there is. Raises UsageError for a bad gold file, ConfigurationError for an
    unknown recipe.
    """
    chosen = recipes() if ALL in names else tuple(dict.fromkeys(names))
    research = parts.research.by(parts.model) if parts.model else parts.research  # every call is counted
    ways = {name: recipe_of(name)(research.parts) for name in chosen}
    lines = await asyncio.to_thread(read_gold, gold, half)
    if not lines:
        raise UsageError(f"{gold.name} has no questions of the half '{half}'.")
    for corpus in parts.research.corpora.values():  # so that no question pays for loading the encoder
        await parts.encoders.named(corpus.encoder)
    rows = []
    for name, stages in ways.items():
        asked = [await ask(stages, line, parts.model) for line in lines]
        routes = Counter(answer.route for answer, _ in asked)
        outcomes = [outcome for _, outcome in asked]
        refusals = sum(outcome.refused for outcome in outcomes)
        said = {
            "written": sum(routes[route] for route in ("documents", "reference", "avoid")),
            "quoted": routes["quote"],
            "abstentions": routes["abstain"] - refusals,
            "refusals": refusals,
        }
        rows.append(summary(name, outcomes) | said)
        tell(f"{name}: {len(lines)} questions asked")
    return rows


async def ask(stages: Sequence[Stage], line: GoldLine, model: Counted | None) -> tuple[Answer, Outcome]:
    """Take one gold question through the stages; return the answer and how it went."""
    question = Question(line.question, history=line.history, release=line.ask_release)
    context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
    calls, began = model.calls if model else 0, time.perf_counter()
    answer = await run(stages, context)
    ms = (time.perf_counter() - began) * 1000
    return answer, _outcome(context, answer, line, ms, (model.calls if model else 0) - calls)


def _outcome(context: QueryContext, answer: Answer, line: GoldLine, ms: float, calls: int) -> Outcome:
    found, refused = context.pages, bool(context.resolution.unknown)
    texts = context.texts or {}
    shown = [(e.chunk.release, e.chunk.path, e.chunk.text) for e in found.evidence]
    read = found.evidence if context.chosen is None else context.chosen
    handed = [(e.chunk.release, e.chunk.path, texts.get(e.number, e.chunk.text)) for e in read]
    right = {*line.places} or {line.release or context.resolution.release}
    abstained = answer.route == "abstain" and not refused
    said = "" if answer.route == "abstain" else uncited(without_introduction(answer.text))
    return Outcome(
        line=line,
        rank=rank_of(line.places, shown) if line.places else 0,
        handed_rank=rank_of(line.places, handed) if line.places else 0,
        wrong_release=any(release not in right and release for release, _, _ in shown[:3]),
        abstained=abstained,
        refused=refused,
        confidence=found.confidence,
        right=is_right(line, said) if line.answerable else None,
        characters=sum(len(text) for _, _, text in handed),
        ms=ms,
        calls=calls,
        answer=said,
        contexts=tuple(text for _, _, text in handed),
        signs=asdict(found.signs),
        queries=asdict(context.queries),
        release=context.partition,
        retrieved=tuple((release, path) for release, path, _ in shown),
    )


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Write the rows side by side as a Markdown table."""
    lines = [[title for _, title in COLUMNS], ["---"] * len(COLUMNS)]
    lines += [[_cell(row[key]) for key, _ in COLUMNS] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write(report: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write `recipes.json` and `recipes.md` to a folder, which is made where it is missing."""
    report.mkdir(parents=True, exist_ok=True)
    (report / "recipes.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (report / "recipes.md").write_text(table(rows) + "\n", "utf-8")


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if value <= 1 else f"{value:.1f}"
    return "–" if value is None else str(value)
