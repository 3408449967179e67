"""What every `ReactionStore` does; SQL on SQLite and PostgreSQL is all there is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from typing import Literal

import pytest

from core.domain import Answer, MessageRef, Question, Vote
from core.ports import Claim
from core.ports.opinions import Shown
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.memory.opinions import SqlReactions
from storage.serving.conversations import SqlConversations
from tests.contracts.samples import AWKWARD
from tests.databases import DATABASES

ADA, BEN = "slack:U1", "slack:U2"


def veils(account: str, place: str) -> Collection[str]:
    return (f"~{account} at {place}",)


class World:
    """A store, and answers that are posted and voted on."""

    def __init__(self, database: Database) -> None:
        self.reactions = SqlReactions(database, veils)
        self._claims, self._memories = SqlConversations(database), SqlMemories(database)

    async def claimed(self, key: str, at: float, platform: str = "slack", parts: int = 1) -> Shown:
        """Claim a question and note the messages that its reply takes; return what is to be told of it."""
        message = f"{platform}:C1:{key}"
        refs = tuple(MessageRef(platform, "C1", f"{key}.{part}", key) for part in range(parts))
        await self._claims.claim(Claim(message, f"{message}:t", ADA, at))
        await self._claims.posted(message, refs)
        return Shown(f"answer {key}", refs, at)

    async def answered(self, key: str, at: float, platform: str = "slack", parts: int = 1) -> Shown:
        """Let a question be answered in its messages."""
        shown = await self.claimed(key, at, platform, parts)
        await self._claims.answered(f"{platform}:C1:{key}", await self.saved(shown.answer_id))
        return shown

    async def posting(self, key: str, at: float) -> Shown:
        """Let an answer be found that is not known to be posted."""
        shown = await self.claimed(key, at)
        await self._claims.posting(f"slack:C1:{key}", await self.saved(shown.answer_id))
        return shown

    async def again(self, shown: Shown, key: str, at: float, answer: str = "later 1") -> Shown:
        """Let an edited question be answered again, in the same messages."""
        message = f"slack:C1:{key}"
        await self._claims.reopen(message, {}, at)
        await self._claims.answered(message, await self.saved(answer))
        return Shown(answer, shown.parts, at, (*shown.before, shown.answer_id))

    async def saved(self, answer: str) -> str:
        await self._memories.save_answer(Answer(answer, "Text", "quote", "1.0"), Question("How?", ADA), None)
        return answer

    async def vote(
        self,
        answer: str,
        who: str,
        value: Literal[0, 1] | None,
        emoji: bool = True,
        off: Literal[0, 1, None] = None,
    ) -> None:
        """Put a vote, or take it off; by an emoji or by a button."""
        await self._memories.vote(Vote(answer, who, value, off, by_reaction=emoji), 1.0)

    async def shown(self, since: float = 0.0, limit: int = 10, platform: str = "slack") -> Sequence[Shown]:
        return await self.reactions.shown(platform, since, limit)

    async def unheard(self, shown: Shown, value: Literal[0, 1], *who: str) -> set[str]:
        return set(await self.reactions.unheard(shown, value, who, await self.reactions.newest(shown)))


@pytest.fixture
async def world(place: str, tmp_path: Path) -> AsyncIterator[World]:
    database = await Database.open(tmp_path, place)
    yield World(database)
    await database.close()


pytestmark = pytest.mark.parametrize("place", DATABASES, indirect=True)


async def test_the_latest_answers_of_a_platform_are_told_newest_first_with_their_messages(
    world: World,
) -> None:
    first, second = await world.answered("1", 10.0), await world.answered("2", 20.0, parts=3)
    await world.answered("3", 30.0, platform="slackish")
    assert await world.shown() == (second, first)
    assert await world.shown(since=20.0) == (second,), "none from before a time"
    assert await world.shown(limit=1) == (second,)
    assert await world.shown(platform="sla%") == (), "a name is no pattern"


async def test_an_answer_that_is_about_to_be_posted_may_stand_there_already(world: World) -> None:
    found = await world.posting("1", 10.0)
    await world.claimed("2", 20.0)
    assert await world.shown() == (found,), "a claim without an answer shows none"


async def test_answers_that_stood_in_the_same_messages_before_are_told_in_their_order(world: World) -> None:
    shown = await world.answered("1", 10.0)
    later = await world.again(await world.again(shown, "1", 20.0), "1", 30.0, "last 1")
    assert await world.shown() == (later,)
    assert later.before == ("answer 1", "later 1")


async def test_who_voted_while_the_emoji_were_read_is_left_alone(world: World) -> None:
    shown = await world.answered("1", 10.0)
    assert await world.reactions.newest(shown) == 0
    await world.vote(shown.answer_id, BEN, 1)
    read = await world.reactions.newest(shown)
    assert read
    await world.vote(shown.answer_id, ADA, 1)
    await world.vote(shown.answer_id, ADA, None, off=1)
    assert await world.reactions.unheard(shown, 1, {ADA, BEN}, read) == set(), "it was taken off since"
    assert await world.reactions.unheard(shown, 1, {ADA}, await world.reactions.newest(shown)) == {ADA}


async def test_an_emoji_is_heard_of_until_it_is_taken_off(world: World) -> None:
    shown = await world.answered("1", 10.0)
    assert await world.unheard(shown, 1, ADA, BEN) == {ADA, BEN}
    await world.vote(shown.answer_id, ADA, 1)
    assert await world.unheard(shown, 1, ADA, BEN) == {BEN}
    assert await world.unheard(shown, 0, ADA) == {ADA}, "the other emoji is another one"
    await world.vote(shown.answer_id, ADA, None, off=1)
    assert await world.unheard(shown, 1, ADA) == {ADA}, "it was taken off, so that this is a new one"
    assert await world.unheard(shown, 1) == set()


async def test_an_emoji_stays_known_when_its_vote_is_taken_back_by_a_button(world: World) -> None:
    shown = await world.answered("1", 10.0)
    await world.vote(shown.answer_id, ADA, 1)
    await world.vote(shown.answer_id, ADA, None, emoji=False)
    assert await world.unheard(shown, 1, ADA) == set()


async def test_the_same_vote_by_a_button_needs_no_counting(world: World) -> None:
    shown = await world.answered("1", 10.0)
    await world.vote(shown.answer_id, ADA, 0, emoji=False)
    assert await world.unheard(shown, 0, ADA) == set()
    await world.vote(shown.answer_id, ADA, None, emoji=False)
    assert await world.unheard(shown, 0, ADA) == {ADA}


async def test_an_emoji_on_an_earlier_answer_of_the_messages_is_known_and_its_button_is_not(
    world: World,
) -> None:
    shown = await world.answered("1", 10.0)
    await world.vote(shown.answer_id, ADA, 1)
    await world.vote(shown.answer_id, BEN, 1, emoji=False)
    later = await world.again(shown, "1", 20.0)
    assert await world.unheard(later, 1, ADA, BEN) == {BEN}


async def test_a_vote_that_retention_gave_a_one_way_name_is_known(world: World) -> None:
    shown = await world.answered("1", 10.0)
    await world.vote(shown.answer_id, *(next(iter(veils(ADA, shown.answer_id))), 1))
    assert await world.unheard(shown, 1, ADA, BEN) == {BEN}


async def test_names_of_any_kind_are_told_apart(world: World) -> None:
    shown = await world.answered("1", 10.0)
    odd = AWKWARD.replace("\x00", "")
    await world.vote(shown.answer_id, odd, 1)
    assert await world.unheard(shown, 1, odd, f"{odd} ", odd.upper()) == {f"{odd} ", odd.upper()}
