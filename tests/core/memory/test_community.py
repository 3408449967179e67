"""What the votes' way into memory does when something comes in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.domain import Recall, Scope, Vote
from core.errors import StorageError
from core.memory.community import CommunityMemory
from core.memory.scoring import Thresholds
from core.ports import Matrix, MemoryChange, MemoryStore, Remembered
from tests.contracts.samples import keep, pair
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
