"""Whether the answer to a question changes soon, by the model: few-shot, five samples, the majority.

The paper's other form (Hybrid CRAG, section 4.2), for encoders that the SVM's weights are not for.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

from core import prompts
from core.errors import ModelMalformed
from core.ports import LanguageModel, Prompt
from core.query.attributes import QUESTIONS

SAMPLES = 5
TEMPERATURE = 0.7
"""At which samples differ where the model is in doubt; ours."""
SHOTS = 5
"""Labelled questions of each kind that are shown; ours."""
OUTPUT_TOKENS = 16
_LABEL = re.compile(r"\b(static|dynamic)\b", re.IGNORECASE)


async def is_dynamic(model: LanguageModel, question: str) -> bool:
    """Return what most of five samples say, which stop as soon as three agree.

    Raises the ModelErrors, ModelMalformed where no sample says either.
    """
    system, user = prompts.attribute(question, _shots())
    asked = (Prompt("system", system), Prompt("user", user))
    votes = {"static": 0, "dynamic": 0}
    for _ in range(SAMPLES):
        pieces = model.stream(asked, temperature=TEMPERATURE, max_tokens=OUTPUT_TOKENS)
        if found := _LABEL.search("".join([piece async for piece in pieces])):
            votes[found[1].lower()] += 1
        if max(votes.values()) > SAMPLES // 2:
            break
    if not any(votes.values()):
        raise ModelMalformed("The model said neither static nor dynamic.")
    return votes["dynamic"] > votes["static"]


@cache
def _shots() -> tuple[tuple[str, str], ...]:
    """Return labelled questions from all over the list, both kinds in turns."""
    kept = tomllib.loads(QUESTIONS.read_text("utf-8"))
    spread = {kind: questions[:: len(questions) // SHOTS][:SHOTS] for kind, questions in kept.items()}
    return tuple((questions[at], kind) for at in range(SHOTS) for kind, questions in spread.items())
