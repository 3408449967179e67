"""Triplets (head, relation, tail) of what is read, as sentences beside it (GraphContextGen, section 4.3).

By rule from definition lists, tables and option references; by the model, and by REBEL where one is set, from
the context itself. Only those are kept whose two ends stand in the context.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core import prompts
from core.generation.references import room_for
from core.ports import LanguageModel, Prompt, RelationExtractor
from core.text.words import one_line, windows

MOST = 20
"""Triplets that are added to a context at most; ours, about 400 tokens."""
LONGEST = 120
"""Characters of an end; what is longer is a text of its own, and not an entity."""
OUTPUT_TOKENS = 500
"""Room for twenty triplets of the model."""
_TERM = r"`(?P<code>[^`\n]{1,80})`|\*\*(?P<bold>[^*\n]{1,80})\*\*"
_DEFINITION = re.compile(rf"^[-*] (?:{_TERM})(?:: | – | — )(?P<says>\S[^\n]*)$", re.MULTILINE)
_OPTION = re.compile(
    r"^(?:[-*] )?(?P<relation>default|type|requires|alias|environment variable)s?: (?P<tail>\S[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_SIGNATURE = re.compile(r"[(\[:= ].*", re.DOTALL)
_MARKS = re.compile(r"[`*]|\\(?=\|)")
_FENCED = re.compile(r"^(```|~~~).*?(?:^\1.*?$|\Z)", re.MULTILINE | re.DOTALL)
_TAG = re.compile(r"(<triplet>|<subj>|<obj>)")
_TURN = re.compile(r"</?s>|<pad>|<unk>")


class Triplet(NamedTuple):
    """Something, how it stands to something else, and that."""

    head: str
    relation: str
    tail: str

    @property
    def sentence(self) -> str:
        """Return it as a sentence: head, relation and tail in this order."""
        return f"{self.head} {self.relation} {self.tail.rstrip('.')}."


def by_rule(markdown: str, heading: str = "") -> list[Triplet]:
    """Read the triplets that a page's own structure states; `heading` names what its options belong to."""
    found = [
        _triplet(match["code"] or match["bold"], "is", match["says"])
        for match in _DEFINITION.finditer(markdown)
    ]
    subject = _SIGNATURE.sub("", plain(heading.rpartition(" > ")[2]))
    if subject:
        found += [
            _triplet(subject, f"has the {match['relation'].lower()}", match["tail"])
            for match in _OPTION.finditer(markdown)
        ]
    found += _of_tables(markdown)
    return list(dict.fromkeys(one for one in found if _is_whole(one)))


async def by_model(model: LanguageModel, texts: Sequence[str]) -> list[Triplet]:
    """Have the model read the triplets of texts; raises the ModelErrors."""
    system, user = prompts.triplets(room_for(model, texts))
    output = await model.structured(
        (Prompt("system", system), Prompt("user", user)), prompts.TRIPLETS_SCHEMA, max_tokens=OUTPUT_TOKENS
    )
    told = output.get("triplets")
    found = []
    for entry in told if isinstance(told, list) else ():
        ends = [entry.get(name) for name in ("head", "relation", "tail")] if isinstance(entry, dict) else []
        if len(ends) == 3 and all(isinstance(end, str) for end in ends):
            found.append(_triplet(*map(str, ends)))
    return list(dict.fromkeys(one for one in found if _is_whole(one)))


async def by_seq2seq(extractor: RelationExtractor, texts: Sequence[str]) -> list[Triplet]:
    """Have a seq2seq model such as REBEL read the triplets of the prose of texts."""
    prose = ["\n".join(map(plain, windows(_FENCED.sub("", text)))) for text in texts]
    written = await extractor.linearized(prose)
    return list(dict.fromkeys(one for text in written for one in parsed(text)))


def parsed(linearized: str) -> list[Triplet]:
    """Read the triplets of `<triplet> head <subj> tail <obj> relation`, twenty at most.

    A head may have several tails. What lacks a part, comes out of turn or is too long is left out.
    """
    parts = [plain(part) for part in _TAG.split(_TURN.sub(" ", linearized))]
    head = tail = ""
    found: list[Triplet] = []
    for tag, text in zip(parts[1::2], parts[2::2], strict=True):
        if tag == "<triplet>":
            head, tail = text, ""
        elif tag == "<subj>":
            tail = text
        else:
            found.append(Triplet(head, text, tail))
            tail = ""
    return list(dict.fromkeys(one for one in found if _is_whole(one)))[:MOST]


def within(triplets: Iterable[Triplet], context: str) -> list[Triplet]:
    """Return the triplets with both ends in a context, in whatever case and spacing; twenty at most."""
    said = plain(context).casefold()
    kept = [one for one in triplets if _stands(one.head, said) and _stands(one.tail, said)]
    return list(dict.fromkeys(kept))[:MOST]


def named(triplets: Iterable[Triplet], question: str) -> list[str]:
    """Return the ends of triplets that a question names, each once."""
    said = plain(question).casefold()
    ends = dict.fromkeys(end for one in triplets for end in (one.head, one.tail))
    return [end for end in ends if _stands(end, said)]


def _stands(end: str, said: str) -> bool:
    """Return True if an end stands in a text as words of its own."""
    wanted, at = end.casefold(), -1
    while (at := said.find(wanted, at + 1)) >= 0:
        around = said[at - 1 : at] + said[at + len(wanted) : at + len(wanted) + 1]
        if not any(sign.isalnum() or sign == "_" for sign in around):
            return True
    return False


def _of_tables(markdown: str) -> list[Triplet]:
    """Read tables: what a row is about, the column, and what stands there."""
    found: list[Triplet] = []
    header: list[str] = []
    for line in markdown.split("\n"):
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:].removesuffix("|"))]
        if not header:
            header = cells
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            for name, cell in zip(header[1:], cells[1:], strict=False):
                found.append(_triplet(cells[0], f"has the {name}" if name else "is", cell))
    return found


def _triplet(head: str, relation: str, tail: str) -> Triplet:
    return Triplet(*(plain(part) for part in (head, relation, tail)))


def plain(text: str) -> str:
    """Return a text in one line, without marks of code and emphasis."""
    return one_line(_MARKS.sub("", text))


def _is_whole(one: Triplet) -> bool:
    return all(0 < len(part) <= LONGEST for part in one) and one.head.casefold() != one.tail.casefold()
