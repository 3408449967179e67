"""`threadlore glossary`: list the product's own words, and propose new ones from its documentation."""

from __future__ import annotations

import json
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from core.errors import UsageError
from core.query.glossary import propose, toml
from core.query.releases.resolve import lookup

_NONE = (
    "There is no glossary. `threadlore glossary propose` writes one from the documentation; name its file as "
    '`glossary = "glossary.toml"` in [product].'
)


async def glossary(app: Application, request: dict[str, Any], send: Send) -> None:
    """Carry out one action on the glossary; raises ThreadloreError."""
    match request.get("action"):
        case "list":
            await _list(app, request, send)
        case "propose":
            await _propose(app, request, send)
        case other:
            raise UsageError(f"There is no action '{other}'; `threadlore glossary --help` lists them.")


async def _list(app: Application, request: dict[str, Any], send: Send) -> None:
    words = app.engine.product.glossary
    if request.get("json"):
        await send({"line": json.dumps(words, ensure_ascii=False)})
    else:
        for word, others in words.items():
            await send({"line": f"{word}: {', '.join(others)}"})
        if not words:
            await send({"note": _NONE})
    await send({"code": 0})


async def _propose(app: Application, request: dict[str, Any], send: Send) -> None:
    """Print what the documentation defines as TOML, newest release first, for a person to review."""
    product = app.engine.product
    releases = [
        release.name for release in reversed(product.releases) if release.name in app.research.corpora
    ]
    if given := request.get("release"):
        name = lookup(given, product)
        if name not in releases:
            there = ", ".join(releases) or "none"
            raise UsageError(f"There is no indexed release '{given}'; there is: {there}.")
        releases = [name]
    pages: dict[str, str] = {}
    for release in releases:
        rows = await app.corpora.rows(release)
        chunks = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
        for chunk in chunks.values():
            # what several releases say alike is shown once, from the newest
            pages.setdefault(chunk.page, chunk.url or chunk.path)
    found = toml(propose(pages.items()), product.glossary)
    if found:
        await send({"line": found})
    else:
        await send({"note": f"{len(pages)} passages define no acronym that the glossary lacks."})
    await send({"code": 0})
