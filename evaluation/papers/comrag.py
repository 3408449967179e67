"""ComRAG's table 1, its rounds, ablations and thresholds, on `evaluation.papers.community`."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.memory.decision import LEARNED, PAPER
from core.memory.guard import guard
from core.memory.scoring import Thresholds
from evaluation.papers.by_round import by_round
from evaluation.papers.community import ROUNDS, Community
from evaluation.papers.recipe_rounds import Played
from evaluation.papers.tables import MODEL, NONE, Section, Table, percent, printed, share
from evaluation.simulation.data import Topic
from evaluation.simulation.report import rows, summary
from evaluation.simulation.stores import Texts
from evaluation.simulation.world import Memory, Outcome, Round

_PRINTED = printed("comrag")
Recipes = Callable[[Community], Awaitable[Mapping[str, Sequence[Played]]]]

GIVEN = Thresholds(delta=0.8, tau=0.75, gamma=0.7)
"""The paper's own thresholds (PolarDBQA, section 5.4), for bge-large."""
FITTED = Thresholds(delta=0.623, tau=0.58, gamma=0.6)
"""What `threadlore simulate --fit` finds for the paper's rule and MiniLM on StackFAQ's other half."""
TABLE_1 = _PRINTED["table_1"]
"""Seconds, BERT-Score, SIM, BLEU and ROUGE-L on MSQA, ProCQA and PolarDBQA."""


async def measure(
    topics: Sequence[Topic], texts: Texts, told: str, recipes: Recipes | None = None
) -> Section:
    """Run everything; `told` says on what. `recipes` plays recipes as systems, too."""
    community = Community(topics, texts)
    await community.ready()
    base = Memory(GIVEN, PAPER, guard, by_paper=True)
    ours = Memory(Thresholds(), LEARNED, guard)
    fitted = replace(base, thresholds=FITTED)
    systems = {"the paper's thresholds": base, "fitted thresholds": fitted, "Threadlore": ours}
    played = {name: await community.play(memory) for name, memory in systems.items()}
    return Section(
        "comrag",
        "ComRAG: table 1, the rounds, the ablations, the thresholds (sections 5.4, 6.1 to 6.4, appendix C)",
        told,
        (
            await _first_round(community, played),
            await _rounds(community, played),
            await _ablations(community, fitted, played["fitted thresholds"]),
            await _thresholds(community),
            *await by_round(community, played, await recipes(community) if recipes else {}),
        ),
        DIFFERS,
    )


async def _first_round(community: Community, played: Mapping[str, Sequence[Round]]) -> Table:
    lines = community.lines[0]
    told = await community.baselines()
    made: list[tuple[str, ...]] = []
    for name, *paper in TABLE_1[:-1]:
        if name not in told:
            made.append((name, *paper, *[NONE] * 6, MODEL))
            continue
        some = told[name]
        quality = await community.quality(lines, [one.text for one in some])
        first = statistics.fmean([one.topic == line.topic for one, line in zip(some, lines, strict=True)])
        inside = statistics.fmean([line.topic in one.read for one, line in zip(some, lines, strict=True)])
        ms = statistics.fmean(one.ms for one in some)
        known = "knows half of the threads" if name in ("BM25", "DPR") else ""
        made.append((name, *paper, *_qualities(quality), share(first), share(inside), f"{ms:.2f}", known))
    for name, rounds in played.items():
        outcomes = rounds[0].outcomes
        quality = await community.quality(lines, [one.text for one in outcomes])
        right = statistics.fmean(one.right for one in outcomes)
        ms = statistics.fmean(one.ms for one in outcomes)
        reused = statistics.fmean(one.route == "reuse" for one in outcomes)
        paper = list(TABLE_1[-1][1:]) if not name.startswith("Threadlore") else [NONE] * 5
        label = name if name.startswith("Threadlore") else f"ComRAG, {name}"
        cells = (*_qualities(quality), share(right), NONE, f"{ms:.2f}", f"{percent(reused)} reused")
        made.append((label, *paper, *cells))
    return Table(
        "Table 1, first round (the paper's on MSQA / ProCQA / PolarDBQA)",
        (
            "system", "paper s", "paper BERT-Score", "paper SIM", "paper BLEU", "paper ROUGE-L",
            "SIM", "BLEU", "ROUGE-L", "right first", "right among three", "ms", "in this row",
        ),
        tuple(made),
    )  # fmt: skip


def _qualities(quality: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(f"{quality[name]:.2f}" for name in ("SIM", "BLEU", "ROUGE-L"))


async def _rounds(community: Community, played: Mapping[str, Sequence[Round]]) -> Table:
    """Put the published ends of figures 3 and 4 beside each round of each memory."""
    paper = {1: ("10.42 s", "20.23 %"), ROUNDS: ("4.95 s (−52.5 %)", "2.06 %")}
    told = {name: rows(rounds, 0.0)[0] for name, rounds in played.items()}
    made = []
    for number in range(1, ROUNDS + 1):
        cells = [str(number), *paper.get(number, ("figure only", "figure only"))]
        for name, rounds in played.items():
            row, outcomes = told[name][number - 1], rounds[number - 1].outcomes
            quality = await community.quality(community.lines[number - 1], [one.text for one in outcomes])
            right = statistics.fmean(one.right for one in outcomes)
            cells += [
                share(row["model_calls"]),
                share(right),
                f"{quality['SIM']:.1f}",
                percent(row["growth"]),
            ]
        made.append(tuple(cells))
    columns = ["round", "paper: time", "paper: growth"]
    for name in played:
        columns += [f"{name}: calls", "right", "SIM", "growth"]
    return Table("Figures 3 and 4, ten rounds (the paper's on ProCQA)", tuple(columns), tuple(made))


async def _ablations(community: Community, memory: Memory, whole: Sequence[Round]) -> Table:
    without = {
        "without the high store": ("+4.9 s, BERT-Score −2.6", replace(memory, used=False)),
        "without centroids": ("+2.2 s, BERT-Score −0.5", replace(memory, by_paper=False)),
    }
    made = [("ComRAG", NONE, *_run(whole), "")]
    for name, (paper, other) in without.items():
        why = "no memory at all" if not other.used else "Threadlore's stores, δ and its guard"
        made.append((name, paper, *_run(await community.play(other)), why))
    unwritten = ("without static knowledge", "without adaptive temperature")
    made += [(name, "fewer direct answers", *[NONE] * 4, MODEL) for name in unwritten]
    return Table(
        "Figure 2, ablations (the paper's on PolarDBQA; here with fitted thresholds, all rounds)",
        ("system", "paper", "calls a question", "right", "stored", "growth, round 10", "in this row"),
        tuple(made),
    )


def _run(rounds: Sequence[Round]) -> tuple[str, ...]:
    told = summary(rounds)
    return (
        share(told["model_calls"]),
        share(told["right"]),
        str(told["stored"]),
        percent(told["growth_last"]),
    )


async def _thresholds(community: Community) -> Table:
    """Change one threshold at a time, around the paper's own and around those that fit this encoder."""
    paper = {
        ("tau", 0.65): "66.67 %", ("tau", 0.75): "figure only", ("tau", 0.85): "figure only",
        ("delta", 0.7): "67.32 %", ("delta", 0.8): "figure only", ("delta", 0.9): "figure only",
        ("gamma", 0.6): "86.93 %", ("gamma", 0.7): "figure only", ("gamma", 0.8): "26.14 %",
    }  # fmt: skip
    signs = {"tau": "τ", "delta": "δ", "gamma": "γ"}
    made = []
    for (name, value), said in paper.items():
        changed: dict[str, Any] = {name: value}
        memory = Memory(replace(GIVEN, **changed), PAPER, guard, by_paper=True)
        outcomes = await community.play(memory)
        told = summary(outcomes)
        cells = (percent(told["reuse_last"]), share(told["reuse_precision"]), percent(told["growth_last"]))
        made.append((f"{signs[name]} = {value:g}", said, *cells, _of(outcomes[-1].outcomes)))
    return Table(
        "Figures 5 to 7, one threshold at a time (τ .75, δ .8, γ .7 otherwise; reuse in round 10)",
        (
            "threshold",
            "paper: reused",
            "reused",
            "of it right",
            "growth, round 10",
            "answers right, round 10",
        ),
        tuple(made),
    )


def _of(outcomes: Sequence[Outcome]) -> str:
    return share(statistics.fmean(one.right for one in outcomes))


DIFFERS = _PRINTED["differs"]
