"""How things are: `status`, `releases`, `sources`, `tickets` that are open, `audit`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from bot.commands.command import Command, Given, Option, Result

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
    from core.community.overrides import EVERYWHERE
    from core.recipes import lacking
    from core.text.times import minute_of

    status = await app.corpus_manager.status()
    status["sources"] = with_next(status["sources"], app.schedules)
    if app.warning:
        status["problems"].append(app.warning)
    if lacks := lacking(app.settings.recipe, app.searcher):
        status["problems"].append(lacks)
    if app.searcher.problem:
        status["problems"].append(app.searcher.problem)
    status["problems"] += [f"{name} has ended: {why}" for name, why in app.ended.items()]
    if doubt := await app.retention.doubt():
        status["problems"].append(doubt.text)
    status["ranking"] = app.searcher.ranking.told
    status["pauses"] = [asdict(pause) for pause in await app.pauses.running()]
    status["modes"] = [asdict(given) for given in await app.modes.given()]
    if everywhere := await app.pauses.of(EVERYWHERE):
        until = f"until {minute_of(everywhere.until)} UTC" if everywhere.until else "until further notice"
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
            "chosen": bool(
                app.settings.llm or app.settings.model_fields_set & {"model_server", "ollama_host"}
            ),
            "version": health.version,
            "keeps_schema": health.keeps_schema,
            "servers": [asdict(server) for server in health.servers],
        }
        if not health.ready:
            status["problems"].append(f"{health.problem} Until then answers quote the documentation.")
    return status


COMMAND = Command(
    "status",
    "look",
    "show the state of releases, memory and model",
    run,
    text,
    rank=10,
    further="also pauses, modes, and what is wrong",
)


async def list_releases(app: Application, given: Given) -> Result:
    """Return every release with the size of its corpus."""
    return Result(await app.corpus_manager.releases())


def releases_said(result: Result) -> Sequence[str]:
    """List them, newest first."""
    from bot.rendering.status import releases_text

    return [releases_text(result.data)]


RELEASES = Command(
    "releases",
    "look",
    "list the releases",
    list_releases,
    releases_said,
    who="everybody",
    where="chat",
    rank=11,
)


async def list_tickets(app: Application, given: Given) -> Result:
    """Return what people were asked and have not resolved, each with who may hear it now."""
    waiting = list(await app.escalations.waiting())
    for number, ticket in enumerate(waiting):
        with suppress(KeyError):  # its channel may have become private
            asked = await app.engine.answer_log.asked_by(ticket.answer_id)
            waiting[number] = replace(ticket, scope=asked.scope)
    return Result(waiting)


def tickets_text(result: Result) -> Sequence[str]:
    """List them with how long they wait."""
    from bot.escalation.texts import listed

    return [listed(result.data, time.time())]


TICKETS = Command(
    "tickets",
    "look",
    "list open questions that were passed to a person",
    list_tickets,
    tickets_text,
    where="chat",
    rank=15,
)


IN_CHAT, AT_TERMINAL = 20, 50
"""Acts that are shown unless a number is named."""


async def latest_acts(app: Application, given: Given) -> Result:
    """Return the latest acts."""
    number = int(given.get("number") or (IN_CHAT if given.is_chat else AT_TERMINAL))
    return Result(await app.audit.acts(number))


def acts_text(result: Result) -> Sequence[str]:
    """List them, the latest first."""
    from bot.operations.audit import audit_text

    return [audit_text(result.data)]


_LINES = "How many lines, {} when left out"
AUDIT = Command(
    "audit",
    "look",
    "list who ran which command, where, and the result",
    latest_acts,
    acts_text,
    (
        Option(
            "number",
            _LINES.format(IN_CHAT),
            kind="number",
            where="chat",
            most=200,
            called="The number of lines",
        ),
        Option("number", _LINES.format(AT_TERMINAL), kind="number", where="terminal"),
    ),
    rank=23,
)
