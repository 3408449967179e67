"""An answer cut to statements, which are kept or left out whole, and the pages that say them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.generation.quotes.blocks import Kind, split
from core.prompts import data
from core.prompts import wrong as marked_wrong
from core.text.words import one_line, sentences, whole_word

_ORDINAL = re.compile(r"^(\s*)(\d{1,3})([.)]\s)")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_CITED_END = re.compile(r"[.!?:。！？][\"')\]*_`]*(?:\s*\[\d+\])*$")
_NAMED = re.compile(r"`([^`\n]{1,200}+)`")
_MARKER = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_IN_BACKTICKS = re.compile(r"`[^`\n]{1,300}`")
_MARKS = re.compile(r"\[\d+\]")
_LEADING = re.compile(r"(?:\[\d+\]\s*)+")
_CITED_BEFORE = re.compile(r"(?<=\]\.)\s+(?=[a-z])")
"""Behind a citation a sentence has ended, though the next begins with a name in small letters: `pip`."""
_BARE_MARKER = re.compile(r"(?:\n|\A)[ \t]*(?:[-*+]|\d{1,3}[.)])\Z")


_LEANS = re.compile(
    r"\W*(?:(?:its?|this|that|these|those|they|them|alternativ\w*|otherwise|instead|sonst|stattdessen|es|er|sie|dies\w*|das|esto|eso|ello|ellos)\b|[它这那此])",
    re.IGNORECASE,
)
"""How a sentence begins that is about what the one before it says."""
_JOINS = frozenset("。！？")
"""What ends a sentence that no blank follows."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a paragraph, a whole list item, a whole block of code, a table, a heading."""

    block: int
    kind: Kind
    text: str

    @property
    def introduces(self) -> bool:
        """Return True if it only makes sense with what follows it."""
        return self.kind != "code" and self.text.rstrip("*_ ").endswith((":", "："))


def statements(text: str) -> list[Statement]:
    """Cut Markdown to its statements, in order."""
    found: list[Statement] = []
    for number, block in enumerate(split(text)):
        told = _sentences(one_line(block.text)) if block.kind == "paragraph" else [block.text]
        begins = _LEADING.match(told[0]) if block.kind == "paragraph" and found and told else None
        if begins and found[-1].kind == "code":
            _give_back(found, begins[0].strip())
            told = [told[0][begins.end() :], *told[1:]]
        found += [Statement(number, block.kind, one) for one in _with_marks(told)]
    # "[1][2]" in a line of its own is a list of sources; where nothing else cites, it is all there is
    alone = [at for at, one in enumerate(found) if _LEADING.sub("", one.text) == ""]
    others = any(_MARKS.search(one.text) for at, one in enumerate(found) if at not in alone)
    return [one for at, one in enumerate(found) if at not in alone or not others]


def _sentences(text: str) -> list[str]:
    return [part for one in sentences(text) for part in _CITED_BEFORE.split(one)]


def with_last(told: Sequence[Statement]) -> Iterator[tuple[Statement, str]]:
    """Yield statements, each with the text of the one before it."""
    yield from zip(told, ["", *(one.text for one in told)], strict=False)


def _give_back(found: list[Statement], mark: str) -> None:
    """Put citations that stand behind code at what introduces it, where that has none."""
    at = next((at for at in range(len(found) - 1, -1, -1) if found[at].kind != "code"), None)
    if at is not None and found[at].kind in ("paragraph", "item") and not _MARKS.search(found[at].text):
        found[at] = replace(found[at], text=marked(found[at].text, mark))


def _with_marks(told: Sequence[str]) -> list[str]:
    """Put citations that were cut off back to the sentence that they stand behind."""
    found: list[str] = []
    for one in told:
        while found and (mark := re.match(r"(?:\[\d+\]\s*)+", one)):
            found[-1] = f"{found[-1]} {mark[0].strip()}"
            one = one[mark.end() :]
        if one:
            found.append(one)
    return found


def joined(told: Sequence[Statement]) -> str:
    """Write statements as Markdown again; steps of a list are numbered through, over code, too."""
    parts: list[str] = []
    ordinal = last = 0
    for at, one in enumerate(told):
        before = told[at - 1] if at else None
        text = one.text
        if one.kind == "heading":
            ordinal = last = 0
        if one.kind == "item" and (marked := _ORDINAL.match(text)):
            goes_on = int(marked[2]) > last or (before is not None and before.kind == "item")
            ordinal = ordinal + 1 if goes_on else 1
            last = int(marked[2])
            text = f"{marked[1]}{ordinal}{marked[3]}{text[marked.end() :]}"
        if before:
            items = before.kind == one.kind == "item"
            close = "" if before.text[-1:] in _JOINS else " "
            parts.append(close if before.block == one.block else "\n" if items else "\n\n")
        parts.append(text)
    return "".join(parts)


def without(told: Sequence[Statement], left_out: Collection[int]) -> list[Statement]:
    """Leave out statements by their place, with headings over nothing and what introduces nothing."""
    gone = set(left_out)
    for at in range(len(told) - 1, -1, -1):
        follower = next((later for later in range(at + 1, len(told)) if later not in gone), None)
        directly = at + 1 in gone or at + 1 == len(told)
        if at in gone:
            continue
        bare = told[at].kind == "heading" and (follower is None or told[follower].kind == "heading")
        if bare or (directly and told[at].introduces and not _goes_on(told, at, follower)):
            gone.add(at)
    return [one for at, one in enumerate(told) if at not in gone]


def leaning(told: Sequence[Statement], left_out: Collection[int]) -> set[int]:
    """Return the places of sentences that say "it" of what is left out right before them."""
    found: set[int] = set()
    for at in range(1, len(told)):
        one, before = told[at], told[at - 1]
        is_next = at - 1 in found or at - 1 in left_out
        if is_next and one.kind == "paragraph" and one.block == before.block and _LEANS.match(one.text):
            found.add(at)
    return found - set(left_out)


def _goes_on(told: Sequence[Statement], at: int, follower: int | None) -> bool:
    """Return True if what is left behind an introduction is of the same kind as what followed it."""
    return follower is not None and told[follower].kind == told[at + 1].kind != "paragraph"


def said(told: Sequence[Statement]) -> frozenset[str]:
    """Return what statements say, without citations and signs at their ends; headings say nothing."""
    return frozenset(_MARKS.sub("", one.text).strip(" .:") for one in told if one.kind != "heading")


def cites(told: Sequence[Statement]) -> set[int]:
    """Return the numbers that an answer cites outside of its code."""
    prose = (_IN_BACKTICKS.sub("", one.text) for one in told if one.kind != "code")
    return {int(mark[1:-1]) for text in prose for mark in _MARKS.findall(text)}


def drafted(told: Sequence[Statement], wrong: Mapping[int, Sequence[str]], most: int) -> str:
    """Write an answer for the model to mend: what is wrong is marked by its place in `wrong`, from 1.

    `wrong` has the faults of each wrong statement by its place in `told`; of code only the lines are marked
    that have what its faults name.
    What is right is left out where all of it takes more than `most` characters, then the last ones.
    """
    shown = _marked_wrong(told, wrong)
    if sum(len(one.text) for one in shown) > most:
        shown = [shown[at] for at in wrong]
    while shown and sum(len(one.text) for one in shown) > most:
        shown.pop()
    return joined(shown)


def _marked_wrong(told: Sequence[Statement], wrong: Mapping[int, Sequence[str]]) -> list[Statement]:
    shown: list[Statement] = []
    numbers = {at: number for number, at in enumerate(wrong, 1)}
    for at, one in enumerate(told):
        text = data(one.text)
        lines = _wrong_lines(text, wrong[at]) if one.kind == "code" and at in wrong else {}
        if lines:
            each = enumerate(text.split("\n"))
            text = "\n".join(marked_wrong(numbers[at], line) if n in lines else line for n, line in each)
        elif at in wrong:
            lead = _MARKER.match(text) if one.kind == "item" else None
            inner = f"\n{text}\n" if one.kind in ("code", "table") else text[lead.end() if lead else 0 :]
            text = (lead[0] if lead else "") + marked_wrong(numbers[at], inner)
        shown.append(replace(one, text=text))
    return shown


def _wrong_lines(code: str, faults: Sequence[str]) -> set[int]:
    """Return which lines between its fences have a name that a fault gives; none where one stands nowhere."""
    lines = code.split("\n")
    found: set[int] = set()
    for name in (name for fault in faults for name in _NAMED.findall(fault)):
        at = {number for number, line in enumerate(lines[1:-1], 1) if whole_word(name).search(line)}
        if not at:
            return set()
        found |= at
    return found


def whole(text: str) -> str:
    """Cut text back to its last whole sentence, list item or line of code; an open fence is closed."""
    fences = list(_FENCE.finditer(text))
    if len(fences) % 2:
        start = fences[-1].start()
        code = text[start:].rstrip("\n").split("\n")
        complete = code if text.endswith("\n") else code[:-1]
        if len(complete) > 1:
            return text[:start] + "\n".join(complete) + "\n" + fences[-1].group(1)
        text = text[:start]
    head, gap, tail = text.rstrip().rpartition("\n")
    if not tail or tail.lstrip().startswith(("```", "~~~")):
        return text.rstrip()
    # An ordinal is no sentence.
    marker = _MARKER.match(tail)
    lead = marker.group() if marker else tail[: len(tail) - len(tail.lstrip())]
    ended = [s for s in _sentences(tail[len(lead) :]) if _CITED_END.search(s)]
    if ended:
        return f"{head}{gap}{lead}{' '.join(ended)}"
    return head.rstrip() if head.strip() else tail.rpartition(" ")[0] or tail


def left_off(text: str) -> str:
    """Return a text with the mark that more was to follow."""
    return f"{text}\n…" if text.endswith(("```", "~~~", "|")) else f"{text} …"


def ended(text: str) -> str:
    """Return the beginning of a text that will not change any more while more is written behind it.

    Code is whole, a sentence has its end and the space after it, and nothing waits for what it introduces.
    """
    fences = list(_FENCE.finditer(text))
    if len(fences) % 2:
        text = text[: fences[-1].start()]
    elif fences and "\n" not in text[fences[-1].end() :]:
        text = text[: fences[-2].start()]
    head, gap, tail = text.rpartition("\n")
    told = _with_marks(_sentences(tail))
    # the last sentence may still get its citations, and so may the one before a line break
    kept = f"{head}{gap}{' '.join(told[:-1])}".rstrip() if len(told) > 1 else head.rstrip()
    kept = _BARE_MARKER.sub("", kept)
    while (left := statements(kept)) and (left[-1].introduces or left[-1].kind == "heading"):
        last = left[-1].text
        kept = kept[: kept.rfind(last)].rstrip() if last in kept else joined(left[:-1])
    return kept


def settled(text: str) -> str:
    """Leave out a citation or link at the end that is still being written."""
    for sign in ("[", "【", "<", "("):
        start = text.rfind(sign, max(0, len(text) - 300))
        closing = {"[": "]", "【": "】", "<": ">", "(": ")"}[sign]
        if start >= 0 and closing not in text[start:] and "\n" not in text[start:]:
            # A parenthesis matters only as a link's target or with an address inside.
            if sign == "(" and not (text[:start].endswith("]") or "://" in text[start:]):
                continue
            text = text[:start]
    if text.endswith(("]", "!")):  # a target or a definition may follow
        text = text[: max(text.rfind("["), 0)] if text.endswith("]") else text[:-1]
    last = text.rsplit(None, 1)[-1] if text.split() else ""
    if not text[-1:].isspace() and ("://" in last or last.lower().startswith(("www", "http"))):
        text = text[: len(text) - len(last)]
    return text.rstrip()


def once(told: Sequence[Statement]) -> list[Statement]:
    """Leave out what was said before in the same words, and what introduces only that."""
    said: set[str] = set()
    again: list[int] = []
    for at, one in enumerate(told):
        plain = one_line(_MARKS.sub("", one.text)).rstrip(" .:")
        if len(plain) >= 20 and plain in said:
            again.append(at)
        said.add(plain)
    return without(told, again) if again else list(told)


def attributed(told: Sequence[Statement], holders: Callable[[str], list[int]]) -> list[Statement]:
    """Put behind statements without citations the evidence that holds them; what none holds goes."""
    found: list[Statement] = []
    gone: set[int] = set()
    for at, one in enumerate(told):
        if one.kind in ("heading", "rule") or one.introduces:
            found.append(one)
            continue
        numbers = holders(one.text)
        if not numbers:
            gone.add(at)
        mark = f"[{numbers[0]}]" if numbers else ""
        found.append(one if one.kind in ("code", "table") else replace(one, text=marked(one.text, mark)))
    kept = without(found, gone)
    return kept if any(_MARKS.search(one.text) for one in kept) else []


def marked(text: str, mark: str) -> str:
    """Put a citation behind the first line of a statement, before the point at its end."""
    if not mark:
        return text
    line, gap, rest = text.partition("\n")
    line = line.rstrip()
    end = line[-1:] if line[-1:] in ".!?:。！？：" else ""
    return f"{line.removesuffix(end)} {mark}{end}{gap}{rest}"
