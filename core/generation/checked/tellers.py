"""Find the page that says a statement whose writer cites none."""

from __future__ import annotations

from core.generation.checked.checks import HELD, LEAST_TERMS, Checker
from core.generation.citations import uncited
from core.text.words import query_terms


def tellers(checker: Checker, text: str) -> list[int]:
    """Return the evidence that says a statement, which holds most of its words in one place.

    A page of some hundred words holds half of any sentence about its subject; of a short one all counts.
    """
    held = checker.holders(text)
    terms = frozenset(query_terms(uncited(text))) - checker.material.known
    if not terms or not checker.alike or "```" in text:
        return held
    least = HELD if len(terms) >= LEAST_TERMS else 1.0
    sources = (source for source in checker.material.sources if source.number in held)
    near = {
        source.number: any(
            len(terms & frozenset(query_terms(f"{block.text} {' '.join(block.under)}"))) >= least * len(terms)
            for block in source.blocks
        )
        for source in sources
    }
    return [number for number in held if near[number]]
