"""Remembered answers whose pages changed: confirmed, rewritten, or offered to admins (*ours*).

A pair is never reused while it is stale. It is renewed when its pages, as they are now, still say all
it says; else when what would be answered now says the same. Everything else waits for an admin.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from core.domain import Answer, Citation, ContextChunk, Question
from core.errors import ThreadloreError
from core.generation.quotes.titles import headings
from core.memory.facts import differs, says, statements, unsaid
from core.models.embedding.encoder import Encoders
from core.ports import CorpusStore, Remembered, StalePair, UpkeepStore

log = logging.getLogger(__name__)

SLICE = 5
"""Pairs that are looked at in one go, so that questions are not kept waiting."""
Pages = Mapping[tuple[str, str], Sequence[ContextChunk]]
"""The live pages by release and path."""


class StaleAnswerReview:
    """Looks at stale pairs, one after the other; a killed process goes on where it was.

    `draft` tells what documents would answer now; `has_model` whether that may be more than a quote.
    """

    def __init__(
        self,
        store: UpkeepStore,
        corpora: CorpusStore,
        encoders: Encoders,
        draft: Callable[[Question], Awaitable[Answer]],
        has_model: bool,
    ) -> None:
        self._store = store
        self._corpora = corpora
        self._encoders = encoders
        self._draft = draft
        self._has_model = has_model
        self._working = asyncio.Lock()

    async def slice(self, limit: int = SLICE) -> int:
        """Look at some pairs that nobody has looked at since they became stale; return how many."""
        async with self._working:
            done = 0
            for seen in await self._store.unchecked(limit):
                try:
                    done += await self._look(seen)
                except ThreadloreError as error:
                    log.warning("the stale pair %s could not be looked at: %s", seen.pair.id, error)
            return done

    async def waiting(self) -> tuple[StalePair, ...]:
        """Return the stale pairs of the high store, those not looked at yet included."""
        return await self._store.stale()

    async def renew(self, seen: StalePair, new: bool = False) -> str:
        """Renew a pair because an admin says so; return what is in the way, empty when it is done.

        With `new` it takes over what would be answered now, else it keeps its words, with the pages as
        they are now for their source.
        """
        if new:
            answer, citations = seen.proposal, seen.proposed
            if not answer:
                return "There is nothing that could be answered in its place; retire it."
        else:
            answer = seen.pair.answer
            citations, gone = cited_anew(seen.pair, await self.pages(seen.pair))
            if gone:
                return f"{gone.title} is not there any more; retire the pair, or renew it with --new."
        done = await self._store.renew(seen, answer, citations)
        return "" if done else "Its pages have just changed again; look at it once more."

    async def _look(self, seen: StalePair) -> bool:
        """Renew one pair, or note why not; False where that must wait for the model."""
        pages = await self.pages(seen.pair)
        citations, gone = cited_anew(seen.pair, pages)
        said = [] if gone else [c.page for all_ in pages.values() for c in all_ if _cites(citations, c)]
        lacking = "" if gone else unsaid(seen.pair.answer, said)
        if not gone and not lacking:
            await self._store.renew(seen, seen.pair.answer, citations)
            log.info("pair %s is current again: its pages still say what it says", seen.pair.id)
            return True
        finding = f"{gone.title} is not there any more." if gone else f"Its pages do not say: “{lacking}”"
        draft = await self._drafted(seen.pair)
        if draft is not None and draft.route == "quote" and self._has_model:
            return False  # the model does not answer; it may later
        different = "Nothing would be answered now."
        if draft is not None and draft.citations:
            different = differs(seen.pair.answer, draft.text, await self._cosine(seen.pair, draft.text))
            if not different:
                await self._store.renew(seen, draft.text, draft.citations)
                log.info("pair %s is current again: the same would be answered now", seen.pair.id)
                return True
        proposal = (draft.text, draft.citations) if draft is not None and draft.citations else ("", ())
        await self._store.found(seen, f"{finding} {different}", *proposal, time.time())
        # not what was found: that quotes the answer, which a person may have written
        log.warning("pair %s waits for an admin (`threadlore memory stale`)", seen.pair.id)
        return True

    async def _drafted(self, pair: Remembered) -> Answer | None:
        """Return what would be answered now, for the same releases; None where that cannot be told."""
        release = "" if "+" in pair.release else pair.release
        draft = await self._draft(Question(pair.question, release=release, language=pair.language))
        return draft if draft.release == pair.release else None

    async def _cosine(self, pair: Remembered, text: str) -> float:
        encoder = await self._encoders.current()
        one, other = await encoder.encode([pair.answer, text])
        return float(one @ other)

    async def pages(self, pair: Remembered) -> Pages:
        """Return the live chunks of every page that the pair cites."""
        cited = {(c.release or pair.release, c.path) for c in pair.citations if c.hash}
        found: dict[tuple[str, str], list[ContextChunk]] = {}
        for release in {release for release, _ in cited}:
            paths = {path for at, path in cited if at == release}
            ids = [d.id for d in await self._corpora.manifest(release) if d.path in paths]
            rows = await self._corpora.rows(release, ids) if ids else ()
            contexts = await self._corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
            for chunk in contexts.values():
                found.setdefault((release, chunk.path), []).append(chunk)
        return found


def cited_anew(pair: Remembered, pages: Pages) -> tuple[tuple[Citation, ...], Citation | None]:
    """Point each citation at the chunk of its page that now says most of the answer.

    Returns the citations, or the first one whose page is gone.
    """
    stated = statements(pair.answer)
    anew: list[Citation] = []
    for cited in pair.citations:
        chunks = pages.get((cited.release or pair.release, cited.path), ())
        if not cited.hash or any(chunk.hash == cited.hash for chunk in chunks):
            anew.append(cited)
            continue
        if not chunks:
            return (), cited
        best = max(
            chunks,
            key=lambda c: sum(says(c.page, s) for s in stated) + 0.5 * (c.url == cited.url),
        )
        title = headings(best.title, best.heading)
        anew.append(replace(cited, title=title, url=best.url, hash=best.hash))
    return tuple(anew), None


def _cites(citations: Sequence[Citation], chunk: ContextChunk) -> bool:
    return any(cited.hash == chunk.hash for cited in citations)
