"""The two journeys: a question to its answer, and a vote to its place in memory."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from core.catalogue import Catalogue, ChannelSettings
from core.domain import Answer, Citation, Question, Recall, Route, Vote
from core.errors import ModelError, ModelUnavailable
from core.generation import phrases
from core.generation.answer import write
from core.generation.citations import citation
from core.generation.composite import nothing_on
from core.memory.community import CommunityMemory
from core.memory.scoring import support
from core.ports import LanguageModel, Listener, MemoryStore, Remembered
from core.prompts import DONT_KNOW, PROMPT_VERSION
from core.reading import Reader, without
from core.research import ENOUGH, Asked, Research
from core.retrieval.search import Found


class Silence:
    """A listener for those who only want the finished answer."""

    async def sources(self, release: str, evidence: object) -> None:
        """Hear nothing."""

    async def text(self, markdown: str) -> None:
        """Hear nothing."""


class Engine:
    """Answers questions and takes votes, for every platform the same."""

    def __init__(
        self,
        catalogue: Catalogue,
        memory: CommunityMemory,
        store: MemoryStore,
        research: Research,
        model: LanguageModel | None,
        helpers: Collection[str] = (),
        reader: Reader | None = None,
    ) -> None:
        self.product = catalogue.product
        self.model = model
        self._catalogue = catalogue
        self._memory = memory
        self._store = store
        self._research = research
        self._helpers = frozenset(helpers)
        self._reader = reader or Reader(self.product.name)
        self._person = {account: name for name, all_ in catalogue.people.items() for account in all_}

    async def answer(self, question: Question, listener: Listener | None = None) -> Answer:
        """Answer a question for its release: from memory, by the model, by quoting, or not at all."""
        listener = listener or Silence()
        asked = await self._research.understand(question)
        if asked.resolution.unknown:
            return await self._abstain(asked, phrases.unknown_release(self.product, asked.resolution))
        ready = self._research.corpora
        if late := [release for release in asked.releases if release not in ready]:
            return await self._abstain(asked, phrases.not_ready(self.product, late[0], list(ready)))

        recall = await self._research.recall(asked)
        if recall.route == "reuse":
            return await self._reuse(asked, recall)

        found = await self._research.search(asked)
        if found.confidence < ENOUGH:
            return await self._abstain(asked, phrases.dont_know(self.product, found.evidence), found)
        await listener.sources(asked.partition, found.evidence)
        try:
            return await self._write(asked, recall, found, listener)
        except ModelError as error:
            asked.trace["model_error"] = str(error)
            return await self._quote(asked, recall, found)

    async def feedback(self, vote: Vote, helper: bool = False) -> bool:
        """Count one person's vote; tells whether there is such an answer.

        The asker's and helpers' votes weigh more. Accounts that `corpora.toml` links are one voter.
        """
        row = await self._store.answer(vote.answer_id)
        if row is None:
            return False
        weights = self._memory.thresholds
        weight = weights.voter_weight
        if vote.voter == row["asker"]:
            weight = weights.asker_weight
        if helper or vote.voter in self._helpers:
            weight = max(weight, weights.helper_weight)
        voter = self._person.get(vote.voter, vote.voter)
        await self._memory.vote(replace(vote, voter=voter), weight)
        return True

    async def why(self, answer_id: str) -> dict[str, Any]:
        """Explain an answer, however old; raises KeyError for an unknown one."""
        row = await self._store.answer(answer_id)
        if row is None:
            raise KeyError(answer_id)
        known = {key: row[key] for key in ("release", "route", "question", "pair_id", "similarity")}
        return {"answer_id": answer_id, **known, "sentences": phrases.why(row), "trace": row["trace"]}

    async def release_of(self, answer_id: str) -> str:
        """Return the release an answer spoke for; empty for none."""
        row = await self._store.answer(answer_id)
        return str(row["release"]) if row else ""

    def mode(self, channel: str) -> str:
        """Return how a channel is served."""
        return self._catalogue.channels.get(channel, ChannelSettings()).mode

    # --- ways to end it -----------------------------------------------------------------------

    async def _reuse(self, asked: Asked, recall: Recall) -> Answer:
        pair, similarity = recall.high[0]
        answer = self._new(asked, "reuse", pair.answer, pair.citations, confidence=pair.score)
        answer = replace(answer, pair_id=pair.id, similarity=similarity)
        first = await self._store.answer(f"a{pair.id[1:]}")
        if first and asked.resolution.origin in ("latest", "channel"):
            answer = replace(answer, offers=tuple(first["trace"].get("offers", ())))
        return await self._keep(asked, answer)

    async def _write(self, asked: Asked, recall: Recall, found: Found, listener: Listener) -> Answer:
        if self.model is None:
            raise ModelUnavailable("No model is configured; set OLLAMA_HOST.")
        request = await self._reader.request(asked, recall, found)
        asked.trace |= {
            "model": self.model.name,
            "prompts": PROMPT_VERSION,
            "temperature": request.temperature,
        }
        if asked.course.failure:
            raise asked.course.failure
        written = await write(self.model, request, listener.text)
        asked.lap("write")
        if written.text == DONT_KNOW:
            return await self._abstain(asked, phrases.dont_know(self.product, found.evidence), found)
        route: Route = "reference" if recall.high else "avoid" if recall.low else "documents"
        citations = written.citations or tuple(citation(e, n) for n, e in enumerate(request.evidence[:2], 1))
        asked.trace["uncited"] = not written.citations
        return await self._say(asked, route, written.text, citations, found, asked.open)

    async def _quote(self, asked: Asked, recall: Recall, found: Found) -> Answer:
        """Quote the pages; what was voted down for this very question is not quoted again."""
        delta = self._memory.thresholds.delta
        rejected = {c.hash for pair, near in recall.low if near >= delta for c in pair.citations}
        text, citations, missed = self._reader.quoted(asked, found, rejected)
        asked.lap("quote")
        if not citations:
            return await self._abstain(asked, phrases.dont_know(self.product, found.evidence), found)
        return await self._say(asked, "quote", text, citations, without(found, rejected), missed)

    async def _say(
        self,
        asked: Asked,
        route: Route,
        text: str,
        citations: tuple[Citation, ...],
        found: Found,
        missed: Sequence[str],
    ) -> Answer:
        """Finish an answer from pages: say what they lack, and which releases say something else."""
        first = next((item for item in found.evidence if item.chunk.hash == citations[0].hash), None)
        told = text.partition("\n\n")[2] if route == "quote" else text
        offers = await self._research.offers(asked, told, first) if first else ()
        asked.trace["offers"] = list(offers)
        asked.lap("offers")
        lacking = nothing_on(missed, self.product.name, asked.partition)
        text = "\n\n".join(part for part in (text, lacking) if part)
        return await self._keep(
            asked, replace(self._new(asked, route, text, citations, found), offers=offers)
        )

    async def _abstain(self, asked: Asked, text: str, found: Found | None = None) -> Answer:
        answer = self._new(asked, "abstain", text, (), found)
        release = "" if asked.resolution.unknown else answer.release
        return await self._keep(asked, replace(answer, release=release))

    def _new(
        self,
        asked: Asked,
        route: Route,
        text: str,
        citations: tuple[Citation, ...],
        found: Found | None = None,
        confidence: float = 0.0,
    ) -> Answer:
        return Answer(
            id=f"a{uuid.uuid4().hex[:16]}",
            text=text,
            route=route,
            release=asked.partition,
            citations=citations,
            evidence=found.evidence if found else (),
            queries=asked.queries,
            confidence=found.confidence if found else confidence,
            resolution=asked.resolution,
            timings_ms=asked.timings,
            trace=asked.trace,
        )

    async def _keep(self, asked: Asked, answer: Answer) -> Answer:
        """Save the answer, and the neutral pair that votes may promote."""
        pair = None
        if answer.route not in ("reuse", "abstain") and asked.question.scope.remembered:
            pair = Remembered(
                id=f"p{answer.id[1:]}",
                question=asked.queries.base,
                topic=asked.topic,
                answer=answer.text,
                release=asked.partition,
                scope=asked.question.scope.key,
                prior=support(answer.text, answer.evidence),
                created_at=time.time(),
                citations=answer.citations,
                asker=asked.question.asker,
            )
            await self._memory.remember(pair, asked.vectors[0])
            answer = replace(answer, pair_id=pair.id)
        await self._store.save_answer(answer, asked.question, pair)
        asked.lap("save")
        return answer
