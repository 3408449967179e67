"""What memory learns from votes on reused answers, and that it follows from nothing else."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

from core.domain import Answer, Question, Recall, Scope, Vector, Vote
from core.memory.community import CommunityMemory
from core.memory.decision import CANDIDATES, LEARNED, PAPER, Decision
from core.memory.recognition import Centres, closeness, is_rejected, same_answer, sorted_out, ways
from core.memory.scoring import Thresholds
from core.ports import MemoryChange, Reworded
from tests.contracts.samples import pair
from tests.fake_rewordings import FakeRewordings
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories

GOOD, BAD = ((1, 2.0),), ((0, 2.0),)
OWN = "how to set the secret key"
REWORDED = "which way is a secret key set safely today"
FAR = "secret safely today"
"""Shares one weighty word with `OWN`, but all of them with `REWORDED`."""
DECISION = Decision("learned", reach=0.5, far=0.5)


def said(number: int, topic: str, opinions: tuple[tuple[int, float], ...], asker: str = "") -> Reworded:
    return Reworded(f"a{number}", topic, asker, float(number), opinions)


def unit(*values: float) -> Vector:
    made = np.array(values, np.float32)
    return np.asarray(made / np.linalg.norm(made), np.float32)


# --- which rewordings count -------------------------------------------------------------------


def test_rewordings_that_people_voted_good_are_accepted_and_bad_ones_rejected() -> None:
    given = [said(1, "good", GOOD), said(2, "bad", BAD), said(3, "silent", ()), said(4, "own", GOOD)]
    both = said(5, "torn", ((1, 1.0), (0, 1.0)))
    found = sorted_out(pair("p", topic="own"), [*given, both], Thresholds(), DECISION)
    assert found == (("good",), ("bad",))


def test_what_is_good_in_one_place_and_bad_in_another_is_neither() -> None:
    given = [said(1, "same", GOOD), said(2, "same", BAD)]
    assert sorted_out(pair("p", topic="own"), given, Thresholds(), DECISION) == ((), ())


def test_of_one_person_one_counts_and_of_all_no_more_than_the_decision_takes() -> None:
    flood = [said(n, f"flood {n}", GOOD, "slack:U1") for n in range(50)]
    crowd = [said(100 + n, f"crowd {n}", GOOD, f"slack:U{n + 2}") for n in range(50)]
    (good, _) = sorted_out(pair("p", topic="own"), flood + crowd, Thresholds(), DECISION)
    assert len(good) == DECISION.rewordings
    assert [topic for topic in good if topic.startswith("flood")] == ["flood 0"]


def test_the_order_in_which_rewordings_are_read_changes_nothing() -> None:
    given = [said(n, f"topic {n % 4}", GOOD if n % 3 else BAD, f"slack:U{n % 5}") for n in range(12)]
    expected = sorted_out(pair("p", topic="own"), given, Thresholds(), DECISION)
    for seed in range(10):
        shuffled = random.Random(seed).sample(given, len(given))
        assert sorted_out(pair("p", topic="own"), shuffled, Thresholds(), DECISION) == expected


# --- what they are for ------------------------------------------------------------------------


def test_closeness_is_to_the_centre_of_all_ways_to_ask() -> None:
    known = ways(unit(1, 0, 0), [unit(0, 1, 0)], [])
    assert known.centre == pytest.approx(unit(1, 1, 0))
    between = unit(1, 1, 0)
    assert float(known.own @ between) == pytest.approx(0.7071, abs=1e-4)
    assert closeness(between, known, 0.84) == pytest.approx(1.0)


def test_the_very_words_of_one_way_are_as_close_as_can_be() -> None:
    known = ways(unit(1, 0, 0), [unit(0, 1, 0), unit(0, 0, 1)], [])
    for one in (unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1)):
        assert closeness(one, known, 0.84) == pytest.approx(1.0)
        assert float(known.centre @ one) < 0.6


def test_one_way_alone_counts_only_where_it_is_the_same_question() -> None:
    known, asked = (
        ways(unit(1, 0, 0), [unit(0, 1, 0)], []),
        unit(4, 0, 3),
    )  # .8 from its own, .566 from the centre
    assert closeness(asked, known, 0.84) == pytest.approx(0.8 / 2**0.5)
    assert closeness(asked, known, 0.79) == pytest.approx(0.8)


def test_ways_to_ask_that_cancel_each_other_leave_the_pairs_own() -> None:
    assert ways(unit(1, 0), [unit(-1, 0)], []).centre.tolist() == [1.0, 0.0]


def test_what_was_voted_bad_for_this_question_is_known_unless_a_way_to_ask_is_nearer() -> None:
    known = ways(unit(1, 0), [], [unit(0, 1)])
    assert is_rejected(unit(0.1, 1), known, 0.84)
    assert not is_rejected(unit(1, 0.1), known, 0.84)
    assert not is_rejected(unit(1, 1), known, 0.7), "as near to what it was good for"


def test_centres_are_found_where_they_are_filed_and_leave_without_a_trace() -> None:
    centres, lot = Centres(), random.Random(1)
    made = {
        f"p{n}": ways(unit(*[lot.gauss(0, 1) for _ in range(4)]), [unit(1, 0, 0, 0)], []) for n in range(40)
    }
    for key, known in made.items():
        centres.put(key, ("1.0", "public"), known)
    for key in list(made)[::2]:
        centres.put(key, ("1.0", "public"), None)
        del made[key]
    centres.put("bad", ("1.0", "public"), ways(unit(1, 1, 1, 1), [], [unit(1, 1, 1, 2)]))
    asked = unit(1, 1, 1, 1)
    expected = sorted(made, key=lambda key: -float(made[key].centre @ asked))
    for k in range(1, 21):
        assert set(centres.nearest(asked, ("1.0", "public"), k)) == set(expected[:k])
    assert centres.nearest(asked, ("2.0", "public"), 5) == []
    assert centres.count == 20, "without what was only voted bad"
    for key in made:
        centres.put(key, ("1.0", "public"), None)
    assert centres.nearest(asked, ("1.0", "public"), 5) == []


# --- in memory --------------------------------------------------------------------------------


async def memory_of(
    store: FakeMemories, decision: Decision = DECISION, encoder: FakeEncoder | None = None
) -> CommunityMemory:
    memory = CommunityMemory(
        store,
        FakeCorpora(store.topics),
        Thresholds(),
        lambda asked, kept: "",
        decision=decision,
        rewordings=FakeRewordings(store),
    )
    await memory.load(encoder or FakeEncoder(), {})
    return memory


async def reused(store: FakeMemories, answer_id: str, topic: str, asker: str = "") -> None:
    trace = {"queries": {"topic": topic}}
    answer = Answer(answer_id, "Like this.", "reuse", "1.0", pair_id="p1", trace=trace)
    await store.save_answer(answer, Question(topic, asker=asker or f"slack:{answer_id}"), None)


async def recall(memory: CommunityMemory, topic: str) -> Recall:
    (vector,) = await FakeEncoder().encode([topic])
    return await memory.recall(vector, topic, "1.0", Scope())


async def with_pair() -> tuple[FakeMemories, CommunityMemory]:
    store = FakeMemories()
    memory = await memory_of(store)
    await memory.seed([pair("p1", topic=OWN, origin="import", prior=0.9)])
    return store, memory


async def test_a_rewording_voted_good_brings_others_near_and_is_forgotten_with_its_vote() -> None:
    store, memory = await with_pair()
    before = (await recall(memory, FAR)).route
    await reused(store, "a1", REWORDED)
    await memory.vote(Vote("a1", "slack:U2", 1), 2.0)
    learnt = await recall(memory, FAR)
    await memory.vote(Vote("a1", "slack:U2", None), 2.0)
    assert (before, learnt.route, (await recall(memory, FAR)).route) == ("avoid", "reuse", "avoid")
    assert "and its rewording" in learnt.decided


async def test_a_rewording_finds_its_pair_among_many_whose_own_questions_are_nearer() -> None:
    store, memory = await with_pair()
    others = "amber basil cedar dune ember flint grove heron".split()
    await memory.seed([pair(one, topic=f"{one} safely", origin="import", prior=0.9) for one in others])
    await reused(store, "a1", REWORDED)
    await memory.vote(Vote("a1", "slack:U2", 1), 2.0)
    found = await recall(memory, FAR)
    assert (found.route, [one.id for one, _ in found.high]) == ("reuse", ["p1"])
    assert len(others) == CANDIDATES, "all of which are looked at before it"
    await reused(store, "own", OWN)
    for number in range(6):
        await memory.vote(Vote("own", f"slack:V{number}", 0), 2.0)
    assert (await recall(memory, FAR)).route == "avoid", "it is bad by now"


async def test_an_answer_voted_bad_for_a_question_is_not_given_to_it_again() -> None:
    store, memory = await with_pair()
    asked = f"{OWN} quickly"
    assert (await recall(memory, asked)).route == "reuse"
    await reused(store, "a1", asked)
    await memory.vote(Vote("a1", "slack:U2", 0), 2.0)
    await memory.vote(Vote("a1", "slack:U3", 0), 2.0)
    await keep_high(memory, store)
    again = await recall(memory, asked)
    assert again.route == "reference"
    assert again.guard == "People voted that answer down for a question like this one."
    assert (await recall(memory, OWN)).route == "reuse"


async def keep_high(memory: CommunityMemory, store: FakeMemories) -> None:
    """Have enough people vouch for the pair itself that it stays good."""
    await reused(store, "own", OWN)
    for number in range(6):
        await memory.vote(Vote("own", f"slack:V{number}", 1), 2.0)


async def test_the_paper_learns_nothing() -> None:
    store = FakeMemories()
    memory = await memory_of(store, PAPER)
    await memory.seed([pair("p1", topic=OWN, origin="import", prior=0.9)])
    await reused(store, "a1", REWORDED)
    await memory.vote(Vote("a1", "slack:U2", 1), 2.0)
    assert memory.centres == 0
    assert (await recall(memory, FAR)).route == "avoid"


async def test_ways_follow_from_answers_and_votes_alone() -> None:
    """Whatever the order of votes, a restart, a rebuild or a crash before placing give the same ways."""
    topics = [REWORDED, FAR, f"{OWN} now", "keys that are secret", "set a key"]
    lot = random.Random(7)
    for _ in range(15):
        store, memory = await with_pair()
        for number, topic in enumerate(topics):
            await reused(store, f"a{number}", topic, asker=f"slack:U{number % 3}")
        for _ in range(lot.randint(1, 12)):
            vote = Vote(f"a{lot.randrange(5)}", f"slack:V{lot.randrange(3)}", lot.choice((0, 1, None)))
            if lot.random() < 0.2:
                await store.vote(vote, 1.0)
                await memory.load(FakeEncoder(), {})
            else:
                await memory.vote(vote, 1.0)
        expected = known_of(memory)
        await memory.rebuild()
        assert known_of(memory) == expected
        assert known_of(await memory_of(store)) == expected


def known_of(memory: CommunityMemory) -> list[object]:
    found = memory._recognition._ways("p1")
    return [] if found is None else [found.centre.tolist(), found.accepted.tolist(), found.rejected.tolist()]


async def test_rewordings_of_another_release_or_scope_do_not_bring_a_pair_near() -> None:
    store = FakeMemories()
    memory = await memory_of(store)
    places = itertools.product(("1.0", "2.0"), ("public", "private:slack:C1"))
    for number, (release, scope) in enumerate(places):
        made = pair(f"p{number}", topic=OWN, origin="import", prior=0.9, release=release, scope=scope)
        await memory.seed([made])
    trace = {"queries": {"topic": REWORDED}}
    answer = Answer("a1", "Like this.", "reuse", "2.0", pair_id="p2", trace=trace)
    await store.save_answer(answer, Question(REWORDED, asker="slack:U2"), None)
    await memory.vote(Vote("a1", "slack:U2", 1), 2.0)
    (vector,) = await FakeEncoder().encode([FAR])
    found = {
        release: (await memory.recall(vector, FAR, release, Scope())).route for release in ("1.0", "2.0")
    }
    assert found == {"1.0": "avoid", "2.0": "reuse"}


# --- answers that say the same ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "cosine", "same"),
    [
        ("Set `SECRET_KEY`.", "Set  `SECRET_KEY`.", 0.1, True),
        ("Set it to 10 MB.", "As said before: set it to 10 MB.", 0.95, True),
        ("Set it to 10 MB.", "Set it to 20 MB.", 0.98, False),
        ("Set `MAX_SIZE`.", "Set `MIN_SIZE`.", 0.97, False),
        ("Set it so.", "Leave it be.", 0.5, False),
        ("See [1]. Set it.", "See [2]. Set it.", 0.95, True),
        ("Set it to 10 MB.", "Set it to 10 MB, of 20 MB at most.", 0.95, True),
        ("Set it to 10 MB, of 20 MB at most.", "Set it to 10 MB.", 0.95, True),
    ],
)
def test_answers_say_the_same_where_they_are_near_and_hold_the_same_facts(
    one: str, other: str, cosine: float, same: bool
) -> None:
    assert same_answer(one, other, cosine) is same


async def test_an_answer_that_says_a_recalled_one_again_names_its_pair() -> None:
    _, memory = await with_pair()
    near: Sequence[str] = (f"{OWN} quickly", OWN)
    for topic in near:
        found = await recall(memory, topic)
        high = found.high
        assert high
        said_again = high[0][0].answer
        assert await memory.repeated(said_again, topic, found) == "p1"
        assert await memory.repeated("Something else entirely, with 42 words.", topic, found) == ""
    assert await memory.repeated("", OWN, found) == ""
    assert await memory.repeated("Like this: p1.", OWN, Recall("avoid")) == ""
    assert LEARNED.learns


class Smaller(FakeMemories):
    """Lets a question in while placements are written."""

    memory: CommunityMemory | None = None
    met: Recall | None = None

    async def place(self, change: MemoryChange) -> None:
        if self.memory is not None:
            (vector,) = await FakeEncoder("small@256", 64).encode([OWN])
            self.met = await self.memory.recall(vector, OWN, "1.0", Scope())
        await super().place(change)


async def test_a_question_that_comes_while_another_encoder_takes_over_meets_no_old_vectors() -> None:
    store = Smaller()
    memory = await memory_of(store)
    await memory.seed([pair("p1", topic=OWN, origin="import", prior=0.9)])
    await reused(store, "a1", REWORDED)
    await memory.vote(Vote("a1", "slack:U2", 1), 2.0)
    assert memory.centres == 1
    await store.vote(Vote("a1", "slack:U3", 1), 2.0)  # not placed yet, so that loading writes
    store.memory = memory
    await memory.load(FakeEncoder("small@256", 64), {})
    assert store.met is not None
    assert (store.met.route, memory.centres) == ("reuse", 1)
