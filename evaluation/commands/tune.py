"""`threadlore tune`: learn the ranking from labelled questions, or go back to the shipped one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from core.errors import UsageError
from core.retrieval.rescoring import DEFAULT_RANKING
from core.retrieval.tuned import FILE, save_ranking


async def tune(app: Application, request: dict[str, Any], send: Send) -> None:
    """Tune on `gold`, an absolute path, and use what was learnt at once; `reset` forgets it."""
    path = app.settings.home / FILE
    if request.get("reset"):
        if request.get("gold"):
            raise UsageError("--reset goes without a file: threadlore tune --reset")
        await asyncio.to_thread(path.unlink, missing_ok=True)
        app.searcher.ranking, app.searcher.problem = DEFAULT_RANKING, ""
        await send({"line": "The shipped ranking is used."})
        await send({"code": 0})
        return
    if not request.get("gold"):
        raise UsageError("Name a file of labelled questions: threadlore tune GOLD.jsonl")
    from evaluation.harness import check  # numpy-heavy, and only these commands need it
    from evaluation.tuning.learn import tune as learn

    told: asyncio.Queue[str | None] = asyncio.Queue()

    async def pass_on() -> None:
        while (line := await told.get()) is not None:
            await send({"line": line})

    passing = asyncio.create_task(pass_on())
    gold = Path(request["gold"])
    try:
        await check(app.research, gold)
        tuned = await learn(app.research, app.searcher, gold, told.put_nowait)
    finally:
        told.put_nowait(None)
        await passing
    for line in tuned.told:
        await send({"line": line[:1].upper() + line[1:] + "."})
    if tuned.ranking is None:
        await send({"line": "Nothing is changed."})
    else:
        encoder = (await app.corpus_manager.encoders.current()).name
        await asyncio.to_thread(save_ranking, path, tuned.ranking, encoder)
        app.searcher.ranking, app.searcher.problem = tuned.ranking, ""
        await send({"line": "It is used from now on; `threadlore tune --reset` goes back."})
    await send({"code": 0})
