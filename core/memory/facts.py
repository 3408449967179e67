"""Compare what answers and pages state: their facts, and whether they still agree (*ours*)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from core.memory.guard import guard
from core.text.words import identifiers, one_line, quantities, query_terms, sentences, words

COVERED = 0.8
"""Share of a statement's terms that one place of a page must hold, if it does not hold it word for word."""
COUNTERPART = 0.5
"""Share of their terms that two statements have in common if one is the other in other words."""
ALIKE = 0.9
"""Cosine from which two answers with the same facts say the same."""
_CITED = re.compile(r"\[\d+\]")
_FENCE = re.compile(r"^\s*(?:>\s*)*(?:`{3,}|~{3,})")
_MARK = re.compile(r"^[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?")
_HEADING = re.compile(r"^\s*+(?:\*\*[^*]++\*\*|\*[^*]++\*|#{1,6}\s.*)\s*+(?:\[\d++\])*+\s*+$")


def facts(text: str) -> frozenset[str]:
    """Return the numbers and identifiers of a text, citation marks apart."""
    text = _CITED.sub(" ", text)
    numbers = {value for value, _ in quantities(text)}
    return frozenset(numbers | {name.lower() for name in identifiers(text) if not name.isdigit()})


def statements(answer: str) -> list[str]:
    """Return what an answer states: its sentences and its lines of code, without headings and leads."""
    lines, found, in_code, prose = answer.split("\n"), list[str](), False, list[str]()
    quotes = any(line.startswith(">") for line in lines)

    def close() -> None:
        text = _CITED.sub("", " ".join(prose)).strip()
        found.extend(s for s in sentences(text) if words(s))
        prose.clear()

    for number, line in enumerate(lines):
        if _FENCE.match(line):
            close()
            in_code = not in_code
        elif in_code:
            found += [line.strip()] if words(line) else []
        elif not line.strip("> ") or _HEADING.match(line):
            close()
        elif quotes and not number and line.rstrip().endswith(":"):
            continue  # the lead says who speaks, not what is so
        else:
            rest = line[_MARK.match(line).end() :]  # type: ignore[union-attr]
            if line.strip("> ") != rest.strip():
                close()
            prose.append(rest)
    close()
    return found


def says(page: str, statement: str) -> bool:
    """Return True if a page says a statement: word for word, or in one place with the same facts."""
    said = words(statement)
    if _within(said, words(page)):
        return True
    wanted, needed = set(query_terms(statement)), facts(statement)
    if not wanted:
        return False
    for place in _places(page):
        if len(wanted & set(query_terms(place))) < COVERED * len(wanted) or not needed <= facts(place):
            continue
        if not guard(statement, place):
            return True
    return False


def unsaid(answer: str, pages: Sequence[str]) -> str:
    """Return the first statement of an answer that none of the pages says; empty where all are said."""
    stated = statements(answer)
    missing = (s for s in stated if not any(says(page, s) for page in pages))
    return next(missing, "") if stated else answer.strip()


def differs(before: str, after: str, cosine: float) -> str:
    """Say in a sentence what is different in the second answer; empty where both say the same.

    `cosine` is that of the two texts' vectors.
    """
    gone, new = facts(before) - facts(after), facts(after) - facts(before)
    if gone or new:
        told = [f"no longer {_few(gone)}" if gone else "", f"now {_few(new)}" if new else ""]
        return f"It says {' and '.join(part for part in told if part)}."
    if _plain(before) == _plain(after):
        return ""
    if cosine < ALIKE:
        return f"It says something else (similarity {cosine:.2f})."
    others = statements(after)
    for said in statements(before):
        near = max(others, key=lambda other: _common(said, other), default="")
        if _common(said, near) >= COUNTERPART and (turned := guard(said, near)):
            return f"It says “{near}” where it said “{said}”. {turned}"
    return ""


def _common(one: str, other: str) -> float:
    ours, theirs = set(query_terms(one)), set(query_terms(other))
    return len(ours & theirs) / max(len(ours | theirs), 1)


def _places(page: str) -> Iterable[str]:
    """Yield sentences of a page, each also with the one after it."""
    for block in re.split(r"\n\s*\n", page):
        found = sentences(one_line(block))
        yield from found
        yield from (f"{one} {two}" for one, two in itertools.pairwise(found))


def _within(said: Sequence[str], page: Sequence[str]) -> bool:
    return bool(said) and f" {' '.join(said)} " in f" {' '.join(page)} "


def _plain(text: str) -> str:
    return " ".join(words(_CITED.sub("", text)))


def _few(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(f"`{name}`" for name in listed[:3]) + (" …" if len(listed) > 3 else "")
