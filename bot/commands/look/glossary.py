"""`glossary list`: the product's own words; `glossary propose`: acronyms of the documentation, for review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Given, Option, Result, at_terminal

if TYPE_CHECKING:
    from bot.operations.application import Application


_NONE = (
    "There is no glossary. `threadlore glossary propose` prints one made of the documentation; save it, and "
    'name its file as `glossary = "glossary.toml"` in [product].'
)


async def list_words(app: Application, given: Given) -> Result:
    """Return the words that questions and pages may use for one another, by word."""
    words = app.engine.product.glossary
    return Result(words, notes=() if words or given.get("json") else (_NONE,))


def words_text(result: Result) -> Sequence[str]:
    """Say them, a line a word."""
    return [f"{word}: {', '.join(others)}" for word, others in result.data.items()]


LIST = at_terminal(
    "glossary list",
    "look",
    "list acronyms and synonyms that questions and pages may use for one another",
    list_words,
    words_text,
    rank=61,
)


async def proposed(app: Application, given: Given) -> Result:
    """Return what the documentation defines as TOML, newest release first. Raises UsageError."""
    from core.errors import UsageError
    from core.query.forms import propose, toml
    from core.query.releases.resolve import lookup

    product = app.engine.product
    releases = [
        release.name for release in reversed(product.releases) if release.name in app.research.corpora
    ]
    if wanted := given.get("release"):
        name = lookup(wanted, product)
        if name not in releases:
            there = ", ".join(releases) or "none"
            raise UsageError(f"There is no indexed release '{wanted}'; there is: {there}.")
        releases = [name]
    pages: dict[str, str] = {}
    for release in releases:
        rows = await app.corpora.rows(release)
        chunks = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
        for chunk in chunks.values():
            # what several releases say alike is shown once, from the newest
            pages.setdefault(chunk.page, chunk.url or chunk.path)
    if found := toml(propose(pages.items()), product.glossary):
        return Result(found)
    return Result(notes=(f"{len(pages)} passages define no acronym that the glossary lacks.",))


PROPOSE = at_terminal(
    "glossary propose",
    "look",
    "print the acronyms that the documentation defines, as TOML to review",
    proposed,
    options=(Option("release", "Only from this release", dashed=True),),
    rank=62,
)
