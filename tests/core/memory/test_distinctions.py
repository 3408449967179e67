"""What memory learns from *Not my question*, and for which questions it holds."""

from __future__ import annotations

import pytest

from core.domain import Answer, Question, Recall, Scope, Vote
from core.memory.community import CommunityMemory
from core.memory.decision import LEARNED, PAPER, Decision
from core.memory.recall import APART
from core.memory.scoring import Thresholds
from tests.contracts.samples import pair
from tests.fake_distinctions import FakeDistinctions
from tests.fake_rewordings import FakeRewordings
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories

OWN = "set the secret key of a session"
TWIN = "set secret key of a session"
OTHER = "rotate the secret key of a session weekly"
NEAR_OTHER = "rotate secret key of a session weekly"
FAR = "secret session key"
LOOSE = Decision("learned", reach=0.4, far=0.99)
"""Reuses whatever shares half of its words."""


async def memory_of(decision: Decision = LOOSE, **pairs: str) -> tuple[FakeMemories, CommunityMemory]:
    """Return a memory with good pairs of these topics, by their ids."""
    store = FakeMemories()
    memory = CommunityMemory(
        store,
        FakeCorpora(store.topics),
        Thresholds(delta=0.8, tau=0.3),
        lambda asked, kept: "",
        decision=decision,
        rewordings=FakeRewordings(store),
        distinctions=FakeDistinctions(store),
    )
    await memory.load(FakeEncoder(), {})
    await memory.seed(
        [pair(name, topic=topic, origin="import", prior=0.9, answer=name) for name, topic in pairs.items()]
    )
    return store, memory


async def recall(memory: CommunityMemory, topic: str, by_paper: bool = False) -> Recall:
    (vector,) = await FakeEncoder().encode([topic])
    return await memory.recall(vector, topic, "1.0", Scope(), by_paper=by_paper)


async def refuse(store: FakeMemories, memory: CommunityMemory, topic: str = OTHER) -> bool:
    """Let somebody who got the answer of `p1` say that it was to another question."""
    answer = Answer("a9", "p1", "reuse", "1.0", pair_id="p1", trace={"queries": {"topic": topic}})
    await store.save_answer(answer, Question(topic, "slack:U1"), None)
    return await memory.tell_apart("p1", topic, "a9", "slack:U1")


@pytest.mark.parametrize("by_paper", [False, True])
async def test_neither_that_question_nor_one_like_it_gets_the_answer_again(by_paper: bool) -> None:
    store, memory = await memory_of(LOOSE if not by_paper else PAPER, p1=OWN)
    assert (await recall(memory, OTHER, by_paper)).high, "it is near"
    assert await refuse(store, memory) and not await refuse(store, memory), "twice is once"
    for topic in (OTHER, NEAR_OTHER, OTHER.upper()):
        found = await recall(memory, topic, by_paper)
        assert found.route != "reuse" and not found.high, topic
        assert found.guard == ("" if by_paper else APART), topic
    for topic in (OWN, TWIN):
        assert (await recall(memory, topic, by_paper)).route == "reuse", topic


async def test_another_rewording_is_still_reused() -> None:
    store, memory = await memory_of(p1=OWN)
    before = await recall(memory, FAR)
    await refuse(store, memory)
    assert before.route == (await recall(memory, FAR)).route == "reuse"


async def test_what_takes_the_place_of_a_pair_is_refused_like_it() -> None:
    store, memory = await memory_of(p1=OWN)
    await refuse(store, memory)
    await memory.seed([pair("p2", topic=TWIN, origin="import", prior=0.9, answer="p2")])
    await memory.retire(["p1"])
    assert (await recall(memory, OWN)).high[0][0].id == "p2"
    assert (await recall(memory, OTHER)).route != "reuse"


async def test_a_pair_of_the_question_itself_is_reused_for_it_alone() -> None:
    store, memory = await memory_of(p1=OWN, p3=OTHER)
    await refuse(store, memory)
    assert (await recall(memory, NEAR_OTHER)).high[0][0].id == "p3"
    await memory.retire(["p1"])
    found = await recall(memory, OWN)
    assert found.route != "reuse", "the two were told apart, whichever is remembered"


async def test_a_wording_that_was_told_apart_is_no_rewording_however_many_like_it() -> None:
    store, memory = await memory_of(LEARNED, p1=OWN)
    await refuse(store, memory)
    await memory.vote(Vote("a9", "slack:U7", 1), 2.0)
    assert memory.centres == 0
    [told] = await memory.told_apart()
    await memory.take_back(told)
    assert memory.centres == 1


async def test_it_holds_after_a_rebuild_and_until_it_is_taken_back() -> None:
    store, memory = await memory_of(p1=OWN)
    before = await recall(memory, OTHER)
    await refuse(store, memory)
    await memory.rebuild()
    assert (await recall(memory, OTHER)).route != "reuse"
    [told] = await memory.told_apart("p1")
    await memory.take_back(told)
    assert before.route == (await recall(memory, OTHER)).route == "reuse"


async def test_another_process_follows_when_it_is_told_so() -> None:
    store, memory = await memory_of(LEARNED, p1=OWN)
    other = CommunityMemory(
        store,
        FakeCorpora(store.topics),
        Thresholds(),
        lambda asked, kept: "",
        decision=LEARNED,
        rewordings=FakeRewordings(store),
        distinctions=memory._apart,
    )
    await other.load(FakeEncoder(), {})
    await refuse(store, memory)
    await memory.vote(Vote("a9", "slack:U7", 1), 2.0)
    await other.follow()
    assert not (await recall(other, OTHER)).guard
    await other.follow(["p1"])
    assert (await recall(other, OTHER)).guard == APART
