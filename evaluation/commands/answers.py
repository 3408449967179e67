"""`threadlore evaluate --answers`: do answers hold what they must, whole and with their code?"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.privacy.exports import note
from core.ports import CorpusStore
from evaluation.gold import Half


async def answers(app: Application, request: dict[str, Any], send: Send) -> None:
    """Ask the questions of `answers` (an absolute path) about this product; raises ThreadloreError.

    With a folder `report` the answers are kept there, and the table has those of other products that were
    kept there before.
    """
    from evaluation.answers.expected import read_expected
    from evaluation.answers.scores import ask_all, detail, failures, groups, keep, table

    product = app.catalogue.product.name
    half: Half = request.get("half") or "all"
    lines = await asyncio.to_thread(read_expected, Path(request["answers"]), half, product)
    asked = ask_all(lines, app.engine.draft, partial(page_of, app.corpora))
    scored = [one async for one in asked]
    every = scored
    if folder := request.get("report"):
        every = await asyncio.to_thread(keep, Path(folder), product, scored)
        # answers quote what people said in channels that are sources
        note(app.settings.home, Path(folder) / f"answers.{product.casefold()}.jsonl")
    rows = groups(every)
    if request.get("json"):
        found = {"groups": rows, "questions": [one.plain() for one in every]}
        await send({"line": json.dumps(found, ensure_ascii=False)})
    else:
        await send({"line": table(rows)})
    if request.get("details"):
        for one in failures(scored):
            await send({"line": detail(one)})
    await send({"code": 0})


async def page_of(corpora: CorpusStore, release: str, path: str) -> str:
    """Return the text of a page of a release with its headings, empty where there is none."""
    documents = [document.id for document in await corpora.manifest(release) if document.path == path]
    rows = await corpora.rows(release, documents) if documents else ()
    ids = list(dict.fromkeys(row.context_id for row in rows))
    contexts = await corpora.contexts(ids)
    return "\n\n".join(f"# {contexts[one].heading}\n\n{contexts[one].page}" for one in ids)
