"""How likely a quote is to hold the answer: fitted to answers that are known to be right or wrong (*ours*).

`threadlore tune --answers FILE` fits it to a home, `python -m evaluation.tuning.quoted FOLDER …` what is
shipped. Each folder is one that `threadlore evaluate --answers FILE --report FOLDER` wrote. The first tells
how often quotes are right; what others add teaches the weights alone, since that differs from set to set.
Fitted are the lines of `tune`, and all of the products that `--whole` names, each product counted alike.
Printed is what comes of it for each product with the weights that the others teach; `--write` keeps them. A
quote is right or wrong as it was shown: several sections, where it was no more than the closest. So fit twice
where the weights change much, the second time to what the first shows.

What was refused for its quote is not learnt from, as nobody knows whether it was right. Set the `"close"` of
`"shown"` in `quotes.json` to 0 before the answers are made, so that nothing is refused for that, and back
before it is fitted. By which weights a quote is shown at all is kept as it is.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.retrieval.confidence import QUOTE_JUDGEMENT, QUOTES, Judgement, QuoteSigns
from evaluation.answers.scores import Scored, read
from evaluation.calibration import Numbers, fit
from evaluation.metrics import reliability

STRENGTH = 0.01
"""L2 weight on standardised signs; ours. On products left out .003 and .03 are no better."""
SIGNS = tuple(field.name for field in fields(QuoteSigns))
MOST = 0.8
"""No quote is told to be surer. On products left out 128 of 148 that would be are right."""
ENOUGH = 0.7
"""From here on a quote is an answer, below it the closest that was found; ours. Of the quotes for questions
about sixteen products, each left out, 207 of 248 above it are right, and 164 of 345 below it."""
LEAST = 20
"""Quotes of a half below which nothing is learnt from a home's own questions."""
DIGITS = 3


@dataclass(frozen=True, slots=True)
class Rows:
    """Questions with what was said to them, and the number of the folder that each comes from."""

    scored: Sequence[Scored]
    folder: NDArray[np.int64]

    @property
    def products(self) -> list[str]:
        """Return the names of the products."""
        return [one.product.casefold() for one in self.scored]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Return which quotes hold the answer."""
        return np.array([one.answerable and one.right for one in self.scored], np.bool_)

    def only(self, kept: Sequence[bool]) -> Rows:
        """Return some of them."""
        chosen = [one for one, keep in zip(self.scored, kept, strict=True) if keep]
        return Rows(chosen, self.folder[np.array(kept, np.bool_)])


@dataclass(frozen=True, slots=True)
class Weights:
    """What the signs weigh, in the order of SIGNS, and the bias of the first folder."""

    signs: Numbers
    bias: float

    def of(self, rows: Rows) -> Numbers:
        """Return how likely each quote holds the answer."""
        return _likely(table(rows) @ self.signs + self.bias)


def rows_of(folders: Sequence[Path], whole: Sequence[str] = (), half: str = "tune") -> Rows:
    """Read what was answered, of one half or for the products `whole` of both."""
    found = [
        (one, number)
        for number, folder in enumerate(folders)
        for one in read(folder)
        if one.half == half or one.product.casefold() in whole
    ]
    return Rows([one for one, _ in found], np.array([number for _, number in found], np.int64))


def quotes(rows: Rows, shown: bool = False) -> Rows:
    """Return those of which a section was quoted and all signs are known, or only the `shown` ones."""
    there = [all(one.signs.get(name) is not None for name in SIGNS) for one in rows.scored]
    return rows.only(
        [one and not (shown and row.refused) for one, row in zip(there, rows.scored, strict=True)]
    )


def table(rows: Rows) -> Numbers:
    """Return the signs, shape (rows, SIGNS)."""
    return np.array([[one.signs[name] for name in SIGNS] for one in rows.scored], np.float64)


def learnt(rows: Rows) -> Weights:
    """Fit weights; each further folder has a bias of its own, which is dropped."""
    rows = quotes(rows, shown=True)
    others = [rows.folder == number for number in range(1, int(rows.folder.max()) + 1)]
    columns = np.column_stack([table(rows), *others])
    count = Counter(rows.products)
    alike = np.array([1.0 / count[product] for product in rows.products])
    weights, bias = fit(columns, rows.right, STRENGTH, balanced=False, weights=alike)
    return Weights(weights[: len(SIGNS)], bias)


def left_out(rows: Rows) -> Numbers:
    """Return how likely each quote is right by the weights that the other products teach."""
    likely = np.zeros(len(rows.scored))
    for product in dict.fromkeys(rows.products):
        is_own = np.array([name == product for name in rows.products])
        likely[is_own] = learnt(rows.only(list(~is_own))).of(rows.only(list(is_own)))
    return likely


def are_shown(rows: Rows) -> NDArray[np.bool_]:
    """Return which quotes are near enough to be shown, by the weights that are kept for that."""
    told = [QuoteSigns(**{name: one.signs[name] for name in SIGNS}) for one in rows.scored]
    return np.array([QUOTE_JUDGEMENT.level_of(signs) != "none" for signs in told], np.bool_)


def told(rows: Rows, quoted: Rows, likely: Numbers) -> dict[str, Any]:
    """Return figures of some questions: calibration, and what is refused and sure of either kind."""
    shown = are_shown(quoted)
    seen = {id(one): p for one, p, there in zip(quoted.scored, likely, shown, strict=True) if there}
    sure = {True: 0, False: 0}
    refused = {True: 0, False: 0}
    count = {kind: sum(one.answerable is kind for one in rows.scored) for kind in (True, False)}
    for one in rows.scored:
        refused[one.answerable] += id(one) not in seen
        sure[one.answerable] += seen.get(id(one), 0.0) >= ENOUGH
    pairs = [
        (float(p), bool(right))
        for p, right, one, there in zip(likely, quoted.right, quoted.scored, shown, strict=True)
        if there and not one.refused
    ]
    measured = reliability(pairs) if pairs else {"ece": None, "brier": None}
    return {
        "questions": len(rows.scored),
        "ece": measured["ece"],
        "brier": measured["brier"],
        "answerable_refused": round(refused[True] / (count[True] or 1), 3),
        "unanswerable_refused": round(refused[False] / (count[False] or 1), 3),
        "answerable_sure": round(sure[True] / (count[True] or 1), 3),
        "unanswerable_sure": round(sure[False] / (count[False] or 1), 3),
        "right_if_sure": _share([r for p, r in pairs if p >= ENOUGH]),
        "right_if_close": _share([r for p, r in pairs if p < ENOUGH]),
        "right_at_most": _share([r for p, r in pairs if p >= MOST]),
    }


def refitted(scored: Sequence[Scored]) -> tuple[Judgement | None, str]:
    """Fit on `tune` how far the shipped judgement is to be believed; None where the other half gains nothing.

    Only its slope and bias are learnt: that takes few questions. Raises UsageError where there are too few.
    """
    every = quotes(Rows(scored, np.zeros(len(scored), np.int64)), shown=True)
    halves = [every.only([one.half == half for one in every.scored]) for half in ("tune", "report")]
    least = min(len(half.scored) for half in halves)
    if least < LEAST:
        raise UsageError(
            f"A half has only {least} questions that are answered by a quote; this needs {LEAST}. Add some."
        )
    before, judged = (_logits(half, QUOTE_JUDGEMENT) for half in halves)
    if halves[0].right.all() or not halves[0].right.any():
        raise UsageError("All quotes of `tune` are right, or all wrong; add questions of the other kind.")
    slope, bias = fit(before[:, None], halves[0].right, balanced=False)
    old, new = (
        float(((_likely(logits) - halves[1].right) ** 2).mean())
        for logits in (judged, judged * slope[0] + bias)
    )
    words = f"Brier score on the other half {old:.3f} → {new:.3f}"
    if new >= old or slope[0] <= 0.0:
        return None, f"how sure quotes are is left as it is: {words}"
    weights = {name: float(slope[0]) * weight for name, weight in QUOTE_JUDGEMENT.coefficients.items()}
    new_judgement = replace(
        QUOTE_JUDGEMENT, coefficients=weights, bias=float(slope[0]) * QUOTE_JUDGEMENT.bias + bias
    )
    return new_judgement, f"how sure quotes are is learned from {len(halves[0].scored)} of them: {words}"


def _logits(rows: Rows, judgement: Judgement) -> Numbers:
    weights = np.array([judgement.coefficients.get(name, 0.0) for name in SIGNS])
    return np.asarray(table(rows) @ weights + judgement.bias, np.float64)


def _likely(logits: Numbers) -> Numbers:
    return np.minimum(1.0 / (1.0 + np.exp(-logits)), MOST)


def _share(some: Sequence[bool]) -> str:
    return f"{sum(some)} of {len(some)}"


def main() -> None:
    """Fit, print the figures of every product left out, and write the weights if asked."""
    given = ArgumentParser(description=__doc__)
    given.add_argument("folders", nargs="+", type=Path)
    given.add_argument("--whole", nargs="*", default=())
    given.add_argument("--write", action="store_true")
    options = given.parse_args()
    rows = rows_of(options.folders, [name.casefold() for name in options.whole])
    quoted = quotes(rows)
    likely = left_out(quoted)
    figures = {"all": told(rows, quoted, likely)}
    for name, inside in (
        *((product, [p == product for p in rows.products]) for product in dict.fromkeys(rows.products)),
        ("first folder", list(rows.folder == 0)),
    ):
        part = rows.only(inside)
        own = {id(one) for one in part.scored}
        mine = [id(one) in own for one in quoted.scored]
        figures[name] = told(part, quoted.only(mine), likely[np.array(mine, np.bool_)])
    weights = learnt(quoted)
    kept = {
        "fitted": {
            "on": f"quotes for {len(rows.scored)} questions about {', '.join(dict.fromkeys(rows.products))}",
            "at": f"{date.today():%Y-%m-%d}",
            "by": "python -m evaluation.tuning.quoted",
            "left_out": figures["all"],
        },
        "coefficients": {n: round(float(w), DIGITS) for n, w in zip(SIGNS, weights.signs, strict=True)},
        "bias": round(weights.bias, DIGITS),
        "enough": ENOUGH,
        "most": MOST,
        "shown": json.loads(QUOTES.read_text("utf-8"))["shown"],
    }
    for name, row in figures.items():
        print(name, json.dumps(row))
    print(json.dumps(kept, indent=2))
    if options.write:
        QUOTES.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
