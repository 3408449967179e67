"""Context reduction by the model (QAMR step 3): it names what to keep, in as few calls as fit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from core import prompts
from core.domain import Evidence
from core.errors import ModelMalformed, ModelRefused
from core.generation.context.by_rule import SHORT, laid_out, shorten
from core.generation.quotes.blocks import Block, split
from core.generation.quotes.titles import headings
from core.ports import LanguageModel, Prompt
from core.text.words import one_line, sentences

_T = TypeVar("_T")
OUTPUT_TOKENS = 400
"""Room for two sentences of reasoning and the labels of 50 units."""
_TEMPLATE_TOKENS = 32
_UNIT_TOKENS = 12
"""What the tags of one unit take."""
_LONG = 700
"""Characters from which a paragraph is offered in groups of sentences."""
_GROUP = 3
"""Sentences a group (Hybrid CRAG 4.1)."""
_LIST = 400
"""Characters up to which neighbouring list items are one unit."""
_LABEL = re.compile(r"\W*(\d{1,4})(?:\s*[-–]\s*(\d{1,4}))?\W*")


def batches(sizes: Sequence[int], room: int) -> list[range]:
    """Cut a sequence to runs whose sizes together stay within `room`; a larger one stands alone."""
    found: list[range] = []
    start = used = 0
    for at, size in enumerate(sizes):
        if at > start and used + size > room:
            found.append(range(start, at))
            start, used = at, 0
        used += size
    return [*found, range(start, len(sizes))] if sizes else []


async def together(calls: Sequence[Awaitable[_T]]) -> list[_T]:
    """Await calls at once, results in order; the first that fails ends the others and is raised."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


@dataclass(frozen=True, slots=True)
class _Passage:
    item: Evidence
    title: str
    units: tuple[str, ...]
    tokens: int


async def reduce(
    model: LanguageModel,
    question: str,
    product: str,
    releases: Sequence[str],
    evidence: Sequence[Evidence],
    short: int = SHORT,
) -> dict[int, str]:
    """Keep of each chunk what the model says bears on the question: number → text, empty ones left out.

    The texts are the chunks' own, unit by unit, so that no value can change; of a page of up to `short`
    characters all is kept where anything is. Chunks that do not fit the
    model's context together are asked about in several calls at once. Raises the ModelErrors.
    """
    about = prompts.releases_of(product, releases)
    system, user = prompts.reduce(about, question, [])
    count = model.count_tokens
    room = model.context_tokens - OUTPUT_TOKENS - _TEMPLATE_TOKENS - count(system) - count(user)
    if room < 2 * _UNIT_TOKENS:
        raise ModelRefused(f"A context of {model.context_tokens} tokens is too small to reduce anything.")
    passages = _passages(evidence, room, count)
    runs = batches([passage.tokens for passage in passages], room)
    named = await together([_asked(model, about, question, [passages[at] for at in run]) for run in runs])
    keep = set().union(*named) if named else set()
    laid = laid_out(evidence)
    texts = {
        passage.item.number: _joined(
            unit for place, unit in enumerate(passage.units) if (passage.item.number, place) in keep
        )
        for passage in passages
    }
    for item in evidence:
        # what a small model leaves out of a short section is often the line that defines the option
        if texts.get(item.number) and len(item.chunk.page) <= short:
            own = laid[item.number].own
            rest = [unit for unit in texts[item.number].split("\n\n") if one_line(unit) not in one_line(own)]
            texts[item.number] = "\n\n".join([own, *rest])
    return {number: text for number, text in texts.items() if text}


def _passages(evidence: Sequence[Evidence], room: int, count: Callable[[str], int]) -> list[_Passage]:
    """Cut chunks to units; what an earlier chunk has already (chunks overlap) is not offered again."""
    found: list[_Passage] = []
    offered: set[str] = set()
    laid = laid_out(evidence)
    for item in (item for item in evidence if item.number in laid):
        title = headings(item.chunk.title, item.chunk.heading, whole=True)
        units = [unit for unit in cut(laid[item.number].whole) if one_line(unit) not in offered]
        tokens = _tokens(title, units, count)
        if tokens > room:
            text = "\n\n".join(units)
            share = (room - 2 * _UNIT_TOKENS - count(title)) / tokens
            units = cut(shorten(text, item.matched, int(count(text) * share), count))
            while units and _tokens(title, units, count) > room:
                units.pop()
        offered.update(map(one_line, units))
        if units:
            found.append(_Passage(item, title, tuple(units), _tokens(title, units, count)))
    return found


def _tokens(title: str, units: Sequence[str], count: Callable[[str], int]) -> int:
    return count(title) + 2 * _UNIT_TOKENS + sum(count(unit) + _UNIT_TOKENS for unit in units)


async def _asked(
    model: LanguageModel, about: str, question: str, passages: Sequence[_Passage]
) -> set[tuple[int, int]]:
    """Return the (chunk number, place of the unit) that the model names."""
    places = [(p.item.number, place) for p in passages for place in range(len(p.units))]
    label = {place: number for number, place in enumerate(places, start=1)}
    told = [
        (p.item.number, p.title, [(label[p.item.number, at], unit) for at, unit in enumerate(p.units)])
        for p in passages
    ]
    system, user = prompts.reduce(about, question, told)
    output = await model.structured(
        (Prompt("system", system), Prompt("user", user)), prompts.REDUCE_SCHEMA, max_tokens=OUTPUT_TOKENS
    )
    return {places[number - 1] for number in _labels(output, len(places))}


def _labels(output: dict[str, Any], units: int) -> set[int]:
    """Read labels, 12 or "12" or the range "12-15"; raises ModelMalformed where none of them exists."""
    labels = output.get("keep")
    if not isinstance(labels, list):
        raise ModelMalformed("The model named no units.")
    found: set[int] = set()
    for match in (_LABEL.fullmatch(str(label)) for label in labels):
        if match is not None:
            found |= {n for n in range(int(match[1]), int(match[2] or match[1]) + 1) if 1 <= n <= units}
    if labels and not found:
        raise ModelMalformed("The model named units that do not exist.")
    return found


# --- units ------------------------------------------------------------------------------------------


def cut(text: str) -> list[str]:
    """Cut Markdown to the units that are kept or left out as a whole, each exactly as it stands.

    A heading goes with what it heads, a sentence that introduces code, a table or a list with that;
    long paragraphs are cut to groups of sentences, short list items stay together.
    """
    units: list[str] = []
    lead: list[str] = []
    blocks = [block for block in split(text) if block.kind != "rule"]
    for at, block in enumerate(blocks):
        following = blocks[at + 1] if at + 1 < len(blocks) else None
        if following and (block.kind == "heading" or _leads(block, following)):
            lead.append(block.text)
            continue
        for piece in _pieces(block):
            if block.kind == "item" and not lead and units and _goes_on(blocks, at, units[-1], piece):
                units[-1] += f"\n{piece}"
            else:
                units.append("\n\n".join([*lead, piece]))
            lead = []
    return units


def _leads(block: Block, following: Block) -> bool:
    if block.kind not in ("paragraph", "item"):
        return False
    return following.kind == "code" or (block.introduces and following.kind in ("item", "table", "quote"))


def _goes_on(blocks: Sequence[Block], at: int, unit: str, piece: str) -> bool:
    return at > 0 and blocks[at - 1].kind == "item" and len(unit) + len(piece) < _LIST


def _pieces(block: Block) -> list[str]:
    if block.kind != "paragraph" or len(block.text) <= _LONG:
        return [block.text]
    told = sentences(one_line(block.text))
    return [" ".join(told[start : start + _GROUP]) for start in range(0, len(told), _GROUP)]


def _joined(units: Iterable[str]) -> str:
    return "\n\n".join(units)
