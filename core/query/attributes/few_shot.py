"""Whether the answer to a question changes soon, by the model: few-shot, five samples, the majority.

The paper's other form (Hybrid CRAG, section 4.2), for encoders that the SVM's weights are not for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

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


class Votes(NamedTuple):
    """How many samples say each, and how many say neither."""

    static: int = 0
    dynamic: int = 0
    neither: int = 0

    @property
    def said(self) -> bool | None:
        """Return whether most that say something say dynamic; None where no sample says either."""
        return self.dynamic > self.static if self.static or self.dynamic else None


async def votes(model: LanguageModel, question: str) -> Votes:
    """Return what five samples say, which stop as soon as three agree. Raises the ModelErrors."""
    system, user = prompts.attribute(question, shots())
    asked = (Prompt("system", system), Prompt("user", user))
    told = {"static": 0, "dynamic": 0, "neither": 0}
    for _ in range(SAMPLES):
        pieces = model.stream(asked, temperature=TEMPERATURE, max_tokens=OUTPUT_TOKENS)
        found = _LABEL.search("".join([piece async for piece in pieces]))
        told[found[1].lower() if found else "neither"] += 1
        if max(told["static"], told["dynamic"]) > SAMPLES // 2:
            break
    return Votes(**told)


async def is_dynamic(model: LanguageModel, question: str) -> bool:
    """Return what most samples say; static where as many say either.

    Raises the ModelErrors, ModelMalformed where no sample says either.
    """
    said = (await votes(model, question)).said
    if said is None:
        raise ModelMalformed("The model said neither static nor dynamic.")
    return said


async def are_dynamic(model: LanguageModel, questions: Sequence[str]) -> list[bool]:
    """Return the same of several questions, asked one after the other."""
    return [await is_dynamic(model, question) for question in questions]


@cache
def shots() -> tuple[tuple[str, str], ...]:
    """Return the labelled questions that are shown, from all over the list, both kinds in turns."""
    kept = tomllib.loads(QUESTIONS.read_text("utf-8"))
    spread = {kind: questions[:: len(questions) // SHOTS][:SHOTS] for kind, questions in kept.items()}
    return tuple((questions[at], kind) for at in range(SHOTS) for kind, questions in spread.items())
