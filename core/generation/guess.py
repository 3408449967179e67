"""How the documentation may put the answer to a question, as the model guesses it, to be searched for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core import prompts
from core.ports import LanguageModel, Prompt
from core.text.words import one_line, shortened

OUTPUT_TOKENS = 220
"""Room for three sentences and six terms."""
_LONGEST = 700
"""Characters of a passage; ours."""
_MOST = 6
"""Terms; ours."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A passage such as the documentation may have, and the names and terms that it may use."""

    passage: str
    terms: tuple[str, ...]


async def guess(model: LanguageModel, question: str, product: str, releases: Sequence[str]) -> Guess:
    """Have the model say how the documentation may answer; empty for another subject.

    Raises the ModelErrors.
    """
    system, user = prompts.guess(prompts.releases_of(product, releases), question)
    output = await model.structured(
        [Prompt("system", system), Prompt("user", user)], prompts.GUESS_SCHEMA, max_tokens=OUTPUT_TOKENS
    )
    passage = shortened(one_line(str(output.get("passage", ""))), _LONGEST)
    terms = [one_line(term) for term in output.get("terms", ()) if isinstance(term, str) and term.strip()]
    found = tuple(dict.fromkeys(terms))[:_MOST]
    return Guess(passage or " ".join(found), found or tuple(filter(None, (passage,))))
