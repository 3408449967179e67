"""What the votes' way into memory does when something comes in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest

from core.domain import Answer, Question, Recall, Scope, Vote
from core.errors import StorageError
from core.memory.community import CommunityMemory
from core.memory.decision import LEARNED, PAPER, Decision
from core.memory.scoring import Thresholds
from core.ports import Encoder, Matrix, MemoryChange, MemoryStore, Remembered
from core.ports.cluster import ALL, News, OnlyProcess
from tests.contracts.samples import keep, pair
from tests.fake_rewordings import FakeRewordings
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories

ASKED = "how to set the secret key"


class FullDisk(FakeMemories):
    """Keeps votes, but no placements while the disk is full."""

    full = False

    async def place(self, change: MemoryChange) -> None:
        if self.full:
            raise StorageError("The disk is full.")
        await super().place(change)


class SlowEncoder(FakeEncoder):
    """Encodes when it is let."""

    def __init__(self, name: str, dimensions: int = 256) -> None:
        super().__init__(name, dimensions)
        self.let = asyncio.Event()
        self.asked = asyncio.Event()

    async def encode(self, texts: Sequence[str]) -> Matrix:
        self.asked.set()
        await self.let.wait()
        return await super().encode(texts)


async def memory_with(store: FakeMemories, *pairs: Remembered, guard: str = "") -> CommunityMemory:
    memory = CommunityMemory(store, FakeCorpora(store.topics), Thresholds(), lambda asked, kept: guard)
    await memory.load(FakeEncoder(), {})
    for made in pairs:
        await keep(store, made)
    return memory


async def recall(memory: CommunityMemory, release: str = "1.0", encoder: FakeEncoder | None = None) -> Recall:
    (vector,) = await (encoder or FakeEncoder()).encode([ASKED])
    return await memory.recall(vector, ASKED, release, Scope())


async def test_a_vote_takes_a_pair_from_neutral_to_reuse_and_back() -> None:
    store = FakeMemories()
    memory = await memory_with(store, pair("p1", topic=ASKED))
    assert (await recall(memory)).route == "avoid"
    await memory.vote(Vote("a-p1", "u", 1), 1.0)
    found = await recall(memory)
    assert found.route == "reuse"
    assert found.high[0][0].id == "p1"
    assert found.high[0][0].score == 0.75
    assert (await recall(memory, "2.0")).high == ()
    await memory.vote(Vote("a-p1", "u", 0), 1.0)
    found = await recall(memory)
    assert (found.route, found.high, [p.id for p, _ in found.low]) == ("avoid", (), ["p1"])
    await memory.vote(Vote("a-p1", "u", None), 1.0)
    found = await recall(memory)
    assert (found.high, found.low) == ((), ())


async def test_a_stale_or_guarded_pair_is_for_reference_with_the_reason() -> None:
    for guard, stale in (("another number", False), ("", True)):
        store = FakeMemories()
        memory = await memory_with(store, pair("p1", topic=ASKED, stale=stale), guard=guard)
        await memory.vote(Vote("a-p1", "u", 1), 1.0)
        found = await recall(memory)
        assert found.route == "reference"
        assert found.guard == (guard or "The pages it cites have changed since.")
        assert found.high[0][0].stale == stale


async def test_a_vote_on_an_unknown_answer_moves_nothing() -> None:
    memory = await memory_with(FakeMemories())
    assert await memory.vote(Vote("unknown", "u", 1), 1.0) is None
    assert memory.stores() == {}


async def test_placements_that_could_not_be_written_are_written_with_the_next() -> None:
    store = FullDisk()
    memory = await memory_with(store, pair("p1", topic=ASKED), pair("p2", topic="something else"))
    store.full = True
    with pytest.raises(StorageError):
        await memory.vote(Vote("a-p1", "u", 1), 1.0)
    assert (await recall(memory)).route == "reuse", "the vote itself was kept"
    store.full = False
    await memory.vote(Vote("a-p2", "u", 1), 1.0)
    assert [p.pair_id for p, _ in await store.placements()] == ["p1", "p2"]


async def test_memory_answers_while_it_is_loaded_anew_and_rebuilt() -> None:
    store = FakeMemories()
    memory = await memory_with(store, pair("p1", topic=ASKED))
    await memory.vote(Vote("a-p1", "u", 1), 1.0)
    slow = SlowEncoder("another@256")
    loading = asyncio.create_task(memory.load(slow, {}))
    await slow.asked.wait()
    assert (await recall(memory)).route == "reuse"
    slow.let.set()
    await loading
    assert (await recall(memory, encoder=slow)).route == "reuse"

    rebuilding = asyncio.create_task(memory.rebuild())
    while not rebuilding.done():
        assert (await recall(memory, encoder=slow)).route == "reuse"
    await rebuilding


async def test_an_encoder_that_fails_leaves_memory_as_it_was() -> None:
    class Broken(FakeEncoder):
        async def encode(self, texts: Sequence[str]) -> Matrix:
            raise OSError("the model file is gone")

    store = FakeMemories()
    memory = await memory_with(store, pair("p1", topic=ASKED))
    await memory.vote(Vote("a-p1", "u", 1), 1.0)
    with pytest.raises(OSError, match="gone"):
        await memory.load(Broken("another@256", 64), {})
    assert (await recall(memory)).route == "reuse"


async def test_vectors_of_two_encoders_are_never_compared() -> None:
    store = FakeMemories()
    memory = await memory_with(store, pair("p1", topic=ASKED, release="*"), pair("p2", topic=ASKED))
    for key in ("p1", "p2"):
        await memory.vote(Vote(f"a-{key}", "u", 1), 1.0)
    old = FakeEncoder("old@256", 64)
    await memory.load(FakeEncoder(), {"1.0": old})
    found = await recall(memory, encoder=old)
    assert [p.id for p, _ in found.high] == ["p2"]
    assert (await recall(memory, encoder=FakeEncoder())).high == (), "embedded before the corpus changed"
    assert [p.id for p, _ in (await recall(memory, "2.0")).high] == ["p1"]


async def test_votes_at_once_end_like_votes_one_by_one() -> None:
    store: MemoryStore = FakeMemories()
    pairs = [pair(f"p{n}", topic=f"{ASKED} {'word ' * (n % 3)}", created_at=float(n)) for n in range(9)]
    memory = await memory_with(store, *pairs)  # type: ignore[arg-type]
    votes = [Vote(f"a-p{n % 9}", f"u{n % 4}", 1 if n % 3 else 0) for n in range(40)]
    await asyncio.gather(*(memory.vote(vote, 1.0) for vote in votes))
    stores = memory.stores()
    await memory.rebuild()
    assert memory.stores() == stores
    assert {store for store, _ in stores.values()} == {"high", "low"}
    assert not all(kept for _, kept in stores.values())


def test_a_pair_with_better_votes_takes_the_place_of_the_nearest() -> None:
    async def story() -> None:
        store = FakeMemories()
        first, second = pair("p1", topic=ASKED), replace(pair("p2", topic=ASKED), created_at=2000.0)
        memory = await memory_with(store, first, second)
        for key in ("p1", "p2"):
            await memory.vote(Vote(f"a-{key}", "u", 1), 1.0)
        assert memory.stores() == {"p1": ("high", True), "p2": ("high", False)}
        await memory.vote(Vote("a-p2", "v", 1), 1.0)
        assert memory.stores() == {"p1": ("high", False), "p2": ("high", True)}
        await memory.vote(Vote("a-p2", "u", None), 1.0)
        await memory.vote(Vote("a-p2", "v", None), 1.0)
        assert memory.stores() == {"p1": ("high", True)}

    asyncio.run(story())


# --- what is heard of others, and what is told ------------------------------------------------


class Others(OnlyProcess):
    """Tells of what another process changed."""

    def __init__(self) -> None:
        self.changed: list[str] = []

    async def news(self, since: int | None, topic: str = "") -> News:
        number = len(self.changed)
        return News(number, {topic: set(self.changed[number if since is None else since :])})


@pytest.mark.parametrize("changed", ["p1", ALL])
async def test_what_another_process_counted_is_taken_in(changed: str) -> None:
    store, others = FakeMemories(), Others()
    one, two = (
        CommunityMemory(
            store,
            FakeCorpora(store.topics),
            Thresholds(),
            lambda a, b: "",
            decision=LEARNED,
            rewordings=FakeRewordings(store),
            cluster=cluster,
        )
        for cluster in (None, others)
    )
    for memory in (one, two):
        await memory.load(FakeEncoder(), {})
    await keep(store, pair("p1", topic=ASKED))
    again = Answer("a2", "So.", "reuse", "1.0", pair_id="p1", trace={"queries": {"topic": "another way"}})
    await store.save_answer(again, Question("another way", "slack:U2"), None)
    await one.vote(Vote("a2", "u", 1), 1.0)
    await two.follow()
    assert (await two.placed(), two.centres) == ({}, 0)
    others.changed.append(changed)
    await two.follow()
    assert await two.placed() == await one.placed() == {"p1": ("high", True)}
    assert (await recall(two)).route == "reuse" and two.centres == one.centres == 1
    await store.vote(Vote("a2", "u", None), 1.0)
    others.changed.append(changed)
    await two.vote(Vote("unknown", "u", 1), 1.0)
    assert await two.placed() == {}, "whose turn it is takes in what others changed before"


async def test_what_another_process_forgot_is_forgotten() -> None:
    store, others = FakeMemories(), Others()
    memory = CommunityMemory(store, FakeCorpora(store.topics), Thresholds(), lambda a, b: "", cluster=others)
    await memory.load(FakeEncoder(), {})
    await memory.seed([pair(key, topic=f"about {key}", origin="import", prior=0.9) for key in ("p1", "p2")])
    store.discard("p1")
    others.changed += ["p1", "never there"]
    await memory.follow()
    assert (await memory.placed()).keys() == {"p2"}


async def test_a_restart_writes_only_what_nobody_had_placed_yet() -> None:
    class Counting(FakeMemories):
        written = 0

        async def place(self, change: MemoryChange) -> None:
            self.written += len(change.placements) + len(change.removed)
            await super().place(change)

    store = Counting()
    memory = await memory_with(store)
    await memory.seed([pair(f"p{n}", topic=f"about {n}", origin="import", prior=0.9) for n in range(5)])
    store.written = 0
    memory = await memory_with(store)
    assert (len(memory.stores()), store.written) == (5, 0)
    await store.set_aside(["p0"], "retired")  # and the process died
    memory = await memory_with(store)
    assert memory.stores().keys() == {"p1", "p2", "p3", "p4"} and store.written == 1


async def test_of_a_full_store_what_waits_behind_others_goes_first_and_a_twentieth_more_than_must() -> None:
    store = FakeMemories()
    memory = await memory_with(store)
    memory.thresholds = Thresholds(limit=20)
    made = [pair(f"p{n:02}", topic=f"about {n}", origin="import", prior=0.9) for n in range(18)]
    behind = [
        pair(f"q{n}", topic="about 0", origin="import", prior=0.8, created_at=time.time()) for n in (1, 2)
    ]
    await memory.seed([*made, *behind])
    assert len(memory.stores()) == 20, "it is full, and no more"
    await memory.seed([pair("p99", topic="about 99", origin="import", prior=0.9)])
    assert memory.stores().keys() == {f"p{n:02}" for n in (*range(18), 99)}


async def test_thresholds_are_settled_once_for_each_set_of_encoders() -> None:
    asked: list[list[str]] = []

    async def settle(encoders: Collection[Encoder]) -> tuple[Thresholds, Decision]:
        asked.append([encoder.name for encoder in encoders])
        return Thresholds(tau=0.1 * len(asked)), Decision("learned", reach=0.1 * len(asked))

    store, default, other = FakeMemories(), FakeEncoder(), FakeEncoder("other@256")
    memory = CommunityMemory(
        store, FakeCorpora(store.topics), Thresholds(), lambda a, b: "", decision=PAPER, settle=settle
    )
    found = []
    indexed: list[dict[str, Encoder]] = [{}, {}, {"1.0": other, "2.0": other}, {"1.0": default}]
    for encoders in indexed:
        await memory.load(default, encoders)
        found.append((memory.thresholds.tau, memory.decision.reach))
    assert asked == [["fake@256"], ["other@256"], ["fake@256"]]
    assert found == [(0.1, 0.1), (0.1, 0.1), (0.2, 0.2), (pytest.approx(0.3), pytest.approx(0.3))]


async def test_a_vote_that_is_known_by_the_time_its_turn_comes_counts_once() -> None:
    async def known() -> bool:
        return True

    memory = await memory_with(FakeMemories(), pair("p1", topic=ASKED))
    assert await memory.vote(Vote("a-p1", "u", 1), 1.0, known) is None
    assert memory.stores() == {} and await memory.everything() == ()


async def test_only_what_was_learned_in_a_channel_moves_with_it() -> None:
    store = FakeMemories()
    memory = await memory_with(store)
    await memory.seed(
        [
            pair(f"p{n}", topic=f"topic {n}", origin="import", channel=c)
            for n, c in enumerate(("", "slack:C1"))
        ]
    )
    for channel, count in (("", 0), ("slack:C2", 0), ("slack:C1", 1)):
        assert await memory.channel_became_private(channel) == count
    inside = await memory.pairs(["p0", "p1", "p2"])
    assert {key: one.scope for key, one in inside.items()} == {"p0": "public", "p1": "private:slack:C1"}
    assert [await memory.publish(channel) for channel in ("", "slack:C1")] == [0, 1]


async def test_a_pair_goes_by_the_name_it_was_imported_under() -> None:
    memory = await memory_with(FakeMemories())
    made = [
        pair("p1", label="faq-1", created_at=1.0),
        pair("p2", label="faq-1", created_at=3.0),
        pair("p3", label="faq-1", created_at=2.0),
        pair("p4"),
    ]
    await memory.seed([replace(one, origin="import", topic=f"topic {one.id}") for one in made])
    await memory.retire(["p1"])
    names = ("faq-1", "p1", "p4", "faq-2", "")
    assert [one.id if (one := await memory.find(name)) else "" for name in names] == [
        "p3",
        "p1",
        "p4",
        "",
        "",
    ]
    assert [await memory.named(key) for key in ("p1", "p4", "gone", "")] == ["faq-1", "p4", "gone", ""]
    assert {one.id for one in await memory.everything()} == {"p1", "p2", "p3", "p4"}


async def test_without_a_place_for_it_nothing_is_told_apart() -> None:
    memory = await memory_with(FakeMemories(), pair("p1", topic=ASKED))
    assert await memory.tell_apart("p1", ASKED, "a-p1", "u") is False
    assert await memory.told_apart() == ()
