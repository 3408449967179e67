"""Actions on a given answer: ask again for another release, report what was wrong."""

from __future__ import annotations

import time
from typing import Any

from bot.app.application import Application
from bot.app.control_socket import Send
from bot.interactions.components import WRONG
from bot.rendering.answers import compose
from core.domain import Question
from core.errors import UsageError
from core.ports.opinions import Correction


async def again(app: Application, request: dict[str, Any], send: Send) -> None:
    """Answer the question of an answer once more, for another release."""
    answer_id, release = request["answer_id"], request["release"]
    known = [entry.name for entry in app.engine.product.releases]
    if release not in known:
        raise UsageError(f"There is no release {release!r}; there is: {', '.join(known)}.")
    text = await app.engine.given.question(answer_id, release)
    if not text:
        raise UsageError(f"There is no answer {answer_id}.")
    spoken = await app.engine.given.language_of(answer_id)
    user = request["user"]
    authors = tuple(sorted(await app.engine.given.authors(answer_id) - {user}))
    before = await app.engine.given.release_of(answer_id)
    question = Question(text, user, release=release, language=spoken, authors=authors, after=before)
    answer = await app.engine.answer(question)
    line = compose(answer, app.engine.product.name).markdown + f"\n\n(answer {answer.id})"
    await send({"line": line, "answer_id": answer.id, "release": answer.release, "text": answer.text})
    await send({"code": 0})


async def wrong(app: Application, request: dict[str, Any], send: Send) -> None:
    """Keep what somebody found wrong with an answer; a helper's better one is remembered."""
    user, what, better = request["user"], request["what"], str(request.get("better") or "").strip()
    if what not in WRONG:
        raise UsageError(f"'{what}' is nothing that can be wrong; there is: {', '.join(WRONG)}.")
    said = Correction(request["answer_id"], user, user, what, better, time.time())
    try:
        kept = await app.engine.accepted.correct(said, app.engine.helps(user), "")
    except KeyError:
        raise UsageError(f"There is no answer {request['answer_id']}.") from None
    told = "Remembered: your answer is told to the next who asks this." if kept.pair_id else "Noted."
    await send({"line": told})
    await send({"code": 0})
