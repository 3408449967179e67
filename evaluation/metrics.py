"""Figures over many questions: hits, ranks, releases, abstention, the words of answers, and their tables."""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, TypeVar

from evaluation.gold import UNANSWERABLE, UNKNOWN_RELEASE, GoldLine

CUTS = (1, 3, 8)
"""Ranks k of hit@k."""
BINS = 10
"""Bins of the reliability curve."""
log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question went in one configuration.

    `rank` is that of the first hit among what was retrieved, `handed_rank` among what the answer was
    written from, each 0 for none. `right` is None where no answer was wanted or written, or the line does
    not say what one must contain. Times are in milliseconds; `characters` is the length of what the answer
    was written from.
    """

    line: GoldLine
    rank: int = 0
    handed_rank: int = 0
    wrong_release: bool = False
    abstained: bool = False
    refused: bool = False
    confidence: float = 0.0
    route: str = ""
    right: bool | None = None
    characters: int = 0
    ms: float = 0.0
    calls: int = 0
    answer: str = ""
    contexts: tuple[str, ...] = ()
    signs: Mapping[str, float] = field(default_factory=dict)
    queries: Mapping[str, Any] = field(default_factory=dict)
    release: str = ""
    retrieved: tuple[tuple[str, str], ...] = ()


def summary(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of one configuration; a share without anything to count is None."""
    asked = [o for o in outcomes if o.line.answerable]
    outside = [o for o in outcomes if o.line.type == UNANSWERABLE]
    unknown = [o for o in outcomes if o.line.type == UNKNOWN_RELEASE]
    silent = [o for o in (*asked, *outside) if o.abstained]
    return {
        "name": name,
        "n": len(outcomes),
        **_retrieval(asked),
        "wrong_release_top3": share(asked, lambda o: o.wrong_release),
        "abstain_precision": share(silent, lambda o: not o.line.answerable),
        "abstain_recall": share(outside, lambda o: o.abstained),
        "answerable_lost": share(asked, lambda o: o.abstained),
        "written": sum(o.route in ("documents", "reference", "avoid") for o in outcomes),
        "quoted": sum(o.route == "quote" for o in outcomes),
        "abstentions": sum(o.abstained for o in outcomes),
        "refusals": sum(o.refused for o in outcomes),
        "refused": share(unknown, lambda o: o.refused),
        "wrongly_refused": share(asked, lambda o: o.refused),
        "must_contain": share([o for o in asked if o.right is not None], lambda o: bool(o.right)),
        "crag": crag(outcomes),
        "handed_hit": share(asked, lambda o: o.handed_rank > 0),
        "handed_first": share(asked, lambda o: o.handed_rank == 1),
        "handed_characters": round(median([o.characters for o in asked])) if asked else 0,
        "by_type": _by(outcomes, lambda o: o.line.type),
        "by_release": _by(asked, lambda o: o.line.release),
        "ms_p50": round(median([o.ms for o in outcomes]), 2) if outcomes else None,
        "model_calls": round(sum(o.calls for o in outcomes) / len(outcomes), 3) if outcomes else 0.0,
    }


def crag(outcomes: Sequence[Outcome]) -> dict[str, float | None] | None:
    """Return the score of Hybrid CRAG: +1 for a right answer, 0 for none, -1 for a wrong one.

    To say nothing where the documentation has no answer is right. None where no answers were written.
    """
    counted = [o for o in outcomes if o.right is not None or o.line.type == UNANSWERABLE]
    if not any(o.right is not None for o in counted):
        return None
    missing = [o for o in counted if o.line.answerable and (o.abstained or o.refused)]
    spoken = [o for o in counted if not (o.line.answerable and (o.abstained or o.refused))]
    right = [o for o in spoken if (o.right if o.line.answerable else o.abstained)]
    total = len(counted)
    wrong = total - len(right) - len(missing)
    return {
        "correct": round(len(right) / total, 4),
        "missing": round(len(missing) / total, 4),
        "hallucination": round(wrong / total, 4),
        "score": round((len(right) - wrong) / total, 4),
    }


def reliability(labelled: Sequence[tuple[float, bool]], bins: int = BINS) -> dict[str, Any]:
    """Compare confidence with what came true: bins of equal width, expected error, Brier score.

    `labelled` are (confidence, whether the question has an answer).
    """
    rows = []
    error = 0.0
    for number in range(bins):
        inside = [pair for pair in labelled if min(int(pair[0] * bins), bins - 1) == number]
        if inside:
            said = sum(c for c, _ in inside) / len(inside)
            true = sum(t for _, t in inside) / len(inside)
            error += abs(said - true) * len(inside) / len(labelled)
            rows.append({"confidence": round(said, 4), "answerable": round(true, 4), "n": len(inside)})
    brier = sum((c - t) ** 2 for c, t in labelled) / len(labelled) if labelled else None
    return {"bins": rows, "ece": round(error, 4), "brier": round(brier, 4) if brier is not None else None}


def trade_off(labelled: Sequence[tuple[float, bool]]) -> list[dict[str, float]]:
    """Return for every threshold what is lost of the answerable and what is abstained of the others."""
    answerable = [c for c, t in labelled if t]
    outside = [c for c, t in labelled if not t]
    if not answerable or not outside:
        return []
    return [
        {
            "threshold": round(at, 4),
            "answerable_lost": round(sum(c < at for c in answerable) / len(answerable), 4),
            "abstained": round(sum(c < at for c in outside) / len(outside), 4),
        }
        for at in sorted({0.0, *(c for c, _ in labelled), 1.0})
    ]


def _retrieval(asked: Sequence[Outcome]) -> dict[str, float | None]:
    hits = {f"hit@{k}": share(asked, lambda o, k=k: 0 < o.rank <= k) for k in CUTS}  # type: ignore[misc]
    inverse = sum(1 / o.rank for o in asked if o.rank)
    return {**hits, "mrr": round(inverse / len(asked), 4) if asked else None}


def _by(outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name in sorted({key(o) for o in outcomes}):
        some = [o for o in outcomes if key(o) == name]
        asked = [o for o in some if o.line.answerable]
        found[name] = {
            "n": len(some),
            "abstained": share(some, lambda o: o.abstained),
            "refused": share(some, lambda o: o.refused),
        }
        if asked:
            found[name] |= _retrieval(asked)
            found[name]["must_contain"] = share([o for o in asked if o.right is not None], _right)
    return found


def _right(outcome: Outcome) -> bool:
    return bool(outcome.right)


def share(items: Sequence[T], counts: Callable[[T], bool] = bool) -> float | None:
    """Return the share of the items that count, None where there are none."""
    return round(sum(map(counts, items)) / len(items), 4) if items else None


def sign_test(gained: int, lost: int) -> float:
    """Return how likely at least so uneven a split is where either side is as likely (two-sided, exact)."""
    total = gained + lost
    tail = sum(math.comb(total, k) for k in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**total))


def likeness(answers: Sequence[str], gold: Sequence[str], with_bert: bool = True) -> dict[str, float]:
    """Compare answers with gold answers; blocking, so call it in a worker thread.

    Without `with_bert` BERTScore is left out, which takes long. Returns `bleu` and `chrf` (0 to 100, over
    all), `rouge1` and `rougeL` (mean F, 0 to 1), and `bertscore` (mean F), each only where its package is
    installed and, for the last, its model is on this machine: it is not fetched.
    """
    if not answers:
        return {}
    return {**_bleu(answers, gold), **_rouge(answers, gold), **(_bert(answers, gold) if with_bert else {})}


def _bleu(answers: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    if (bleu := _module("sacrebleu")) is None:
        return {}
    return {
        "bleu": round(float(bleu.corpus_bleu(list(answers), [list(gold)]).score), 2),
        "chrf": round(float(bleu.corpus_chrf(list(answers), [list(gold)]).score), 2),
    }


def _rouge(answers: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    if (rouge := _module("rouge_score.rouge_scorer")) is None:
        return {}
    scorer = rouge.RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    scores = [scorer.score(true, said) for said, true in zip(answers, gold, strict=True)]
    return {
        name: round(sum(score[name].fmeasure for score in scores) / len(scores), 4)
        for name in ("rouge1", "rougeL")
    }


def _bert(answers: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    if (bert := _module("bert_score")) is None:
        return {}
    hub, model = _module("huggingface_hub"), bert.utils.lang2model["en"]
    if hub is None or not isinstance(hub.try_to_load_from_cache(model, "config.json"), str):
        log.warning(
            "BERTScore is left out, for its model %s is not on this machine. To fetch it once (1.4 GB): "
            "python -c \"import bert_score; bert_score.BERTScorer(lang='en')\"",
            model,
        )
        return {}
    try:
        _, _, f = bert.score(list(answers), list(gold), lang="en", verbose=False)
    except (OSError, RuntimeError, ValueError) as error:  # its model is not here and cannot be had
        log.warning("bert-score is left out: %s", error)
        return {}
    return {"bertscore": round(float(f.mean()), 4)}


def _module(name: str) -> Any | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
