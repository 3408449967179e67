"""References beside the pages: calculations, and what the model knows (Hybrid CRAG, sections 4.3 and 4.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core import prompts
from core.errors import UsageError
from core.generation.calculator import calculate
from core.generation.checked.raw import says_unknown
from core.ports import LanguageModel, Prompt
from core.text.words import one_line

SAMPLES = 5
"""Expressions of one question at most (the paper samples five)."""
OUTPUT_TOKENS = 200


async def calculated(model: LanguageModel, question: str, texts: Sequence[str]) -> list[str]:
    """Have the model write expressions, and work them out; return each as `expression = result`.

    What is no arithmetic is left out. Raises the ModelErrors.
    """
    system, user = prompts.expressions(question, room_for(model, texts))
    output = await _structured(model, system, user, prompts.EXPRESSIONS_SCHEMA)
    told = output.get("expressions")
    found: list[str] = []
    for expression in told[:SAMPLES] if isinstance(told, list) else ():
        if not isinstance(expression, str) or not re.search(r"[-+*/%^×÷(]", expression):
            continue  # a number alone is no calculation
        try:
            found.append(f"{one_line(expression)} = {calculate(expression)}")
        except UsageError:
            continue
    return list(dict.fromkeys(found))


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
