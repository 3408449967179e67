"""Who hears what of memory, and what keeps a near pair from being reused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.domain import Recall, Scope, Vote
from core.memory.community import CommunityMemory
from core.memory.decision import LEARNED, PAPER, Decision, Guard
from core.memory.scoring import Thresholds
from core.ports import Remembered
from tests.contracts.samples import keep, pair
from tests.fake_rewordings import FakeRewordings
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories

ASKED = "set the secret key"
TURNED = "the secret key set"
"""The same words in another order, which no vector tells."""
WORDS = "amber basil cedar dune ember flint grove heron iris jade".split()
OTHERS = "kelp lotus maple".split()
INSIDE = Scope("private", "slack:C1")
LANGUAGE = "Its answer is in another language than the question."
STALE = "The pages it cites have changed since."
LITERAL = "Without a model a question in this language is only recognised word for word."


def brought(name: str, topic: str = ASKED, good: bool = True, **given: Any) -> Remembered:
    """Return a pair that people brought."""
    return pair(name, topic=topic, answer=name, **{"origin": "import", "prior": 0.9 if good else 0.1} | given)


async def memory_of(
    *pairs: Remembered,
    decision: Decision = PAPER,
    thresholds: Thresholds | None = None,
    share_platforms: bool = True,
    guard: Guard = lambda asked, kept: "",
) -> CommunityMemory:
    store = FakeMemories()
    memory = CommunityMemory(
        store,
        FakeCorpora(store.topics),
        thresholds or Thresholds(),
        guard,
        share_platforms=share_platforms,
        decision=decision,
        rewordings=FakeRewordings(store),
    )
    await memory.load(FakeEncoder(), {})
    await memory.seed(pairs)
    return memory


async def recall(
    memory: CommunityMemory, topic: str = ASKED, scope: Scope | None = None, **given: Any
) -> Recall:
    (vector,) = await FakeEncoder().encode([topic])
    return await memory.recall(vector, topic, "1.0", scope or Scope(), **given)


def names(found: Recall, store: str = "high") -> list[str]:
    return [pair.id for pair, _ in getattr(found, store)]


# --- who hears it -----------------------------------------------------------------------------


@pytest.mark.parametrize("by_paper", [False, True])
async def test_a_pair_is_heard_where_it_was_learned_alone(by_paper: bool) -> None:
    memory = await memory_of(
        brought("inside", scope=INSIDE.key),
        brought("bad", scope=INSIDE.key, good=False),
        brought("discord", channel="discord:9"),
        share_platforms=False,
    )
    heard = {
        scope: [*names(found := await recall(memory, scope=scope, by_paper=by_paper)), *names(found, "low")]
        for scope in (
            INSIDE,
            replace(INSIDE, platform="slack"),
            Scope("private", "slack:C2", "slack"),
            Scope("direct", "slack:C1", "slack"),
            Scope(platform="slack"),
            Scope(platform="discord"),
        )
    }
    assert list(heard.values()) == [
        ["discord"] if by_paper else ["discord", "bad"],
        ["inside"] if by_paper else ["inside", "bad"],
        [],
        [],
        [],
        ["discord"],
    ]
    (vector,) = await FakeEncoder().encode([ASKED])
    for scope, told in ((INSIDE, {"inside"}), (Scope(platform="slack"), set())):
        parts = memory.good(vector, "1.0", scope).values()
        assert {key for part in parts for key in part.members} - {"discord"} == told
        assert (await memory.told(["inside", "gone"], scope)).keys() == told
    assert await memory.told([], INSIDE) == {}


# --- what keeps it from being reused ----------------------------------------------------------


async def test_an_answer_in_another_language_is_told_of_but_neither_reused_nor_offered() -> None:
    memory = await memory_of(brought("p1", language="de"))
    found = await recall(memory, language="en")
    assert (found.route, found.guard, names(found)) == ("reference", LANGUAGE, ["p1"])
    assert found.foreign is not None and found.foreign[0].id == "p1" and found.nearly is None
    for language in ("de", ""):
        found = await recall(memory, language=language)
        assert (found.route, found.foreign) == ("reuse", None)
    routes = [(await recall(memory, language=one, by_paper=True)).route for one in ("en", "de", "")]
    assert routes == ["avoid", "reuse", "reuse"]


async def test_word_for_word_means_the_order_too() -> None:
    memory = await memory_of(brought("p1", language="en"))
    found = await recall(memory, TURNED, literal=True)
    assert (found.route, found.guard) == ("reference", LITERAL)
    for topic, literal, by_paper, route in (
        (TURNED, False, False, "reuse"),
        (ASKED, True, False, "reuse"),
        (TURNED, False, True, "reuse"),
        (ASKED, True, True, "reuse"),
        (TURNED, True, True, "avoid"),
    ):
        assert (await recall(memory, topic, literal=literal, by_paper=by_paper)).route == route
    assert (await recall(memory, language="de", by_paper=True)).route == "avoid", (
        "the words alone are no help"
    )


async def test_in_public_an_answer_needs_as_many_voices_as_are_set() -> None:
    store = FakeMemories()
    limits = Thresholds(min_voters=2)
    memory = CommunityMemory(store, FakeCorpora(store.topics), limits, lambda asked, kept: "")
    await memory.load(FakeEncoder(), {})
    await keep(store, pair("p1", topic=ASKED))
    await memory.vote(Vote("a-p1", "u", 1), 1.0)
    found = await recall(memory)
    assert (found.route, found.guard) == ("reference", "Voted up by 1 of the 2 people needed.")
    assert (await recall(memory, scope=INSIDE)).route == "reuse"
    await memory.vote(Vote("a-p1", "v", 1), 1.0)
    assert (await recall(memory)).route == "reuse"
    assert (await recall(await memory_of(brought("p1"), thresholds=limits))).route == "reuse"


async def test_a_stale_pair_is_for_reference_with_the_reason() -> None:
    memory = await memory_of(brought("p1", stale=True))
    for by_paper in (False, True):
        found = await recall(memory, by_paper=by_paper)
        assert (found.route, found.guard) == ("reference", STALE)


def shared(count: int, of: int) -> str:
    """Return a question at the cosine `count / of` from the first `of` words."""
    return " ".join([*WORDS[:count], *OTHERS[: of - count]])


@pytest.mark.parametrize(
    ("decision", "topic", "given", "nearly"),
    [
        (PAPER, shared(3, 4), {}, True),  # .75: half way from τ to δ is .72
        (PAPER, shared(7, 10), {}, False),
        (LEARNED, shared(2, 3), {}, True),  # .667: half way to the reach is .637
        (LEARNED, shared(5, 8), {}, False),
        (PAPER, shared(3, 4), {"stale": True}, False),
    ],
)
async def test_what_people_brought_is_nearly_reused_where_it_is_nearer_to_that_than_to_tau(
    decision: Decision, topic: str, given: dict[str, Any], nearly: bool
) -> None:
    count = len(topic.split())
    memory = await memory_of(brought("p1", " ".join(WORDS[:count]), **given), decision=decision)
    found = await recall(memory, topic)
    assert (found.route, names(found), found.guard) == ("reference", ["p1"], "")
    assert (found.nearly is not None) is nearly


# --- which are found --------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [ASKED, TURNED])
async def test_what_waits_behind_the_answer_to_another_question_is_told(asked: str) -> None:
    some = [(ASKED, "p1"), (TURNED, "p2"), (ASKED, "p3")]
    bad = [brought(f"bad {name}", topic, good=False) for topic, name in some]
    pairs = [*(brought(name, topic) for topic, name in some), *bad]
    memory = await memory_of(*pairs, guard=lambda one, other: "" if one == other else "turned")
    assert {name for name, (_store, is_kept) in memory.stores().items() if is_kept} == {"p1", "bad p1"}
    found = await recall(memory, asked)
    own = "p1" if asked == ASKED else "p2"
    assert found.route == "reuse" and names(found) == [own]
    assert names(found, "low") == ["bad p1", "bad p2"] and found.denied == {f"bad {own}"}


async def test_the_nearest_of_all_releases_come_first_and_no_more_than_are_recalled() -> None:
    topics = {"c": shared(10, 10), "b": shared(9, 10), "a": shared(8, 10), "d": shared(7, 10)}
    for good, store in ((True, "high"), (False, "low")):
        pairs = [brought("C", topics["c"], good=good, release="*")]
        pairs += [brought(name, topic, good=good) for name, topic in topics.items()]
        memory = await memory_of(*pairs, thresholds=Thresholds(delta=0.999))
        found = await recall(memory, f"{shared(10, 10)} else")
        assert names(found, store) == ["C", "c", "b"]
        assert (found.route, found.guard) == ("reference" if good else "avoid", "")


async def test_by_the_paper_one_pair_is_reused_and_what_is_far_is_not_told_of() -> None:
    memory = await memory_of(
        brought("p2"),
        brought("p1", release="*"),
        brought("far", "set something else entirely somewhere"),
        brought("bad", good=False),
    )
    found = await recall(memory, by_paper=True)
    assert (found.route, names(found), names(found, "low")) == ("reuse", ["p1"], [])
    assert found.decided == "100% similar to a remembered question (reused from 84%)."
    found = await recall(memory, "set secret of", by_paper=True)
    assert (found.route, names(found), found.guard) == ("reference", ["p1", "p2"], "")
    found = await recall(memory, "set it", by_paper=True)
    assert (found.route, found.high) == ("avoid", ())
    assert found.decided == "58% similar to a remembered question (reused from 84%)."
    assert (await recall(await memory_of(), by_paper=True)).decided == ""
