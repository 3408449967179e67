"""Memory on the real database: placed by the votes alone, in whatever order, whoever was forgotten.

`expected` of `tests.core.memory.test_memory_properties` is the model: store and keeping of each pair
derived from its standing votes in the plainest way. That file plays far more on the fake store; here SQLite
and PostgreSQL hold the truth.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from core.domain import Answer, Citation, Question, Scope, Vote
from core.memory.community import CommunityMemory
from core.memory.scoring import Thresholds
from core.ports import Remembered
from storage.corpora.corpora import SqlCorpora
from storage.database.database import Database
from storage.memory.memories import SqlMemories
from storage.people.forgetting import SqlPeople
from tests.core.memory.test_memory_properties import ENCODERS, RELEASES, THRESHOLDS, TOPICS, expected

T = TypeVar("T")
PEOPLE = ("slack:ann", "slack:bob", "discord:eve")
SCOPES = ("public", "public", "private:slack:C1")


class Home:
    """A database for all examples, with a loop of its own."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.loop = asyncio.new_event_loop()
        self.database = self.run(Database.open(folder, url))
        self.numbers = itertools.count()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.run(self.database.close())
        self.loop.close()


class Placement(RuleBasedStateMachine):
    """People ask, vote, change their minds and are forgotten; the process is started again at any time."""

    def __init__(self, home: Home) -> None:
        super().__init__()
        self.home, self.run = home, home.run
        self.store, self.people = SqlMemories(home.database), SqlPeople(home.database)
        self.corpora, self.encoder = SqlCorpora(home.database), ENCODERS[0]
        self.pairs: dict[str, str] = {}
        """By pair: who asked."""
        self.votes: list[Vote] = []
        self.open()

    def open(self, thresholds: Thresholds = THRESHOLDS) -> None:
        self.memory = CommunityMemory(self.store, self.corpora, thresholds, lambda asked, kept: "")
        self.run(self.memory.load(self.encoder, dict.fromkeys(RELEASES[:2], self.encoder)))

    def teardown(self) -> None:
        self.in_another_order()
        self.run(self.people.forget(PEOPLE, PEOPLE))
        self.run(self.memory.rebuild())
        assert self.memory.stores() == {}

    @rule(
        topic=st.integers(0, TOPICS - 1),
        release=st.sampled_from([*RELEASES[:2], RELEASES[0]]),
        scope=st.sampled_from(SCOPES),
        who=st.sampled_from(PEOPLE),
        prior=st.sampled_from([0.25, 0.5, 0.75]),
        voted=st.sampled_from([None, 1, 1, 0]),
    )
    def ask(self, topic: int, release: str, scope: str, who: str, prior: float, voted: Any) -> None:
        number = next(self.home.numbers)
        channel = scope.partition(":")[2] or "slack:C2"
        cited = (Citation(1, "Page", "https://page", release, str(topic), f"{release} {topic}"),)
        pair = Remembered(
            f"p{number}", f"{topic}?", str(topic), f"{topic}!", release, scope, prior, 1000.0 + number,
            citations=cited, asker=who, channel=channel,
        )  # fmt: skip
        answer = Answer(f"a{number}", pair.answer, "documents", release, pair_id=pair.id)
        asked = Question(pair.question, who, channel, Scope.parse(scope))
        topic = self.memory.topic_of(pair, self.encoder.vector(pair.topic))
        self.run(self.store.save_answer(answer, asked, pair, topic=topic))
        self.pairs[pair.id] = who
        if voted is not None:
            self.cast(Vote(answer.id, who, voted))

    @rule(
        at=st.integers(0, 30),
        who=st.sampled_from(PEOPLE),
        value=st.sampled_from([1, 0, None]),
        standing=st.sampled_from(["known", "early", "new"]),
    )
    def vote(self, at: int, who: str, value: Any, standing: Any) -> None:
        if self.pairs:
            pair_id = sorted(self.pairs)[at % len(self.pairs)]
            self.cast(Vote(f"a{pair_id[1:]}", who, value, standing=standing))

    def cast(self, vote: Vote) -> None:
        self.run(self.memory.vote(vote, 1.0))
        self.votes.append(vote)

    @rule(at=st.integers(0, 30), who=st.sampled_from(PEOPLE))
    def die_between_vote_and_placement(self, at: int, who: str) -> None:
        if self.pairs:
            pair_id = sorted(self.pairs)[at % len(self.pairs)]
            vote = Vote(f"a{pair_id[1:]}", who, 1)
            self.run(self.store.vote(vote, 1.0))
            self.votes.append(vote)
            self.open()

    @rule(who=st.sampled_from(PEOPLE))
    def forget(self, who: str) -> None:
        """Somebody's questions, pairs and votes go, in the database's own way."""

        async def remove() -> None:
            await self.people.forget([who], [who])

        self.run(self.memory.rebuild(remove))
        gone = {pair_id for pair_id, asker in self.pairs.items() if asker == who}
        self.pairs = {pair_id: asker for pair_id, asker in self.pairs.items() if asker != who}
        self.votes = [v for v in self.votes if v.voter != who and f"p{v.answer_id[1:]}" not in gone]
        assert not gone & self.run(self.memory.pairs(sorted(gone))).keys()

    @rule(private=st.booleans())
    def a_channel_changes(self, private: bool) -> None:
        if private:
            self.run(self.memory.channel_became_private("slack:C2"))
        else:
            self.run(self.memory.publish("slack:C1"))

    @rule(rebuilt=st.booleans())
    def start_again(self, rebuilt: bool) -> None:
        before = self.memory.stores()
        if rebuilt:
            self.run(self.memory.rebuild())
        else:
            self.open()
        assert self.memory.stores() == before

    def in_another_order(self) -> None:
        """Votes of different people on different answers, in any order, end at the same place."""
        before, last = self.memory.stores(), {(v.answer_id, v.voter): v for v in self.votes}
        again = list(last.values())
        Random(len(again)).shuffle(again)
        for vote in again:
            self.run(self.memory.vote(vote, 1.0))
        assert self.memory.stores() == before

    @invariant()
    def every_pair_stands_where_the_votes_say(self) -> None:
        pairs = list(self.run(self.memory.pairs(sorted(self.pairs))).values())
        assert len(pairs) == len(self.pairs)
        assert self.memory.stores() == expected(pairs, THRESHOLDS, self.encoder, True)
        assert self.run(self.memory.verify()) == []
