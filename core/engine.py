"""The two journeys: a question to its answer, and a vote to its place in memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Literal

from core.domain import READER, Answer, Question, Trace, Vote
from core.feedback.accepted_answers import AcceptedAnswers
from core.feedback.answer_log import AnswerLog
from core.languages import speaking
from core.memory.scoring import Esteem, VoteWeighting, esteem
from core.pipeline.context import Needs, QueryContext, Silence
from core.pipeline.resources import Resources
from core.pipeline.stage import AnswerKeeper, Stage, run
from core.ports import ASKER, Listener
from core.ports.cluster import INSIDE, Cluster, OnlyProcess
from core.privacy.names import nobody

log = logging.getLogger(__name__)

BELIEVED_SECONDS = 300.0
"""How long a platform may go on taking a channel to be public that another process knows to be private."""


class Engine:
    """Answers questions by the stages of a recipe and takes votes, for every platform the same."""

    def __init__(
        self,
        parts: Resources,
        stages: Sequence[Stage],
        accepted: AcceptedAnswers,
        vote_weighting: VoteWeighting,
        is_out: Callable[[str], bool] = nobody,
        cluster: Cluster | None = None,
    ) -> None:
        """Answer by `stages`, made with `parts`; `is_out` tells who opted out."""
        self._cluster = cluster or OnlyProcess()
        self.product = parts.product
        self.model = parts.model
        self.accepted = accepted
        self.answer_log = AnswerLog(parts.store, accepted, self.product, parts.memory)
        self._memory = parts.memory
        self._store = parts.store
        self._searcher = parts.searcher
        self.stages = tuple(stages)
        self._keeper = AnswerKeeper(parts.memory, parts.store, parts.gone, parts.heard)
        self._vote_weighting = vote_weighting
        self._private: set[str] = set()
        self._turned: dict[str, float] = {}
        """Until when what is asked in a channel that became private is kept inside, in seconds since the
        epoch."""
        self._is_out = is_out
        self._closes: list[Callable[[str], Awaitable[None]]] = []

    def close_by(self, close: Callable[[str], Awaitable[None]]) -> None:
        """Have somebody told which channels became private, who holds copies of them.

        They read sources by what answers, this engine included, so they come by themselves.
        """
        self._closes.append(close)

    # --- a question's journey --------------------------------------------------------------------------

    async def answer(self, question: Question, listener: Listener | None = None) -> Answer:
        """Answer a question for its release: from memory, by the model, by quoting, or not at all.

        Who opted out (`is_out`) gets quotes of the pages, and nothing of it is kept. What nobody asked the
        bot (`unasked`) is abstained from unless it is sure, and then nothing of it is kept either. The fixed
        sentences are in the language of the question.
        """
        with speaking(question.language):
            if self._is_out(question.asker):
                return await self.quoted(question)
            await self._keep_inside(question)
            reasons = question.why and self.model is not None  # a remembered answer has no reasoning to show
            withheld = frozenset[Needs]({"memory"} if question.fresh or reasons else ())
            context = QueryContext(question, listener=listener or Silence(), withheld=withheld)
            token = ASKER.set(question.asker)
            try:
                return await self._journey(context)
            finally:
                ASKER.reset(token)

    async def draft(self, question: Question) -> Answer:
        """Return what documents alone would answer now; memory is neither asked nor told."""
        question = replace(question, unasked=False)
        return await self._journey(QueryContext(question, is_draft=True, withheld=frozenset({"memory"})))

    async def quoted(self, question: Question) -> Answer:
        """Quote the pages on a question: no model sees it, memory is neither asked nor told."""
        withheld = frozenset[Needs]({"memory", "model"})
        return await self._journey(QueryContext(question, is_draft=True, withheld=withheld))

    async def _journey(self, context: QueryContext) -> Answer:
        """Run the recipe's stages (`core/recipes/threadlore.py` has ours); keep the answer they end with."""
        answer = await self._keeper.keep(context, await run(self.stages, context))
        question, channel = context.question, context.question.channel
        since = question.since or context.began
        if question.scope.kind == "public" and self._turned.get(channel, 0.0) >= since:
            await self._memory.channel_became_private(channel)  # while the answer was on its way
        return answer

    async def _keep_inside(self, question: Question) -> None:
        """Keep what was learned in a channel inside it, should it have become private unnoticed."""
        channel = question.scope.channel
        if question.scope.kind == "public":
            self._private.discard(question.channel)
        elif question.scope.kind == "private" and not self.keeps_inside(channel):
            await self.channel_became_private(channel)

    def keeps_inside(self, channel: str) -> bool:
        """Return True if what was learned in a channel is known to be kept inside it."""
        return channel in self._private

    async def channel_became_private(self, channel: str) -> int:
        """Keep what was learned in a channel (`slack:C1`) inside it from now on; return how many pairs."""
        moved = await self._keep_in(channel, time.time())
        await self._cluster.tell(INSIDE, channel)
        for close in self._closes:
            await close(channel)
        return moved

    async def became_private_elsewhere(self, channel: str) -> None:
        """Keep inside what this process is answering in a channel that another one knows to be private.

        What platforms know of the channel here may be older for a while.
        """
        await self._keep_in(channel, time.time() + BELIEVED_SECONDS)

    async def _keep_in(self, channel: str, until: float) -> int:
        self._turned[channel] = until
        moved = await self._memory.channel_became_private(channel)
        self._private.add(channel)
        return moved

    # --- a reaction's journey --------------------------------------------------------------------------

    async def feedback(
        self, vote: Vote, helper: bool = False, known: Callable[[], Awaitable[bool]] | None = None
    ) -> bool:
        """Count one person's vote; returns True if it counts: of a kept answer, by somebody who is kept.

        `known` tells, when memory is free for it, whether it was counted meanwhile.

        The asker's and helpers' votes weigh more, strangers' less (`core.memory.scoring`).
        Accounts that `corpora.toml` links are one voter.
        """
        row = await self._store.answer(vote.answer_id)
        if row is None or self._is_out(vote.voter):
            return False
        now = vote.at.timestamp() if vote.at else time.time()
        ballot = await self._vote_weighting.weigh(vote.voter, row["asker"], row["pair_id"], helper, now)
        voter = self._vote_weighting.voter(vote.voter)
        await self._memory.vote(replace(vote, voter=voter, standing=ballot.standing), ballot.weight, known)
        value = "withdrawn" if vote.value is None else "up" if vote.value else "down"
        log.info("vote counted", extra={"answer": vote.answer_id, "vote": value})
        return True

    async def reader_feedback(self, vote: Vote) -> bool:
        """Keep the vote of somebody without an account: figures and gaps count it, memory does not.

        A script can be as many readers as it likes, so no number of them promotes an answer or takes it back.
        Returns True if the answer is kept.
        """
        if await self._store.answer(vote.answer_id) is None:
            return False
        await self._memory.vote(replace(vote, standing=READER), 0.0)
        return True

    async def votes_cleared(
        self, answer_id: str, value: Literal[0, 1], holders: Collection[str], until: int | None = None
    ) -> int:
        """Take back every 👍 (1) or 👎 (0) by reaction but those of the people behind these accounts.

        Who voted after the event of the number `until` keeps theirs, too: `holders` were told before it.
        Returns how many votes that were.
        """
        kept = {self._vote_weighting.voter(account) for account in holders}
        gone = await self._store.hands(answer_id, value, kept, until)
        for voter in gone:
            await self._memory.vote(Vote(answer_id, voter, None, withdraws=value, until=until), 1.0)
        return len(gone)

    async def opinion(self, answer_id: str, account: str) -> Literal[0, 1] | None:
        """Return which vote of the person behind an account stands on an answer; None for none."""
        return await self._store.opinion(answer_id, self._vote_weighting.voter(account))

    async def holds_up(self, answer_id: str, account: str, value: Literal[0, 1]) -> bool:
        """Return True if somebody's emoji for a vote stands on an answer, also beneath the other vote."""
        return self._vote_weighting.voter(account) in await self._store.hands(answer_id, value)

    async def esteem(self, answer_id: str) -> Esteem | None:
        """Return what votes have made of an answer; None for one that votes cannot have remembered."""
        row = await self._store.answer(answer_id)
        pair = await self._store.pair(row["pair_id"]) if row and row["pair_id"] else None
        return esteem(pair, self._memory.thresholds) if pair else None

    async def tell_apart(self, answer_id: str, account: str) -> bool:
        """Learn that a reused answer was to another question; nothing of it is a vote.

        The pair is never said again to this question. False where it was known, or there is nothing to learn.
        """
        row = await self._store.answer(answer_id)
        if row is None or row["route"] != "reuse" or not row["pair_id"] or self._is_out(account):
            return False
        said = Trace.of(row["trace"]).queries
        topic = said.topic or said.base or str(row["question"])
        new = await self._memory.tell_apart(row["pair_id"], topic, answer_id, account)
        if new:
            log.info("told apart", extra={"answer": answer_id})
        return new

    def helps(self, person: str) -> bool:
        """Return True if somebody is configured as a helper, under any of their accounts."""
        return self._vote_weighting.helps(person)

    def is_same(self, account: str, other: str) -> bool:
        """Return True if two accounts belong to one person."""
        return self._vote_weighting.voter(account) == self._vote_weighting.voter(other)

    @property
    def ready(self) -> list[str]:
        """Return the releases that answer now, newest first."""
        return [r.name for r in reversed(self.product.releases) if r.name in self._searcher.corpora]
