"""How the documentation may put the answer to a question, as the model guesses it, to be searched for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
_CONTENTS = 1_500
"""Characters of titles that the model is told; ours."""
_TITLE = 80
"""Characters of one of them; ours."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A passage such as the documentation may have, and the names and terms that it may use."""

    passage: str
    terms: tuple[str, ...]


async def guess(
    model: LanguageModel,
    question: str,
    product: str,
    releases: Sequence[str],
    contents: Iterable[str] = (),
    lacking: str = "",
    language: str = "English",
) -> Guess:
    """Have the model say how the documentation may answer; empty for another subject.

    `contents` are titles of its pages, the most telling first: of them as many are told as there is room for.
    Its pages are in that `language`. `lacking` is what an answer says that they lack, where the rest of it is
    answered.
    Raises the ModelErrors.
    """
    system, user = prompts.guess(
        prompts.releases_of(product, releases), question, _fitting(contents), lacking, language
    )
    output = await model.structured(
        [Prompt("system", system), Prompt("user", user)], prompts.GUESS_SCHEMA, max_tokens=OUTPUT_TOKENS
    )
    passage = shortened(one_line(str(output.get("passage", ""))), _LONGEST)
    terms = [one_line(term) for term in output.get("terms", ()) if isinstance(term, str) and term.strip()]
    found = tuple(dict.fromkeys(terms))[:_MOST]
    return Guess(passage or " ".join(found), found or tuple(filter(None, (passage,))))


def _fitting(titles: Iterable[str]) -> list[str]:
    """Return titles, each once and not too long, until there is no room for one more."""
    told: dict[str, None] = {}
    room = _CONTENTS
    for title in titles:
        short = shortened(one_line(title), _TITLE)
        if not short or short in told:
            continue
        room -= len(short) + 3
        if room < 0:
            break
        told[short] = None
    return list(told)
