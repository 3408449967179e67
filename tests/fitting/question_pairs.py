"""Choose the questions by which memory's thresholds are carried over to another embedder.

`python -m tests.fitting.question_pairs CACHE FILE … [--write]`: files have lines with two questions, `a`
and `b`. The pairs that are kept are as many from each tenth of similarity, as MiniLM sees it.
"""

from __future__ import annotations

import asyncio
import json
import random
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.memory.carried_over import FILE
from core.models.embedding.encoder import PACKAGED, load_encoder
from evaluation.gold import read_lines

TEXTS = 240
"""Questions: few enough that a slow embedder takes less than half a minute for them."""
LOWEST, HIGHEST, WIDTH = 0.3, 1.0, 0.05
"""Cosines of MiniLM between which pairs are kept, and how wide one bin is."""
EACH = 40
"""Pairs of one bin."""
DIGITS = 4


class _Line:
    """Two questions."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.id = str(entry["id"])
        self.both = (str(entry["a"]), str(entry["b"]))


async def chosen(files: Sequence[Path], cache: Path) -> dict[str, Any]:
    """Return what is shipped: texts, and pairs as (place, place, MiniLM's cosine)."""
    lot = random.Random(0)
    lines = [line.both for file in files for line in read_lines(file, _Line)]
    lot.shuffle(lines)
    texts = list(dict.fromkeys(text for both in lines for text in both))[:TEXTS]
    encoder = load_encoder(PACKAGED, cache)
    vectors = await encoder.encode(texts)
    encoder.close()
    rows, columns = np.triu_indices(len(texts), 1)
    cosines = (vectors @ vectors.T)[rows, columns]
    bins: dict[int, list[tuple[int, int, float]]] = {}
    for at in lot.sample(range(len(cosines)), len(cosines)):
        if LOWEST <= cosines[at] < HIGHEST:
            pair = (int(rows[at]), int(columns[at]), round(float(cosines[at]), DIGITS))
            bins.setdefault(int((cosines[at] - LOWEST) / WIDTH), []).append(pair)
    kept = sorted(pair for some in bins.values() for pair in some[:EACH])
    return {"texts": texts, "pairs": kept}


def main() -> None:
    """Choose, say how many pairs there are, and write them if asked."""
    given = ArgumentParser(description=__doc__)
    given.add_argument("cache", type=Path)
    given.add_argument("files", nargs="+", type=Path)
    given.add_argument("--write", action="store_true")
    options = given.parse_args()
    found = asyncio.run(chosen(options.files, options.cache))
    counts = np.histogram([pair[2] for pair in found["pairs"]], bins=14, range=(LOWEST, HIGHEST))[0]
    print(len(found["texts"]), "questions,", len(found["pairs"]), "pairs, by similarity", counts.tolist())
    if options.write:
        texts = ",\n".join(json.dumps(text, ensure_ascii=False) for text in found["texts"])
        pairs = json.dumps(found["pairs"], separators=(",", ":"))
        FILE.write_text(f'{{"texts": [\n{texts}\n],\n"pairs": {pairs}}}\n', "utf-8")


if __name__ == "__main__":
    main()
