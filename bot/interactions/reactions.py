"""Reactions: an emoji is turned into a vote or a mark, and counted once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Literal

from bot.conversation.desk import Desk
from bot.home.logs import about
from bot.interactions.marks import Marks
from bot.ports.chat import ACCEPT, Chat, Cleared, Person, Reaction, Reply, vote_of
from bot.rendering.answers import ASK_WHAT_WAS_WRONG, mark_of, wrong_button
from core.domain import Vote
from core.errors import StorageUnavailable
from core.languages import N_, _, speaking
from core.ports import Claim

log = logging.getLogger(__name__)

NOT_KEPT = N_("I cannot save anything right now, so your reaction does not count. Please try again later.")
KEPT_LATER = N_("I cannot save anything right now. Your reaction will count as soon as I can.")
NOTED_SECONDS = (0.1, 0.4, 1.5)
"""Pauses before it is looked again which answer stands in a message that the bot has just posted."""
UNNOTED_SECONDS = 50.0
"""Time after which nobody will note a message that the bot posted: until another process took over, at most.
Slack tells a reaction that is not acknowledged again at once, and after a minute."""
_MOST_UNNOTED = 1_000
AT_ONCE = 4
"""Reactions that are looked at in the database at once: they are counted one by one, and who counts must not
wait for a connection behind all the others."""
COUNTING_SECONDS = 8.0
"""Time that reactions under way get to be counted when the bot stops: memory may be at work just then."""


class ReactionHandler:
    """Handles reactions on messages."""

    def __init__(self, desk: Desk, marks: Marks) -> None:
        self._desk = desk
        self._marks = marks
        self._places = asyncio.Semaphore(AT_ONCE)
        self._counting: set[asyncio.Task[None]] = set()
        self._events: dict[str, asyncio.Task[None]] = {}
        """What is counted at present, by its event: a platform that waits for long tells it again."""
        self._unnoted: dict[str, float] = {}
        """Since when messages are known that nobody has noted."""

    async def take(self, chat: Chat, reaction: Reaction) -> None:
        """Count a reaction as a vote, or apply it as a mark."""
        if not reaction.person.bot:
            await self._to_its_end(self._taken(chat, reaction), reaction.event)

    async def _taken(self, chat: Chat, reaction: Reaction) -> None:
        value, mark = vote_of(reaction.emoji), mark_of(reaction.emoji)
        answer_id = await self._answer_of(reaction, is_vote=value is not None)
        async with self._places:
            if value is None and not mark:
                if answer_id and reaction.added:
                    await self._desk.unsolicited.noticed(answer_id)
                return
            language = await self._desk.locales.of_reaction(reaction, answer_id)

        with speaking(language):
            await self._kept(
                chat, reaction, lambda: self._reacted(chat, reaction, answer_id, value, bool(mark))
            )

    async def _answer_of(self, reaction: Reaction, is_vote: bool) -> str:
        """Return the answer of a message; empty where it has none.

        What the bot has just posted may not be noted yet. Raises StorageUnavailable where it is not soon;
        what nobody notes for long is no answer.
        """
        key = reaction.ref.key
        async with self._places:
            answer_id = await self._desk.conversations.answer_of(key)
        if answer_id or not (is_vote and reaction.just_posted):
            return answer_id
        if len(self._unnoted) >= _MOST_UNNOTED:
            self._unnoted.clear()
        first = self._unnoted.setdefault(key, time.monotonic())
        for pause in (0.0, *NOTED_SECONDS):
            await asyncio.sleep(pause)
            async with self._places:  # not while it waits: others are counted meanwhile
                if await self._desk.conversations.known([key]):
                    self._unnoted.pop(key, None)
                    return await self._desk.conversations.answer_of(key)
        if time.monotonic() - first >= UNNOTED_SECONDS:
            return ""
        raise StorageUnavailable("Nobody has noted yet what stands in a message that was just posted.")

    async def _to_its_end(self, counting: Coroutine[Any, Any, None], event: str = "") -> None:
        """Finish counting even if the platform stops meanwhile; an event that is being counted only once."""
        work = self._events.get(event)
        if work is not None:
            counting.close()
        else:
            work = asyncio.create_task(counting)
            self._counting.add(work)
            work.add_done_callback(self._counting.discard)
            if event:
                self._events[event] = work
                work.add_done_callback(lambda _: self._events.pop(event, None))
        await asyncio.shield(work)

    async def recounted(self, chat: Chat, reaction: Reaction, answer_id: str) -> None:
        """Count an emoji that was put on an answer while nobody listened; raises StorageUnavailable.

        It goes the way of any other, but nobody is asked anything about it, so long after.
        """
        is_mark = bool(mark_of(reaction.emoji))
        await self._to_its_end(
            self._reacted(chat, reaction, answer_id, vote_of(reaction.emoji), is_mark, asks=False)
        )

    async def cleared(self, chat: Chat, cleared: Cleared) -> None:
        """Withdraw votes and marks whose reactions a moderator cleared."""
        answer_id = await self._desk.conversations.answer_of(cleared.ref.key)
        claim = await self._desk.conversations.claim_at(cleared.ref.key)
        answers = (*(claim.before if claim else ()), *filter(None, [answer_id]))
        gone = self._votes_gone(chat, cleared, answers) if answers else self._unmarked(chat, cleared)
        await self._to_its_end(gone)

    async def _votes_gone(self, chat: Chat, cleared: Cleared, answers: Sequence[str]) -> None:
        """Withdraw the votes of everybody who has no emoji of that vote left on the message of answers."""
        about(cleared.ref.key, platform=chat.name)
        hands: tuple[Literal[0, 1], ...] = (1, 0)
        for value in hands:
            if not cleared.emoji or worth(cleared.emoji) == value:
                holders = {a for emoji, all_ in cleared.left.items() for a in all_ if worth(emoji) == value}
                for answer_id in answers:
                    await self._desk.engine.votes_cleared(answer_id, value, holders)
        await self._desk.unsolicited.noticed(answers[-1])

    async def _unmarked(self, chat: Chat, cleared: Cleared) -> None:
        """Withdraw the ✅ of everybody whose ✅ is no longer on the message."""
        if cleared.emoji and mark_of(cleared.emoji) != "accept":
            return
        left = {a for emoji, all_ in cleared.left.items() if mark_of(emoji) == "accept" for a in all_}
        async with self._desk.lock(f"mark {cleared.ref.key}"):
            for account in sorted(await self._desk.engine.accepted.accepting(cleared.ref.key) - left):
                await self._marks.take(chat, Reaction(cleared.ref, Person(account), ACCEPT, False), "")

    async def _kept(
        self, chat: Chat, reaction: Reaction, counting: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Count a reaction; while nothing can be saved, remove the emoji or wait.

        The person is told once. Raises StorageUnavailable if too much is waiting already.
        """
        key = f"{reaction.ref.key} {reaction.person.id} {reaction.emoji} {reaction.added}"
        while True:
            try:
                await counting()
                self._desk.outage.end(key)
                return
            except StorageUnavailable as error:
                if not self._desk.cluster.is_sure:
                    raise  # it is not acknowledged, and comes to another process
                if key not in self._desk.outage:
                    log.error("a reaction cannot be kept: %s", error)
                    back = reaction.added and await chat.take_back(reaction)
                    await chat.whisper(
                        reaction.ref, reaction.person, Reply(_(NOT_KEPT if back else KEPT_LATER))
                    )
                    if back:
                        return
                    if not self._desk.outage.begin(key):
                        raise
                await self._desk.outage.over()

    async def _reacted(
        self,
        chat: Chat,
        reaction: Reaction,
        answer_id: str,
        value: Literal[0, 1] | None,
        mark: bool,
        asks: bool = True,
    ) -> None:
        if self._desk.opted_out.is_out(reaction.person.id):
            if answer_id:
                await self._desk.opted_out.reacted(chat, reaction)
            return
        if value is not None and not reaction.added and value in map(vote_of, reaction.still):
            return  # the same vote stands in another skin tone
        hand = worth(reaction.emoji)
        if hand is not None and not reaction.added:
            claim = await self._desk.conversations.claim_at(reaction.ref.key)
            await self._desk.off_replaced(claim, reaction.person, hand, reaction.at)
        if mark:
            async with self._desk.lock(f"mark {reaction.ref.key}"):
                if not await self._desk.conversations.taken(reaction.event):
                    await self._marks.take(chat, reaction, answer_id)
                    await self._is_new(reaction.event)
        if value is None or not answer_id:
            return
        about(reaction.event or reaction.ref.key, platform=chat.name)
        voter, added = reaction.person.id, reaction.added
        given = Vote(answer_id, voter, value, by_reaction=True, said_at=reaction.at, until=reaction.until)
        vote = given if added else Vote(answer_id, voter, None, withdraws=value, said_at=reaction.at)
        # while it waits for its turn another process of a cluster may count it
        known = partial(self._desk.conversations.taken, reaction.event)
        shared = self._desk.cluster.is_shared and reaction.event
        async with self._places:
            if await known():
                return
            await self._desk.engine.feedback(vote, reaction.person.helper, known if shared else None)
            await self._desk.unsolicited.noticed(answer_id)
            # not before: a vote that a dying process had only claimed would be lost; twice it is the same
            is_new = await self._is_new(reaction.event)
        if asks and is_new and added and not value:
            await self._ask_what_was_wrong(chat, reaction, answer_id)

    async def _is_new(self, event: str) -> bool:
        """Claim an event by its id alone; return False if it was claimed before."""
        return not event or await self._desk.conversations.claim(Claim("", "", "", 0.0), event)

    async def _ask_what_was_wrong(self, chat: Chat, reaction: Reaction, answer_id: str) -> None:
        """Offer the form to the person who put 👎, where the platform can tell them alone."""
        claim = await self._desk.conversations.claim_of(answer_id)
        parts = claim.parts if claim else ()
        where = next((part for part in parts if part.key == reaction.ref.key), reaction.ref)
        asked = Reply(_(ASK_WHAT_WAS_WRONG), controls=(wrong_button(answer_id),))
        await chat.whisper(where, reaction.person, asked)

    async def stop(self) -> None:
        """Wait until pending reactions are counted."""
        if self._counting:
            await asyncio.wait(self._counting, timeout=COUNTING_SECONDS)


def worth(emoji: str) -> Literal[0, 1] | None:
    """Return the vote that an emoji on an answer may stand for; a helper's ✅ is their 👍."""
    return 1 if mark_of(emoji) == "accept" else vote_of(emoji)
