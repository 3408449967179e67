"""What pages other than release notes tell of a name by their headings, and by the marks below them (*ours*).

"Removed in version 8.0." below "The --strict command-line option" tells its end; an entry of an API reference
headed by a name without such a mark tells that the name is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from core.domain import ContextChunk, Evidence
from core.retrieval.found import Found
from core.retrieval.release_notes.gone import Told
from core.retrieval.release_notes.verdict import Fate, last_of, names_only
from core.text.words import one_line, sentences
from core.vocabulary import in_english

_MARK = re.compile(
    r"^[^\w`\n]{0,20}(?P<what>removed|deprecated)[*_ ]{1,4}(?:in|since)(?: version| release)? v?"
    r"(?P<version>\d{1,4}(?:\.\d{1,4}){0,3})(?P<said>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_OF_THE_PAST = re.compile(r"\b(?:deprecat|remov|obsolete|legacy|breaking|migrat|upgrad|chang)", re.IGNORECASE)
"""Headings over what is gone or going."""
_WHAT_TO_DO = re.compile(
    r"(?:use|please|this|it|will|to be|in favou?r|see|replaced|renamed|moved)\b", re.IGNORECASE
)
SAYS = re.compile(
    r"\b(?:is|are|was|replaced|renamed|moved|changed|changes?|should|must|no longer|now)\b", re.IGNORECASE
)
"""What a heading has that says something, and names nothing."""
Mark = tuple[Fate, tuple[int, ...], str]


def headed(names: Sequence[str], titles: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the pages whose own heading is a name and at most its kind, by the name.

    `titles` has each page's title and headings. A name behind dots that is a plain word is one
    only where what stands before it is there, too.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        last = last_of(name)
        owner = name.partition("(")[0].rpartition(".")[0].rpartition(".")[2] if last.isalpha() else ""
        for page, title in titles.items():
            if last in title and owner in title and names_only(name, title.rpartition(" > ")[2]):
                found.setdefault(name, []).append(page)
    return found


def own_entries(found: Found, entries: Mapping[str, Sequence[ContextChunk]]) -> list[Evidence]:
    """Return the first entry of each name of which none was found, to be read beside the best page.

    A setting with a long name is spoken of on many pages, and those that set it are nearer to a question
    than the few lines which say what it does.
    """
    known = {item.chunk.id for item in found.evidence}
    missing = (pages[0] for pages in entries.values() if pages and not known & {page.id for page in pages})
    return [Evidence(0, page, found.evidence[0].score) for page in missing]


def marks(page: ContextChunk) -> list[Mark]:
    """Return what the marks of a page tell of what it is headed by: fate, version and line.

    A mark is of the whole where it stands before any other text, or says nothing more than what to do.
    """
    found: list[Mark] = []
    is_first = True
    for line in page.page.split("\n"):
        if match := _MARK.match(in_english(line)):
            said = match["said"].strip(" .:*_")
            if not said or is_first or _WHAT_TO_DO.match(said):
                version = tuple(map(int, match["version"].split(".")))
                fate: Fate = "removed" if match["what"].lower() == "removed" else "deprecated"
                found.append((fate, version, one_line(line).strip(" *_")))
        is_first &= not line.strip()
    return found


def sections_of(title: str, first: Mapping[str, str]) -> list[str]:
    """Return the first page of the section of a title, then of those around it, the outermost left out.

    `first` has the first page under each title with its headings.
    """
    found = []
    while " > " in title:
        found.append(first.get(title, ""))
        title = title.rpartition(" > ")[0]
    return [key for key in found if key]


def told_by_marks(name: str, pages: Iterable[ContextChunk]) -> list[Told]:
    """Return what the marks of pages headed by a name tell of it, with the first words on it."""
    found: list[Told] = []
    for page in pages:
        for n, (fate, version, line) in enumerate(marked := marks(page)):
            more = _first_words(page.page) if n == len(marked) - 1 else ""
            more = "" if more.endswith(":") else more
            found.append(Told(name, fate, version, page, f"{line} {more}".strip()))
    return found


def _first_words(page: str) -> str:
    """Return the first sentence of a page's first paragraph that is no mark."""
    for block in page.split("\n\n"):
        if block.strip() and not _MARK.match(in_english(block)) and not block.startswith(("```", "#", "|")):
            return sentences(one_line(block))[0]
    return ""


def documents(pages: Iterable[ContextChunk]) -> bool:
    """Return True if any of these pages, headed by a name, is its entry and no tale of its end."""
    return any(
        not marks(page) and not _OF_THE_PAST.search(in_english(f"{page.title} > {page.heading}"))
        for page in pages
    )
