"""`threadlore evaluate`: measure retrieval and answers on labelled questions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.privacy.exports import note
from core.pipeline.research import Research
from core.pipeline.resources import ModelBudget


async def evaluate(app: Application, request: dict[str, Any], send: Send) -> None:
    """Run the harness on `gold` and write its report to the folder `report`, both absolute paths."""
    from evaluation import harness, recipes

    research, model = app.research, app.engine.model
    if model is not None and not (health := await model.health()).ready:
        research = Research(replace(research.parts, model=None, budget=ModelBudget()))
        await send({"note": f"{health.problem} Answers quote the documentation."})
    if names := request.get("recipe"):
        rows = await recipes.compare(research, Path(request["gold"]), names, request.get("half") or "all")
        await asyncio.to_thread(recipes.write, Path(request["report"]), rows)
        await send({"line": recipes.table(rows)})
        await send({"line": f"The report is in {request['report']}."})
        await send({"code": 0})
        return
    options = harness.Options(
        half=request.get("half") or "all",
        names=tuple(request.get("only") or ()),
        answers=not request.get("no_answers"),
        judged=tuple(request.get("judge") or ()),
        recipe=app.settings.recipe,
    )
    told: asyncio.Queue[str | None] = asyncio.Queue()

    async def pass_on() -> None:
        while (line := await told.get()) is not None:
            await send({"line": line})

    passing = asyncio.create_task(pass_on())
    try:
        await harness.evaluate(
            research, Path(request["gold"]), Path(request["report"]), options, told.put_nowait
        )
    finally:
        told.put_nowait(None)
        await passing
    # answers quote what people said in channels that are sources
    note(app.settings.home, Path(request["report"]) / "questions.jsonl")
    await send({"line": f"The report is in {request['report']}."})
    await send({"code": 0})
