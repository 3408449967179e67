"""`threadlore evaluate --answers`: what the served bot says to questions, scored by what it must hold."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from core.domain import Answer, Question
from core.errors import ThreadloreError, UsageError
from core.query.language import detect
from core.system.json_parts import lines_of
from evaluation.answers.checks import begins, ends, unsupported
from evaluation.answers.expected import Expected, Said
from evaluation.metrics import reliability, share
from evaluation.tables import cell, grid

SURE = 0.8
"""No wrong answer should be surer than this."""
COLUMNS = (
    ("n", "questions"),
    ("right", "holds"),
    ("lost", "lost"),
    ("refused", "refused"),
    ("sure", "as sure"),
    ("whole", "whole"),
    ("begins", "begins"),
    ("ends", "ends"),
    ("code", "code"),
    ("page", "page"),
    ("section", "section"),
    ("linked", "or linked"),
    ("unsupported", "unsupported"),
    ("characters", "characters"),
    ("ece", "ECE"),
    ("wrong_and_sure", f"wrong above {SURE:.0%}"),
)
"""Figures of the table: names in JSON, and what stands above them."""

_UNNAMEABLE = re.compile(r"""[/\\:*?"<>|\x00-\x1f]""")
Ask = Callable[[Question], Awaitable[Answer]]
PageOf = Callable[[str, str], Awaitable[str]]
"""Return the text of a page by release and path, empty for one that is not there."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer and what it was found to be; of a refused one only `refused` counts.

    `missing` are entries of `must` that it lacks, `forbidden` those of `must_not` that it has. `begins` and
    `ends` say what is wrong there. `page` and `section`: whether its first source is one of the line's;
    `linked`: whether one of its `links` to further pages leads to a section of the line.
    `signs` are those that its confidence is read off.
    """

    id: str
    product: str
    kind: str
    half: str
    question: str
    answerable: bool
    has_code: bool
    text: str
    route: str
    release: str
    confidence: float
    refused: bool
    missing: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    begins: str = ""
    ends: str = ""
    page: bool = False
    section: bool = False
    linked: bool = False
    links: int = 0
    sources: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    ms: float = 0.0
    level: str = ""
    signs: Mapping[str, float] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Return True if it holds what it must and nothing else, or is rightly refused."""
        return not (self.refused or self.missing or self.forbidden) if self.answerable else self.refused

    @property
    def shows_code(self) -> bool:
        """Return True if all code that it must hold is there."""
        return not self.refused and not any(entry.startswith("code:") for entry in self.missing)

    def plain(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        stored = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in stored.items()} | {
            "right": self.right
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Scored:
        """Read a JSON object of `plain`."""
        known: dict[str, Any] = {name: stored[name] for name in cls.__slots__ if name in stored}
        known |= {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return cls(**known)


async def ask_all(lines: Sequence[Expected], ask: Ask, page_of: PageOf) -> AsyncIterator[Scored]:
    """Ask each question as people would, one after the other, and score what is said."""
    for line in lines:
        question = Question(line.question, release=line.ask_release, language=await detect(line.question))
        began = time.perf_counter()
        try:
            answer = await ask(question)
        except ThreadloreError as error:
            answer = Answer("", f"{error}", "abstain", "")
        ms = (time.perf_counter() - began) * 1000
        cited = dict.fromkeys((citation.release, citation.path) for citation in answer.citations)
        yield score(line, answer, [await page_of(*place) for place in cited], ms)


def score(line: Expected, answer: Answer, pages: Sequence[str], ms: float = 0.0) -> Scored:
    """Score an answer by its line; `pages` are the texts of the pages that it cites."""
    said = Said.of(answer.text)
    sources = tuple(f"{citation.path} › {citation.title}" for citation in answer.citations)
    known = [*pages, *sources, line.question, line.product, answer.release, *answer.offers]
    firsts = [citation.path for citation in answer.citations[:1]]
    refused = answer.route == "abstain"
    is_quote = answer.route == "quote"
    further = answer.trace.get("further") or ()
    return Scored(
        id=line.id,
        product=line.product,
        kind=line.kind,
        half=line.half,
        question=line.question,
        answerable=line.answerable,
        has_code=line.has_code,
        text=answer.text,
        route=answer.route,
        release=answer.release,
        confidence=round(answer.confidence, 4),
        refused=refused,
        missing=tuple(entry for entry in line.must if not said.holds(entry)),
        forbidden=() if refused else tuple(entry for entry in line.must_not if said.holds(entry)),
        begins="" if refused else begins(answer.text, pages, is_quote, line.product),
        ends="" if refused else ends(answer.text, pages, is_quote),
        page=any(section.page == first for section in line.sections for first in firsts),
        section=any(_is_from(line, one.path, one.title) for one in answer.citations[:1]),
        linked=any(_is_from(line, page["path"], page["title"]) for page in further),
        links=len(further),
        sources=sources,
        unsupported=() if refused else unsupported(answer.text, known),
        ms=round(ms, 1),
        level="none" if refused else answer.level,
        signs=answer.trace.get("signs") or {},
    )


def _is_from(line: Expected, path: str, title: str) -> bool:
    """Return True if a title under a page is a section that the line names, or one inside of it."""
    parts = [Said.of(part).plain for part in title.split(" › ")]
    return any(
        section.page == path and (not section.heading or Said.of(section.heading).plain in parts)
        for section in line.sections
    )


def figures(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the figures of some answers; a share of nothing is None."""
    asked = [one for one in scored if one.answerable]
    outside = [one for one in scored if not one.answerable]
    said = [one for one in scored if not one.refused]
    told = [one for one in asked if not one.refused]
    measured = reliability([(one.confidence, one.right) for one in said]) if said else {"ece": None}
    return {
        "n": len(scored),
        "right": share([one.right for one in asked]),
        "lost": share([one.refused for one in asked]),
        "refused": share([one.refused for one in outside]),
        "sure": share([one.level == "sure" for one in outside]),
        "whole": share([not (one.begins or one.ends) for one in said]),
        "begins": share([not one.begins for one in said]),
        "ends": share([not one.ends for one in said]),
        "code": share([one.shows_code for one in asked if one.has_code]),
        "page": share([one.page for one in told]),
        "section": share([one.section for one in told]),
        "linked": share([one.right or one.linked for one in asked]),
        "unsupported": sum(bool(one.unsupported) for one in said),
        "characters": round(median([len(one.text) for one in told])) if told else None,
        "ece": measured["ece"],
        "wrong_and_sure": sum(not one.right and one.confidence > SURE for one in said),
    }


def groups(scored: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    """Return the figures of all, and by half, product and kind within each half."""
    found = {"all": figures(scored)}
    for half in sorted({one.half for one in scored}):
        part = [one for one in scored if one.half == half]
        found[half] = figures(part)
        for name in ("product", "kind"):
            for value in sorted({getattr(one, name) for one in part}):
                found[f"{half}, {value}"] = figures([one for one in part if getattr(one, name) == value])
    return found


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Write groups as a Markdown table."""
    lines = [[name, *(cell(row[key]) for key, _ in COLUMNS)] for name, row in rows.items()]
    return grid(["", *(title for _, title in COLUMNS)], lines, margin=" ")


def detail(one: Scored) -> str:
    """Write what is wrong with an answer, and the answer."""
    wrong = [f"does not hold {entry!r}" for entry in one.missing if one.answerable and not one.refused]
    wrong += [f"holds {entry!r}" for entry in one.forbidden]
    wrong += [reason for reason in (one.begins, one.ends) if reason]
    wrong += [f"names what its sources do not: {', '.join(one.unsupported)}"] if one.unsupported else []
    if one.refused == one.answerable:
        wrong.insert(0, "refused" if one.refused else "answered, though nothing answers it")
    head = f"## {one.id} ({one.half}, {one.kind}, {one.route}, {one.confidence:.0%})"
    reasons = "\n".join(f"- {reason}" for reason in wrong)
    return f"{head}\n\n{one.question}\n\n{reasons}\n\n{one.text}\n"


def failures(scored: Sequence[Scored]) -> list[Scored]:
    """Return the answers that something is wrong with."""
    return [one for one in scored if not one.right or one.begins or one.ends or one.unsupported]


def file_of(folder: Path, product: str) -> Path:
    """Return where a product's answers lie in a folder; its name may hold what no file's name can."""
    return folder / f"answers.{_UNNAMEABLE.sub('-', product.casefold())}.jsonl"


def keep(folder: Path, product: str, scored: Sequence[Scored]) -> None:
    """Write a product's answers to a folder, in place of those that lie there."""
    lines = "".join(json.dumps(one.plain(), ensure_ascii=False) + "\n" for one in scored)
    file_of(folder, product).write_text(lines, "utf-8")


def read(folder: Path, without: str = "") -> list[Scored]:
    """Read the answers of all products that lie in a folder, `without` one; raises UsageError for others."""
    found = []
    for file in sorted({*folder.glob("answers.*.jsonl")} - {file_of(folder, without)}):
        try:
            found += [Scored.of(json.loads(raw)) for raw in lines_of(file.read_text("utf-8"))]
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise UsageError(f"{file} cannot be read ({error}); remove it, or name another folder.") from None
    return found
