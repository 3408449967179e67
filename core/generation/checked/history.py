"""What an answer tells of when something came or went, against what its evidence tells."""

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
_COMES = re.compile(
    r"\b(?:adds?|added|new|now|introduc\w+|supports?|supported|available|renam\w+)\b", re.IGNORECASE
)
_GOES = re.compile(r"\b(?:remov|drop)", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:remov|drop|delet|deprecat|renam|replac|obsolete|gone|no\slonger)", re.IGNORECASE)
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
        if not _happened(_COMES if found[1] else _ENDS, found[2], names, material):
            yield f"The evidence does not say: {found[0]}."


def _goes_later(name: str, material: Material) -> str:
    """Return what says that something will be removed, where nothing says that it was; "" otherwise."""
    whole, last = ([block for block in material.blocks if one in _words(block)] for one in _forms(name))
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

    Of several releases one may lack what another has: then it came or went between them.
    """
    wanted = {form for name in names for form in _forms(name)}
    told = (_words(block) for block in material.blocks if event.search(block.text))
    held = (words for words in told if not wanted or wanted & words)
    releases = {source.release for source in material.sources if source.release}
    return len(releases) > 1 or any(f"{word}.".startswith(f"{version}.") for words in held for word in words)


def _forms(name: str) -> tuple[str, str]:
    return name.lower(), last_of(name).lower()


def _words(block: Block) -> frozenset[str]:
    return block.words | block.under
