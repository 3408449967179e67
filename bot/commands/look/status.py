"""`status`: how releases, memory and model are, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Result

if TYPE_CHECKING:
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Return how everything is."""
    return Result(await status_of(app))


def text(result: Result) -> Sequence[str]:
    """Say it, problems last."""
    from bot.rendering.status import status_text

    return [status_text(result.data)]


async def status_of(app: Application) -> dict[str, Any]:
    """Return the library's status with the model's."""
    from bot.rendering.sources import with_next
    from bot.rendering.status import at_time
    from core.community.channels import EVERYWHERE

    status = await app.corpus_manager.status()
    status["sources"] = with_next(status["sources"], app.schedules)
    if app.warning:
        status["problems"].append(app.warning)
    if app.searcher.problem:
        status["problems"].append(app.searcher.problem)
    status["problems"] += [f"{name} has ended: {why}" for name, why in app.ended.items()]
    if doubt := await app.retention.doubt():
        status["problems"].append(doubt.text)
    status["ranking"] = app.searcher.ranking.told
    status["pauses"] = [asdict(pause) for pause in await app.pauses.running()]
    status["modes"] = [asdict(given) for given in await app.modes.given()]
    if everywhere := await app.pauses.of(EVERYWHERE):
        until = f"until {at_time(everywhere.until)}" if everywhere.until else "until further notice"
        why_ = f": {everywhere.why}" if everywhere.why else ""
        status["problems"].append(f"No new questions are answered {until}{why_}; `resume` ends that.")
    thresholds = app.memory.thresholds
    status["memory"] |= {"min_voters": thresholds.min_voters, "limit": thresholds.limit}
    model = app.engine.model
    if model is not None:
        health = await model.health()
        status["model"] = {
            "name": model.name,
            "ready": health.ready,
            "version": health.version,
            "keeps_schema": health.keeps_schema,
        }
        if not health.ready:
            status["problems"].append(f"{health.problem} Until then answers quote the documentation.")
    return status


COMMAND = Command(
    "status",
    "look",
    "how releases, memory and model are",
    run,
    text,
    rank=10,
    further="also pauses, modes, and what is wrong",
)
