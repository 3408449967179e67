"""Pairs without a model: headings, FAQ pages, and definition lists already are questions and answers.

QA pre-generation leaves the pairs to a model; what a documentation says of its own structure costs nothing
and cannot be wrong (*ours*).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from core.domain import ContextChunk
from core.ingestion.pregeneration.pairs import Made
from core.text import sentences

_ANY = "rules "
RULES = f"{_ANY}1"
"""Names the rules and their version: what older ones did is done again."""
ANSWER_SENTENCES = 2
ANSWER_CHARACTERS = 400
"""Length of the short answer: what one reads before the link."""
LEAST_WORDS = 3
"""Words of a definition below which it says nothing."""
_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n")
_DEFINITION = re.compile(
    r"^[-*] (?P<term>`[^`\n]+`|\*\*[^*\n]+\*\*|[^\n:–`]{2,40}?)(?:: | – | — )(?P<says>\S.*)$"
)
_ASKED = re.compile(r"^(?:\*\*)?(?:Q(?:uestion)?[.:]\s*)?(?P<asked>[A-Z¿][^\n]{6,200}\?)(?:\*\*)?$")
_LABEL = re.compile(r"^(?:\*\*)?A(?:nswer)?[.:]\s*(?:\*\*)?\s*")
_NAME = re.compile(r"[\w.:*]+(\(.*\))?")
_CODE = re.compile(r"[._(]|[a-z][A-Z]|^[a-z]+$")


class RulePairs:
    """The `Maker` that needs no model."""

    by = RULES

    def redoes(self, by: str) -> bool:
        """Do what nobody has done, and what older rules did; what a model made is better."""
        return not by or (by.startswith(_ANY) and by != RULES)

    async def make(self, pages: Sequence[ContextChunk]) -> list[Made]:
        """Make the pairs of one document of its pages, in their order."""
        return await asyncio.to_thread(pairs_by_rule, pages)


def pairs_by_rule(pages: Sequence[ContextChunk]) -> list[Made]:
    """Make the pairs of one document of its pages, in their order."""
    found: list[Made] = []
    for page in pages:
        found += _of_heading(page)
        found += _of_questions(page)
        found += _of_definitions(page)
    return found


def question_of(heading: str, title: str) -> str:
    """Turn the innermost heading into the question that its text answers."""
    last = heading.rpartition(" > ")[2].strip("`¶ ") or title
    if last.endswith("?"):
        return last
    if _NAME.fullmatch(last) and _CODE.search(last):
        return f"What does `{last}` do?"
    first = last.split()[0].lower() if last.split() else ""
    if first.endswith("ing") and len(first) > 5:
        return f"How does {last[0].lower()}{last[1:]} work?"
    return f"What is there to know about {last}?"


def short_answer(text: str) -> str:
    """Return the first sentences of prose of a page; of a page without prose its first lines."""
    blocks = [block.strip() for block in _PARAGRAPH.split(_FENCE.sub("", text))]
    prose = [block for block in blocks if _is_prose(block)]
    picked = sentences(" ".join((prose[0] if prose else text.strip()).split()))[:ANSWER_SENTENCES]
    said = " ".join(picked)
    return said if len(said) <= ANSWER_CHARACTERS else said[:ANSWER_CHARACTERS].rsplit(" ", 1)[0] + " …"


def _is_prose(block: str) -> bool:
    return len(block.split()) > LEAST_WORDS and not block.startswith(("|", "#", "`"))


def _of_heading(page: ContextChunk) -> list[Made]:
    answer = short_answer(page.page)
    if len(answer.split()) < LEAST_WORDS:
        return []
    return [Made(page.id, question_of(page.heading, page.title), answer, page.page.strip())]


def _of_questions(page: ContextChunk) -> list[Made]:
    """Read `Q:`/`A:` and bold questions, each with the text up to the next one."""
    found: list[Made] = []
    asked, said = "", list[str]()
    for block in [*_PARAGRAPH.split(page.page), ""]:
        first, _, rest = block.strip().partition("\n")
        match = _ASKED.match(first) if first.startswith(("**", "Q")) else None
        if match or not block:
            text = _LABEL.sub("", "\n\n".join(said).strip())
            if asked and len(text.split()) >= LEAST_WORDS:
                found.append(Made(page.id, asked, short_answer(text), text))
            asked, said = (match["asked"], [rest]) if match else ("", [])
        elif asked:
            said.append(block)
    return found


def _of_definitions(page: ContextChunk) -> list[Made]:
    of = page.heading.rpartition(" > ")[2] or page.title
    found = []
    for line in _FENCE.sub("", page.page).splitlines():
        match = _DEFINITION.match(line)
        if match and len(match["says"].split()) >= LEAST_WORDS:
            term = match["term"].strip("*")
            found.append(Made(page.id, f"What is {term} in {of}?", match["says"], line[2:]))
    return found
