"""`threadlore evaluate --followups`: measure how well follow-ups are completed, on public conversations."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application


async def followups(app: Application, request: dict[str, Any], send: Send) -> None:
    """Measure the conversations in `followups` (absolute paths) and write a report to the folder `report`."""
    from evaluation.followups.data import read_conversations
    from evaluation.followups.measure import (  # numpy-heavy, and only this command needs it
        COLLECTION,
        measure,
        write,
    )

    encoder = await app.corpus_manager.encoders.current()
    model = app.engine.model
    if model is not None and not (health := await model.health()).ready:
        await send({"note": f"{health.problem} Only the rules are measured."})
        model = None
    results: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    for path in request["followups"]:
        conversations = await asyncio.to_thread(read_conversations, Path(path))
        try:
            result, lines = await measure(
                conversations, encoder, app.words, request.get("half") or "all", model
            )
        finally:
            await app.words.drop(COLLECTION)
        results.append({"encoder": encoder.name, "model": model.name if model else "", **result})
        told += lines
        await send({"line": f"{conversations.name}: {_line(result)}"})
    report = Path(request["report"])
    await asyncio.to_thread(write, report, results, told)
    await send({"line": f"The report is in {report}."})
    await send({"code": 0})


def _line(result: dict[str, Any]) -> str:
    forms = result["follow-ups"]["forms"]
    figures = ", ".join(f"{name} {row['agreed@3']:.3f}" for name, row in forms.items())
    return f"{result['follow-ups']['n']} follow-ups, agreed@3: {figures}"
