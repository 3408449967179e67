"""`threadlore evaluate --promoted`: would what people voted good be answered the same today?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.privacy.exports import note
from core.text.words import one_line


async def promoted_command(app: Application, request: dict[str, Any], send: Send) -> None:
    """Replay the high store without changing memory; code 1 where an answer would be another one.

    What people wrote or brought is left out: documents would never say it in their words.
    """
    from evaluation.answers.promoted import replay, write

    stores = await app.memory.placed()
    kept = {pair_id for pair_id, (store, is_kept) in stores.items() if store == "high" and is_kept}
    promoted = [pair for pair in await app.memory.everything() if pair.id in kept]
    pairs = [pair for pair in promoted if pair.origin == "answer"]
    if people := len(promoted) - len(pairs):
        await send({"note": f"{people} answers that people wrote or brought are not asked again."})
    encoder = await app.corpus_manager.encoders.current()
    replayed = []
    async for item in replay(pairs, app.engine.draft, encoder):
        replayed.append(item)
        if item.changes:
            await send({"line": f"{item.pair_id}  {item.release}  {one_line(item.question)}"})
            for change in item.changes:
                await send({"line": f"  {change}"})
    changed = sum(1 for item in replayed if item.changes)
    await send({"line": f"{changed} of {len(replayed)} promoted answers would now be other ones."})
    if folder := request.get("report"):
        model = app.engine.model
        settings = {"model": model.name if model else "none", "encoder": encoder.name}
        write(Path(folder), replayed, settings)
        for name in ("promoted.json", "promoted.md"):
            note(app.settings.home, Path(folder) / name, [item.pair_id for item in replayed])
        await send({"line": f"The report is in {folder}."})
    await send({"code": 1 if changed else 0})
