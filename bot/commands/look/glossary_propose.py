"""`glossary propose`: acronyms that the documentation defines, for a person to review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
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


COMMAND = Command(
    "glossary propose",
    "look",
    "print acronyms that the documentation defines, as TOML for the glossary, to be reviewed",
    run,
    options=(Option("release", "Only from this release", dashed=True),),
    who="owner",
    where="terminal",
    rank=62,
)
