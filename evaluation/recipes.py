"""`threadlore evaluate --recipe`: whole recipes side by side on the same labelled questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.pipeline.research import Research
from core.recipes import recipes
from evaluation.gold import Half, read_gold
from evaluation.metrics import summary
from evaluation.pipeline import ask, stages_of, warm
from evaluation.report import Tell, silent
from evaluation.tables import grid

ALL = "all"
COLUMNS = (
    ("name", "recipe"),
    ("n", "questions"),
    ("hit@1", "hit@1"),
    ("hit@3", "hit@3"),
    ("hit@8", "hit@8"),
    ("must_contain", "answer right"),
    ("crag.score", "CRAG"),
    ("crag.missing", "missing"),
    ("crag.hallucination", "hallucination"),
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
    research: Research, gold: Path, names: Sequence[str], half: Half = "all", tell: Tell = silent
) -> list[dict[str, Any]]:
    """Ask every gold question by each recipe, one after the other; return a row of figures for each recipe.

    `all` stands for every recipe there is. Raises UsageError for a bad gold file, ConfigurationError for an
    unknown recipe.
    """
    chosen = recipes() if ALL in names else tuple(dict.fromkeys(names))
    ways = {name: stages_of(research, name) for name in chosen}
    lines = await asyncio.to_thread(read_gold, gold, half)
    if not lines:
        raise UsageError(f"{gold.name} has no questions of the half '{half}'.")
    await warm(research)
    rows = []
    for name, stages in ways.items():
        rows.append(summary(name, [(await ask(stages, line))[1] for line in lines]))
        tell(f"{name}: {len(lines)} questions asked")
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Write the rows side by side as a Markdown table."""
    lines = [[_cell(_figure(row, key)) for key, _ in COLUMNS] for row in rows]
    return grid([title for _, title in COLUMNS], lines, ["---"] * len(COLUMNS), " ")


def _figure(row: dict[str, Any], key: str) -> object:
    """Return a figure of a row; `crag.score` is the score in `crag`."""
    name, _, part = key.partition(".")
    return (row[name] or {}).get(part) if part else row[name]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if value <= 1 else f"{value:.1f}"
    return "–" if value is None else str(value)
