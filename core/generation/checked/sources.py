"""Which evidence says a statement, and the citations that follow from it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.generation.checked.checks import HELD, LEAST_TERMS, Checker, bare_prose, cited_in, parted
from core.generation.checked.material import SPAN, names_in, numbers_of
from core.generation.citations import uncited
from core.text.words import identifiers, query_terms

MORE = 0.2
"""Share of a statement's terms that another piece must hold beyond the cited ones to be cited instead."""
_CITED = re.compile(r"\[\d{1,2}\]")


def holders(checker: Checker, text: str) -> list[int]:
    """Return which evidence holds all names and numbers of a statement, and most of its words."""
    prose, blocks = parted(text)
    plain = checker.plain(prose)
    code = "\n".join(code for _, code in blocks)
    material = checker.material
    held = material.holders(names_in(plain) + identifiers(code), [v for v, _ in numbers_of(plain)])
    terms = frozenset(query_terms(plain)) or frozenset(query_terms(code))
    shares = {
        source.number: len(terms & source.terms) / len(terms)
        for source in material.sources
        if terms and source.number in held
    }
    least = HELD if checker.alike else 0.0
    facts = bool(names_in(plain) or numbers_of(plain) or code)
    kept = [number for number, share in shares.items() if share >= least and (share or facts)]
    return sorted(kept, key=lambda number: -shares[number])


def tellers(checker: Checker, text: str) -> list[int]:
    """Return the evidence that says a statement, which holds most of its words in one place.

    A page of some hundred words holds half of any sentence about its subject; of a short one all counts.
    """
    held = holders(checker, text)
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


def recited(checker: Checker, text: str) -> str:
    """Return a statement with the evidence that holds it, where the cited ones hold far less of it, or not
    the names in it, and with that which has its numbers. What leads to code, and names nothing, is left: the
    code says where it is from."""
    prose, _ = parted(text)
    cited, names = cited_in(prose), names_in(bare_prose(prose))
    terms = checker.terms(bare_prose(prose))
    if not cited or (not names and prose.rstrip().endswith(":")):
        return text
    others = [number for number in holders(checker, text) if number not in cited]
    if others and terms:
        material = checker.material
        ours, theirs = material.held_by(cited, terms), material.held_by(others[:1], terms)
        has = material.has_all(cited, names)
        is_far = theirs >= 2 * ours if has else theirs >= ours + (MORE if ours >= HELD and not names else 0)
        if is_far and (checker.alike or not has):
            first = next(iter(_CITED.finditer(text)))
            rest = _CITED.sub("", text[first.end() :])
            return f"{text[: first.start()]}[{others[0]}]{rest}"
    return _with_counted(checker, text, terms, [*names, *_in_code(prose)])


def _in_code(prose: str) -> list[str]:
    return [name for span in SPAN.findall(prose) for name in identifiers(f"`{span}`")]


def _with_counted(checker: Checker, text: str, terms: frozenset[str], names: Sequence[str]) -> str:
    """Return a statement with the evidence cited, too, that has its numbers and speaks of the same."""
    prose = parted(text)[0]
    material = checker.material
    missing = material.elsewhere(checker.plain(prose), cited_in(prose))
    for source in material.sources if missing else ():
        same = any(material.has_all([source.number], [name]) for name in names)
        same |= checker.alike and bool(terms) and material.held_by([source.number], terms) >= HELD
        if same and set(missing) <= {value for value, _ in source.numbers}:
            last = list(_CITED.finditer(text))[-1]
            return f"{text[: last.end()]}[{source.number}]{text[last.end() :]}"
    return text
