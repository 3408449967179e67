"""From which similarity on two questions are the same, for the encoder in use: δ, τ and the decision.

δ is chosen for a wanted precision of reuse, τ for a wanted recall (algorithms of ComRAG §4.3; the paper
sets both by hand). The decision that learns is fitted to questions of which half are new.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.domain import Vector
from core.errors import UsageError
from core.memory.calibrated import Calibrated, write_calibration
from core.memory.decision import LEARNED, Decision, Guard
from core.ports import Encoder, Matrix, for_questions
from evaluation.plots import draw_calibration
from evaluation.report import Tell, silent
from evaluation.simulation.data import (
    FEWEST,
    Half,
    Pair,
    by_name,
    enough_of,
    grouped,
    half_of,
    has_topics,
    pairs_of,
    read_pairs,
    read_topics,
)

FAR_SHARE = 2 / 3
"""Share of the nearest questions on another topic that are no nearer than `far`."""
DRAWS = 40
"""How often half of the topics are drawn to be the new ones when the decision is fitted."""


@dataclass(frozen=True, slots=True)
class Choice:
    """δ and τ with what they reach; `curve` holds (cosine, precision, recall) from high to low."""

    delta: float
    tau: float
    precision: float
    recall: float
    reached: bool
    curve: tuple[tuple[float, float, float], ...]


async def calibrate(
    pairs: Path,
    home: Path,
    encoder: Encoder,
    guard: Guard,
    precision: float = 0.95,
    recall: float = 0.9,
    half: Half = "all",
    plots: bool = True,
    tell: Tell = silent,
    apart: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Choose δ, τ and the decision from labelled pairs, and write `calibration.json` to the home.

    `pairs` may be what `simulate` reads, too, or a `half` of it: then each rewording makes a pair with its
    own question and one with the nearest of another topic. Pairs that the guard tells apart are never
    reused, so they do not count against δ. `apart` are questions that people told apart (*Not my question*),
    which are pairs that are not the same. Where no δ reaches the precision (`reached`), nothing is written.
    Returns what was chosen, with the curve. Raises UsageError for a bad file or too few pairs.
    """
    if not (0 < precision <= 1 and 0 < recall <= 1):
        raise UsageError("Precision and recall must lie above 0 and at most at 1.")
    labelled, vectors, together = await _labelled(pairs, half, encoder)
    if apart:
        labelled += [Pair(a, b, False) for a, b in apart]
        vectors |= await _embedded(encoder, (text for both in apart for text in both))
    enough_of(labelled, pairs)
    choice = choose_thresholds(labelled, vectors, guard, precision, recall)
    made = _calibrated(encoder.name, choice, pairs.name)
    if not choice.reached:
        tell(f"No similarity reaches a precision of {precision}: bring more pairs, or lower --precision.")
    elif decision := _decision([*labelled, *together], vectors, precision, guard):
        made = replace(made, reach=decision.reach, far=decision.far)
    else:
        tell(f"The decision that learns goes by δ: to fit it takes {FEWEST} questions with a rewording.")
    if choice.reached:
        await asyncio.to_thread(write_calibration, home, made)
    written = {key: value for key, value in asdict(made).items() if value is not None}
    report = {
        **written,
        "curve": [list(point) for point in choice.curve],
        "pairs": len(labelled),
        "reached": choice.reached,
    }
    if plots and choice.reached and not await asyncio.to_thread(draw_calibration, report, home):
        tell("No plot: matplotlib is not installed; `pip install threadlore[evaluate]` brings it.")
    return report


def _calibrated(encoder: str, choice: Choice, pairs: str) -> Calibrated:
    return Calibrated(encoder, choice.delta, choice.tau, choice.precision, choice.recall, pairs, time.time())


async def _labelled(
    path: Path, half: Half, encoder: Encoder
) -> tuple[list[Pair], dict[str, Vector], list[Pair]]:
    """Read labelled pairs, or make them of topics; return them with the vectors of their texts.

    The last are questions on one topic in several releases, which are never new to each other.
    """
    if not await asyncio.to_thread(has_topics, path):
        labelled = list(await asyncio.to_thread(read_pairs, path))
        texts = (text for pair in labelled for text in (pair.a, pair.b))
        return labelled, await _embedded(encoder, texts), []
    topics = half_of(await asyncio.to_thread(read_topics, path), half)
    texts = (text for topic in topics for text in (topic.question, *topic.rewordings))
    vectors = await _embedded(encoder, texts)
    together = [Pair(group[0], text, True) for group in by_name(topics) for text in group[1:]]
    return list(pairs_of(topics, vectors)), vectors, together


async def _embedded(encoder: Encoder, texts: Iterable[str]) -> dict[str, Vector]:
    every = list(dict.fromkeys(texts))
    return dict(zip(every, await for_questions(encoder).encode(every), strict=True))


def _decision(
    labelled: Sequence[Pair], vectors: Mapping[str, Vector], precision: float, guard: Guard
) -> Decision | None:
    """Fit the decision that learns; None where too few questions have a rewording."""
    groups = [[text for text in group if text in vectors] for group in grouped(labelled)]
    if sum(len(group) > 1 for group in groups) < FEWEST:
        return None
    tables = [np.stack([vectors[text] for text in group]) for group in groups]
    return fit_reach(tables, precision, groups, guard)[0]


def choose_thresholds(
    pairs: Sequence[Pair], vectors: Mapping[str, Vector], guard: Guard, precision: float, recall: float
) -> Choice:
    """Return the lowest δ that reaches the precision, and the highest τ that reaches the recall.

    `vectors` are unit vectors by text. Precision is that of reuse, so it counts only the pairs that the
    guard lets through. τ is never above δ.
    """
    cosines = np.array([float(vectors[pair.a] @ vectors[pair.b]) for pair in pairs])
    same = np.array([pair.same for pair in pairs])
    passed = np.array([not guard(pair.a, pair.b) for pair in pairs])
    order = np.argsort(-cosines, kind="stable")
    sorted_, good, through = cosines[order], same[order], passed[order]
    reused = np.cumsum(through)
    right = np.cumsum(good & through)
    exact = np.where(reused > 0, right / np.maximum(reused, 1), 1.0)
    kept = np.cumsum(good) / max(1, int(good.sum()))
    # Only where the next cosine is lower can a threshold stand.
    stands = np.append(sorted_[1:] < sorted_[:-1], True)
    curve = tuple(
        (float(sorted_[i]), float(exact[i]), float(right[i]) / max(1, int(good.sum())))
        for i in np.flatnonzero(stands)
    )
    # what is as near as the rounded threshold is reused, too
    last = np.searchsorted(-sorted_, -np.array([_below(cosine) for cosine in sorted_]), side="right") - 1
    enough = np.flatnonzero(stands & (exact[last] >= precision) & (right > 0))
    found = np.flatnonzero(stands & (kept >= recall))
    place, delta = (int(last[enough[-1]]), _below(sorted_[enough[-1]])) if len(enough) else (-1, 1.0)
    tau = min(_below(sorted_[found[0]]), delta)
    reached = float((cosines[same] >= tau).mean())
    return Choice(delta, tau, float(exact[place]) if place >= 0 else 1.0, reached, place >= 0, curve)


def fit_reach(
    topics: Sequence[Matrix],
    precision: float,
    questions: Sequence[Sequence[str]] = (),
    guard: Guard | None = None,
) -> tuple[Decision, float]:
    """Fit the decision that learns to topics; return it with the share of known questions it reuses.

    Each topic is an array of shape (n, dimensions), the original question first. In every draw memory holds
    half of the topics, each with its original and a few rewordings as centre, and the other rewordings ask:
    so about half of the questions have no right answer there. `questions` are the topics' texts, for the
    guard.
    """
    lot = random.Random(0)
    found: list[_Nearest] = []
    known = 0
    for _ in range(DRAWS):
        held = sorted(lot.sample(range(len(topics)), max(1, len(topics) // 2)))
        asked, centres = _draw(topics, held, lot)
        known += sum(number in held for number, _ in asked)
        table = np.stack([topics[number][place] for number, place in asked]) @ centres.T
        for row, (number, place) in zip(table, asked, strict=True):
            nearest = _nearest(row, number, held)
            if guard and questions:
                differs = bool(guard(questions[number][place], questions[nearest.topic][0]))
                nearest = nearest._replace(differs=differs)
            found.append(nearest)
    closeness, rivals = np.array([one.closeness for one in found]), np.array([one.rival for one in found])
    rightly, blocked = np.array([one.right for one in found]), np.array([one.differs for one in found])
    # the nearest of another topic is the second where the first is right
    far = round(float(np.quantile(np.where(rightly, rivals, closeness), FAR_SHARE)), 2)
    margin = closeness - LEARNED.slope * np.maximum(0.0, rivals - far)
    reach, reused = reach_of(margin[~blocked], rightly[~blocked], precision)
    return replace(LEARNED, reach=reach, far=far), reused / max(1, known)


def reach_of(margins: NDArray[np.float64], right: NDArray[np.bool_], precision: float) -> tuple[float, int]:
    """Return the lowest rounded margin from which reuse has a precision, and how many it reuses rightly.

    What is as near as the rounded margin is reused, and counted, too. 1.0 and none where none has it.
    """
    order = np.argsort(-margins, kind="stable")
    sorted_, good = margins[order], np.cumsum(right[order])
    last = np.searchsorted(-sorted_, -np.array([_below(one) for one in sorted_]), side="right") - 1
    reaching = np.flatnonzero(good[last] / (last + 1) >= precision)
    if not len(reaching):
        return 1.0, 0
    place = int(reaching[-1])
    return _below(float(sorted_[place])), int(good[last[place]])


class _Nearest(NamedTuple):
    """The topic that a question is closest to, and how close the next one is; `differs` by the guard."""

    topic: int
    closeness: float
    rival: float
    right: bool
    differs: bool = False


def _nearest(row: Matrix, asked: int, held: Sequence[int]) -> _Nearest:
    """Read one question's cosines with the centres of the topics in memory, shape (len(held),)."""
    *others, first = np.argsort(row, kind="stable")
    rival = float(row[others[-1]]) if others else 0.0
    return _Nearest(held[int(first)], float(row[first]), rival, held[int(first)] == asked)


def _draw(
    topics: Sequence[Matrix], held: Sequence[int], lot: random.Random
) -> tuple[list[tuple[int, int]], Matrix]:
    """Return who asks, as (topic, place), and the centres of the topics that memory holds."""
    asked: list[tuple[int, int]] = []
    centres = []
    for number, topic in enumerate(topics):
        places = list(range(1, len(topic)))
        lot.shuffle(places)
        if number in held:
            learnt = lot.randint(0, max(0, min(LEARNED.rewordings, len(places) - 1)))
            mean = topic[[0, *places[:learnt]]].mean(axis=0)
            centres.append(mean / np.linalg.norm(mean))
            places = places[learnt:]
        asked += [(number, place) for place in places]
    return asked, np.stack(centres)


def _below(value: float) -> float:
    """Round down, so that the question a threshold was chosen by does not fall by a rounding error."""
    return float(np.floor(value * 1000) / 1000)
