"""When a question is taken for one that was asked before: ComRAG's δ, or a decision that learns (*ours*).

ComRAG reuses from cosine δ on, whatever else is remembered. The other decision asks two things: how
close the question is to all the ways in which a pair is known to be asked, and how far that is ahead
of the next pair with another answer. A rewording whose answer people voted good is one more way to
ask, so memory learns to recognise a question without keeping another answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.domain import Vector
from core.ports import Remembered
from core.text import identifiers, quantities

_CITED = re.compile(r"\[\d+\]")
ALONE = 0.5
"""Closeness of the next pair where there is none nearer: about that of the nearest wrong question
(median .504 with MiniLM on StackFAQ), so that the only pair of a small memory has no great lead."""
CANDIDATES = 5
"""Pairs looked at before one is reused, so that there is a next one to be ahead of."""
SAME_ANSWER = 0.9
"""Cosine from which two answers may be one in other words; quoted and reworded answers of one
question reach it, answers of two people to one question hardly ever do."""


@dataclass(frozen=True, slots=True)
class Decision:
    """From when on an answer is reused.

    `paper`: closeness ≥ δ, closeness being the cosine with the pair's own question. `learned`:
    closeness + `lead_weight` · lead ≥ `enough`, closeness counting every phrasing. The defaults suit
    all-MiniLM-L6-v2; docs/memory.md says by which data.
    """

    kind: Literal["paper", "learned"] = "paper"
    lead_weight: float = 1.0
    enough: float = 0.85
    phrasings: int = 4
    """Ways to ask that are kept of each pair beside its own."""

    @property
    def learns(self) -> bool:
        """Tell whether further phrasings and the next pair count."""
        return self.kind == "learned"

    def strength(self, closeness: float, rival: float) -> float:
        """Return what is compared with `enough`, from the closeness of a pair and of the next one."""
        return closeness + self.lead_weight * (closeness - max(rival, ALONE))


PAPER = Decision("paper")
LEARNED = Decision("learned")


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A pair of the high store that a question may be asking for again.

    `vector` is that of its own question, `worded` its phrasing nearest to the question asked. `unfit`
    says why it is not reused whatever is asked, `differs` which decisive word tells the two questions
    apart; both are empty where nothing is in the way.
    """

    pair: Remembered
    closeness: float
    vector: Vector
    worded: str
    unfit: str = ""
    differs: str = ""


def choose(
    candidates: Sequence[Candidate], decision: Decision, delta: float, tau: float
) -> tuple[Candidate | None, str]:
    """Return the candidate to reuse, or None and what kept a close enough one from it.

    `candidates` are in order of closeness, closest first.
    """
    reason = ""
    for candidate in candidates:
        if candidate.closeness < (tau if decision.learns else delta):
            break
        if decision.learns:
            others = (c.closeness for c in candidates if _rivals(c, candidate, decision))
            rival = max(others, default=0.0)
            if decision.strength(candidate.closeness, rival) < decision.enough:
                continue
        reason = candidate.unfit or candidate.differs
        if not reason:
            return candidate, ""
    return None, reason


def _rivals(other: Candidate, candidate: Candidate, decision: Decision) -> bool:
    """Tell whether a question may be asking for the other pair, and would then get a wrong answer."""
    if other is candidate or other.pair.answer == candidate.pair.answer:
        return False
    return float(other.vector @ candidate.vector) < decision.enough


def same_answer(one: str, other: str, cosine: float) -> bool:
    """Tell whether two answers say the same; `cosine` is that of their vectors.

    One may be less detailed, so its numbers and identifiers must be among the other's.
    """
    if " ".join(one.split()) == " ".join(other.split()):
        return True
    if cosine < SAME_ANSWER:
        return False
    ours, theirs = _facts(one), _facts(other)
    return ours <= theirs or theirs <= ours


def _facts(text: str) -> set[str]:
    text = _CITED.sub("", text)
    return {value for value, _ in quantities(text)} | {name.lower() for name in identifiers(text)}
