"""The commands behind the command line, carried out in whichever process owns the home.

Each takes a request (a dictionary that travels over the socket) and streams `line`, `note`,
`progress` and at last `code` messages.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, replace
from importlib import import_module
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.commands.gaps import gaps
from bot.commands.glossary import glossary
from bot.commands.index import index
from bot.commands.memory import memory
from bot.commands.pregenerate import pregenerate
from bot.commands.privacy import privacy
from bot.commands.serving import audit, serving
from bot.commands.verify import verify
from bot.commands.why import why
from bot.conversation.pausing import at_time
from bot.interactions.answer_buttons import again, wrong
from bot.operations.audit import Audit, audited
from bot.rendering.answers import compose
from bot.rendering.sources import sources, with_next
from bot.rendering.status import status_text
from core.community.channels import EVERYWHERE
from core.domain import Answer, Question, Scope, Trace, Turn, Vote
from core.errors import ThreadloreError, UsageError
from core.query.language.detect import detect
from core.text.words import storable

log = logging.getLogger(__name__)


async def handle(app: Application, request: dict[str, Any], send: Send) -> None:
    """Carry out a request, and write down what changes something; raises ThreadloreError."""
    await audited(Audit(app.audit), request, lambda: _carry_out(app, request, send))


async def _carry_out(app: Application, request: dict[str, Any], send: Send) -> None:
    match request.get("command"):
        case "ask":
            await _ask(app, request, send)
        case "batch":
            await _batch(app, request, send)
        case "vote":
            await _vote(app, request, send)
        case "again":
            await again(app, request, send)
        case "wrong":
            await wrong(app, request, send)
        case "index":
            await index(app, request, send)
        case "status":
            await _status(app, request, send)
        case "why":
            await why(app, request, send)
        case "forget":
            await send({"line": (await app.people.forget(request["user"])).text})
            await send({"code": 0})
        case "my-data" | "opt-out" | "opt-in" | "retention":
            await privacy(app, request, send)
        case "memory":
            await memory(app, request, send)
        case "sources":
            await sources(app, request, send)
        case "pause" | "resume" | "mode":
            await serving(app, request, send)
        case "audit":
            await audit(app, request, send)
        case "glossary":
            await glossary(app, request, send)
        case "pregenerate":
            await pregenerate(app, request, send)
        case "gaps":
            await gaps(app, request, send)
        case "evaluate" | "tune":  # loaded now, for nothing that serves needs it
            await import_module("evaluation.commands").carry_out(app, request, send)
        case "verify":
            await verify(app, request, send)
        case other:
            raise UsageError(f"There is no command '{other}'; `threadlore --help` lists them.")


async def _ask(app: Application, request: dict[str, Any], send: Send) -> None:
    question = await _question(app, request)
    answer = await app.engine.answer(question)
    if request.get("json"):
        answer = await _with_evidence(app, question, answer)
        line = _json(shown(answer) | await _pair_id(app, answer) | {"answer_id": answer.id})
    else:
        line = compose(answer, app.engine.product.name).markdown + f"\n\n(answer {answer.id})"
    await send({"line": line, "answer_id": answer.id, "release": answer.release, "text": answer.text})
    await send({"code": 0})


async def _batch(app: Application, request: dict[str, Any], send: Send) -> None:
    failed = count = 0
    for number, line in enumerate(request["lines"], start=1):
        if not line.strip():
            continue
        count += 1
        key: Any = number
        try:
            entry = _read(line, number)
            if not isinstance(entry, dict):
                raise UsageError("the line is no JSON object")
            key = entry.get("id", number)
            question = await _question(app, entry)
            answer = await _with_evidence(app, question, await app.engine.answer(question))
            out = {"id": key, "answer_id": answer.id} | shown(answer) | await _pair_id(app, answer)
        except ThreadloreError as error:
            out = {"id": key, "error": str(error)}
        except Exception as error:  # the other lines go on, whatever is wrong with this one
            log.info("line %d of a batch failed", number, exc_info=True)
            out = {"id": key, "error": f"line {number} could not be answered: {error!r}"}
        failed += "error" in out
        await send({"line": _json(out)})
    if failed:
        await send({"note": f"{failed} of {count} lines failed; their `error` says why."})
    await send({"code": 1 if failed else 0})


def _read(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(f"line {number} is no JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"line {number} is no JSON that can be read: too deep or too long") from None


async def _question(app: Application, entry: dict[str, Any]) -> Question:
    text = entry.get("question")
    text = storable(text).strip() if isinstance(text, str) else ""
    if not text:
        raise UsageError('"question" is missing or empty; write the question as text')
    release = entry.get("release") or ""
    if not isinstance(release, str):
        raise UsageError('"release" must be text, such as "2.3"')
    history = entry.get("history") or []
    if not isinstance(history, list) or not all(
        isinstance(t, dict) and t.get("role") in ("user", "assistant") and isinstance(t.get("text"), str)
        for t in history
    ):
        raise UsageError('"history" must be a list of {"role": "user" or "assistant", "text": …}')
    user = str(entry.get("user") or "cli")
    turns = tuple(
        Turn(t["role"], storable(t["text"]), user if t["role"] == "user" else "", str(t.get("release") or ""))
        for t in history
    )
    return Question(
        text,
        user,
        str(entry.get("channel") or ""),
        Scope.parse(str(entry.get("scope") or "")),
        turns,
        release,
        language=await detect(text),
    )


def _json(value: dict[str, Any]) -> str:
    """Write JSON that can be encoded, whatever an `id` holds."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def shown(answer: Answer) -> dict[str, Any]:
    """Return an answer as the command line writes it.

    `matched` are the search chunks that led to a context chunk, `ranks` where each retriever had it.
    """
    trace = Trace.of(answer.trace)
    ranks = {number: page.ranks for number, page in enumerate(trace.evidence, start=1)}
    return {
        "answer": answer.text,
        "route": answer.route,
        "release": answer.release,
        "citations": [
            {key: value for key, value in asdict(citation).items() if key != "hash"}
            for citation in answer.citations
        ],
        "offers": list(answer.offers),
        "retrieved": [
            {
                "rank": rank,
                "path": item.chunk.path,
                "title": item.chunk.title,
                "heading": item.chunk.heading,
                "url": item.chunk.url,
                "release": item.chunk.release,
                "score": round(item.score, 4),
                "text": item.chunk.text,
                "matched": list(item.matched),
                "ranks": ranks.get(item.number, {}),
            }
            for rank, item in enumerate(answer.evidence, start=1)
        ],
        "queries": {
            "base": answer.queries.base,
            "filtered": answer.queries.filtered,
            "versionless": answer.queries.versionless,
        },
        "parts": list(answer.queries.parts) if len(answer.queries.parts) > 1 else [],
        "steps": trace.steps,
        "confidence": round(answer.confidence, 4),
        "pair_id": answer.pair_id if answer.route == "reuse" else "",
        "similarity": round(answer.similarity, 4),
        "timings_ms": answer.timings_ms,
    }


async def _with_evidence(app: Application, question: Question, answer: Answer) -> Answer:
    """Show what documents hold beside a reused answer, which needed none; scripts rely on `retrieved`."""
    if answer.route != "reuse":
        return answer
    release = "" if "+" in answer.release else answer.release
    alone = Question(answer.queries.base, question.asker, question.channel, question.scope, (), release)
    asked = await app.research.understand(alone)  # stands alone: no model is asked
    return replace(answer, evidence=(await app.research.search(asked)).evidence)


async def _pair_id(app: Application, answer: Answer) -> dict[str, str]:
    """Name a reused pair by the id it was imported under, where there is one."""
    return {"pair_id": await app.memory.named(answer.pair_id) if answer.route == "reuse" else ""}


async def _vote(app: Application, request: dict[str, Any], send: Send) -> None:
    values: dict[str, Any] = {"up": 1, "down": 0, "none": None}
    vote = Vote(request["answer_id"], request["user"], values[request["vote"]])
    if app.privacy.is_out(vote.voter):
        raise UsageError(f"{vote.voter} has opted out, so no votes of theirs are kept.")
    if not await app.engine.feedback(vote):
        raise UsageError(
            f"There is no answer {request['answer_id']}; `threadlore ask --json` prints answer_id."
        )
    await send({"line": f"Counted: {request['vote']} by {request['user']} on {request['answer_id']}."})
    await send({"code": 0})


async def _status(app: Application, request: dict[str, Any], send: Send) -> None:
    status = await status_of(app)
    line = _json(status) if request.get("json") else status_text(status)
    await send({"line": line})
    await send({"code": 0})


async def status_of(app: Application) -> dict[str, Any]:
    """Return the library's status with the model's."""
    status = await app.library.status()
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
        status["model"] = {"name": model.name, "ready": health.ready, "version": health.version}
        if not health.ready:
            status["problems"].append(f"{health.problem} Until then answers quote the documentation.")
    return status
