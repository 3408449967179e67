"""Fit how sure the bot is that pages answer, on several products, and judge each by the others (*ours*).

`python -m tests.fitting.judged --product HOME CONFIG FILE … [--product …] [--write]`: a FILE has golden
questions or lines of `answers.jsonl`, with and without an answer. Of each file the half `tune` is learnt
from, or all of it where it has none. Every product counts alike, and so do both kinds of questions.
"""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.app.bootstrap import build
from core.retrieval.confidence import DEFAULT_JUDGEMENT, JUDGED, Judgement, Signs
from core.settings import load_settings
from evaluation.answers.expected import read_expected
from evaluation.calibration import ANSWERABLE, Numbers, fit
from evaluation.gold import UNANSWERABLE, GoldLine, read_gold
from evaluation.tuning.examples import signs_of

SIGNS = tuple(DEFAULT_JUDGEMENT.coefficients)
"""The signs that are weighed; those that gain nothing on products left out are not."""
STRENGTH = 0.1
"""L2 weight on standardised signs: on products left out .02 loses more of the answerable below `close`
(.022 for .014), and .2 refuses fewer of the others (.49 for .53)."""
DIGITS = 3

Labelled = Sequence[tuple[Mapping[str, float], bool]]


async def labelled_of(home: Path, config: Path, files: Sequence[Path]) -> list[tuple[dict[str, float], bool]]:
    """Ask the questions of one product's files; return signs, and whether there is an answer."""
    settings = load_settings(None, home=home, config=config, ollama_host="off", playground=False)
    lines: list[GoldLine] = []
    async with build(settings, "evaluate") as app:
        for file in files:
            lines += _lines(file, app.catalogue.product.name)
        return await signs_of(app.research, app.searcher, lines)


def _lines(file: Path, product: str) -> list[GoldLine]:
    """Read the lines that teach."""
    if '"section"' not in file.read_text("utf-8"):
        every = read_gold(file)
        return [line for line in every if line.split == "tune"] or list(every)
    expected = read_expected(file, product=product)
    teaching = [line for line in expected if line.half == "tune"] or expected
    return [
        GoldLine(
            line.id,
            line.kind if line.answerable else UNANSWERABLE,
            line.question,
            line.release,
            ask_release=line.ask_release,
        )
        for line in teaching
    ]


def fitted(products: Mapping[str, Labelled]) -> Judgement:
    """Fit a judgement with the thresholds that are shipped."""
    tables, labels, weights = [], [], []
    for some in products.values():
        tables.append(np.array([[signs[name] for name in SIGNS] for signs, _ in some], np.float64))
        labels.append(np.array([label for _, label in some], np.bool_))
        weights.append(_alike(labels[-1]))
    signs, bias = fit(np.vstack(tables), np.concatenate(labels), STRENGTH, weights=np.concatenate(weights))
    bias += float(np.log(ANSWERABLE / (1.0 - ANSWERABLE)))
    return Judgement(
        dict(zip(SIGNS, (round(float(weight), DIGITS) for weight in signs), strict=True)),
        round(bias, DIGITS),
        DEFAULT_JUDGEMENT.enough,
        DEFAULT_JUDGEMENT.close,
    )


def _alike(labels: NDArray[np.bool_]) -> Numbers:
    """Return what each question of a product counts: both kinds half of it, one kind all there is."""
    counts = {kind: int((labels == kind).sum()) for kind in (True, False)}
    kinds = sum(count > 0 for count in counts.values())
    return np.array([1.0 / kinds / counts[bool(label)] for label in labels])


def told(judgement: Judgement, some: Labelled) -> dict[str, Any]:
    """Return what a judgement does to questions: area, and what is below each threshold, by kind."""
    likely = np.array([judgement.confidence(Signs(**signs)) for signs, _ in some])
    labels = np.array([label for _, label in some], np.bool_)
    higher = likely[labels][:, None] - likely[~labels][None, :]
    return {
        "questions": len(some),
        "area": round(float(((higher > 0) + 0.5 * (higher == 0)).mean()), 3) if higher.size else None,
        "answerable_below_close": _share(likely[labels] < judgement.close),
        "answerable_below_enough": _share(likely[labels] < judgement.enough),
        "unanswerable_below_close": _share(likely[~labels] < judgement.close),
        "unanswerable_below_enough": _share(likely[~labels] < judgement.enough),
    }


def left_out(products: Mapping[str, Labelled]) -> dict[str, dict[str, Any]]:
    """Judge the questions of each product by what the others teach."""
    return {
        name: told(fitted({other: more for other, more in products.items() if other != name}), own)
        for name, own in products.items()
    }


def _share(some: NDArray[np.bool_]) -> float | None:
    return round(float(some.mean()), 3) if len(some) else None


def main() -> None:
    """Fit, print what comes of products left out, and write the weights if asked."""
    given = ArgumentParser(description=__doc__)
    given.add_argument("--product", nargs="+", action="append", type=Path, required=True)
    given.add_argument("--write", action="store_true")
    options = given.parse_args()
    products = {
        config.name.partition(".")[0]: asyncio.run(labelled_of(home, config, files))
        for home, config, *files in options.product
    }
    for name, some in products.items():
        print(name, "as shipped", json.dumps(told(DEFAULT_JUDGEMENT, some)))
    judgement = fitted(products)
    kept = {
        "fitted": {
            "on": f"{sum(map(len, products.values()))} questions about {', '.join(products)}",
            "at": f"{date.today():%Y-%m-%d}",
            "by": "python -m tests.fitting.judged",
            "left_out": left_out(products),
        },
        "coefficients": judgement.coefficients,
        "bias": judgement.bias,
        "enough": judgement.enough,
        "close": judgement.close,
        "most": judgement.most,
    }
    print(json.dumps(kept, indent=2))
    if options.write:
        JUDGED.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
