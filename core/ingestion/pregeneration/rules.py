"""Pairs without a model: headings, FAQ pages, and definition lists already are questions and answers.

QA pre-generation leaves the pairs to a model; what a documentation says of its own structure costs nothing
and cannot be wrong (*ours*).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence

from core.domain import ContextChunk
from core.ingestion.pregeneration.pairs import Made
from core.text.words import cut_at_word, one_line, sentences
from core.vocabulary import words_of

_WORDS = words_of(__package__)

LONGEST = 16
"""Words of a purpose; what is longer is a clause of its own."""
_ITEM = re.compile(r"^[ ]*(?:[-*+]|\d+[.)]) +", re.MULTILINE)
_STOPS = r"(?=[.,;:]| (?:by|when|if|instead|without|using|unless|while|before|after|it is|you)\b|$)"
_VERB = (
    r"(?!(?:be|have|this|that|the|an?|do (?:so|this|that|it)|which|it|other|different|any|all|some)\b)"
    r"(?!\w+ing\b)(?P<what>[a-z][a-z-]++\b[^,;:.()]{0,400}?)"
)
_HOW = (
    re.compile(rf"^(?:In order to|To) {_VERB}(?:, (?=\S)| it is\b)", re.IGNORECASE),
    re.compile(
        rf"^If (?:you|one|we) (?:want|need|would like|wish|'d like|have|like|are looking|intend|prefer) to "
        rf"{_VERB}(?:, (?=\S)| it is\b)"
    ),
    re.compile(
        rf"^(?:It is (?:also )?possible to|(?:\w+, )?(?:[Yy]ou|[Ww]e|[Oo]ne) can"
        rf"(?: also| then| easily| now)?|"
        rf"(?:\w+, )?(?:[Yy]ou|[Ww]e) may(?: also)?) {_VERB} (?:by|with|using|via|through|from within) \S"
    ),
    re.compile(rf"\b(?:(?:can|should|may|must) be|is|are) used to {_VERB}{_STOPS}"),
    re.compile(
        r"\b(?:(?:allows|lets|enables|helps)(?: you| one| us)? to|(?:lets|helps) (?:you|us)|"
        rf"makes it (?:easy|possible)(?: for you)? to) {_VERB}{_STOPS}"
    ),
    re.compile(
        r"^(?:Use|Call|Set|Pass|Add|Enable|Override|Register|Run|Create|Define|Set up|Provide)\b"
        rf"[^.]{{3,90}}? to {_VERB}{_STOPS}"
    ),
)
_WHEN = re.compile(r"^(?P<word>When|If|Whenever) (?P<what>(?!you want|you need)[^,;:.]{8,90}), (?=\S)")
_BARE = re.compile(r"(?:used|not|in|on|set|given|called|enabled|disabled)\b")
_ING = re.compile(r"\w+ing\b")
_IS = re.compile(
    r"^(?P<what>(?:The |An? )?[A-Z`][\w`.-]*(?: (?!that |this |which )[\w`.-]+){0,3}?) (?P<is>is|are) "
    r"(?:an? |the |used |responsible |a way )"
)
_POINTS = re.compile(
    r"^(?:this|that|it|its|these|those|there|here|what|such|they|you|we|one|all|each|since|by|be|in|on|for|"
    r"if|when|as|with|note|the (?:following|above|class|name|value))\b",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:it|them|this|that|those|these|so)$")
_WRITTEN = r"(?P<what>`[^`]+`)"
_GONE = r"(?:is|are|was|were|has been|have been) (?:now |also )?"
_FACTS = (
    (
        re.compile(
            r"\b(?:[Rr]equires?|[Nn]eeds?|[Bb]ump(?:ed)?(?: to)?|[Uu]pdated?(?: to)?|[Ss]upports?)"
            r"(?: the)?(?: latest)?(?: minimum)? (?P<what>`[^`]+`|[A-Z][\w-]+) "
            r"?(?:(?:version|dependency)? ?(?:to )?[<>=~]+ ?|version |to )?v?\d[\w.]*"
        ),
        "Which version of {what} is needed?",
    ),
    (
        re.compile(r"\b[Dd]rop(?:ped)? support for (?P<what>[A-Z][\w-]* [\d.]*\d)"),
        "Is {what} still supported?",
    ),
    (
        re.compile(rf"{_WRITTEN}(?: \w+){{0,3}} {_GONE}deprecated\b"),
        "Is {what} deprecated, and what replaces it?",
    ),
    (re.compile(rf"^Deprecated? (?:the )?{_WRITTEN}"), "Is {what} deprecated, and what replaces it?"),
    (
        re.compile(rf"{_WRITTEN}(?: \w+){{0,3}} {_GONE}removed\b"),
        "What happened to {what}, and what replaces it?",
    ),
    (
        re.compile(rf"^Removed? (?:the )?(?:deprecated )?{_WRITTEN}"),
        "What happened to {what}, and what replaces it?",
    ),
    (re.compile(rf"{_WRITTEN}(?: \w+){{0,3}} {_GONE}renamed to\b"), "What is {what} called now?"),
)
_MINE = (
    (re.compile(r"\byourself\b"), "myself"),
    (re.compile(r"\byours?\b"), "my"),
    (re.compile(r"\byou are\b"), "I am"),
    (re.compile(r"\byou\b"), "I"),
)
_ANY = "rules "
RULES = f"{_ANY}3"
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
VERBS = frozenset(_WORDS["verbs"].split())
"""Verbs that headings begin with, whatever the document says."""
_AFTER_TO = re.compile(
    r"\b(?:to|can|cannot|must|should|don't|let's) "
    r"(?!(?:an?|the|be|have|all|any|this|that|your|my|its|\w+(?:tion|ment|s|ed|ly|ing))\b)([a-z]{2,})\b"
)
_NAME = re.compile(r"[\w.:*]+(\(.*\))?")
_CODE = re.compile(r"[._(]|[a-z][A-Z]|^[a-z]+$|^[A-Z]{5,}$")


def asked_by(text: str) -> Iterator[tuple[str, str]]:
    """Yield a question and the sentence that answers it for each sentence of prose that says what for."""
    for item in _ITEM.split(text):
        for sentence in sentences(one_line(item)):
            if question := _question(sentence.lstrip("> ").strip()):
                yield question, sentence


def _question(sentence: str) -> str:
    for pattern in _HOW:
        if (found := pattern.search(sentence)) and _fits(found["what"]):
            return f"How do I {_mine(found['what'])}?"
    if (found := _WHEN.match(sentence)) and not _BARE.match(found["what"]) and _fits(found["what"]):
        happens = "must I know" if _ING.match(found["what"]) else "happens"
        return f"What {happens} {found['word'].lower()} {_mine(found['what'])}?"
    if (found := _IS.match(sentence)) and not _POINTS.match(found["what"]):
        what = found["what"]
        what = what[0].lower() + what[1:] if re.match(r"(?:The|An?) ", what) else what
        return f"What {found['is']} {what}?"
    for pattern, asks in _FACTS:
        if (found := pattern.search(sentence)) and not _POINTS.match(found["what"]):
            return asks.format(what=found["what"])
    return ""


def _fits(what: str) -> bool:
    return 2 <= len(what.split()) <= LONGEST and not _POINTING.search(what)


def _mine(what: str) -> str:
    for pattern, word in _MINE:
        what = pattern.sub(word, what)
    return what.strip()


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
