"""Fit the weights of the second look that are shipped, on several products, and judge each by the others.

`python -m tests.fitting.shipped --product HOME CONFIG FILE … [--product …] [--write]`: a FILE has golden
questions or, with the sections that answer them, those of `answers.jsonl`. Of each file the half
`tune` is learnt from, or all of it where it has none.
"""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import ContextChunk
from core.learning.fit import fit_weights
from core.retrieval.features import FEATURES, Numbers
from core.retrieval.ranking import DEFAULT_WEIGHTS, WEIGHTS
from core.settings import load_settings
from evaluation.answers.expected import Expected, read_expected
from evaluation.gold import GoldLine, Place, plain, read_gold
from evaluation.tuning.examples import Example, quality
from evaluation.tuning.examples import examples_of as examples_of_gold

PULL = 0.02
"""L2 pull of the weights towards nothing: .01 and .05 rank products left out no better."""
OF_PAIRS = ("question", "answer", "question_terms", "answer_terms")
"""Features that are 0 where no pairs are made of documents: their weights stay as they are."""
DIGITS = 2


async def examples_of(home: Path, config: Path, files: Sequence[Path]) -> list[Example]:
    """Ask the questions of one product's files and mark the right pages."""
    settings = load_settings(None, home=home, config=config, ollama_host="off", playground=False)
    found: list[Example] = []
    async with build(settings, "evaluate") as app:
        for file in files:
            if '"section"' not in file.read_text("utf-8"):
                lines = read_gold(file)
                learnt = [line for line in lines if line.split == "tune"]
                found += await examples_of_gold(app.research, app.searcher, learnt or lines)
                continue
            expected = read_expected(file, product=app.catalogue.product.name)
            teaching = [line for line in expected if line.half == "tune"]
            found += [await _example(app, line) for line in teaching or expected if line.answerable]
    return found


async def _example(app: Application, line: Expected) -> Example:
    """Ask one question whose answer stands in known sections."""
    place = Place(tuple(section.page for section in line.sections), ())
    gold = GoldLine(line.id, line.kind, line.question, line.release, ask_release=line.ask_release)
    gold = replace(gold, places={line.release: place})
    (example,) = await examples_of_gold(app.research, app.searcher, [gold])
    pages = await app.corpora.contexts([key for search in example.searches for key in search.keys])
    marked = (
        replace(
            search,
            right=np.array([search.release == line.release and is_of(line, pages[k]) for k in search.keys]),
        )
        for search in example.searches
    )
    return Example(gold, tuple(marked))


def is_of(line: Expected, page: ContextChunk) -> bool:
    """Return True if a page is of a section that the line names, or of one inside of it."""
    above = [plain(part) for part in (page.title, *page.heading.split(" > "))]
    return any(
        section.page == page.path and (not section.heading or plain(section.heading) in above)
        for section in line.sections
    )


def fitted(examples: Sequence[Example], without: str = "") -> Numbers:
    """Fit the weights to questions, all or `without` a feature; those of pairs stay as they are shipped."""
    searches = [search for example in examples for search in example.searches]
    start = np.array([DEFAULT_WEIGHTS[name] if name in OF_PAIRS else 0.0 for name in FEATURES])
    told = np.array([name != without for name in FEATURES], np.float64)
    tables = [search.table * told for search in searches]
    return fit_weights(tables, [search.right for search in searches], start, PULL)


def left_out(products: Mapping[str, Sequence[Example]]) -> dict[str, str]:
    """Judge the questions of each product by what the others teach."""
    told = {}
    for name, own in products.items():
        weights = fitted([one for other, some in products.items() if other != name for one in some])
        told[name] = str(quality(own, [weights] * len(own)))
    return told


def _named(weights: Numbers) -> dict[str, float]:
    return dict(zip(FEATURES, (round(float(weight), DIGITS) for weight in weights), strict=True))


def main() -> None:
    """Fit, print how products left out are ranked, and write the weights if asked."""
    given = ArgumentParser(description=__doc__)
    given.add_argument("--product", nargs="+", action="append", type=Path, required=True)
    given.add_argument("--write", action="store_true")
    options = given.parse_args()
    products = {
        config.name.partition(".")[0]: asyncio.run(examples_of(home, config, files))
        for home, config, *files in options.product
    }
    examples = [one for some in products.values() for one in some]
    kept = {
        "fitted": {
            "on": f"{len(examples)} questions about {len(products)} products",
            "at": f"{date.today():%Y-%m-%d}",
            "by": "python -m tests.fitting.shipped",
            "left_out": left_out(products),
        },
        "weights": _named(fitted(examples)),
        "without_tokens": _named(fitted(examples, "tokens")),
    }
    print(json.dumps(kept, indent=2))
    if options.write:
        WEIGHTS.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
