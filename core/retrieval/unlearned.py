"""Sentences of a few pages, embedded while a question waits for them (*ours*).

A release answers as soon as its passages are indexed. Its sentences follow, which takes up to an hour for a
large release, and until then pages are ranked worse. So the pages that may answer a question are read at
once: about two seconds on one core, and only once for each page.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from itertools import takewhile

from core.domain import ContextChunk, Vector
from core.errors import ThreadloreError
from core.ports import CorpusStore, Encoder, TokenEncoder
from core.retrieval.features import bits_of
from core.text.words import window_texts

log = logging.getLogger(__name__)

PAGES = 12
"""Best pages of the first look that are read at once: the right one is seldom below."""
CHARACTERS = 16_000
"""What is embedded in one call at most: as many pages are read as have no more."""
SECONDS = 5.0
"""After which what is embedded by then counts."""
TOGETHER = 16
"""Windows in one call: as many as are embedded as a question is, before what is indexed."""
QUESTIONS = 2
"""Questions that have pages read at the same time; others have none read."""


class Unlearned:
    """Embeds windows of pages that are not embedded yet, and keeps their vectors."""

    def __init__(self, store: CorpusStore, encoders: Callable[[str], Awaitable[Encoder]] | None) -> None:
        self._store = store
        self._encoders = encoders
        self._reading = 0

    async def read(self, pages: Collection[ContextChunk], encoder: str) -> list[ContextChunk]:
        """Embed what is lacking of pages by an encoder, by name; return the first that lack nothing then."""
        if self._encoders is None or not pages:
            return []
        by = await self._encoders(encoder)
        texts = {page.id: window_texts(page) for page in pages}
        every = [key for some in texts.values() for key in some]
        missing = await self._store.missing_vectors(by.name, every, tokens=isinstance(by, TokenEncoder))
        if missing and self._reading >= QUESTIONS:
            return []
        lacking: dict[str, str] = {}
        for page in pages:
            more = {key: text for key, text in texts[page.id].items() if key in missing}
            if sum(map(len, (lacking | more).values())) > CHARACTERS:
                break
            lacking |= more
        self._reading += 1
        try:
            missing -= await self._embedded(lacking, by)
        except ThreadloreError as error:  # the question is answered without
            log.warning("sentences could not be read for a question: %s", error)
        finally:
            self._reading -= 1
        return list(takewhile(lambda page: missing.isdisjoint(texts[page.id]), pages))

    async def _embedded(self, texts: Mapping[str, str], by: Encoder) -> set[str]:
        """Embed texts as far as there is time, keep their vectors, and return their keys."""
        vectors: dict[str, Vector] = {}
        tokens: dict[str, bytes] = {}
        until = time.monotonic() + SECONDS
        keys = list(texts)
        for start in range(0, len(keys), TOGETHER):
            if time.monotonic() > until:
                break
            some = keys[start : start + TOGETHER]
            if isinstance(by, TokenEncoder):
                rows, read = await by.encode_tokens([texts[key] for key in some])
                tokens |= dict(zip(some, map(bits_of, read), strict=True))
            else:
                rows = await by.encode([texts[key] for key in some])
            vectors |= dict(zip(some, rows, strict=True))
        await self._store.put_vectors(by.name, vectors, tokens)
        return set(vectors)
