"""What the first question would wait for is loaded at the start, while nobody waits."""

from __future__ import annotations

import asyncio
import logging
import time

from bot.operations.application import Application
from core.domain import Question
from core.errors import ThreadloreError
from core.models.breaker import Breaker
from core.query.language import detect as language

log = logging.getLogger(__name__)

_ASKED = "How do I begin?"
AGAIN_SECONDS, LONGEST_SECONDS = 60.0, 3600.0
"""When a model that could not be asked is asked again, doubling; and how often its version is looked at."""


async def warm_up(app: Application) -> None:
    """Load the language detector and the encoder, and quote an answer that nobody is told."""
    began = time.perf_counter()
    try:
        await language.detect(_ASKED)
        await (await app.library.encoders.current()).encode([_ASKED])
        if app.engine.ready:
            await app.engine.quoted(Question(_ASKED))
    except ThreadloreError as error:  # the first question will say so
        log.warning("the bot could not be warmed up: %s", error)
        return
    log.info("ready to answer after %.1f s of warming up", time.perf_counter() - began)


async def probe(app: Application) -> None:
    """See whether the model is kept to a JSON schema, and again when its version changes; for ever.

    Nobody waits for it, and a question goes first.
    """
    model, wait = app.engine.model, AGAIN_SECONDS
    while isinstance(model, Breaker):
        known = await model.probe()
        wait = LONGEST_SECONDS if known is not None else wait
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_SECONDS)
