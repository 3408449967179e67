"""`python -m tests.bench.guard_pairs [--set pairs|wide] [--half HALF] [--failures]`: the guard.

Counts, by kind, the questions that nearly are another one and pass all the same, and the rewordings that
pass, with their similarity by the packaged encoder. Failures are only shown of what is tuned on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain import Product, Release
from core.memory.decision import LEARNED
from core.memory.guard import guard
from core.memory.scoring import Thresholds
from core.models.embedding.encoder import PACKAGED, load_encoder
from core.query.forms import topic

GOLDEN = Path(__file__).parents[1] / "golden"
SETS = {"pairs": GOLDEN / "guard_pairs.jsonl", "wide": GOLDEN / "guard_wide.jsonl"}
PRODUCTS = {
    "web": (("Flask",), ("2.0", "2.3", "3.1")),
    "cli": (("Click",), ("7.1", "8.0", "8.1")),
    "db": (("PostgreSQL", "Postgres"), ("14", "15", "16", "17")),
    "k8s": (("Kubernetes", "k8s"), ("1.29", "1.30", "1.31")),
    "ubuntu": (("Ubuntu",), ("22.04", "24.04")),
    "godot": (("Godot",), ("4.2", "4.3")),
    "mail": (("Nextcloud",), ("28", "29", "30")),
    "gitlab": (("GitLab",), ("16.11", "17.0", "17.5")),
    "home": (("Home Assistant",), ("2024.6", "2024.12")),
    "calc": (("LibreOffice", "Calc"), ("7.6", "24.2", "24.8")),
    "signal": (("Signal",), ("7.0", "7.20")),
    "django": (("Django",), ("4.2", "5.0", "5.1")),
    "everyday": (("Household",), ("1",)),
}
"""Names and releases of the products that the questions are about."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the guard says to a pair of topics, and how near they are."""

    id: str
    split: str
    kind: str
    same: bool
    one: str
    other: str
    objection: str
    similarity: float
    seconds: float


def judged_pairs(which: str = "pairs") -> list[tuple[dict[str, str], str, str, str, float]]:
    """Return each line of a set with its two topics, the guard's objection and the seconds it took."""
    found = []
    for line in SETS[which].read_text("utf-8").splitlines():
        pair = json.loads(line)
        names, releases = PRODUCTS[pair["product"]]
        product = Product(names[0], names[1:], tuple(Release(name) for name in releases))
        one, other = topic(pair["a"], product), topic(pair["b"], product)
        start = time.perf_counter()
        objection = guard(one, other, names, releases)
        found.append((pair, one, other, objection, time.perf_counter() - start))
    return found


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=tuple(SETS), default="pairs", help="which pairs")
    parser.add_argument("--half", choices=("tune", "report", "chosen"))
    parser.add_argument("--failures", action="store_true", help="show those of what is tuned on")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "guard-pairs")
    given = parser.parse_args()
    found = judged_pairs(given.set)
    encoder = await asyncio.to_thread(load_encoder, PACKAGED, given.cache)
    texts = list(dict.fromkeys(text for _pair, one, other, *_rest in found for text in (one, other)))
    vectors = dict(zip(texts, await encoder.encode(texts), strict=True))
    judged = [
        Judged(
            pair["id"],
            pair["split"],
            pair["kind"],
            bool(pair["same"]),
            one,
            other,
            objection,
            float(vectors[one] @ vectors[other]),
            seconds,
        )
        for pair, one, other, objection, seconds in found
    ]
    for half in (given.half,) if given.half else ("tune", "report", "chosen"):
        if of_half := [j for j in judged if j.split == half]:
            _print(half, of_half)
    took = sorted(j.seconds for j in judged)
    print(f"ms a pair: median {took[len(took) // 2] * 1000:.2f}, most {took[-1] * 1000:.2f}")
    if given.failures:
        for j in judged:
            if j.split != "report" and j.same == bool(j.objection):
                print(f"{j.id} {j.similarity:.2f} {j.one} // {j.other} -- {j.objection}")
    encoder.close()


def _print(half: str, judged: Sequence[Judged]) -> None:
    kinds: dict[str, list[Judged]] = defaultdict(list)
    for j in judged:
        kinds[j.kind].append(j)
    for kind, of_kind in kinds.items():
        print(f"{half} {kind}: {_share([not j.objection for j in of_kind])} pass")
    different = [j for j in judged if not j.same]
    print(f"{half} DIFFERENT: {_share([not j.objection for j in different])} pass")
    for least in (LEARNED.reach, Thresholds().delta):
        near = [j for j in different if j.similarity >= least]
        print(f"{half} different from {least} on: {_share([not j.objection for j in near])} pass")
    for least in (0.0, LEARNED.reach, Thresholds().delta):
        near = [j for j in judged if j.same and j.similarity >= least]
        print(f"{half} REWORDINGS from {least} on: {_share([not j.objection for j in near])} pass")


def _share(passed: Sequence[bool]) -> str:
    return f"{sum(passed)} of {len(passed)} ({sum(passed) / max(len(passed), 1):.1%})"


if __name__ == "__main__":
    asyncio.run(_main())
