"""Import and export of pairs: JSONL or CSV, line by line; an export can be imported again."""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.domain import Citation, Scope
from core.errors import UsageError
from core.memory.scoring import Thresholds, is_neutral, score_of
from core.ports import Remembered
from core.text.words import storable

PRIOR = 0.9
"""Score of an imported pair that names none: good, but two votes against it take it out."""
LONGEST_FIELD = 10_000_000
"""Characters of one CSV field; the library's own limit is shorter than some answers."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A pair as a file tells it; `line` counts from 1, an empty release is for the reader to choose."""

    line: int
    question: str
    answer: str
    release: str = ""
    scope: str = "public"
    score: float = PRIOR
    label: str = ""
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that holds no pair, and what is wrong with it."""

    line: int
    reason: str


def decoded(raw: bytes, name: str) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 that says so; raises UsageError for any other."""
    is_wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return raw.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{name} is not UTF-8: line {line} has other bytes. Save it as CSV UTF-8 (JSONL: as UTF-8), and "
            f"import it again."
        ) from None


def read(text: str, name: str = "") -> Iterator[Entry | Bad]:
    """Read pairs from JSONL, or from CSV with a header that names its columns (`,`, `;` or tab).

    The end of the file's `name` tells which, else how the text begins.
    """
    text = text.removeprefix("\ufeff")
    ending = name.lower().rpartition(".")[2]
    is_json = ending in ("jsonl", "ndjson", "json") or text.lstrip()[:1] in ("{", "[", "")
    rows = _json_rows(text) if is_json and ending not in ("csv", "tsv") else _csv_rows(text)
    for line, row in rows:
        if isinstance(row, str):
            yield Bad(line, row)
            continue
        try:
            yield _entry(line, row)
        except ValueError as error:
            yield Bad(line, str(error))


_TALLY = ("up", "down", "score", "store", "uses")


def written(pair: Remembered, thresholds: Thresholds) -> dict[str, Any]:
    """Return a pair as `read` takes it, with what else is known of it.

    `score` is what its votes gave it; who voted is not told.
    """
    score = score_of(pair, thresholds)
    values = [value for value, *_ in (*pair.opinions, *pair.strangers)]
    return {
        "id": pair.label or pair.id,
        "question": pair.question,
        "answer": pair.answer,
        "release": pair.release,
        "scope": pair.scope,
        "score": round(score, 6),
        "url": next((citation.url for citation in pair.citations), ""),
        "citations": [
            {"number": c.number, "title": c.title, "url": c.url, "release": c.release} for c in pair.citations
        ],
        "store": pair.aside or thresholds.store(score),
        "up": sum(1 for value in values if value),
        "down": sum(1 for value in values if not value),
        "uses": pair.uses,
    }


def tally(pair: Remembered, thresholds: Thresholds) -> dict[str, Any]:
    """Return a pair's figures: votes up and down, score, store, uses; `neutral` is in no store."""
    told = {key: value for key, value in written(pair, thresholds).items() if key in _TALLY}
    return told | ({"store": "neutral"} if is_neutral(pair) and not pair.aside else {})


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            row = json.loads(content)
        except json.JSONDecodeError as error:
            yield line, f"it is not JSON: {error.msg} at column {error.colno}"
        except (ValueError, RecursionError):
            yield line, "it is not JSON that can be read: too deep or too long"
        else:
            yield line, row if isinstance(row, dict) else "it is not a JSON object"


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    header = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=header.count)
    csv.field_size_limit(LONGEST_FIELD)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: list[str] = []
    line = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield line, f"it is no CSV: {error}"
            row = []
        if row is None:
            return
        if any(cell.strip() for cell in row):
            if not names:
                names = [cell.strip().lower() for cell in row]
                if missing := " and ".join(sorted({"question", "answer"} - set(names))):
                    yield line, f"the first line must name the columns; it lacks {missing}"
                    return
            elif len(row) > len(names):
                yield (
                    line,
                    f"it has {len(row)} fields, the first line names {len(names)}; put quotes around text",
                )
            else:
                yield line, dict(zip(names, row, strict=False))
        line = rows.line_num + 1


def _entry(line: int, row: Mapping[str, Any]) -> Entry:
    question, answer = (_text(row, name) for name in ("question", "answer"))
    for name, value in (("question", question), ("answer", answer)):
        if not value:
            raise ValueError(f'"{name}" is missing or empty')
    scope = _text(row, "scope") or "public"
    if Scope.parse(scope).key != scope or not Scope.parse(scope).remembered:
        raise ValueError('"scope" must be "public" or "private:" and a channel, such as private:slack:C1')
    label = row.get("id")
    if not isinstance(label, str | int | None):
        raise ValueError('"id" must be text or a whole number')
    release = _text(row, "release")
    return Entry(
        line,
        question,
        answer,
        release,
        scope,
        _score(row.get("score")),
        "" if label is None else storable(str(label)).strip(),
        _citations(row, release),
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f'"{name}" must be text')
    return storable(value).strip()


def _score(value: Any) -> float:
    if value is None or value == "":
        return PRIOR
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not 0 <= score <= 1:
        raise ValueError('"score" must be a number from 0 to 1')
    return score


def _citations(row: Mapping[str, Any], release: str) -> tuple[Citation, ...]:
    told = row.get("citations")
    if isinstance(told, list) and told:
        if not all(isinstance(c, dict) and isinstance(c.get("url"), str) for c in told):
            raise ValueError('"citations" must be a list of {"url": …, "title": …}')
        return tuple(
            _citation(
                c["url"], str(c.get("title") or ""), str(c.get("release") or release), c.get("number"), place
            )
            for place, c in enumerate(told, start=1)
        )
    url = _text(row, "url")
    return (_citation(url, "", release, 1, 1),) if url else ()


def _citation(url: str, title: str, release: str, number: Any, place: int) -> Citation:
    url = storable(url).strip()
    if not url.startswith(("https://", "http://")):
        raise ValueError('"url" must begin with https:// or http://')
    shown = storable(title).strip() or url.partition("://")[2]
    known = number if isinstance(number, int) and number > 0 else place
    return Citation(known, shown, url, "" if release == "*" else release, "")
