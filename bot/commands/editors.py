"""What an editor asks, carried out in the process that owns the home.

Who has the command, or a token, hears what everybody in public hears, and no more: no private pair is
recalled, and votes count on answers that were given in public.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from bot.commands.answers import json_text, question_of, shown
from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.operations.audit import DONE, Audit
from core.community.overrides import EVERYWHERE
from core.domain import Question, Scope, Vote
from core.errors import UsageError
from core.query.releases.resolve import lookup

CHANNEL = "mcp:editors"
"""Where questions from editors stand in statistics and limits: they are asked in public."""
MOST_PASSAGES = 20
PAGES = "threadlore://pages/"


async def carry_out(app: Application, request: dict[str, Any], send: Send) -> None:
    """Do what an editor asks, and send it as one line of JSON; raises UsageError for what cannot be."""
    tool = TOOLS.get(str(request.get("tool")))
    if tool is None:
        raise UsageError(f"There is no tool '{request.get('tool')}'; there are {', '.join(TOOLS)}.")
    await send({"line": json_text(await tool(app, request))})
    await send({"code": 0})


async def _question(app: Application, given: Mapping[str, Any], text: str) -> Question:
    said = str(given.get("release") or "")
    release = lookup(said, app.engine.product)
    if said and release not in app.engine.ready:
        raise UsageError(
            f"There is no release '{said}' that answers now; there are {', '.join(app.engine.ready)}."
        )
    asked = {"question": text, "release": release, "user": given["person"], "channel": CHANNEL}
    return await question_of(app, asked)


async def _ask(app: Application, given: Mapping[str, Any]) -> dict[str, Any]:
    if await app.pauses.of(EVERYWHERE) is not None:
        raise UsageError("Questions are paused; the bot's admins can resume them.")
    question = await _question(app, given, str(given.get("question") or ""))
    answer = await app.engine.answer(question)
    known = shown(answer)
    return {
        "answer": answer.text,
        "release": answer.release,
        "route": answer.route,
        "confidence": known["confidence"],
        "sources": [
            {key: cited[key] for key in ("number", "title", "url", "release")} for cited in known["citations"]
        ],
        "answer_id": answer.id,
    }


async def _search(app: Application, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    most = int(given.get("k") or 5)
    if not 1 <= most <= MOST_PASSAGES:
        raise UsageError(f"k is how many passages to return, 1 to {MOST_PASSAGES}.")
    question = await _question(app, given, str(given.get("query") or ""))
    found = await app.research.search(await app.research.understand(question, by_rules=True))
    return [
        {
            "title": item.chunk.title,
            "heading": item.chunk.heading,
            "release": item.chunk.release,
            "url": item.chunk.url,
            "page": f"{PAGES}{item.chunk.release}/{item.chunk.hash}",
            "score": round(item.score, 4),
            "text": item.chunk.text,
        }
        for item in found.evidence[:most]
    ]


async def _releases(app: Application, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "product": app.engine.product.name,
        "releases": app.engine.ready,
        "latest": app.engine.product.latest.name,
    }


async def _feedback(app: Application, given: Mapping[str, Any]) -> dict[str, Any]:
    answer, value = str(given.get("answer_id") or ""), given.get("vote")
    if value not in ("up", "down"):
        raise UsageError("vote is `up` or `down`.")
    person = str(given["person"])
    if app.privacy.is_out(person):
        raise UsageError(f"{person} has opted out, so their votes are not stored.")
    with suppress(KeyError):
        heard = (await app.engine.answer_log.asked_by(answer)).scope
        vote = Vote(answer, person, 1 if value == "up" else 0)
        if Scope().hears(heard) and await app.engine.feedback(vote):
            await Audit(app.audit).note(person, CHANNEL, f"vote {answer} {value}", DONE)
            return {"counted": value, "answer_id": answer}
    raise UsageError(f"There is no answer '{answer}' that was given in public; `ask` returns answer_id.")


async def _page(app: Application, given: Mapping[str, Any]) -> dict[str, Any]:
    release, page = str(given.get("release") or ""), str(given.get("page") or "")
    text = await app.passages.text(release, page)
    if not text:
        raise UsageError(f"There is no page {page} of {release or 'no release'} any more; search again.")
    return {"text": text}


TOOLS: Mapping[str, Callable[[Application, Mapping[str, Any]], Awaitable[Any]]] = {
    "ask": _ask,
    "search": _search,
    "releases": _releases,
    "feedback": _feedback,
    "page": _page,
}
