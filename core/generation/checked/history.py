"""When something came or went, as an answer tells it and as its evidence does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from core.generation.checked.material import QUOTED, Block, Material
from core.generation.checked.raw import says_lack
from core.text.words import cut_at_word, last_of, query_terms, sentences

_IS_GONE = re.compile(
    r"\b(?:was|were|is|are|been|got)\s(?:\w+ly\s)?(?:removed|dropped|gone)\b|\b(?:wurden?|ist|sind)\b[^.]{0,60}\bentfernt\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\b(?:since|as\sof|from|ab|seit)\s(?:\w+\s)?v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_CAN = re.compile(
    r"\b(?:possible|available|supported|added|introduced|exists?|new|möglich|verfügbar|unterstützt|eingeführt|neu)\b",
    re.IGNORECASE,
)
"""What says of a thing that it came with a release."""
_DATED = re.compile(
    r"(?<!not )\b(?:(added|introduced|new)|removed|dropped|deprecated|renamed|replaced)"
    r"\s(?:in|since|with|as\sof)\s(?:\w+\s){0,2}?v?(\d+(?:\.\d+)*)\b",
    re.IGNORECASE,
)
_OF_RELEASE = re.compile(
    r"\d\.\d|\bv\d|\b(?:version|release)\s\d|\b(?:in|since)\s(?-i:[A-Z])\w*\s\d", re.IGNORECASE
)
"""What tells a release from another number: "in 2.0", "in Python 3", not "with 4 spaces"."""
_COMES = re.compile(
    r"\b(?:adds?|added|new|now|introduc\w+|supports?|supported|available|renam\w+)\b", re.IGNORECASE
)
_ADDED = re.compile(
    rf"{_COMES.pattern}|\b(?:appeared|came|allows?|exposes?|implement(?:s|ed)|permits?|provides?"
    r"|since\s(?:\w+\s)?v?\d+)\b",
    re.IGNORECASE,
)
"""What tells it of a thing whose name and version stand beside it."""
_MENDED = re.compile(r"\bfix", re.IGNORECASE)
_BROUGHT = re.compile(r"\b(?:adds?|added|introduc\w+)\b", re.IGNORECASE)
_GOES = re.compile(r"\b(?:remov|drop)", re.IGNORECASE)
_ENDS = re.compile(
    r"\b(?:remov|drop|delet|deprecat|renam|replac|obsolete|gone|no\slonger|now\scalled)", re.IGNORECASE
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_LATER = re.compile(r"\b(?:will|to|going\sto)\sbe\s(?:removed|dropped)", re.IGNORECASE)


def wrong_history(
    prose: str, names: Sequence[str], terms: Collection[str], material: Material
) -> Iterator[str]:
    """Check what a sentence with these names and terms says of versions, and that something is gone."""
    for name in names if _IS_GONE.search(prose) else ():
        if later := _goes_later(name, material):
            yield f"The evidence says of `{name}` only what will be: {later}"
    for version in {*_SINCE.findall(prose)} if _CAN.search(prose) else ():
        if not _came_in(version, terms, material):
            yield f"The evidence does not say that this came with {version}."
    for found in _DATED.finditer(prose) if not says_lack(prose) else ():
        if _OF_RELEASE.search(found[0]) and not _happened(
            _ADDED if found[1] else _ENDS, found[2], names, material
        ):
            yield f"The evidence does not say: {found[0]}."


def _goes_later(name: str, material: Material) -> str:
    """Return what says that something will be removed, where nothing says that it was; "" otherwise."""
    whole, last = ([block for block in material.blocks if one in _words_of(block)] for one in _forms(name))
    told = [block.text for block in whole or last if _GOES.search(block.text)]
    if not told or any(not _LATER.search(one) or _GOES.search(_LATER.sub("", one)) for one in told):
        return ""
    said = [one for one in sentences(told[0]) if _LATER.search(one)]
    return cut_at_word((said or told)[0].lstrip("-* "), QUOTED)


def _came_in(version: str, terms: Collection[str], material: Material) -> bool:
    """Return True if a version is asked about, or something of it is new, or most of `terms` is of it."""
    is_known = version in {*material.known, *(source.release for source in material.sources)}
    under = [block.text for block in material.blocks if version in block.under]
    told = (*under, *(block.text for block in material.blocks if version in block.words))
    alike = (2 * len({*terms} & {*query_terms(text)}) >= len(terms) > 0 for text in under)
    return is_known or any(map(_COMES.search, told)) or any(alike)


def _happened(event: re.Pattern[str], version: str, names: Sequence[str], material: Material) -> bool:
    """Return True if a block tells of such an event in a version, of one of the names where there are any.

    Its heading may tell of it, and a line over its list: "Removed". Of several releases one may lack what
    another has: then it came or went between them.
    """
    wanted = {form for name in names for form in _forms(name)}
    every = (pair for source in material.sources for pair in _led(source.blocks))
    told = (_words_of(block) for block, lead in every if _tells(event, block.text, lead))
    held = (words for words in told if not wanted or wanted & words)
    releases = {source.release for source in material.sources if source.release}
    return len(releases) > 1 or any(f"{word}.".startswith(f"{version}.") for words in held for word in words)


def _tells(event: re.Pattern[str], text: str, lead: str) -> bool:
    """Return True if a block tells of an event; what is mended, and works now, was there before."""
    if event is _ADDED and _MENDED.search(f"{lead} {text}"):
        return _BROUGHT.search(text) is not None
    return event.search(f"{lead} {text}") is not None


def _led(blocks: Sequence[Block]) -> Iterator[tuple[Block, str]]:
    """Yield blocks, each with what stands over it: the words of its headings, and what leads to its list."""
    over = ""
    for block in blocks:
        over = over if _ITEM.match(block.text) else block.text if block.text.endswith(":") else ""
        yield block, " ".join((over, *block.under))


def _forms(name: str) -> tuple[str, str]:
    return name.lower(), last_of(name).lower()


def _words_of(block: Block) -> frozenset[str]:
    return block.words | block.under
