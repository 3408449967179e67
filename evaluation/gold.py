"""Labelled questions: read them from JSON lines, and tell whether a found passage answers one.

The format is described in `tests/golden/README.md`; `a||b` means either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from core.domain import Turn
from core.errors import UsageError
from core.system.json_parts import lines_of

Half = Literal["tune", "report", "all"]

UNANSWERABLE = "out_of_scope"
UNKNOWN_RELEASE = "unknown_release"
_SHOWN = 5
"""Bad lines that are told at once."""

_MARKS = re.compile(r"[`*\\]")
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans("‘’“”", "''\"\"")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands in one release: any of `files` with any of the `evidence` strings."""

    files: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldLine:
    """One labelled question.

    `places` has the gold place of each release that a right answer draws on: one, or several for a
    comparison, none where the documentation has no answer.
    """

    id: str
    type: str
    question: str
    release: str
    split: str = ""
    ask_release: str = ""
    history: tuple[Turn, ...] = ()
    standalone: str = ""
    answer: str = ""
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def answerable(self) -> bool:
        """Return True if the documentation has an answer."""
        return self.type not in (UNANSWERABLE, UNKNOWN_RELEASE)


def read_gold(path: Path, half: Half = "all") -> tuple[GoldLine, ...]:
    """Read the lines of one half, or all of them; raises UsageError that names the bad lines."""
    found = read_lines(path, parse_line)
    kept = tuple(line for line in found if half == "all" or line.split == half)
    if not kept:
        without = " (its lines have no `split`; use --half all)" if half != "all" and found else ""
        raise UsageError(f"{path.name} has no question to ask{without}.")
    return kept


class _Line(Protocol):
    @property
    def id(self) -> str: ...


L = TypeVar("L", bound=_Line)


def read_lines(path: Path, parse: Callable[[dict[str, Any]], L]) -> list[L]:
    """Read JSON objects, one a line, each with its own id; raises UsageError that names bad ones."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read ({why}); name a file of JSON lines.") from None
    found: dict[str, L] = {}
    problems: list[str] = []
    for number, raw in enumerate(lines_of(text), start=1):
        if not raw.strip():
            continue
        try:
            entry = json.loads(raw)
            if not isinstance(entry, dict):
                raise ValueError("no JSON object")
            line = parse(entry)
            if line.id in found:
                raise ValueError(f"the id {line.id!r} is there twice")
            found[line.id] = line
        except json.JSONDecodeError as error:
            problems.append(f"line {number}: no JSON, {error.msg} at column {error.colno}")
        except RecursionError:
            problems.append(f"line {number}: it is nested too deep")
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise UsageError(f"{path.name}: {'; '.join(problems[:_SHOWN])}{more}. Correct them and try again.")
    return list(found.values())


def parse_line(entry: Mapping[str, Any]) -> GoldLine:
    """Read one JSON object; raises ValueError that says what is wrong with it."""
    kind = _text(entry, "type", needed=True)
    line = GoldLine(
        id=_text(entry, "id", needed=True),
        type=kind,
        question=_text(entry, "question", needed=True),
        release=_text(entry, "release"),
        split=_text(entry, "split"),
        ask_release=_text(entry, "ask_release"),
        history=_history(entry),
        standalone=_text(entry, "standalone"),
        answer=_text(entry, "answer"),
        must_contain=_texts(entry, "must_contain"),
        must_not_contain=_texts(entry, "must_not_contain"),
    )
    if not line.answerable:
        return line
    compared = entry.get("by_release")
    if compared is not None and not isinstance(compared, dict):
        raise ValueError('"by_release" must be an object of releases')
    if not compared and not line.release:
        raise ValueError('"release" is missing')
    by_release = {str(name): part for name, part in (compared or {line.release: entry}).items()}
    return _with_places(line, by_release)


def _with_places(line: GoldLine, by_release: Mapping[str, Any]) -> GoldLine:
    places: dict[str, Place] = {}
    for name, part in by_release.items():
        if not isinstance(part, dict):
            raise ValueError(f'"by_release" has no object for {name!r}')
        files = part.get("gold_file")
        listed = files if isinstance(files, list) else str(files or "").split("||")
        place = Place(tuple(str(f).strip() for f in listed if str(f).strip()), _texts(part, "evidence"))
        if not place.files or not place.evidence:
            raise ValueError(f'"gold_file" and "evidence" are needed for type {line.type!r}')
        places[name] = place
    return GoldLine(
        **{name: getattr(line, name) for name in GoldLine.__slots__ if name != "places"}, places=places
    )


def _text(entry: Mapping[str, Any], key: str, *, needed: bool = False) -> str:
    value = entry.get(key)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or (needed and not value.strip()):
        raise ValueError(f'"{key}" is missing or no text')
    return value


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(v, str) and plain(v) for v in value):
        raise ValueError(f'"{key}" must be a list of texts')
    return tuple(value)


def _history(entry: Mapping[str, Any]) -> tuple[Turn, ...]:
    turns = entry.get("history") or []
    try:
        return tuple(Turn(turn["role"], turn["text"], release=turn.get("release") or "") for turn in turns)
    except (TypeError, KeyError, AttributeError):
        raise ValueError('"history" must be a list of {"role", "text"}') from None


# --- what counts as found -----------------------------------------------------------------------


def plain(text: str) -> str:
    """Return text in the form in which it is compared: no Markdown marks, one space, small letters."""
    return _SPACE.sub(" ", _MARKS.sub("", text.translate(_QUOTES))).strip().casefold()


def _has(already_plain: str, wanted: str, pattern: Callable[[str], re.Pattern[str]]) -> bool:
    """Return True if a text has one of the alternatives `a||b`, each as its pattern finds it."""
    options = (option for option in map(plain, wanted.split("||")) if option)
    return any(pattern(option).search(already_plain) for option in options)


@lru_cache(maxsize=4096)
def spelled(option: str) -> re.Pattern[str]:
    """Return the pattern of a string as whole words."""
    before = r"(?<!\w)" if option[:1].isalnum() else ""
    after = r"(?!\w)" if option[-1:].isalnum() else ""
    return re.compile(before + re.escape(option) + after)


def is_hit(place: Place, path: str, text: str) -> bool:
    """Return True if a passage of a release is from a gold page and holds any string of the evidence."""
    return path in place.files and holds_any(text, place.evidence)


def holds_any(text: str, wanted: Iterable[str]) -> bool:
    """Return True if a text has any of several strings, or of their alternatives `a||b`, as whole words."""
    comparable = plain(text)
    return any(_has(comparable, one, spelled) for one in wanted)


def is_right(line: GoldLine, answer: str) -> bool:
    """Return True if an answer has all it must contain and nothing that it must not.

    What it must contain may be part of a longer word ("worker" in "workers"), a number may not.
    """
    comparable = plain(answer)
    return all(_has(comparable, one, said) for one in line.must_contain) and not any(
        _has(comparable, one, spelled) for one in line.must_not_contain
    )


@lru_cache(maxsize=4096)
def said(option: str) -> re.Pattern[str]:
    """Return the pattern of a string that may be part of a longer word, while a number may not."""
    before = r"(?<![\w.])" if option[:1].isdigit() else ""
    after = r"(?!\w|\.\d)" if option[-1:].isdigit() else ""
    return re.compile(before + re.escape(option) + after)


def rank_of(places: Mapping[str, Place], found: Sequence[tuple[str, str, str]]) -> int:
    """Return the rank of the first hit among (release, path, text), best first; 0 for none.

    A passage without a release belongs to every one. Of a comparison each release has to be hit, each
    among the passages of its own, and the worst of their ranks counts.
    """
    worst = 0
    for release, place in places.items():
        pool = found if len(places) == 1 else [one for one in found if one[0] in (release, "")]
        ranks = (
            rank
            for rank, (of, path, text) in enumerate(pool, start=1)
            if of in (release, "") and is_hit(place, path, text)
        )
        rank = next(ranks, 0)
        if not rank:
            return 0
        worst = max(worst, rank)
    return worst
