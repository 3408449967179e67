"""References beside the pages: calculations, and what the model knows (Hybrid CRAG, sections 4.3 and 4.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from core import prompts
from core.errors import ModelError, UsageError
from core.generation.calculator import calculate
from core.generation.checked.raw import says_unknown
from core.ports import LanguageModel, Prompt
from core.text.words import one_line

SAMPLES = 5
"""Samples of a question at most, and expressions (the paper's `expression_sample_num`, appendix D.2)."""
TEMPERATURE = 0.7
"""At which samples differ where the model is in doubt; ours."""
OUTPUT_TOKENS = 200


async def calculated(model: LanguageModel, question: str, texts: Sequence[str]) -> list[str]:
    """Have the model write expressions, and work them out; return each as `expression = result`.

    The first of at most five samples is structured output at temperature 0, the others differ where the model
    is in doubt; one that adds nothing or fails is the last, and what is no arithmetic is left out. Raises the
    ModelErrors of the first.
    """
    system, user = prompts.expressions(question, room_for(model, texts))
    found: dict[str, None] = {}
    for sample in range(SAMPLES):
        if sample:
            output = await _sampled(model, system, user)
        else:
            output = await _structured(model, system, user, prompts.EXPRESSIONS_SCHEMA)
        new = [one for one in _worked_out(output) if one not in found]
        if not new:
            break
        found.update(dict.fromkeys(new))
    return list(found)[:SAMPLES]


def _worked_out(output: Mapping[str, object]) -> Iterator[str]:
    told = output.get("expressions")
    for expression in told[:SAMPLES] if isinstance(told, list) else ():
        if not isinstance(expression, str) or not re.search(r"[-+*/%^×÷(]", expression):
            continue  # a number alone is no calculation
        with suppress(UsageError):
            yield f"{one_line(expression)} = {calculate(expression)}"


async def _sampled(model: LanguageModel, system: str, user: str) -> dict[str, object]:
    """Return the first JSON object of one more sample; {} where there is none, or the model fails.

    A list alone is taken for the expressions: some models leave the rest out.
    """
    asked = (Prompt("system", system), Prompt("user", user))
    pieces = model.stream(asked, temperature=TEMPERATURE, max_tokens=OUTPUT_TOKENS)
    try:
        text = "".join([piece async for piece in pieces])
        begins = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=0)
        found, _end = json.JSONDecoder().raw_decode(text, begins)
    except (ModelError, ValueError, RecursionError):
        return {}
    if isinstance(found, list):
        return {"expressions": found}
    return found if isinstance(found, dict) else {}


def room_for(model: LanguageModel, texts: Sequence[str]) -> list[str]:
    """Return as many of the texts, from the first, as half of the model's context holds."""
    left, kept = model.context_tokens // 2, list[str]()
    for text in texts:
        left -= model.count_tokens(text)
        if left < 0:
            break
        kept.append(text)
    return kept


async def known(model: LanguageModel, question: str, product: str) -> str:
    """Return what the model answers without documents, "" where it does not know; raises the ModelErrors."""
    system, user = prompts.knowledge(question, product)
    answer = (await _structured(model, system, user, prompts.KNOWLEDGE_SCHEMA)).get("answer")
    text = one_line(answer) if isinstance(answer, str) else ""
    return "" if says_unknown(text) else text


async def _structured(
    model: LanguageModel, system: str, user: str, schema: dict[str, object]
) -> dict[str, object]:
    asked = (Prompt("system", system), Prompt("user", user))
    return await model.structured(asked, schema, max_tokens=OUTPUT_TOKENS)
