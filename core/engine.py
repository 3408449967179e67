"""The two journeys: a question to its answer, and a vote to its place in memory."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from core.accepted import PeoplesAnswers
from core.catalogue import Catalogue, ChannelSettings
from core.domain import Answer, Citation, Question, Recall, Route, Vote
from core.errors import ModelError, ModelUnavailable
from core.generation import phrases
from core.generation.answer import write
from core.generation.citations import citation
from core.generation.composite import nothing_on
from core.given import GivenAnswers
from core.memory.community import CommunityMemory
from core.memory.electorate import Electorate
from core.memory.prior import PriorScorer
from core.memory.scoring import SUPPORTED, support
from core.ports import LanguageModel, Listener, MemoryStore, Remembered
from core.prompts import DONT_KNOW, PROMPT_VERSION
from core.reading import Reader, without
from core.research import Asked, Research
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
        accepted: PeoplesAnswers,
        electorate: Electorate,
        reader: Reader | None = None,
        scorer: PriorScorer | None = None,
    ) -> None:
        self.product = catalogue.product
        self.model = model
        self.accepted = accepted
        self.given = GivenAnswers(store, accepted, self.product, memory.thresholds)
        self._catalogue = catalogue
        self._memory = memory
        self._store = store
        self._research = research
        self._electorate = electorate
        self._private: set[str] = set()
        self._reader = reader or Reader(self.product.name)
        self._scorer = scorer

    async def answer(self, question: Question, listener: Listener | None = None) -> Answer:
        """Answer a question for its release: from memory, by the model, by quoting, or not at all."""
        asked = await self._research.understand(question)
        if refusal := self._refusal(asked):
            return await self._abstain(asked, refusal)
        await self._take_along(question)
        recall = await self._research.recall(asked)
        if recall.route == "reuse":
            return await self._reuse(asked, recall)
        return await self._from_pages(asked, recall, listener or Silence())

    async def draft(self, question: Question) -> Answer:
        """Return what documents alone would answer now; memory is neither asked nor told."""
        asked = await self._research.understand(question)
        asked.is_draft = True
        if refusal := self._refusal(asked):
            return await self._abstain(asked, refusal)
        return await self._from_pages(asked, Recall("avoid"), Silence())

    def _refusal(self, asked: Asked) -> str:
        """Say why a question cannot be answered whatever is asked; empty where it can."""
        if asked.resolution.unknown:
            return phrases.unknown_release(self.product, asked.resolution)
        ready = self._research.corpora
        late = [release for release in asked.releases if release not in ready]
        return phrases.not_ready(self.product, late[0], list(ready)) if late else ""

    async def _take_along(self, question: Question) -> None:
        """Keep what was learnt in a channel inside it, should it have become private unnoticed."""
        channel = question.scope.channel
        if question.scope.kind == "private" and channel not in self._private:
            await self.channel_became_private(channel)

    async def channel_became_private(self, channel: str) -> None:
        """Keep what was learnt in a channel (`slack:C1`) inside it from now on; again, it changes nothing."""
        await self._memory.channel_became_private(channel)
        self._private.add(channel)

    async def _from_pages(self, asked: Asked, recall: Recall, listener: Listener) -> Answer:
        found = await self._research.search(asked)
        if not found.is_enough:
            return await self._abstain(asked, phrases.dont_know(self.product, found.evidence), found)
        await listener.sources(asked.partition, found.evidence)
        try:
            return await self._write(asked, recall, found, listener)
        except ModelError as error:
            asked.trace["model_error"] = str(error)
            return await self._quote(asked, recall, found)

    async def feedback(self, vote: Vote, helper: bool = False) -> bool:
        """Count one person's vote; tells whether there is such an answer.

        The asker's and helpers' votes weigh more, strangers' less (`core.memory.electorate`). Accounts
        that `corpora.toml` links are one voter.
        """
        row = await self._store.answer(vote.answer_id)
        if row is None:
            return False
        now = vote.at.timestamp() if vote.at else time.time()
        ballot = await self._electorate.weigh(vote.voter, row["asker"], row["pair_id"], helper, now)
        voter = self._electorate.voter(vote.voter)
        await self._memory.vote(replace(vote, voter=voter, standing=ballot.standing), ballot.weight)
        return True

    def helps(self, person: str) -> bool:
        """Tell whether somebody is configured as a helper, under any of their accounts."""
        return self._electorate.helps(person)

    def is_same(self, account: str, other: str) -> bool:
        """Tell whether two accounts belong to one person."""
        return self._electorate.voter(account) == self._electorate.voter(other)

    @property
    def ready(self) -> list[str]:
        """Return the releases that answer now, newest first."""
        return [r.name for r in reversed(self.product.releases) if r.name in self._research.corpora]

    def mode(self, channel: str) -> str:
        """Return how a channel is served."""
        return self._catalogue.channels.get(channel, ChannelSettings()).mode

    # --- ways to end it -----------------------------------------------------------------------

    async def _reuse(self, asked: Asked, recall: Recall) -> Answer:
        pair, similarity = recall.high[0]
        asked.trace["origin"] = pair.origin
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
        asked.repeats = await self._memory.repeated(written.text, asked.topic, recall)
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

    async def _prior(self, asked: Asked, answer: Answer) -> float:
        """Score an answer by its evidence before anybody votes; a quote is its evidence."""
        if answer.route == "quote":
            return SUPPORTED
        if self._scorer is None:
            return support(answer.text, answer.evidence)
        encoder = await self._research.encoder_of(asked)
        asked.trace["support"] = await self._scorer.score(answer.text, answer.evidence, encoder)
        return float(asked.trace["support"]["prior"])

    async def _keep(self, asked: Asked, answer: Answer) -> Answer:
        """Save the answer, and the neutral pair that votes may promote; a draft is not kept.

        An answer that says again what a pair says is one more answer of that pair.
        """
        if asked.is_draft:
            return answer
        pair = None
        if asked.repeats:
            answer = replace(answer, pair_id=asked.repeats)
        elif answer.route not in ("reuse", "abstain") and asked.question.scope.remembered:
            pair = Remembered(
                id=f"p{answer.id[1:]}",
                question=asked.queries.base,
                topic=asked.topic,
                answer=answer.text,
                release=asked.partition,
                scope=asked.question.scope.key,
                prior=await self._prior(asked, answer),
                created_at=time.time(),
                citations=answer.citations,
                asker=asked.question.asker,
                channel=asked.question.channel,
            )
            await self._memory.remember(pair, asked.vectors[0])
            answer = replace(answer, pair_id=pair.id)
        asked.trace["ms"] = round(sum(asked.timings.values()), 1)
        await self._store.save_answer(answer, asked.question, pair)
        asked.lap("save")
        return answer
