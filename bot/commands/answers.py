"""Questions of the command line and of files, and what is known of an answer, as JSON holds it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.rendering.answers import WRONG, compose
from core.domain import Answer, Question, Scope, Trace, Turn, own_pair, sources
from core.errors import ThreadloreError, UsageError
from core.ports.opinions import Correction
from core.query.language import detect
from core.text.words import storable

log = logging.getLogger(__name__)


def json_text(value: Any, indent: int | None = None) -> str:
    """Write JSON that can be encoded, whatever an `id` holds."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace").decode()


async def answer_batch(app: Application, request: dict[str, Any], send: Send) -> None:
    """Answer the lines of a file, each with its answer or its error."""
    failed = count = 0
    for number, line in enumerate(request["lines"], start=1):
        if not line.strip():
            continue
        count += 1
        key: Any = number
        try:
            entry = _read(line, number)
            if not isinstance(entry, dict):
                raise UsageError("the line is not a JSON object")
            key = entry.get("id", number)
            question = await question_of(app, entry)
            answer = await with_evidence(app, question, await app.engine.answer(question))
            out = {"id": key, "answer_id": answer.id} | shown(answer) | await pair_id_of(app, answer)
        except ThreadloreError as error:
            out = {"id": key, "error": str(error)}
        except Exception as error:  # the other lines go on, whatever is wrong with this one
            log.info("line %d of a batch failed", number, exc_info=True)
            out = {"id": key, "error": f"line {number} could not be answered: {error!r}"}
        failed += "error" in out
        await send({"line": json_text(out)})
    if failed:
        await send({"note": f"{failed} of {count} lines failed; their `error` says why."})
    await send({"code": 1 if failed else 0})


def _read(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(f"line {number} is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"line {number} is not JSON that can be read: too deep or too long") from None


async def question_of(app: Application, entry: Mapping[str, Any]) -> Question:
    """Return a question as an entry has it; raises UsageError that says what is wrong with it."""
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
        why=entry.get("why") is True,
    )


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
            for citation in sources(answer.citations)
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
        "pair_id": _remembered(answer),
        "similarity": round(answer.similarity, 4),
        "timings_ms": answer.timings_ms,
    }


async def with_evidence(app: Application, question: Question, answer: Answer) -> Answer:
    """Show what documents hold beside a reused answer, which needed none; scripts rely on `retrieved`."""
    if answer.route != "reuse":
        return answer
    release = "" if "+" in answer.release else answer.release
    alone = Question(answer.queries.base, question.asker, question.channel, question.scope, (), release)
    asked = await app.research.understand(alone)  # stands alone: no model is asked
    return replace(answer, evidence=(await app.research.search(asked)).evidence)


async def pair_id_of(app: Application, answer: Answer) -> dict[str, str]:
    """Name the pair that an answer repeats by the id it was imported under, where there is one."""
    return {"pair_id": await app.memory.named(_remembered(answer))}


def _remembered(answer: Answer) -> str:
    """Return the pair that an answer reuses, or quotes as something like it; votes on it count for that."""
    return "" if answer.pair_id == own_pair(answer.id) else answer.pair_id


async def again(app: Application, request: dict[str, Any], send: Send) -> None:
    """Answer the question of an answer once more, for another release."""
    answer_id, release = request["answer_id"], request["release"]
    known = [entry.name for entry in app.engine.product.releases]
    if release not in known:
        raise UsageError(f"There is no release {release!r}; there is: {', '.join(known)}.")
    text = await app.engine.answer_log.question(answer_id, release)
    if not text:
        raise UsageError(f"There is no answer {answer_id}.")
    spoken = await app.engine.answer_log.language_of(answer_id)
    user = request["user"]
    authors = tuple(sorted(await app.engine.answer_log.authors(answer_id) - {user}))
    before = await app.engine.answer_log.release_of(answer_id)
    question = Question(text, user, release=release, language=spoken, authors=authors, after=before)
    answer = await app.engine.answer(question)
    line = compose(answer, app.engine.product.name).markdown + f"\n\n(answer {answer.id})"
    await send({"line": line, "answer_id": answer.id, "release": answer.release, "text": answer.text})
    await send({"code": 0})


async def wrong(app: Application, request: dict[str, Any], send: Send) -> None:
    """Keep what somebody found wrong with an answer; a helper's better one is remembered."""
    user, what, better = request["user"], request["what"], str(request.get("better") or "").strip()
    if what not in WRONG:
        raise UsageError(f"'{what}' is not a kind of mistake; choose one of: {', '.join(WRONG)}.")
    said = Correction(request["answer_id"], user, user, what, better, time.time())
    try:
        kept = await app.engine.accepted.correct(said, app.engine.helps(user), "")
    except KeyError:
        raise UsageError(f"There is no answer {request['answer_id']}.") from None
    told = "Remembered: the next person who asks this gets your answer." if kept.pair_id else "Noted."
    await send({"line": told})
    await send({"code": 0})
