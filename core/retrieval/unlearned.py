"""Sentences of the few pages that a question is about, embedded while it waits (*ours*).

A release answers as soon as its passages are found, and learns its sentences after that, a large one for an
hour. Until then pages are told apart worse, so that a question has those read at once that it may be about:
a second on one core, once for each page.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable

from core.domain import ContextChunk
from core.errors import ThreadloreError
from core.ports import CorpusStore, Encoder, TokenEncoder
from core.retrieval.features import bits_of
from core.text.words import window_texts

log = logging.getLogger(__name__)

PAGES = 12
"""Best pages of the first look that are read at once: the right one is seldom below."""
CHARACTERS = 16_000
"""What is embedded for one question at most at a time: as many pages are read as have no more."""
TOGETHER = 16
"""Windows in one call: as many as are embedded as a question is, before what is indexed."""
QUESTIONS = 2
"""Questions that have pages read at the same time; others are answered without."""


class Unlearned:
    """Embeds windows of pages that are not embedded yet, and keeps their vectors."""

    def __init__(self, store: CorpusStore, encoders: Callable[[str], Awaitable[Encoder]] | None) -> None:
        self._store = store
        self._encoders = encoders
        self._reading = 0

    async def read(self, pages: Iterable[ContextChunk], encoder: str) -> list[ContextChunk]:
        """Embed what is lacking of pages by an encoder, by name; return the first that lack nothing then."""
        if self._encoders is None:
            return []
        by = await self._encoders(encoder)
        texts = {page.id: window_texts(page) for page in pages}
        every = [key for some in texts.values() for key in some]
        missing = await self._store.missing_vectors(by.name, every, tokens=isinstance(by, TokenEncoder))
        most = CHARACTERS if self._reading < QUESTIONS else 0
        lacking: dict[str, str] = {}
        done = []
        for page in pages:
            more = {key: text for key, text in texts[page.id].items() if key in missing}
            if sum(map(len, (lacking | more).values())) > most:
                break
            lacking |= more
            done.append(page)
        self._reading += 1
        try:
            keys = list(lacking)
            for start in range(0, len(keys), TOGETHER):
                await self._embed({key: lacking[key] for key in keys[start : start + TOGETHER]}, by)
        except ThreadloreError as error:  # the question is answered without
            log.warning("sentences could not be read for a question: %s", error)
            return []
        finally:
            self._reading -= 1
        return done

    async def _embed(self, texts: dict[str, str], by: Encoder) -> None:
        told: dict[str, bytes] = {}
        if isinstance(by, TokenEncoder):
            vectors, tokens = await by.encode_tokens(list(texts.values()))
            told = dict(zip(texts, map(bits_of, tokens), strict=True))
        else:
            vectors = await by.encode(list(texts.values()))
        await self._store.put_vectors(by.name, dict(zip(texts, vectors, strict=True)), told)
