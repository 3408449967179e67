"""Context selection by the model (QAMR step 4, after RankRAG): one call ranks all chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from core import prompts
from core.domain import Evidence
from core.errors import ModelMalformed, ModelRefused
from core.generation.context.by_rule import KEPT, shorten
from core.generation.context.reduction import batches, together
from core.generation.quotes.titles import headings
from core.ports import LanguageModel, Prompt

OUTPUT_TOKENS = 200
"""Room for two sentences of reasoning and twenty numbers."""
_TEMPLATE_TOKENS = 32
_FRAME_TOKENS = 24
"""What the tags of one passage take, its number included."""
_LEAST_TOKENS = 60
"""Below this a passage cannot be judged."""

_Told = tuple[int, str, str]


async def select(
    model: LanguageModel,
    question: str,
    product: str,
    releases: Sequence[str],
    evidence: Sequence[Evidence],
    texts: Mapping[int, str] | None = None,
    keep: int = KEPT,
) -> tuple[Evidence, ...]:
    """Choose up to `keep` chunks that help most, best first, as the model ranks them.

    `texts` is what reduction left; chunks without a text are not chosen. Where all of them are kept
    anyway, nobody is asked. What does not fit the model's context is ranked in several calls at once,
    whose rankings are taken in turns. Raises the ModelErrors.
    """
    left = [item for item in evidence if texts is None or texts.get(item.number)]
    if len(left) <= keep:
        return tuple(left)
    about = prompts.releases_of(product, releases)
    system, user = prompts.select(about, question, [])
    count = model.count_tokens
    room = model.context_tokens - OUTPUT_TOKENS - _TEMPLATE_TOKENS - count(system) - count(user)
    if room < _FRAME_TOKENS + _LEAST_TOKENS:
        raise ModelRefused(f"A context of {model.context_tokens} tokens is too small to rank anything.")
    told = [
        _told(item, item.chunk.text if texts is None else texts[item.number], room, count) for item in left
    ]
    sizes = [count(title) + count(text) + _FRAME_TOKENS for _, title, text in told]
    rankings = await together(
        [_asked(model, about, question, [told[at] for at in run]) for run in batches(sizes, room)]
    )
    order = [number for turn in zip_longest(*rankings) for number in turn if number is not None]
    by_number = {item.number: item for item in left}
    return tuple(by_number[number] for number in order[:keep])


def _told(item: Evidence, text: str, room: int, count: Callable[[str], int]) -> _Told:
    title = headings(item.chunk.title, item.chunk.heading, whole=True)
    return item.number, title, shorten(text, item.matched, room - count(title) - _FRAME_TOKENS, count)


async def _asked(model: LanguageModel, about: str, question: str, told: Sequence[_Told]) -> list[int]:
    system, user = prompts.select(about, question, told)
    output = await model.structured(
        (Prompt("system", system), Prompt("user", user)), prompts.SELECT_SCHEMA, max_tokens=OUTPUT_TOKENS
    )
    return _ranking(output, {number for number, _, _ in told})


def _ranking(output: dict[str, Any], known: set[int]) -> list[int]:
    """Read a ranking; raises ModelMalformed where it ranks only what does not exist."""
    ranking = output.get("ranking")
    if not isinstance(ranking, list):
        raise ModelMalformed("The model ranked nothing.")
    found = list(dict.fromkeys(n for n in ranking if isinstance(n, int) and n in known))
    if ranking and not found:
        raise ModelMalformed("The model ranked passages that do not exist.")
    return found
