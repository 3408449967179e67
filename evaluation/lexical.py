"""Likeness of answers to gold answers by words and by embeddings, where the packages are installed.

The one door to sacrebleu, rouge-score and bert-score: all optional, extra `evaluate`.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from typing import Any

log = logging.getLogger(__name__)


def likeness(answers: Sequence[str], gold: Sequence[str], with_bert: bool = True) -> dict[str, float]:
    """Compare answers with gold answers; blocking, so call it in a worker thread.

    Without `with_bert` BERTScore is left out, whose model is looked for on the network. Returns `bleu` and
    `chrf` (0 to 100, over all), `rouge1` and `rougeL` (mean F, 0 to 1), and `bertscore` (mean F), each only
    where its package is installed and, for the last, its model is there.
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
