"""`threadlore simulate`: ComRAG's real-time setting on labelled questions, with baselines and sweeps (§5)."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.memory.decision import LEARNED, PAPER, Decision, Guard
from core.memory.scoring import Thresholds
from core.ports import Encoder, for_questions
from core.text.words import one_line
from evaluation.plots import draw_simulation
from evaluation.report import Tell, silent
from evaluation.report import made as folder_for
from evaluation.simulation.data import (
    Half,
    Topic,
    by_name,
    for_releases,
    half_of,
    others_of,
    pairs_of,
    read_topics,
    stream,
)
from evaluation.simulation.memory_calibration import choose_thresholds, fit_reach
from evaluation.simulation.report import markdown, rows, spread, summary
from evaluation.simulation.stores import OpenStores, Texts, in_memory
from evaluation.simulation.world import Memory, Model, People, World

DELTAS = (0.7, 0.74, 0.78, 0.82, 0.86, 0.9)
TAUS = (0.4, 0.5, 0.6, 0.7, 0.75)
GAMMAS = (0.5, 0.6, 0.7, 0.8)
REACHES = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
"""Values of the sweeps: δ, τ and γ around those of ComRAG's figures 5 to 7, and around our own."""
FITTED_PRECISION = 0.95
"""Precision that thresholds are fitted for, as `threadlore calibrate` does unless told otherwise."""
FITTED_RECALL = 0.9
"""Share of rewordings that τ is chosen to keep within reach."""
OURS = "this memory"
MISSING = "No plots: matplotlib is not installed; `pip install threadlore[evaluate]` brings it."


@dataclass(frozen=True, slots=True)
class Options:
    """What to simulate.

    `known` is the share of topics whose original question memory begins with. `releases` asks every
    question for each of them, with other right answers. With `fitted` thresholds and decision are
    chosen on the topics of one half, and only the other half is asked. Of `others` (questions that have
    no rewordings) memory begins with half, and the rest is asked: whatever is reused there is wrong.
    """

    rounds: int = 10
    seed: int = 0
    seeds: int = 1
    half: Half = "all"
    known: float = 1.0
    fitted: bool = False
    releases: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    people: People = field(default_factory=People)
    model: Model = field(default_factory=Model)
    thresholds: Thresholds = field(default_factory=Thresholds)
    decision: Decision = LEARNED
    baselines: bool = True
    sweeps: bool = True
    plots: bool = True


async def simulate(
    data: Path,
    report: Path,
    encoder: Encoder,
    guard: Guard,
    options: Options | None = None,
    tell: Tell = silent,
    stores: OpenStores = in_memory,
) -> dict[str, Any]:
    """Play the rounds with this memory and with every baseline; write and return the report.

    Writes `simulation.json`, `simulation.md`, `details.json` and the plots to the folder `report`;
    `tell` hears a line on each run. The first run has the `stores` that are given, the others dictionaries.
    Raises UsageError for bad data or options that cannot be.
    """
    options = options or Options()
    _check(options)
    await asyncio.to_thread(folder_for, report)
    texts = Texts(for_questions(encoder))
    options, topics = await _prepared(options, data, texts, guard)
    await texts.encode([text for t in topics for text in (t.question, *t.rewordings, *t.answers)])
    memory = Memory(options.thresholds, options.decision, guard)
    run = _Runner(options, topics, texts, tell)
    made: dict[str, Any] = {
        "rounds": await run.rounds(OURS, memory, stores=stores),
        "baselines": {},
        "settings": _settings(options, data, topics, encoder),
    }
    seeds = [run.summaries[OURS]]
    for seed in range(options.seed + 1, options.seed + options.seeds):
        await run.rounds(f"seed {seed}", memory, seed)
        seeds.append(run.summaries[f"seed {seed}"])
    if options.baselines:
        for name, other in _baselines(memory, bool(options.releases)).items():
            again = await run.rounds(name, other)
            made["baselines"][name] = {**run.summaries[name], "rounds": again}
    details = {
        OURS: run.summaries[OURS],
        "seeds": seeds,
        "spread": spread(seeds),
        "rounds": run.details,
        "sweeps": await _sweeps(run, memory) if options.sweeps else {},
    }
    await _reported(report, made, details, options.plots, tell)
    return made


async def _prepared(
    options: Options, data: Path, texts: Texts, guard: Guard
) -> tuple[Options, Sequence[Topic]]:
    """Read the topics that are asked, and fit thresholds and decision on the others where that is wanted."""
    every = await asyncio.to_thread(read_topics, data)
    topics = half_of(every, "report" if options.fitted else options.half)
    if options.fitted:
        options = await _fitted(options, half_of(every, "tune"), texts, guard)
    if options.releases:
        topics = for_releases(topics, options.releases)
    if not any(topic.rewordings for topic in topics):
        raise UsageError(f"This half of {data} has no rewordings; leave --half out or bring more topics.")
    return options, topics


async def _reported(
    folder: Path, made: Mapping[str, Any], details: Mapping[str, Any], with_plots: bool, tell: Tell
) -> None:
    plots: tuple[str, ...] = ()
    if with_plots:
        plots = await asyncio.to_thread(draw_simulation, made, details["sweeps"], folder)
        if not plots:
            tell(MISSING)
    await asyncio.to_thread(_write, folder, made, details, markdown(made, details, plots))


class _Runner:
    """Plays the same questions with one memory after another."""

    def __init__(self, options: Options, topics: Sequence[Topic], texts: Texts, tell: Tell) -> None:
        self._options = options
        self._topics = topics
        self._texts = texts
        self._tell = tell
        self.summaries: dict[str, dict[str, Any]] = {}
        self.details: list[dict[str, Any]] = []

    async def rounds(
        self, name: str, memory: Memory, seed: int | None = None, stores: OpenStores = in_memory
    ) -> list[dict[str, Any]]:
        """Play all rounds with this memory; return the rows, and keep the summary under the name."""
        options = self._options
        seed = options.seed if seed is None else seed
        lot = random.Random(seed)
        names = sorted({topic.name for topic in self._topics})
        held = set(lot.sample(names, round(options.known * len(names))))
        remembered, asked = others_of(options.others, options.releases, lot)
        seeded = [topic for topic in self._topics if topic.name in held]
        topics = [*self._topics, *remembered, *asked]
        async with stores() as opened:
            world = World(opened, self._texts, memory, options.model, options.people, seed)
            await world.found(topics, [*seeded, *remembered])
            played = await world.play(stream([*self._topics, *asked], options.rounds, seed))
        made, details = rows(played, options.model.seconds)
        self.summaries[name] = summary(played)
        if not self.details:
            self.details = details
        said = self.summaries[name]
        precision = "–" if said["reuse_precision"] is None else f"{said['reuse_precision']:.3f}"
        self._tell(f"{name}: reused {said['reuse']:.3f}, precision {precision}, right {said['right']:.3f}")
        return made


def _baselines(memory: Memory, released: bool) -> dict[str, Memory]:
    def exact(asked: str, remembered: str) -> str:
        alike = one_line(asked.lower()) == one_line(remembered.lower())
        return "" if alike else "The words are not the same."

    verbatim = replace(memory.thresholds, delta=0.99, tau=0.99)
    found = {
        "no memory": replace(memory, used=False),
        "exact-text cache": replace(memory, guard=exact, decision=PAPER, thresholds=verbatim),
        "without guard": replace(memory, guard=lambda asked, remembered: ""),
        "without release partition": replace(memory, partitioned=False),
        "the paper's rule": replace(memory, decision=PAPER),
    }
    if not released:
        del found["without release partition"]  # there is but one release: it would be this memory again
    return found


async def _sweeps(run: _Runner, memory: Memory) -> dict[str, list[dict[str, Any]]]:
    """Change one threshold at a time. δ is swept under the paper's rule, which is what it rules."""
    paper, now = replace(memory, decision=PAPER), memory.thresholds
    changed: dict[str, dict[float, Memory]] = {
        "delta": {v: replace(paper, thresholds=replace(now, delta=v)) for v in DELTAS},
        "tau": {v: replace(memory, thresholds=replace(now, tau=v)) for v in TAUS},
        "gamma": {v: replace(memory, thresholds=replace(now, gamma=v)) for v in GAMMAS},
    }
    if memory.decision.learns:
        changed["reach"] = {v: replace(memory, decision=replace(memory.decision, reach=v)) for v in REACHES}
    swept: dict[str, list[dict[str, Any]]] = {}
    for name, memories in changed.items():
        swept[name] = []
        for value, one in memories.items():
            await run.rounds(f"{name} = {value}", one)
            swept[name].append({"value": value, **run.summaries[f"{name} = {value}"]})
    return swept


async def _fitted(options: Options, topics: Sequence[Topic], texts: Texts, guard: Guard) -> Options:
    """Choose τ for its recall, and δ or the reach for precision, on the topics of the other half."""
    questions = by_name(topics)
    tables = [await texts.encode(all_) for all_ in questions]
    vectors = {
        text: row
        for texts_, table in zip(questions, tables, strict=True)
        for text, row in zip(texts_, table, strict=True)
    }
    choice = choose_thresholds(pairs_of(topics, vectors), vectors, guard, FITTED_PRECISION, FITTED_RECALL)
    decision, delta = options.decision, choice.delta
    if decision.learns:
        decision, delta = fit_reach(tables, FITTED_PRECISION, questions, guard)[0], options.thresholds.delta
    thresholds = replace(options.thresholds, tau=choice.tau, delta=delta)
    return replace(options, thresholds=thresholds, decision=decision)


def _check(options: Options) -> None:
    shares = {
        "known": options.known,
        "turnout": options.people.turnout,
        "error": options.people.error,
        "adversaries": options.people.adversaries,
        "right": options.model.right,
        "right-referred": options.model.right_referred,
    }
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise UsageError(f"--{name} is a share: give a number from 0 to 1, not {share}.")
    if not 0 <= options.model.seconds < math.inf:
        raise UsageError(f"--model-seconds is a time: give 0 or more, not {options.model.seconds}.")
    if options.rounds < 1 or options.seeds < 1:
        raise UsageError("A simulation takes at least one round and one seed.")
    if not 1 <= options.people.readers <= options.people.population:
        raise UsageError("Every answer has at least one reader, and no more than there are people.")


def _settings(options: Options, data: Path, topics: Sequence[Topic], encoder: Encoder) -> dict[str, Any]:
    return {
        "data": data.name,
        "encoder": encoder.name,
        "topics": len(topics),
        "questions": sum(len(topic.rewordings) for topic in topics),
        "half": "report, fitted on tune" if options.fitted else options.half,
        **{key: getattr(options, key) for key in ("rounds", "seed", "seeds", "known")},
        "releases": list(options.releases),
        "others": len(options.others),
        "people": asdict(options.people),
        "model": asdict(options.model),
        "thresholds": asdict(options.thresholds),
        "decision": asdict(options.decision),
    }


def _write(folder: Path, made: Mapping[str, Any], details: Mapping[str, Any], text: str) -> None:
    for name, content in (("simulation.json", made), ("details.json", details)):
        (folder / name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "simulation.md").write_text(text, "utf-8")
