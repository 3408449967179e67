"""`why`: what led to an answer, with what only an admin sees, on the command line and on the platforms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.interactions.visibility import heard
from bot.rendering.pairs import named, standing
from core.domain import RecalledTrace, Trace
from core.errors import UsageError
from core.memory.community import CommunityMemory

NEAR = 3
"""Similar pairs of each store that are told."""


async def why(app: Application, request: dict[str, Any], send: Send) -> None:
    """Explain an answer in plain words, with how the pair behind it stands today."""
    try:
        found = await app.engine.given.why(request["answer_id"])
    except KeyError:
        raise UsageError(f"There is no answer {request['answer_id']}.") from None
    lines = [f"“{found['question']}”", *found["sentences"], *await for_admins(app.memory, found, request)]
    await send({"line": "\n".join(lines)})
    await send({"code": 0})


async def for_admins(
    memory: CommunityMemory, found: Mapping[str, Any], request: Mapping[str, Any]
) -> list[str]:
    """Say what only admins see of an answer (as `GivenAnswers.why` returns it), line by line."""
    trace = Trace.of(found["trace"])
    queries = trace.queries
    lines = []
    pair = await memory.find(found["pair_id"]) if found["pair_id"] else None
    if pair is not None:
        which = "The remembered answer" if found["route"] == "reuse" else "This answer"
        near = f", with similarity {found['similarity']:.2f}" if found["route"] == "reuse" else ""
        lines.append(f"{which} is pair {named(pair)}{near}. Today {standing(memory, pair)}.")
    forms = {name: getattr(queries, name) for name in ("base", "filtered", "versionless", "topic")}
    told = ", ".join(f"{name} “{value}”" for name, value in forms.items() if value)
    lines += [f"Searched with: {told}"] if told else []
    lines += [f"In parts: {' · '.join(queries.parts)}"] if len(queries.parts) > 1 else []
    recalled = trace.recalled or RecalledTrace()
    for pairs, word in ((recalled.high, "good"), (recalled.low, "bad")):
        for pair_near in pairs[:NEAR]:
            other = await memory.find(pair_near.pair)
            said = heard(request, other.scope, pair_near.question) if other else pair_near.question
            lines.append(
                f"Near {word} pair {pair_near.pair}: similarity {pair_near.similarity:.2f}, "
                f"score {pair_near.score:.2f}, “{said}”"
            )
    if by := trace.written:
        lines.append(f"Model {by.model}, prompts {by.prompts}, temperature {by.temperature}")
    if trace.steps:
        taken = trace.steps.items()
        lines.append("Steps of the model: " + ", ".join(f"{name} {value}" for name, value in taken))
    if timings := trace.timings:
        lines.append("Milliseconds: " + ", ".join(f"{step} {spent:.0f}" for step, spent in timings.items()))
    elif trace.ms is not None:
        lines.append(f"Milliseconds: {trace.ms:.0f}")
    return lines
