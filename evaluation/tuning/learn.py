"""`threadlore tune`: learn the ranking of a corpus from labelled questions, if that is no worse."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from core.errors import UsageError
from core.learning.fit import Marks, fit_weights
from core.pipeline.research import Research
from core.retrieval.confidence import Judgement, Signs
from core.retrieval.features import FEATURES, Numbers
from core.retrieval.pregenerated import EQUAL
from core.retrieval.ranking import DEFAULT_RANKING, Ranking
from core.retrieval.search import Searcher
from evaluation.calibration import ANSWERABLE, calibrate
from evaluation.gold import UNANSWERABLE, GoldLine, read_gold
from evaluation.report import Tell, silent
from evaluation.tuning.examples import Example, Quality, examples_of, quality, signs_of
from evaluation.tuning.fields import best_weights, fielded, quality_of

DENSE = (0.15, 0.3, 0.5, 0.7)
"""Shares of the dense retriever in the fusion that are tried."""
STRENGTHS = (1.0, 0.1, 0.02)
"""Pulls towards the shipped weights that are tried, the strongest first."""
FOLDS = 5
LEAST = 20
"""Answerable questions of a half below which nothing is learnt."""
LEAST_SILENT = 10
"""Unanswerable questions of a half below which the confidence is left as it is."""
BETTER = 0.005
"""What a ranking must gain in cross-validation to be taken: less is noise."""
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Tuned:
    """What came of it: the ranking to keep, None to stay with the shipped one, and what to tell."""

    ranking: Ranking | None
    told: tuple[str, ...]


async def tune(research: Research, searcher: Searcher, gold: Path, tell: Tell = silent) -> Tuned:
    """Learn on the `tune` half of a gold file and judge on the other; changes nothing.

    Raises UsageError where there are too few questions.
    """
    lines = await asyncio.to_thread(read_gold, gold)
    learnt, held = halves(lines)
    enough = [line for line in learnt if line.answerable]
    if len(enough) < LEAST or sum(line.answerable for line in held) < LEAST:
        raise UsageError(
            f"{gold.name} has {len(enough)} answerable questions to learn from and "
            f"{sum(line.answerable for line in held)} to judge by; tuning needs {LEAST} of each."
        )
    start, fields = DEFAULT_RANKING, tuple[str, ...]()
    if searcher.has_pairs():
        weights, joining = await _joined(research, searcher, learnt, held)
        start, fields = replace(DEFAULT_RANKING, fields=weights), (joining,)
    chosen, told = await _ranked(research, searcher, learnt, held, start, tell)
    judgement, said = await _judged(research, searcher.by(chosen), learnt, held)
    if judgement is None and chosen == DEFAULT_RANKING:
        return Tuned(None, (*fields, told, said))
    kept = replace(
        chosen,
        judgement=judgement or chosen.judgement,
        tuned=f"{gold.name}: {told}",
    )
    return Tuned(kept, (*fields, told, said))


def halves(lines: Sequence[GoldLine]) -> tuple[list[GoldLine], list[GoldLine]]:
    """Split into the half to learn from and the other: by `split` where lines say it, else by place.

    Questions with the same place stay together, so that none is learnt that is judged.
    """
    if any(line.split for line in lines):
        return [x for x in lines if x.split == "tune"], [x for x in lines if x.split == "report"]
    return [x for x in lines if _part(x, 2) == 0], [x for x in lines if _part(x, 2) == 1]


async def _joined(
    research: Research, searcher: Searcher, learnt: Sequence[GoldLine], held: Sequence[GoldLine]
) -> tuple[Mapping[str, float], str]:
    """Weigh the four fields of pairs by cross-validation, and compare on the held-out half."""
    seen = await fielded(research, searcher, learnt)
    folds = [_part(example.line, FOLDS) for example in seen]
    by_fold = {
        fold: best_weights([e for e, own in zip(seen, folds, strict=True) if own != fold])
        for fold in set(folds)
    }
    crossed = quality_of(seen, [by_fold[fold] for fold in folds])
    equal = quality_of(seen, [EQUAL] * len(seen))
    if crossed.score < equal.score + BETTER:
        return EQUAL, f"the four fields of pairs weigh the same: nothing learnt does better ({equal})"
    weights = best_weights(seen)
    judging = await fielded(research, searcher, held)
    old, new = (quality_of(judging, [one] * len(judging)) for one in (EQUAL, weights))
    if _worse(new, old):
        return EQUAL, f"the four fields of pairs weigh the same: on the held-out half {old}, learnt {new}"
    told = ", ".join(f"{name.replace('_', ' by ')} {share:g}" for name, share in weights.items())
    return weights, f"fields of pairs weigh {told}; alone on the held-out half {old} → {new}"


async def _ranked(
    research: Research,
    searcher: Searcher,
    learnt: Sequence[GoldLine],
    held: Sequence[GoldLine],
    start: Ranking,
    tell: Tell,
) -> tuple[Ranking, str]:
    """Choose share and pull by cross-validation, fit, and compare on the held-out half.

    `start` is the shipped ranking, with what the fields of pairs weigh.
    """
    shipped = np.array([start.weights[name] for name in FEATURES])
    best: tuple[float, float, float] | None = None
    seen: dict[float, list[Example]] = {}
    for dense in DENSE:
        seen[dense] = await examples_of(research, searcher.by(replace(start, dense=dense)), learnt)
        for strength in STRENGTHS:
            found = quality(seen[dense], _cross_validated(seen[dense], shipped, strength))
            tell(f"dense {dense}, pull {strength}: {found} in cross-validation")
            if best is None or found.score > best[0] + _SAME:
                best = (found.score, dense, strength)
    assert best is not None
    usual = seen[DEFAULT_RANKING.dense]
    default = quality(usual, [shipped] * len(usual))
    if best[0] < default.score + BETTER:
        return start, f"the shipped ranking is kept: nothing learnt does better ({default})"
    _, dense, strength = best
    weights = fit_weights(*_lists(seen[dense]), shipped, strength)
    old_held = await examples_of(research, searcher.by(DEFAULT_RANKING), held)
    new_held = await examples_of(research, searcher.by(replace(start, dense=dense)), held)
    old = quality(old_held, [shipped] * len(old_held))
    new = quality(new_held, [weights] * len(new_held))
    if _worse(new, old):
        return start, f"the shipped ranking is kept: on the held-out half {old}, learnt {new}"
    fitted = dict(zip(FEATURES, map(float, weights), strict=True))
    return replace(
        start, dense=dense, weights=fitted
    ), f"learned from {len(learnt)} questions; on the held-out half {old} → {new}"


def _worse(new: Quality, old: Quality) -> bool:
    """Return True if any of the three is lower."""
    return new.hit3 < old.hit3 - _SAME or new.hit8 < old.hit8 - _SAME or new.mrr < old.mrr - _SAME


async def _judged(
    research: Research, searcher: Searcher, learnt: Sequence[GoldLine], held: Sequence[GoldLine]
) -> tuple[Judgement | None, str]:
    """Fit the confidence anew where there are enough questions without an answer."""
    counts = [sum(line.type == UNANSWERABLE for line in half) for half in (learnt, held)]
    if min(counts) < LEAST_SILENT:
        return None, (
            f"confidence is left as it is: that needs {LEAST_SILENT} questions without an answer in each "
            f"half, there are {counts[0]} and {counts[1]}"
        )
    fitted = calibrate(await signs_of(research, searcher, learnt), answerable_share=ANSWERABLE)
    new = Judgement(dict(fitted.coefficients), fitted.bias, fitted.threshold)
    labelled = await signs_of(research, searcher, held)
    before, after = _silence(searcher.ranking.judgement, labelled), _silence(new, labelled)
    words = f"lost {before[0]:.3f} → {after[0]:.3f}, abstained {before[1]:.3f} → {after[1]:.3f}"
    if after[0] > before[0] + _SAME or after[1] < before[1] - _SAME or after == before:
        return None, f"the shipped confidence is kept: on the held-out half {words}"
    return new, f"confidence learnt; on the held-out half {words}"


def _silence(judgement: Judgement, labelled: Sequence[tuple[dict[str, float], bool]]) -> tuple[float, float]:
    """Return the shares of answerable questions that are lost and of the others that are abstained from."""
    silent = [(judgement.confidence(Signs(**signs)) < judgement.enough, label) for signs, label in labelled]
    answerable = [quiet for quiet, label in silent if label]
    outside = [quiet for quiet, label in silent if not label]
    return sum(answerable) / (len(answerable) or 1), sum(outside) / (len(outside) or 1)


def _cross_validated(examples: Sequence[Example], shipped: Numbers, strength: float) -> list[Numbers]:
    """Return for every question the weights that the other folds teach."""
    folds = [_part(example.line, FOLDS) for example in examples]
    learnt = {
        fold: fit_weights(
            *_lists([e for e, own in zip(examples, folds, strict=True) if own != fold]), shipped, strength
        )
        for fold in set(folds)
    }
    return [learnt[fold] for fold in folds]


def _lists(examples: Sequence[Example]) -> tuple[list[Numbers], list[Marks]]:
    searches = [search for example in examples for search in example.searches]
    return [search.table for search in searches], [search.right for search in searches]


def _part(line: GoldLine, count: int) -> int:
    """Put a line into one of `count` parts, with all that have the same words of the same page for answer."""
    places = sorted((*place.files, *place.evidence) for place in line.places.values()) or [(line.id,)]
    key = "|".join(word for place in places[:1] for word in place)
    return int.from_bytes(blake2b(key.encode(), digest_size=4).digest(), "big") % count
