"""`glossary list`: the product's own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application

_NONE = (
    "There is no glossary. `threadlore glossary propose` writes one from the documentation; name its file as "
    '`glossary = "glossary.toml"` in [product].'
)


async def run(app: Application, given: Given) -> Result:
    """Return the words that questions and pages may use for one another, by word."""
    words = app.engine.product.glossary
    return Result(words, notes=() if words or given.get("json") else (_NONE,))


def text(result: Result) -> Sequence[str]:
    """Say them, a line a word."""
    return [f"{word}: {', '.join(others)}" for word, others in result.data.items()]


COMMAND = Command(
    "glossary list",
    "look",
    "list acronyms and synonyms that questions and pages may use for one another",
    run,
    text,
    who="owner",
    where="terminal",
    rank=61,
)
