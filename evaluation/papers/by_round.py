"""ComRAG's metrics of every system in every round, as tables and as the curves of figures 3 and 4."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from evaluation.papers.community import Community
from evaluation.papers.recipe_rounds import Played
from evaluation.papers.tables import NONE, Table
from evaluation.simulation.report import rows
from evaluation.simulation.world import Round

METRICS = {
    "right": "share of right answers",
    "SIM": "SIM",
    "BLEU": "BLEU",
    "ROUGE-L": "ROUGE-L",
    "calls": "calls a question (the share that memory does not answer by itself)",
    "growth": "growth of memory in per cent",
    "ms": "milliseconds a question, without a model",
}
"""What is told of a round, and how a table names it."""
DIGITS = {"right": 3, "calls": 3}
TITLE = "By round: "
Values = dict[str, float]


async def by_round(
    community: Community, played: Mapping[str, Sequence[Round]], recipes: Mapping[str, Sequence[Played]]
) -> tuple[Table, ...]:
    """Return a table a metric: rows are the baselines, the memories and the recipes, columns the rounds."""
    systems = await _baselines(community)
    for name, rounds in played.items():
        systems[name] = [
            {
                **await _told(community, number, one),
                "calls": row["model_calls"],
                "growth": row["growth"] * 100,
            }
            for number, (one, row) in enumerate(zip(rounds, rows(rounds, 0.0)[0], strict=True))
        ]
    for name, turns in recipes.items():
        systems[f"recipe `{name}`"] = [await _of_recipe(community, at, one) for at, one in enumerate(turns)]
    count = len(community.lines)
    return tuple(
        Table(
            f"{TITLE}{title}",
            ("system", *map(str, range(1, count + 1))),
            tuple((name, *(_cell(one, metric) for one in told)) for name, told in systems.items()),
        )
        for metric, title in METRICS.items()
    )


def curves(tables: Sequence[Table]) -> dict[str, dict[str, list[float]]]:
    """Return the numbers of such tables: of each title, those of each system that has them, by round."""
    return {
        table.title.removeprefix(TITLE): {
            name: [float(cell) for cell in cells] for name, *cells in table.rows if NONE not in cells
        }
        for table in tables
        if table.title.startswith(TITLE)
    }


async def _baselines(community: Community) -> dict[str, list[Values]]:
    systems: dict[str, list[Values]] = {}
    for number, lines in enumerate(community.lines):
        for name, some in (await community.baselines(number)).items():
            told = await community.quality(lines, [one.text for one in some])
            right = [one.topic == line.topic for one, line in zip(some, lines, strict=True)]
            told["right"], told["ms"] = statistics.fmean(right), statistics.fmean(one.ms for one in some)
            systems.setdefault(name, []).append(told)
    return systems


async def _told(community: Community, number: int, one: Round) -> Values:
    told = await community.quality(community.lines[number], [outcome.text for outcome in one.outcomes])
    told["right"] = statistics.fmean(outcome.right for outcome in one.outcomes)
    told["ms"] = statistics.fmean(outcome.ms for outcome in one.outcomes)
    return told


async def _of_recipe(community: Community, number: int, one: Played) -> Values:
    told = await community.quality(community.lines[number], one.texts)
    told["right"], told["ms"] = statistics.fmean(one.right), statistics.fmean(one.ms)
    told["calls"], told["growth"] = 1.0 - statistics.fmean(one.reused), one.growth * 100
    return told


def _cell(told: Values, metric: str) -> str:
    return f"{told[metric]:.{DIGITS.get(metric, 1)}f}" if metric in told else NONE
