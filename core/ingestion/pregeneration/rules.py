"""Pairs without a model: headings, FAQ pages, and definition lists already are questions and answers.

QA pre-generation leaves the pairs to a model; what a documentation says of its own structure costs nothing
and cannot be wrong (*ours*).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Collection, Sequence

from core.domain import ContextChunk
from core.ingestion.pregeneration.pairs import Made
from core.ingestion.pregeneration.purposes import asked_by
from core.text.words import cut_at_word, one_line, sentences
from core.vocabulary import word_list

_ANY = "rules "
RULES = f"{_ANY}2"
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
VERBS = frozenset(
    word_list(
        """access add build call change choose configure connect convert create customize define delete deploy
        disable enable get handle import install integrate load make manage move open override pass prevent
        read register remove render return run save send serve set start stop store test update upgrade
        upload use validate work write"""
    )
)
"""Verbs that headings begin with, whatever the document says."""
_AFTER_TO = re.compile(
    r"\b(?:to|can|cannot|must|should|don't|let's) "
    r"(?!(?:an?|the|be|have|all|any|this|that|your|my|its|\w+(?:tion|ment|s|ed|ly|ing))\b)([a-z]{2,})\b"
)
_NAME = re.compile(r"[\w.:*]+(\(.*\))?")
_CODE = re.compile(r"[._(]|[a-z][A-Z]|^[a-z]+$|^[A-Z]{5,}$")


class RulePairs:
    """The `Maker` that needs no model."""

    by = RULES

    def redoes(self, by: str) -> bool:
        """Do what nobody has done, and what older rules did; what a model made is better."""
        return not by or (is_by_rule(by) and by != RULES)

    async def make(
        self, pages: Sequence[ContextChunk], done: int = 0
    ) -> AsyncGenerator[tuple[int, list[Made]], None]:
        """Yield the pairs of one document of all of its pages at once: no page takes long."""
        yield len(pages), await asyncio.to_thread(pairs_by_rule, pages)


def is_by_rule(by: str) -> bool:
    """Return True if rules made what `by` has made, whichever version of them."""
    return by.startswith(_ANY)


def pairs_by_rule(pages: Sequence[ContextChunk]) -> list[Made]:
    """Make the pairs of one document of its pages, in their order."""
    found: list[Made] = []
    verbs = verbs_of(pages)
    for page in pages:
        found += _of_heading(page, verbs)
        found += _of_questions(page)
        found += _of_definitions(page)
        found += _of_purposes(page)
    return found


def question_of(heading: str, title: str, verbs: Collection[str] = VERBS) -> str:
    """Turn the innermost heading into the question that its text answers; `verbs` may begin one."""
    last = heading.rpartition(" > ")[2].strip("`¶ ") or title
    if last.endswith("?"):
        return last
    if _NAME.fullmatch(last) and _CODE.search(last):
        return f"What does `{last}` do?"
    first, _, rest = last.partition(" ")
    adverb, first, rest = (
        (first, *rest.partition(" ")[::2]) if first.endswith("ly") and rest else ("", first, rest)
    )
    if not last.isupper() and (verb := _verb(first.lower(), verbs, bool(rest))):
        return f"How do I {' '.join(filter(None, (adverb.lower(), verb, rest)))}?"
    if first.lower().endswith("ing") and len(first) > 5:
        return f"How does {last[0].lower()}{last[1:]} work?"
    return f"What is there to know about {last}?"


def verbs_of(pages: Sequence[ContextChunk]) -> frozenset[str]:
    """Return what stands after "to", "can" and the like in a document: its verbs."""
    return VERBS | {found for page in pages for found in _AFTER_TO.findall(page.page)}


def _verb(word: str, verbs: Collection[str], has_object: bool) -> str:
    """Return the verb that a heading begins with, as one asks for it; empty for other headings."""
    if not word.endswith("ing"):
        return word if has_object and word in verbs else ""
    stem = word.removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else "")
    return next((form for form in forms if len(form) > 1 and form in verbs), "")


def short_answer(text: str) -> str:
    """Return the first sentences of prose of a page; of a page without prose its first lines."""
    blocks = [block.strip() for block in _PARAGRAPH.split(_FENCE.sub("", text))]
    prose = [block for block in blocks if _is_prose(block)]
    picked = sentences(one_line(prose[0] if prose else text))[:ANSWER_SENTENCES]
    return cut_at_word(" ".join(picked), ANSWER_CHARACTERS)


def _is_prose(block: str) -> bool:
    return len(block.split()) > LEAST_WORDS and not block.startswith(("|", "#", "`"))


def _of_heading(page: ContextChunk, verbs: Collection[str]) -> list[Made]:
    answer = short_answer(page.page)
    if len(answer.split()) < LEAST_WORDS:
        return []
    return [Made(page.id, question_of(page.heading, page.title, verbs), answer, page.page.strip())]


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


def _of_purposes(page: ContextChunk) -> list[Made]:
    """Read the sentences that say what something is for, each with its paragraph."""
    return [
        Made(page.id, question, sentence, block.strip())
        for block in _PARAGRAPH.split(_FENCE.sub("", page.page))
        for question, sentence in asked_by(block)
    ]
