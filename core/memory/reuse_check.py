"""Ask the model whether one answer serves both questions, where that is configured (*ours*)."""

from __future__ import annotations

from core import prompts
from core.errors import ModelMalformed
from core.ports import LanguageModel, Prompt

LONGEST = 1500
"""Characters of each question that are shown."""
_TOKENS = 120


async def same_question(model: LanguageModel, asked: str, remembered: str) -> bool:
    """Return True if the answer to one question answers the other; raises the ModelErrors."""
    system, user = prompts.same(asked[:LONGEST], remembered[:LONGEST])
    output = await model.structured(
        (Prompt("system", system), Prompt("user", user)), prompts.SAME_SCHEMA, max_tokens=_TOKENS
    )
    if not isinstance(output.get("same"), bool):
        raise ModelMalformed("The model did not say whether two questions are the same; try another model.")
    return bool(output["same"])
