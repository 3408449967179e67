"""What a model reads of each page: its text under its heading, neighbours under theirs, nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import ContextChunk, Evidence
from core.generation.quotes.blocks import Block, last_heading, split
from core.text.words import one_line

SHORT = 600
"""Characters up to which a section is never reduced: often one line of five defines an option. Ours."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A page as it is read: its own part, and all of it with what is left of its neighbours."""

    own: str
    whole: str


def laid_out(evidence: Sequence[Evidence]) -> dict[int, Laid]:
    """Return by number what is read of each page; of pages that say the same in one release only the first.

    What another page says, or an earlier one has told, is left out of the neighbouring text.
    """
    pages: set[tuple[str, str]] = set()
    first: list[Evidence] = []
    for item in evidence:
        key = item.chunk.release, one_line(item.chunk.page)
        if key not in pages:
            first.append(item)
        pages.add(key)
    said = {_plain(block) for item in first for block in split(item.chunk.page)}
    found: dict[int, Laid] = {}
    for item in first:
        chunk = item.chunk
        before, after = _new(chunk.before, said), _new(chunk.after, said)
        own = _under_heading(chunk) if before or after else chunk.page
        found[item.number] = Laid(own, "\n\n".join(part for part in (before, own, after) if part))
    return found


def _new(text: str, said: set[str]) -> str:
    """Return the blocks of neighbouring text that nobody has said yet, and note them."""
    kept: list[str] = []
    heading = ""
    for block in split(text):
        if block.kind == "heading":
            heading = block.text
            continue
        plain = _plain(block)
        # a neighbour's text begins or ends in the middle of its page
        if plain in said or any(plain in other for other in said if len(other) > len(plain)):
            continue
        said.add(plain)
        kept += [heading, block.text] if heading else [block.text]
        heading = ""
    return "\n\n".join(kept)


def _plain(block: Block) -> str:
    """Return a block's words in one line; code without its fences, which a cut closes too early."""
    lines = block.text.split("\n")
    return one_line(" ".join(line for line in lines if not line.lstrip().startswith(("```", "~~~"))))


def _under_heading(chunk: ContextChunk) -> str:
    heading = last_heading(chunk.title, chunk.heading)
    begins = chunk.page.lstrip().startswith(("#", f"**{heading}"))
    return chunk.page if begins or not heading else f"### {heading}\n\n{chunk.page}"
