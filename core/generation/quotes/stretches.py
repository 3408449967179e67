"""What of a section can be quoted: stretches that begin and end whole, what they introduce included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.generation.quotes.blocks import Block, are_facts, entries_of, indent, requires, split
from core.generation.quotes.tables import MAX_TABLE_ROWS, rows_of
from core.text.words import STOP_WORDS, one_line, sentences

MAX_CODE_LINES = 40
_MAX_CODE = 2_400
"""Characters up to which code is quoted; ours."""
MAX_LIST = 900
"""Characters up to which a list stays with what introduces it; of a longer one each item stands alone."""
_MAX_STEPS = 1_200
"""Characters up to which numbered steps stay together, whatever stands before them; ours."""
_MAX_POINTS = 500
"""Characters up to which a list stays with the paragraph before it that does not introduce it; ours."""
_MAX_ENTRY = 1_200
"""Characters up to which an item stays with the list inside of it; ours."""
_EXAMPLE = re.compile(r"(?:for )?(?:examples?|instance):", re.IGNORECASE)
"""What introduces code and says nothing of it."""

_ENDED = re.compile(r"[.!?:。！？…][\"'”’)\]*_`]*$")
_ANNOUNCES = re.compile(
    r"(?:the (?:purpose|aim|goal) of this (?:section|page|document|chapter|guide)\b"
    r"|(?:(?:in )?this (?:section|page|document|chapter|guide|part)(?:,? we)?(?: of the documentation)?"
    r"|here,? we) (?:will |also |briefly )?(?:compares?|contains?|covers?|describes?|discuss(?:es)?"
    r"|documents?|explains?|gives?|introduces?|lists?|presents?|provides?|shows?|walks?)\b)[^.]{0,250}+\.",
    re.IGNORECASE,
)
"""A sentence that says no more than what a section is for."""
_TERM = re.compile(r"^(?:\*\*[^*\n]{0,80}[^*\n.!?:]\*\*|`[^`\n]{1,300}`|\*\*`[^`\n]{1,300}`\*\*)$")
_KEYED = re.compile(r"^[*_`]{0,3}[^\W\d_][\w -]{0,30}[*_`]{0,3}:[*_`]{0,3} \S")
"""A line like "Default: `None`", which is no sentence and whole."""
_DEFAULT = re.compile(r"[*_]{0,2}default(?: value)?s?[*_]{0,2}:[*_]{0,2} (?=.*\w).{1,100}", re.IGNORECASE)
"""So few words that they go with whatever is said of a setting. An empty `{}` tells nothing."""
_MARKED = re.compile(
    r"^[*_]{0,2}(?:added|new|changed|deprecated|removed) (?:in|since) version (\w[\w.]{0,20}\w)\b", re.I
)
_DEBRIS = re.compile(
    r"(?:^|\s)\.\. \w|\{%|\{\{#|\|\w+\||</?(?:div|span|p|a|nav|script)\b|©|^see also:?$"
    r"|^[-=~^+*#|\s]+$|^(?:table of contents|contents|on this page|previous|next|edit this|edit on"
    r"|copyright|all rights reserved|skip to|last updated|last modified|view source|toggle|(?-i:TODO))\b",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(r":[a-z]+:`|`_{1,2}(?:\W|$)")
"""Marks of reStructuredText that no parser took for any."""
_SPAN = re.compile(r"`[^`]*`")
_GOES_ON = re.compile(r"^[\"'“‘*_(\[]*[a-z]+\b(?![.(_])")
_SUBJECT = re.compile(
    r"^[a-z][a-z\d-]*[a-rt-z\d]\s(?:is|are|was|will|can|cannot|may|must|should|also|now|only|[a-z]{2,}s)\b"
)
"""A sentence that begins with a name in lower case: "pip installs …"."""
_CONNECTS = re.compile(r"^(?:and|or|but|nor|so|because|which|where|while|as well)\b")
_LEANING = re.compile(
    r"(?:it|its|this(?! following)|that|these|those|they|them|their|he|she|such|however|but|then|otherwise"
    r"|therefore|thus|also|instead|in\s+(?:this|that|these|those)|for\s+(?:this|that)|the\s+(?:latter|former|above|same|second"
    r"|other|code\s+above|example\s+above)|as\s+(?:above|such)|both|either|similarly|additionally|furthermore|so"
    r"|alternatively|now(?=,)|or\b|finally|next(?=,)|(?:let['’]?s\s+(?:now\s+)?)?run(?:ning)?\s+(?:this|it|the)"
    r"|after\s+(?:this|that)|in\s+(?:general|addition),\s+(?:however|though))\b",
    re.IGNORECASE,
)
_LEANS_WITHIN = re.compile(
    r"\b(?:of|with|by|using|for|to)\s(?:this|that|these|those)\s(?:command|option|setting|flag|tool|script|program)s?\b",
    re.IGNORECASE,
)
"""What makes a first sentence lean on what stands before it: "the `--paper` option of this command"."""
_POINTER = re.compile(
    r"(?:please\s+)?(?:see|refer\s+to|read|for\s+(?:more|further|details|information))\b"
    r"|(?:this|these|the)\s+(?:\w+\s+){0,3}(?:is|are|has|have|was|were)\s+(?:now\s+|been\s+){0,2}"
    r"(?:covered|described|documented|moved|superseded)\s+(?:by|here|in|to|under)\b",
    re.IGNORECASE,
)
"""What a paragraph begins with that only points elsewhere."""
_LABEL = re.compile(r"^[>\s]{0,8}\*\*[^*\n]{1,40}\*\*:?\s{0,4}(?=\S)")
"""A label in front of it: "**Answer:** See …"."""
_NOTE = re.compile(
    r"\*\*(?:Note|Important|Warning|Caution)\b|(?:please\s)?(?:note|keep\sin\smind|be\saware)\b"
    r"|(?:you|this|it)\s(?:also\s)?(?:must|requires?|needs?|only)\b|for\s(?:this|that|it)\sto\swork\b",
    re.IGNORECASE,
)
_SAME = 40
"""Characters by which a window is known in a stretch; ours."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Blocks of a section that are only understood together, as what introduces code and that code."""

    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """Return what it says, code too."""
        return "\n\n".join(block.text for block in self.blocks)

    @property
    def said(self) -> str:
        """Return what it says outside of blocks of code."""
        return "\n".join(block.text for block in self.blocks if block.kind != "code")

    @property
    def has_code(self) -> bool:
        """Return True if it has a block of code."""
        return any("```" in block.text or block.kind == "code" for block in self.blocks)

    @property
    def leans(self) -> bool:
        """Return True if it is only understood after what stands before it."""
        first = self.blocks[0]
        text = first.text.lstrip()
        return first.kind == "code" or (
            first.kind == "paragraph"
            and bool(
                _LEANING.match(text) or _EXAMPLE.fullmatch(text) or _leans_within(text) or _goes_on(text)
            )
        )

    @property
    def points(self) -> bool:
        """Return True if it only points elsewhere or asks."""
        first = one_line(next((b for b in self.blocks if not is_term(b)), self.blocks[0]).text)
        plain = (first.lstrip("*_> "), _LABEL.sub("", first).lstrip("*_> "))
        return any(map(_POINTER.match, plain)) or plain[0].endswith("?")

    @property
    def announces(self) -> bool:
        """Return True if it only says what the section is for, or its facts: what answers comes after it."""
        announced = len(self.blocks) == 1 and _ANNOUNCES.fullmatch(one_line(self.blocks[0].text))
        return bool(announced) or self.is_facts

    @property
    def is_facts(self) -> bool:
        """Return True for a list of lines like "Default: `true`", as the entry of a setting begins with."""
        return are_facts(self.blocks)

    @property
    def tells_default(self) -> bool:
        """Return True if it says what a setting is as long as nobody sets it, and no more."""
        return self.is_facts or _DEFAULT.fullmatch(self.text) is not None

    @property
    def stands_alone(self) -> bool:
        """Return True for an item of a list in which each says something of its own, as release notes do."""
        return self.blocks[0].kind in ("item", "row") and not self.is_facts

    @property
    def is_row(self) -> bool:
        """Return True for a row of a table that is too long to be quoted."""
        return self.blocks[0].kind == "row"

    @property
    def requires(self) -> bool:
        """Return True if it is a note on what must be so for what stands before it to hold."""
        text = one_line(self.blocks[0].text)
        return bool(_NOTE.match(text)) and requires(text)

    @property
    def within(self) -> str:
        """Return in which table or item too long to be quoted it stands; empty for what stands by itself."""
        first = self.blocks[0]
        return first.kind if self.is_row else first.lead.partition("\n")[0]

    @property
    def length(self) -> int:
        """Return the characters that it takes."""
        return sum(len(block.text) for block in self.blocks)


def stretches(section: str) -> list[Stretch]:
    """Cut a section to the stretches that are whole and readable, in order; debris is left out."""
    found: list[list[Block]] = []
    blocks = [_unquoted(block) for block in split(section)]
    for at, block in enumerate(blocks):
        if block.kind in ("heading", "rule"):
            continue
        if found and _belongs(found[-1], block, blocks, at):
            found[-1].append(block)
        else:
            found.append([block])
    whole = [Stretch(tuple(blocks)) for group in found for blocks in _parted(group)]
    return [stretch for stretch in whole if _is_readable(stretch)]


def marked(stretch: Stretch) -> str:
    """Return the version of a paragraph that begins with "Added in version 2.3"; empty for any other."""
    found = _MARKED.match(one_line(stretch.blocks[0].text))
    return found[1] if found else ""


def _unquoted(block: Block) -> Block:
    if block.kind == "code":
        return Block("code", _dedented(block.text))
    if block.kind != "quote":
        return block
    return Block("paragraph", "\n".join(re.sub(r"^\s*>\s?", "", line) for line in block.text.split("\n")))


def _leans_within(text: str) -> bool:
    found = _LEANS_WITHIN.search(text)
    return found is not None and found.end() <= len(sentences(text)[0])


def _dedented(code: str) -> str:
    lines = code.split("\n")
    return "\n".join(line[min(indent(lines[0]), indent(line)) :] for line in lines)


def _belongs(group: Sequence[Block], block: Block, blocks: Sequence[Block], at: int) -> bool:
    """Return True if a block is a part of what the stretch before it says."""
    before = blocks[at - 1]
    if before.kind in ("heading", "rule"):
        return False
    if block.kind in ("code", "table"):
        return True
    if block.kind == "item":
        return before.kind in ("item", "paragraph") or any(part.kind == "item" for part in group)
    if before.introduces or is_term(before):
        return True
    # what goes on in lower case after code or a list is the same sentence still
    return before.kind != "paragraph" and _goes_on(block.text.lstrip())


def _goes_on(text: str) -> bool:
    """Return True if a text begins within a sentence."""
    if not _GOES_ON.match(text):
        return False
    return not _SUBJECT.match(text) or text.partition(" ")[0] in STOP_WORDS


def is_term(block: Block) -> bool:
    """Return True if a paragraph is nothing but what is defined, or a caption."""
    return block.kind == "paragraph" and bool(_TERM.match(block.text.strip()))


def _parted(group: list[Block]) -> list[list[Block]]:
    """Cut a stretch whose list nothing introduces, or is too long to be quoted: its items stand alone."""
    if len(rows := rows_of(group)) > 1:
        return rows
    if are_facts(group):
        return [group]
    items = [block for block in group if block.kind == "item"]
    first = group.index(items[0]) if items else 0
    length = sum(len(item.text) for item in items)
    several = len(items) > 1 or (items and len(entries_of(items[0], _MAX_ENTRY)) > 1)
    if not several or length <= _most_of(items, group[first - 1] if first else None):
        return [group]
    lead = group[:first]
    introduced = bool(lead) and lead[-1].introduces
    if introduced:
        lead = lead[:-1]
    parts: list[list[Block]] = [lead] if lead else []
    for block in group[first:]:
        if block.kind == "item" or not parts:
            parts += [[entry] for entry in entries_of(replace(block, introduced=introduced), _MAX_ENTRY)]
        else:
            parts[-1].append(block)
    return parts


def _most_of(items: Sequence[Block], before: Block | None) -> int:
    """Return the characters up to which a list is not cut, by what stands before it."""
    if items[0].text.lstrip()[0].isdigit():
        return _MAX_STEPS
    if before and before.introduces:
        return MAX_LIST
    return _MAX_POINTS if before and _ENDED.search(one_line(before.text)) else 0


def _is_readable(stretch: Stretch) -> bool:
    """Return True if every part of a stretch is whole, and somebody wrote it to be read."""
    blocks = stretch.blocks
    if sum(len(block.text) for block in blocks if block.kind == "code") > 2 * _MAX_CODE:
        return False
    if blocks[-1].introduces or (len(blocks) == 1 and is_term(blocks[0])):
        return False
    last = len(blocks) - 1
    return all(_is_whole(block, at == last, at == 0) for at, block in enumerate(blocks))


def _is_whole(block: Block, is_last: bool, is_first: bool) -> bool:
    text = block.text.strip()
    if block.kind == "code":
        return block.text.count("\n") + 1 <= MAX_CODE_LINES + 2 and len(block.text) <= _MAX_CODE
    if block.kind == "row":
        return True
    if block.kind == "table":
        return text.count("\n") < MAX_TABLE_ROWS + 2
    if block.kind == "item":
        inner = re.sub(r"^(?:[-*+]|\d{1,3}[.)])\s+", "", text)
        return not is_debris(inner.partition("```")[0]) and not _is_link_only(inner)
    line = one_line(text)
    if is_term(block) and not is_last:
        return True
    if is_debris(line) or not _is_balanced(line) or (is_first and _CONNECTS.match(line)):
        return False
    if is_last and not (_ENDED.search(line) or _KEYED.match(line)):
        return False
    leads = (not is_last and block.introduces) or bool(_KEYED.match(line))
    return leads or len(re.findall(r"[^\W\d_]{2,}|`[^`]+`", line)) >= 2 or not line.isascii()


def is_debris(text: str) -> bool:
    """Return True for what no sentence is: marks that no parser took for any, navigation, copyright."""
    return bool(_LEFT_OVER.search(text) or _DEBRIS.search(_SPAN.sub("`code`", text)))


def _is_link_only(text: str) -> bool:
    """Return True for an entry of a table of contents: a title or a link and nothing said about it."""
    return len(re.findall(r"\w+", re.sub(r"\[([^\]]{0,300}+)\]\([^)]{0,1000}+\)", "", text))) < 1


def _is_balanced(text: str) -> bool:
    plain = _SPAN.sub("", text)
    return "`" not in plain and plain.count("(") <= plain.count(")") and plain.count("[") <= plain.count("]")


def begun(found: Sequence[Stretch], windows: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return for each window the stretches in which it begins."""
    texts = [_squeezed(stretch.text) for stretch in found]
    begins = (_squeezed(window)[:_SAME] for window in windows)
    return tuple(tuple(at for at, told in enumerate(texts) if begin in told) for begin in begins)


def _squeezed(text: str) -> str:
    return re.sub(r"[\s>]+", "", text)
