"""What every `MemoryStore` does."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import Literal

import numpy as np
import pytest

from core.domain import Answer, Citation, Question, Scope, Vote
from core.ports import MemoryChange, MemoryStore, Placement, Remembered, TopicVector
from tests.contracts.conftest import Stores
from tests.contracts.samples import AWKWARD, UNWRITABLE, keep, kept_of, pair

Hand = Literal[0, 1]
UP: Hand = 1
DOWN: Hand = 0


@pytest.fixture
def memories(stores: Stores) -> MemoryStore:
    return stores.memories


async def never() -> bool:
    return False


async def opinions(store: MemoryStore, *votes: tuple[object, ...]) -> tuple[tuple[int, float], ...]:
    """Cast (voter, answer, value, withdraws?) votes of weight 1; return what stands after the last."""
    found: Remembered | None = None
    for voter, answer_id, value, *withdraws in votes:
        vote = Vote(str(answer_id), str(voter), value, withdraws[0] if withdraws else None)  # type: ignore[arg-type]
        found = await store.vote(vote, 1.0)
    assert found is not None
    assert found == await store.pair(found.id)
    return found.opinions


async def test_nothing_is_there_at_first(memories: MemoryStore) -> None:
    assert await memories.answer("a") is None
    assert await memories.pair("p") is None
    assert await memories.pairs([]) == {}
    assert await memories.pairs(["p"]) == {}
    assert await memories.placements() == ()
    assert await memories.voted() == ()
    assert await memories.counts() == dict.fromkeys(("answers", "pairs", "votes", "high", "low"), 0)
    assert await memories.mark_stale("1.0", set()) == 0
    await memories.place(MemoryChange())
    await memories.clear_placements()


async def test_an_answer_comes_back_with_its_trace(memories: MemoryStore) -> None:
    cited = (Citation(1, "T", "https://docs.example/#ä", "1.0", "a.rst", "h"),)
    trace = {"evidence": [{"score": 0.1, "text": AWKWARD, "none": None}], "odd": UNWRITABLE}
    answer = Answer("a1", AWKWARD, "quote", "1.0", cited, confidence=0.3, similarity=0.1, trace=trace)
    question = Question(AWKWARD, "slack:U1", "slack:C1", Scope("private", "slack:C1"))
    await memories.save_answer(answer, question, pair("p1"))
    found = await memories.answer("a1")
    assert found is not None
    assert found.pop("at") > 0
    assert kept_of(found["trace"].pop("odd")) == kept_of(UNWRITABLE)
    assert found == {
        "id": "a1",
        "question": question.text,
        "asker": "slack:U1",
        "channel": "slack:C1",
        "scope": "private:slack:C1",
        "release": "1.0",
        "route": "quote",
        "text": AWKWARD,
        "citations": [asdict(cited[0])],
        "confidence": 0.3,
        "similarity": 0.1,
        "pair_id": "p1",
        "trace": {"evidence": trace["evidence"]},
    }


async def test_the_vector_of_a_pair_is_kept_with_it(stores: Stores) -> None:
    vector = np.array([0.6, 0.8], np.float32)
    topic = TopicVector("small", "h1", vector)
    answer = Answer("a1", "x", "quote", "1.0")
    assert not await stores.memories.save_answer(answer, Question("x"), pair("p1"), never, topic)
    assert not await stores.corpora.vectors("small", ["h1"])
    assert await stores.memories.save_answer(answer, Question("x"), pair("p1"), topic=topic)
    kept = await stores.corpora.vectors("small", ["h1"])
    assert kept["h1"].tolist() == vector.tolist()


async def test_the_releases_of_several_answers_come_at_once(memories: MemoryStore) -> None:
    for key, release in (("a1", "1.0"), ("a2", "2.0"), ("a3", "")):
        assert await memories.save_answer(
            Answer(key, "x", "documents", release), Question("x", "web:ada"), None
        )
    assert await memories.releases_of(["a1", "a2", "a3", "a9"]) == {"a1": "1.0", "a2": "2.0", "a3": ""}
    assert await memories.releases_of([]) == {}


async def test_a_pair_comes_back_whole_and_neutral(memories: MemoryStore) -> None:
    made = pair(topic=AWKWARD, origin="import", label="ä/1", stale=True, prior=1 / 3, created_at=1e9 + 1 / 7)
    await keep(memories, made)
    assert await memories.pair("p1") == made
    assert await memories.pairs(["p1", "p1", "p2"]) == {"p1": made}


async def test_the_same_answer_or_pair_again_changes_nothing(memories: MemoryStore) -> None:
    made = await keep(memories, pair(), "a1")
    await memories.save_answer(Answer("a1", "other", "quote", "2.0"), Question("other"), None)
    await keep(memories, pair(answer="other"), "a2")
    kept = await memories.answer("a1")
    assert kept is not None
    assert (kept["text"], kept["pair_id"]) == (made.answer, "p1")
    assert await memories.pair("p1") == made


async def test_an_answer_without_a_pair_of_its_own_may_count_for_another(memories: MemoryStore) -> None:
    await keep(memories, pair(), "a1")
    await memories.save_answer(Answer("a2", "x", "reuse", "1.0", pair_id="p1"), Question("x"), None)
    await memories.save_answer(Answer("a3", "x", "abstain", "1.0"), Question("x"), None)
    assert await opinions(memories, ("u", "a2", UP)) == ((1, 1.0),)
    assert await memories.vote(Vote("a3", "u", UP), 1.0) is None
    assert await memories.vote(Vote("unknown", "u", UP), 1.0) is None
    assert (await memories.counts())["answers"] == 3


async def test_a_vote_stands_with_its_weight_in_order_of_voters(memories: MemoryStore) -> None:
    await keep(memories, pair(), "a1")
    await memories.vote(Vote("a1", "slack:U2", DOWN), 2.5)
    found = await memories.vote(Vote("a1", "slack:U1", UP), 1.0)
    assert found is not None
    assert found.opinions == ((1, 1.0), (0, 2.5))
    again = await memories.vote(Vote("a1", "slack:U1", UP), 3.0)
    assert again is not None
    assert again.opinions == ((1, 3.0), (0, 2.5))


STANDING: list[tuple[str, list[tuple[object, ...]], tuple[Hand, ...]]] = [
    ("the later of two hands", [("u", "a1", UP), ("u", "a1", DOWN)], (DOWN,)),
    ("the hand still up", [("u", "a1", UP), ("u", "a1", DOWN), ("u", "a1", None, DOWN)], (UP,)),
    (
        "the later hand, the earlier taken back",
        [("u", "a1", UP), ("u", "a1", DOWN), ("u", "a1", None, UP)],
        (DOWN,),
    ),
    ("nothing once both are back", [("u", "a1", UP), ("u", "a1", None, UP)], ()),
    ("nothing once all is taken back", [("u", "a1", UP), ("u", "a1", DOWN), ("u", "a1", None)], ()),
    ("what was never taken back", [("u", "a1", UP), ("u", "a1", None, DOWN)], (UP,)),
    ("a hand put up again", [("u", "a1", UP), ("u", "a1", DOWN), ("u", "a1", UP)], (UP,)),
    (
        "the other hand, after one was put up again and taken back",
        [("u", "a1", UP), ("u", "a1", DOWN), ("u", "a1", UP), ("u", "a1", None, UP)],
        (DOWN,),
    ),
    ("one opinion on two answers of a pair", [("u", "a1", UP), ("u", "a2", DOWN)], (DOWN,)),
    ("the other answer's, once taken back", [("u", "a1", UP), ("u", "a2", DOWN), ("u", "a2", None)], (UP,)),
    ("only what this answer got is taken back", [("u", "a1", UP), ("u", "a2", UP), ("u", "a1", None)], (UP,)),
    ("every voter's own", [("u", "a1", UP), ("v", "a1", DOWN), ("u", "a1", None)], (DOWN,)),
    ("nothing, taken back unasked", [("u", "a1", None), ("u", "a1", None, UP)], ()),
]


@pytest.mark.parametrize(("votes", "standing"), [s[1:] for s in STANDING], ids=[s[0] for s in STANDING])
async def test_of_several_votes_stands(
    memories: MemoryStore, votes: list[tuple[object, ...]], standing: tuple[Hand, ...]
) -> None:
    await keep(memories, pair(), "a1", "a2")
    await keep(memories, pair("p2"), "b1")
    await memories.vote(Vote("b1", "u", DOWN), 1.0)
    assert tuple(value for value, _ in await opinions(memories, *votes)) == standing
    assert {p.id for p in await memories.voted()} == ({"p1", "p2"} if standing else {"p2"})
    assert (await memories.counts())["votes"] == len(votes) + 1


async def test_what_a_person_thinks_of_an_answer_is_told_by_answer_and_person(memories: MemoryStore) -> None:
    await keep(memories, pair(), "a1", "a2")
    assert await memories.opinion("a1", "u") is await memories.opinion("unknown", "u") is None
    for vote, expected in (
        (Vote("a1", "u", UP), UP),
        (Vote("a1", "v", DOWN), UP),
        (Vote("a2", "u", DOWN), UP),
        (Vote("a1", "u", DOWN), DOWN),
        (Vote("a1", "u", None, withdraws=DOWN), UP),
        (Vote("a1", "u", DOWN), DOWN),
        (Vote("a1", "u", None), None),
    ):
        await memories.vote(vote, 1.0)
        assert await memories.opinion("a1", "u") == expected
    assert (await memories.opinion("a1", "v"), await memories.opinion("a2", "u")) == (DOWN, DOWN)


async def test_events_of_one_hand_count_in_the_order_of_the_platform(memories: MemoryStore) -> None:
    """Two processes of a cluster may bring them in another one, and a platform may bring one twice."""
    await keep(memories, pair(), "a1")
    put, off = Vote("a1", "u", UP, said_at=10.0), Vote("a1", "u", None, withdraws=UP, said_at=20.0)
    for vote in (put, off, put):
        await memories.vote(vote, 1.0)
    assert await memories.opinion("a1", "u") is None
    for vote in (replace(put, said_at=30.0), off, off, replace(put, said_at=30.0)):
        await memories.vote(vote, 1.0)
    assert await memories.opinion("a1", "u") == UP
    assert (await memories.counts())["votes"] == 3, "what comes again is known"
    await memories.vote(replace(off, said_at=30.0), 1.0)
    assert await memories.opinion("a1", "u") is None


@pytest.mark.parametrize(
    ("read", "then"), [(Vote("a1", "u", UP), UP), (Vote("a1", "u", None, withdraws=DOWN), None)]
)
async def test_what_was_read_under_an_answer_counts_unless_its_voter_voted_since(
    memories: MemoryStore, read: Vote, then: Hand | None
) -> None:
    """Between the reading and its vote others have their turn, and may bring a later event of that person."""
    await keep(memories, pair(), "a1")
    heard = Vote("a1", "u", DOWN, by_reaction=True, said_at=10.0)
    await memories.vote(heard, 1.0)
    await memories.vote(replace(heard, voter="w"), 1.0)
    await memories.vote(replace(read, until=0), 1.0)
    assert await memories.opinion("a1", "u") == DOWN
    await memories.vote(replace(read, until=1), 1.0)
    assert await memories.opinion("a1", "u") == then, "only w voted since"


async def test_who_holds_a_hand_up_is_told_also_beneath_the_other_one(memories: MemoryStore) -> None:
    await keep(memories, pair(), "a1", "a2")
    assert await memories.hands("a1", UP) == ()
    for vote in (
        Vote("a1", "u", UP, by_reaction=True),
        Vote("a1", "v", UP, by_reaction=True),
        Vote("a1", "v", DOWN, by_reaction=True),
        Vote("a1", "w", UP, by_reaction=True),
        Vote("a1", "w", None, withdraws=UP),
        Vote("a2", "x", UP, by_reaction=True),
        Vote("a1", "button", UP),
    ):
        await memories.vote(vote, 1.0)
    assert await memories.hands("a1", UP) == ("u", "v") and await memories.hands("a1", DOWN) == ("v",)
    assert await memories.hands("a1", UP, {"u", "nobody"}) == ("v",)
    assert await memories.hands("unknown", UP) == ()
    everything = await memories.hands("a1", UP, until=10_000)
    assert everything == ("u", "v")
    assert await memories.hands("a1", UP, until=1) == ("u",), "who voted since keeps theirs"


async def test_a_reuse_counts_once_and_of_the_pair_that_was_reused(memories: MemoryStore) -> None:
    await keep(memories, pair("p1"), "a1")
    await keep(memories, pair("p2"), "a2")
    for answer_id, route in (("a3", "reuse"), ("a3", "reuse"), ("a4", "reuse"), ("a5", "quote")):
        answer = Answer(answer_id, "x", route, "1.0", pair_id="p1")  # type: ignore[arg-type]
        await memories.save_answer(answer, Question("x"), None)
    found = await memories.pairs(["p1", "p2"])
    assert (found["p1"].uses, found["p2"].uses) == (2, 0)
    assert found["p1"].used_at > 1e9 and found["p2"].used_at == 0


async def test_pairs_that_people_brought_are_added_once(memories: MemoryStore) -> None:
    made = [pair(f"i{n}", origin="import", label=f"l{n}", question=AWKWARD, release="*") for n in range(3)]
    assert await memories.add([]) == set()
    assert await memories.add(made[:2]) == {"i0", "i1"}
    assert await memories.add([*made, replace(made[2], answer="other")]) == {"i2"}
    assert await memories.pairs(["i0", "i1", "i2"]) == {p.id: p for p in made}
    assert list(await memories.voted()) == made


async def test_a_pair_that_comes_back_says_what_is_given_and_keeps_its_votes(
    memories: MemoryStore,
) -> None:
    await keep(memories, pair("p1"))
    await memories.vote(Vote("a-p1", "u", UP), 1.0)
    now = pair("p1", question="And now?", topic="now", answer="So.", release="2.0", origin="person")
    assert await memories.add([now]) == set(), "it stands"
    assert [one.release for one in (await memories.pairs(["p1"])).values()] == ["1.0"]
    await memories.set_aside(["p1"], "retired")
    assert await memories.add([now]) == {"p1"}
    assert await memories.pair("p1") == replace(now, opinions=((1, 1.0),))


async def test_what_is_set_aside_stays_so_unless_a_vote_may_bring_it_back(memories: MemoryStore) -> None:
    for key, why in (("p1", "retired"), ("p2", "evicted"), ("p3", "")):
        await keep(memories, pair(key))
        await memories.set_aside([key, "unknown"], why)  # type: ignore[arg-type]
    found = await memories.pairs(["p1", "p2", "p3"])
    assert {key: kept.aside for key, kept in found.items()} == {"p1": "retired", "p2": "evicted", "p3": ""}
    after = [await memories.vote(Vote(f"a-p{n}", "u", UP), 1.0) for n in (1, 2, 3)]
    assert [kept.aside for kept in after if kept] == ["retired", "", ""]
    assert {kept.id: kept.aside for kept in await memories.voted()} == {"p1": "retired", "p2": "", "p3": ""}
    await memories.set_aside(["p1"], "")
    kept = await memories.pair("p1")
    assert kept is not None
    assert kept.aside == ""


async def test_votes_cast_at_once_are_all_there(memories: MemoryStore) -> None:
    for number in range(4):
        await keep(memories, pair(f"p{number}"), f"a{number}")
    votes = [Vote(f"a{n % 4}", f"slack:U{n:03}", UP if n % 3 else DOWN) for n in range(60)]
    found = await asyncio.gather(*(memories.vote(vote, 1.0) for vote in votes))
    assert all(found)
    assert (await memories.counts())["votes"] == 60
    for number in range(4):
        kept = await memories.pair(f"p{number}")
        assert kept is not None
        assert [v for v, _ in kept.opinions] == [vote.value for vote in votes[number::4]]


async def test_voted_holds_what_has_an_opinion_or_was_brought_by_people(memories: MemoryStore) -> None:
    await keep(memories, pair("neutral"))
    await keep(memories, pair("imported", origin="import"))
    await keep(memories, pair("by-hand", origin="person"))
    await keep(memories, pair("voted"), "a1")
    await memories.vote(Vote("a1", "u", UP), 1.0)
    assert [p.id for p in await memories.voted()] == ["by-hand", "imported", "voted"]


async def test_placements_are_written_changed_and_removed(memories: MemoryStore) -> None:
    for key in ("p1", "p2", "p3"):
        await keep(memories, pair(key))
    first = Placement("p1", "high", 2 / 3, 1)
    second = Placement("p2", "low", 0.25, None, "p3")
    await memories.place(MemoryChange((second, first, Placement("p3", "low", 0.3, 4))))
    assert [p for p, _ in await memories.placements()] == [first, second, Placement("p3", "low", 0.3, 4)]
    assert [kept for _, kept in await memories.placements()] == [pair("p1"), pair("p2"), pair("p3")]
    assert await memories.counts() == {"answers": 3, "pairs": 3, "votes": 0, "high": 1, "low": 1}

    moved = replace(first, store="low", score=0.1, cluster=7)
    await memories.place(MemoryChange((moved,), ("p3", "p3", "unknown")))
    await memories.place(MemoryChange((moved,)))
    assert [p for p, _ in await memories.placements()] == [moved, second]
    await memories.clear_placements()
    assert await memories.placements() == ()


def cited(*hashes: str, release: str = "1.0") -> tuple[Citation, ...]:
    return tuple(Citation(n, "T", "u", release, "p", key) for n, key in enumerate(hashes, start=1))


async def test_many_pairs_in_one_call(memories: MemoryStore) -> None:
    made = [pair(f"p{number:04}", topic=f"t{number}", citations=cited(f"h{number}")) for number in range(640)]
    for some in made:
        await keep(memories, some)
    await asyncio.gather(*(memories.vote(Vote(f"a-{p.id}", "u", UP), 1.0) for p in made[:30]))
    ids = [p.id for p in made]
    found = await memories.pairs([*ids, *(f"unknown-{n}" for n in range(700))])
    assert sorted(found) == ids
    assert [found[key].opinions for key in ids[29:31]] == [((1, 1.0),), ()]
    await memories.place(MemoryChange(tuple(Placement(key, "high", 0.9, 1) for key in ids)))
    assert [p.pair_id for p, _ in await memories.placements()] == ids
    await memories.place(MemoryChange((), tuple(ids)))
    assert await memories.placements() == ()
    assert len(await memories.voted()) == 30
    assert await memories.mark_stale("1.0", {"h0"}) == 639
    assert await memories.mark_stale("1.0", {f"h{n}" for n in range(640)}) == 0


async def test_what_is_withdrawn_takes_its_pair_along_unless_a_vote_stands_on_it(
    memories: MemoryStore,
) -> None:
    for key in ("nobody", "taken", "voted", "shared"):
        trace = {"queries": {"topic": f"how {key}", "base": f"How to {key}?"}}
        answer = Answer(f"a-{key}", "Like this.", "documents", "1.0", pair_id=key, trace=trace)
        await memories.save_answer(answer, Question(f"How to {key}?", asker="slack:U1"), pair(key))
    await keep(memories, pair("shared"), "again")
    await opinions(memories, ("u", "a-taken", UP), ("v", "a-taken", DOWN))
    await opinions(memories, ("u", "a-taken", None), ("v", "a-taken", None))
    await opinions(memories, ("u", "a-voted", UP))  # no placement says so: memory is being rebuilt
    for key in ("nobody", "taken", "voted", "shared"):
        await memories.withdraw(f"a-{key}", replaced=False)
    assert set(await memories.pairs(["nobody", "taken", "voted", "shared"])) == {"voted", "shared"}
    left = {key: await memories.answer(f"a-{key}") or {} for key in ("taken", "voted")}
    assert [left[key]["pair_id"] for key in left] == ["", "voted"]
    assert left["voted"]["trace"]["queries"] == {"topic": "how voted"}, "votes need what memory compares"
    assert "queries" not in left["taken"]["trace"]
    assert await memories.vote(Vote("a-taken", "u", UP), 1.0) is None


async def test_the_last_of_the_answers_that_share_a_pair_takes_it_along(memories: MemoryStore) -> None:
    await keep(memories, pair("shared"), "first")
    await keep(memories, pair("shared"), "second")
    await memories.withdraw("first", replaced=False)
    assert await memories.pairs(["shared"]), "the other answer says it still"
    await memories.withdraw("second", replaced=True)
    assert not await memories.pairs(["shared"])
    assert [(await memories.answer(key) or {})["pair_id"] for key in ("first", "second")] == ["", ""]


async def test_what_cites_a_page_that_is_gone_is_stale_until_it_is_back(memories: MemoryStore) -> None:
    await keep(memories, pair("one", citations=cited("h1")))
    await keep(memories, pair("both", citations=cited("h1", "h2")))
    await keep(memories, pair("nothing", citations=cited("")))
    await keep(memories, pair("elsewhere", release="2.0", citations=cited("h2", release="2.0")))

    async def stale() -> set[str]:
        found = await memories.pairs(["one", "both", "nothing", "elsewhere"])
        return {key for key, kept in found.items() if kept.stale}

    assert await memories.mark_stale("1.0", {"h1", "h3"}) == 1
    assert await stale() == {"both"}
    assert await memories.mark_stale("1.0", {"h1", "h3"}) == 0
    assert await memories.mark_stale("1.0", {"h2"}) == 1
    assert await stale() == {"one", "both"}
    assert await memories.mark_stale("1.0", {"h1", "h2"}) == 0
    assert await stale() == set()


async def test_an_answer_for_two_releases_is_stale_when_either_changes(memories: MemoryStore) -> None:
    both = (*cited("h1", release="1.0"), *cited("h2", release="2.0"))
    await keep(memories, pair("both", release="1.0+2.0", citations=both))
    assert await memories.mark_stale("1.0", {"h1"}) == 0
    assert await memories.mark_stale("2.0", {"other"}) == 1
    assert await memories.mark_stale("1.0", {"h1"}) == 0
    found = await memories.pair("both")
    assert found is not None
    assert found.stale


async def test_text_that_no_database_can_hold_costs_only_its_bad_characters(memories: MemoryStore) -> None:
    citation = Citation(1, UNWRITABLE, "u", "1.0", UNWRITABLE, "h")
    made = pair(
        question=UNWRITABLE, topic=UNWRITABLE, answer=UNWRITABLE, asker=UNWRITABLE, citations=(citation,)
    )
    await keep(memories, made, "a1")
    found = await memories.vote(Vote("a1", f"web:{UNWRITABLE}", UP), 1.0)
    assert found is not None
    assert found.opinions == ((1, 1.0),)
    for value in (found.question, found.topic, found.answer, found.citations[0].title):
        assert kept_of(value) == kept_of(UNWRITABLE)
    taken = await memories.vote(Vote("a1", f"web:{UNWRITABLE}", None), 1.0)
    assert taken is not None
    assert taken.opinions == ()
