"""What release notes say of a name that is gone: in which version it was deprecated, renamed or removed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from core.domain import ContextChunk, begins
from core.retrieval.release_notes.names import (
    behind_owner,
    imported_from,
    is_of_module,
    is_word,
    last_part,
    named,
    of_module,
)
from core.retrieval.release_notes.verdict import Fate, stands_alone, verdict
from core.text.words import identifiers, index_terms, one_line, sentences
from core.vocabulary import VARIABLES, in_english

_FATES: tuple[tuple[Fate, re.Pattern[str]], ...] = (
    ("renamed", re.compile(r"\brenam(?:e|es|ed|ing)\b|\bmoved\b", re.IGNORECASE)),
    ("replaced", re.compile(r"\breplac(?:es|ed|e|ing)\b", re.IGNORECASE)),
    (
        "removed",
        re.compile(r"\bremov(?:e|es|ed|al)\b|\bdrop(?:s|ped)?\b|\bdelet(?:e|es|ed)\b", re.IGNORECASE),
    ),
    ("deprecated", re.compile(r"\bdeprecat(?:e|es|ed|ion|ing)\b|\bin favou?r of\b", re.IGNORECASE)),
)
_TO_COME = re.compile(
    r"\b(?:will|to|going to|may|might|would|should)(?: \w+)? be (?:\w+ and )?(?:removed|dropped|deleted)\b",
    re.I,
)
_UNDONE = re.compile(
    r"\bno longer deprecated|\bun-?deprecat|\brevert|\bpostpon|\bdeferred\b|\bre-?add|\brestor"
    r"|^(?:\W|\d)*fix(?:ed|es)?\b"
    r"|\bnot (?:be )?(?:removed|deprecated)",
    re.I,
)
_ADJECTIVE = re.compile(
    r"\b(?:previously |the )?deprecated(?= [`\w])(?! (?:in|since|and|by|as|to|because|due|but)\b)",
    re.IGNORECASE,
)
_BY = re.compile(r"\bby (?:\w+ly )?(?:delet|deprecat|dropp|mov|remov|renam|replac)ing\b", re.IGNORECASE)
"""How something was made better, which ends nothing that people use."""
_OF = re.compile(
    r"\b(?:(?<!favor )(?<!favour )of|from|in|on|without|importing) (?:the )?(?:deprecated )?"
    r"(?:`[^`]*`,? (?:and |or )?){0,8}`?[\w.]*$"
)
"""What stands before a name of which only a part is told."""
_ANOTHER = re.compile(
    r"(?:,|;| and|, and|, but) (?=(?:add|allow|enabl|introduc|keep|provid|requir|support)(?:e?[ds]|ing|e)?\b)"
)
"""What begins another thing that was done: "remove `--old`, and enable `--new`"."""
_OF_BUGS = re.compile(
    r"\b(?:bug|bugs|bugfix\w*|fix|fixes|fixed|improved documentation|doc fixes)\b", re.IGNORECASE
)
"""Headings over what was mended, which ends nothing."""
_OF_USES = re.compile(r"^\W*(?:directly |explicitly )?\w+ing\b", re.IGNORECASE)
"""How a list of names begins of which only a use ended: "Calling the following is deprecated"."""
_INSTEAD = re.compile(r"\W*(?:please )?use\b", re.IGNORECASE)
"""How begins what tells of the name that takes another one's place."""
_ITS_FATE = re.compile(
    r"\W*(?:it|this|they|these)(?:\s\w+)?\s(?:is|are|was|were|(?:has|have|will)\sbe(?:en)?)\s(?:\w+\s){0,2}"
    r"(?:deprecat|drop|delet|mov|remov|renam|replac)",
    re.IGNORECASE,
)
"""What is told of the name that the sentence before was about."""
_BRACKETED = re.compile(
    r"(?:\(\))?`\s\((?:(?:now|was|has been)\s)?(?:(?P<renamed>renamed|moved)|(?P<replaced>replaced)"
    r"|(?P<removed>removed|dropped|deleted)|(?P<deprecated>deprecated))\b",
    re.IGNORECASE,
)
"""What stands behind a name in a list of changes: "`Member.avatar_url` (replaced by `Member.avatar`)"."""
IN_CODE = re.compile(r"`([^`]{1,80})`")
_MARK = re.compile(
    r"^[^\w`]{0,20}(?:added|new|changed|deprecated)[*_ ]{1,4}(?:in|since) version"
    r" (\d{1,4}(?:\.\d{1,4}){0,3})",
    re.IGNORECASE,
)
_IN_QUOTES = re.compile(r"[\"“”](--?\w[\w-]{0,60})[\"“”]")
"""An option in quotation marks, as pages write it that have no code."""
_OF_VARIABLE = re.compile(r"(?!self\.)[a-z_][a-z0-9_]*\.[a-z_]\w*(?:\(\))?")
_ITEM = re.compile(r"^( *)(?:[-*+]|\d{1,3}[.)]) +")
_ROW = re.compile(r"^ {0,3}\|(?P<cells>.*)\| *$")
_LONG = 3
"""Other words of a question from which one that is no name has to be told of with one of them; ours."""
_INSTEAD_OF = re.compile(r"\b(?:instead|replace\w*|successor|alternative|new)\b", re.IGNORECASE)
"""What heads the second column of a table of names that are gone: "Use instead"."""


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the notes on a version that tells of a name's fate; "" where it is that of a part of it."""

    name: str
    fate: Fate | Literal[""]
    version: tuple[int, ...]
    page: ContextChunk
    line: str


def fates(name: str, notes: Iterable[tuple[tuple[int, ...], ContextChunk]]) -> list[Told]:
    """Return what notes (each with its version) tell of a name, newest first; each version's line once."""
    known = named(name)
    owner, _, last = name.removesuffix("()").rpartition(".")
    bare = named(last) if owner and is_word(last) else None
    imported = imported_from(owner, last) if bare else known
    found: dict[tuple[tuple[int, ...], str], Told] = {}
    for version, page in notes:
        if _OF_BUGS.search(in_english(page.heading.rpartition(">")[2])):
            continue
        text, rows = without_tables(page.page) if "|" in page.page else (page.page, [])
        for above, line in rows:
            if behind_owner(name).search(line.partition(": use ")[0]) and (over := _said(above)):
                found.setdefault((version, line), Told(name, over, version, page, line))
        below = of_module(name, page.heading) or known
        for above, line in entries_of(text):
            told_of = bare if bare and imported.search(line) else below
            if told_of.search(line) and (fate := _fate(told_of, line, above)) is not None:
                found.setdefault((version, line), Told(name, fate, version, page, line))
    told = sorted(found.values(), key=lambda one: one.version, reverse=True)
    # of a plain word only its own fate tells anything
    return told if not is_word(last_part(name)) or any(one.fate for one in told) else []


def without_tables(page: str) -> tuple[str, list[tuple[str, str]]]:
    """Return a page without the tables that say what takes the place of names, and the rows of these.

    A row has what heads the names and what it says: `Removed`, "`STEAM`: use `VAPOUR` instead."
    """
    heads: list[str] = []
    rest: list[str] = []
    rows: list[tuple[str, str]] = []
    for line in page.split("\n"):
        row = _ROW.match(line)
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row["cells"])] if row else []
        heads = heads if heads and cells else cells
        head, instead = map(in_english, heads) if len(cells) == len(heads) == 2 else ("", "")
        if not (_said(head) and _INSTEAD_OF.search(instead)):
            rest.append(line)
        elif cells[0].startswith("`") and "`" in cells[1]:
            rows.append((head, f"{cells[0]}: use {cells[1]} instead."))
    return "\n".join(rest), rows


def entries_of(page: str) -> Iterator[tuple[str, str]]:
    """Yield every item of the lists of a page with what it stands under, and its paragraphs.

    That is the items around it, and the paragraph with a colon before the list.
    """
    above: list[tuple[int, str]] = []
    text, indent, lead = "", -1, ""
    for line in [*page.split("\n"), ""]:
        item = _ITEM.match(line)
        if line.strip() and not item:
            text = f"{text} {line.strip()}"
            continue
        if text.strip():
            yield " ".join(said for _depth, said in above) or (lead if indent >= 0 else ""), one_line(text)
            if indent >= 0:
                above.append((indent, one_line(text)))
            else:
                lead = one_line(text) if text.rstrip().endswith(":") else ""
        text = ""
        if item:
            indent, text = len(item[1]), line[item.end() :]
            above = [entry for entry in above if entry[0] < indent]
        else:
            indent, above = -1, []


def _fate(known: re.Pattern[str], line: str, above: str) -> Fate | Literal[""] | None:
    """Return what happened to a name by a line, "" to something of it, None for nothing."""
    line, above = in_english(line), in_english(above)
    for sentence in sentences(_IN_QUOTES.sub(r"`\1`", line)):
        if known.search(sentence) is None:
            continue
        sentence = next(clause for clause in _clauses(sentence) if known.search(clause))
        found = known.search(sentence)
        assert found is not None
        if not found["of"] and (behind := _BRACKETED.match(sentence, found.end())):
            return cast(Fate, behind.lastgroup)
        if (fate := _said(sentence)) is not None:
            told = verdict(known, _plainly(sentence))
            if told is not None:
                return "deprecated" if fate == "deprecated" and _TO_COME.search(sentence) else told
        elif above and not _UNDONE.search(sentence) and (fate := _said(above)) is not None:
            # what a list is introduced by holds for its items
            if stands_alone(known, sentence) and not (_OF_USES.match(above) or _INSTEAD.match(sentence)):
                return fate
        elif _ITS_FATE.match(following := line.partition(sentence)[2]) and stands_alone(known, sentence):
            # "X is old. It is deprecated."
            return _said(sentences(following)[0])
        if fate is not None and (found["of"] or _OF.search(sentence[: found.start()])):
            return ""
    return None


def _clauses(sentence: str) -> list[str]:
    """Cut a sentence where it begins to tell of another thing that was done; whole at the end of the list."""
    return [*_ANOTHER.split(sentence), sentence]


def _said(sentence: str) -> Fate | None:
    if not sentence or _UNDONE.search(sentence):
        return None
    if _TO_COME.search(sentence):
        return "deprecated"
    plain = _plainly(sentence)
    return next((fate for fate, told in _FATES if told.search(plain)), None)


def _plainly(sentence: str) -> str:
    """Leave out what was deprecated before, and how something was made better."""
    return _BY.sub(" ", _ADJECTIVE.sub(" ", sentence))


def ended(told: Sequence[Told], until: tuple[int, ...]) -> tuple[int, ...]:
    """Return the version in which a name ended, up to a release; () where none tells, or it came back."""
    past = [one for one in told if one.version <= until or begins(one.version, until)]
    return next((one.version for one in summed_up(past)[::-1] if one.fate not in ("", "deprecated")), ())


def of_variables(
    names: Sequence[str], notes: Iterable[tuple[tuple[int, ...], ContextChunk]]
) -> tuple[Told, ...]:
    """Return what notes that a question found tell of names behind a variable of the asker's own: `pot.boil`.

    Which class the variable is of nobody says, so it is what the notes tell of `boil`; where it is known, as
    for `app`, what they tell of others says nothing.
    """
    pages, known = list(notes), {variable for variable, _class in VARIABLES}
    own = (name for name in names if _OF_VARIABLE.fullmatch(name) and not is_of_module(name))
    own = (name for name in own if name.partition(".")[0] not in known)
    lasts = dict.fromkeys(map(last_part, own))
    return tuple(one for last in lasts for one in fates(last, pages) if one.fate)


def of_question(told: Sequence[Told], question: str, terms: Sequence[str]) -> tuple[Told, ...]:
    """Leave out what is told of a plain word of a longer question, where nothing else of it is said there."""
    in_code = {name.lower() for name in identifiers(question)}

    def is_meant(one: Told) -> bool:
        rest = set(terms) - set(index_terms(one.name))
        is_plain = is_word(one.name) and one.name.lower() not in in_code
        return (
            not is_plain
            or len(rest) < _LONG
            or bool(rest & set(index_terms(f"{one.page.heading} {one.line}")))
        )

    return tuple(filter(is_meant, told))


def of_function(told: Sequence[Told], argument: str, function: str) -> tuple[Told, ...]:
    """Leave out what is told of an argument of other functions: it is seldom the only one of its name."""
    known = _whole(function)

    def is_of_another(one: Told) -> bool:
        others = [code for code in IN_CODE.findall(one.line) if code.strip("=()") != argument]
        return bool(others) and not known.search(f"{one.page.heading}\n{one.line}")

    return tuple(one for one in told if not (function and one.name == argument and is_of_another(one)))


def stays(name: str, pages: Iterable[ContextChunk], end: tuple[int, ...]) -> bool:
    """Return True if pages that are no notes speak of a name otherwise than of its past and its end.

    Past is what changed in a version before its end ("Added in version 0.10: …"). A name behind dots that is
    an English word is looked for with what stands before it: `app.env`.
    """
    spelled = spelled_in_pages(name)
    known = _whole(spelled)
    for page in pages:
        if known.search(f"{page.title}\n{page.heading}"):
            return True
        lines = page.page.split("\n") if spelled in page.page else ()
        if any(
            known.search(line) and _said(in_english(line)) is None and not _is_past(line, end)
            for line in lines
        ):
            return True
    return False


def spelled_in_pages(name: str) -> str:
    """Return the end of a name by which pages are known to speak of it."""
    last = last_part(name)
    return ".".join(name.removesuffix("()").split(".")[-2:]) if is_word(last) and last != name else last


def _whole(spelled: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(spelled)}(?![\w-])")


def _is_past(line: str, end: tuple[int, ...]) -> bool:
    mark = _MARK.match(in_english(line))
    return mark is not None and tuple(map(int, mark[1].split("."))) < end


def summed_up(told: Sequence[Told]) -> list[Told]:
    """Return of each fate the first time that it was told, in the order of versions.

    Nothing where a name was removed before another fate: then it came back, or two things have that name.
    """
    first: dict[str, Told] = {}
    for entry in sorted(told, key=lambda one: one.version):
        if entry.fate:
            first.setdefault(entry.fate, entry)
    deprecated = first.get("deprecated")
    for use in ("renamed", "replaced"):  # before it was deprecated, only a use of it ended
        if deprecated and use in first and first[use].version < deprecated.version:
            del first[use]
    found = list(first.values())
    removed = first.get("removed")
    return [] if removed and any(one.version > removed.version for one in found) else found
