"""The two journeys: a question to its answer, and a vote to its place in memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Literal

from core.catalogue import Catalogue
from core.domain import Answer, Question, Recall, Vote
from core.errors import ModelError
from core.feedback.accepted_answers import AcceptedAnswers
from core.feedback.answer_log import GivenAnswers
from core.generation import phrases
from core.languages import speaking
from core.memory.community import CommunityMemory
from core.memory.scoring.prior import PriorScorer
from core.memory.scoring.vote_weighting import VoteWeighting
from core.pipeline.answer_builder import AnswerBuilder
from core.pipeline.context import QueryContext
from core.pipeline.context_selector import ContextSelector
from core.pipeline.research import Research
from core.ports import LanguageModel, Listener, MemoryStore
from core.privacy.names import nobody, since_never
from core.retrieval.found import Found
from core.retrieval.unasked import is_sure

log = logging.getLogger(__name__)


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
        accepted: AcceptedAnswers,
        electorate: VoteWeighting,
        reader: ContextSelector | None = None,
        scorer: PriorScorer | None = None,
        is_out: Callable[[str], bool] = nobody,
        gone: Callable[[Collection[str], float], bool] = since_never,
    ) -> None:
        self.product = catalogue.product
        self.model = model
        self.accepted = accepted
        self.given = GivenAnswers(store, accepted, self.product, memory.thresholds)
        self._memory = memory
        self._store = store
        self._research = research
        self._electorate = electorate
        self._private: set[str] = set()
        reader = reader or ContextSelector(self.product.name)
        self._endings = AnswerBuilder(self.product, memory, store, research, model, reader, scorer, gone)
        self._is_out = is_out

    # --- a question's journey --------------------------------------------------------------------------

    async def answer(self, question: Question, listener: Listener | None = None) -> Answer:
        """Answer a question for its release: from memory, by the model, by quoting, or not at all.

        Who opted out (`is_out`) gets quotes of the pages, and nothing of it is kept. What nobody asked the
        bot (`unasked`) is abstained from unless it is sure, and then nothing of it is kept either. The fixed
        sentences are in the language of the question.
        """
        with speaking(question.language):
            return await self._answer(question, listener or Silence())

    async def _answer(self, question: Question, listener: Listener) -> Answer:
        if self._is_out(question.asker):
            return await self.quoted(question)
        asked = await self._research.understand(question)
        if refusal := self._refusal(asked):
            return await self._endings.abstain(asked, refusal)
        await self._keep_inside(question)
        recall = await self._research.recall(asked)
        found = None
        if question.unasked:
            found = await self._research.search(asked)
            if not self._is_sure(asked, recall, found):
                return await self._endings.dont_know(asked, found)
        if recall.route == "reuse":
            return await self._endings.reuse(asked, recall.high[0])
        if recall.foreign and self.model is None:
            # pages would be quoted in their language: rather the answer that people found good
            return await self._endings.reuse(asked, recall.foreign)
        return await self._from_pages(asked, recall, listener, found)

    def _refusal(self, asked: QueryContext) -> str:
        """Say why a question cannot be answered whatever is asked; empty where it can."""
        if asked.resolution.unknown:
            return phrases.unknown_release(self.product, asked.resolution)
        ready = self._research.corpora
        late = [release for release in asked.releases if release not in ready]
        return phrases.not_ready(self.product, late[0], list(ready)) if late else ""

    async def _keep_inside(self, question: Question) -> None:
        """Keep what was learnt in a channel inside it, should it have become private unnoticed."""
        channel = question.scope.channel
        if question.scope.kind == "private" and channel not in self._private:
            await self.channel_became_private(channel)

    def _is_sure(self, asked: QueryContext, recall: Recall, found: Found) -> bool:
        """Tell whether to speak unasked: pages are sure, or a good answer to the very question is known."""
        if recall.route == "reuse" and recall.high[0][1] >= self._memory.thresholds.delta:
            return True
        return is_sure(found, asked.open)

    async def _from_pages(
        self, asked: QueryContext, recall: Recall, listener: Listener, found: Found | None = None
    ) -> Answer:
        """Write from the pages; quote them where no model writes, and say so where they hold nothing."""
        found = found or await self._research.search(asked)
        if not found.is_enough:
            if recall.foreign:
                return await self._endings.reuse(asked, recall.foreign)
            return await self._endings.dont_know(asked, found)
        await listener.sources(asked.partition, found.evidence)
        try:
            return await self._endings.write(asked, recall, found, listener)
        except ModelError as error:
            asked.trace["model_error"] = str(error)
            if self.model is not None:
                why = {"why": type(error).__name__}
                log.warning("the model did not answer, so pages are quoted", extra=why)
            if recall.foreign:
                return await self._endings.reuse(asked, recall.foreign)
            return await self._endings.quote(asked, recall, found)

    # --- a reaction's journey --------------------------------------------------------------------------

    async def feedback(self, vote: Vote, helper: bool = False) -> bool:
        """Count one person's vote; tells whether it counts: of a kept answer, by somebody who is kept.

        The asker's and helpers' votes weigh more, strangers' less (`core.memory.scoring.vote_weighting`).
        Accounts that `corpora.toml` links are one voter.
        """
        row = await self._store.answer(vote.answer_id)
        if row is None or self._is_out(vote.voter):
            return False
        now = vote.at.timestamp() if vote.at else time.time()
        ballot = await self._electorate.weigh(vote.voter, row["asker"], row["pair_id"], helper, now)
        voter = self._electorate.voter(vote.voter)
        await self._memory.vote(replace(vote, voter=voter, standing=ballot.standing), ballot.weight)
        value = "withdrawn" if vote.value is None else "up" if vote.value else "down"
        log.info("vote counted", extra={"answer": vote.answer_id, "vote": value})
        return True

    async def votes_cleared(self, answer_id: str, value: Literal[0, 1], holders: Collection[str]) -> None:
        """Take back every 👍 (1) or 👎 (0) by reaction but those of the people behind these accounts."""
        kept = {self._electorate.voter(account) for account in holders}
        for voter in await self._store.hands(answer_id, value, kept):
            await self._memory.vote(Vote(answer_id, voter, None, withdraws=value), 1.0)

    # --- beside them -----------------------------------------------------------------------------------

    async def draft(self, question: Question) -> Answer:
        """Return what documents alone would answer now; memory is neither asked nor told."""
        asked = await self._research.understand(question)
        asked.is_draft = True
        if refusal := self._refusal(asked):
            return await self._endings.abstain(asked, refusal)
        return await self._from_pages(asked, Recall("avoid"), Silence())

    async def quoted(self, question: Question) -> Answer:
        """Quote the pages on a question: no model sees it, memory is neither asked nor told."""
        asked = await self._research.understand(question, by_rules=True)
        asked.is_draft = True
        if refusal := self._refusal(asked):
            return await self._endings.abstain(asked, refusal)
        found = await self._research.search(asked)
        if question.unasked or not found.is_enough:
            return await self._endings.dont_know(asked, found)
        return await self._endings.quote(asked, Recall("avoid"), found)

    async def channel_became_private(self, channel: str) -> None:
        """Keep what was learnt in a channel (`slack:C1`) inside it from now on; again, it changes nothing."""
        await self._memory.channel_became_private(channel)
        self._private.add(channel)

    async def opinion(self, answer_id: str, account: str) -> Literal[0, 1] | None:
        """Return which vote of the person behind an account stands on an answer; None for none."""
        return await self._store.opinion(answer_id, self._electorate.voter(account))

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
