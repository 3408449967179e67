"""What community memory keeps: answers, pairs, votes, ways in which pairs are asked, and stale pairs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from core.domain import Answer, Citation, Question, Store, Vector, Vote


async def always() -> bool:
    """Say yes."""
    return True


@dataclass(frozen=True, slots=True)
class Remembered:
    """A pair as it is kept, whether or not votes have placed it in a store.

    `opinions` are the standing votes of people who are known, one a voter, as (value, weight);
    `strangers` those of people who are not yet, as (value, weight, whether nobody was known then).
    `label` is the id a pair was imported under, `channel` where it was learned (`slack:C1`). `aside`
    says why a pair is in no store whatever its votes are, `uses` how often it was reused, `used_at`
    when last, in seconds since the epoch. `language` is what the answer is in, as `de`. `others` are
    accounts, beside who asked it and who wrote its answer, whose words a new pair holds.
    """

    id: str
    question: str
    topic: str
    answer: str
    release: str
    scope: str
    prior: float
    created_at: float
    citations: tuple[Citation, ...] = ()
    origin: Literal["answer", "person", "import"] = "answer"
    label: str = ""
    asker: str = ""
    stale: bool = False
    opinions: tuple[tuple[int, float], ...] = ()
    aside: Literal["", "retired", "evicted"] = ""
    uses: int = 0
    used_at: float = 0.0
    channel: str = ""
    language: str = "en"
    others: tuple[str, ...] = ()
    strangers: tuple[tuple[int, float, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class TopicVector:
    """The vector of a pair's topic by an encoder, kept under the hash of the topic's text."""

    encoder: str
    text_hash: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class Placement:
    """Where votes have put a pair: its score, its store, its cluster.

    `shadowed_by` names the better pair of the same store that is as close as δ; such a pair is
    in no cluster and is not recalled.
    """

    pair_id: str
    store: Store
    score: float
    cluster: int | None = None
    shadowed_by: str = ""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What one vote changes in the derived tables, written together with the vote."""

    placements: tuple[Placement, ...] = ()
    removed: tuple[str, ...] = ()


class MemoryStore(Protocol):
    """Keeps answers, pairs and votes. Votes are events; placements are derived from them."""

    async def save_answer(
        self,
        answer: Answer,
        question: Question,
        pair: Remembered | None,
        still: Callable[[], Awaitable[bool]] = always,
        topic: TopicVector | None = None,
    ) -> bool:
        """Keep an answer with its trace, and the neutral pair it may become; returns True if it is kept.

        `topic` is the vector of that pair, so that a vote can place it; it is kept with the pair.

        An answer that reuses a pair counts as a use of it, once. Nothing is kept where `still`, which is
        asked while nobody else writes, says no, or where pairs that its text was taken from are gone.
        """

    async def withdraw(self, answer_id: str, replaced: bool) -> None:
        """Empty an answer and its question, which was deleted, or `replaced` by an edit."""

    async def emptied(self, answer_ids: Sequence[str]) -> frozenset[str]:
        """Return which of these answers say nothing any more, because somebody was forgotten."""

    async def releases_of(self, answer_ids: Sequence[str]) -> dict[str, str]:
        """Return the releases that these answers spoke for, empty for none; unknown ones are left out."""

    async def whose(self, answer_ids: Sequence[str], text: bool = True) -> frozenset[str]:
        """Return the accounts whose words answers and their questions hold; without `text`, the questions."""

    async def add(self, pairs: Sequence[Remembered]) -> set[str]:
        """Keep pairs that people brought; return the ids that were new, or set aside until now.

        One that was set aside says what is given now, and keeps its votes; any other stays as it is.
        """

    async def set_aside(self, ids: Sequence[str], why: Literal["", "retired", "evicted"]) -> None:
        """Write down why pairs are in no store, or with nothing that votes decide again."""

    async def answer(self, answer_id: str) -> dict[str, Any] | None:
        """Return a kept answer as a dictionary of its columns, or None."""

    async def pair(self, pair_id: str) -> Remembered | None:
        """Return a pair with its standing opinions, or None."""

    async def pairs(self, ids: Sequence[str]) -> dict[str, Remembered]:
        """Return pairs by id with their standing opinions."""

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        """Append a vote event; return the pair it counts for, with the opinions after it.

        A pair that was evicted is no longer so. None where the answer is unknown or has no pair.
        """

    async def opinion(self, answer_id: str, voter: str) -> Literal[0, 1] | None:
        """Return which vote of a person stands on an answer now; None for none."""

    async def hands(
        self, answer_id: str, value: Literal[0, 1], without: Collection[str] = (), until: int | None = None
    ) -> tuple[str, ...]:
        """Return whose reaction holds up 👍 (1) or 👎 (0) on an answer, also beneath the other vote.

        Left out are these people, votes that are no reactions, and who voted there after the event of the
        number `until` (`ReactionStore.newest`).
        """

    async def place(self, change: MemoryChange) -> None:
        """Write derived placements."""

    async def placements(self) -> tuple[tuple[Placement, Remembered], ...]:
        """Return every placed pair with its placement, in order of id."""

    async def voted(self) -> tuple[Remembered, ...]:
        """Return every pair that has a standing vote or was brought by people, in order of id."""

    async def clear_placements(self) -> None:
        """Forget every placement, before a rebuild."""

    async def mark_stale(self, release: str, live_hashes: set[str], built_at: float | None = None) -> int:
        """Mark pairs of a release that cite a page hash which is not live; return how many are new.

        Of a pair that compares releases each is judged by its own corpus. What cites only live pages
        again is stale no more. What was marked since `built_at` is not marked once more.
        """

    async def move(self, channel: str, before: str, after: str) -> tuple[str, ...]:
        """Give pairs learned in a channel another scope, where it was `before`; return their ids.

        In the same transaction their placements go, and so do their questions from what explains
        answers that the new scope does not hear. A pair that becomes public has no channel any more.
        """

    async def counts(self) -> dict[str, int]:
        """Return the numbers of answers, pairs, votes, and pairs in the high and low store."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """A question that got the answer of a remembered pair, as memory compares it (`topic`).

    `opinions` are the standing votes of known people on that one answer, as (value, weight); `at` is in
    seconds since the epoch.
    """

    answer_id: str
    topic: str
    asker: str
    at: float
    opinions: tuple[tuple[int, float], ...] = ()


class RewordingStore(Protocol):
    """Knows for which questions pairs were reused, and what people voted there."""

    async def rewordings(self, ids: Sequence[str]) -> dict[str, tuple[Reworded, ...]]:
        """Return by pair the questions of its own scope that got its answer, with votes that stand.

        Those of the answer that the pair was made of are among them. Unknown ids and pairs without any
        are left out.
        """


@dataclass(frozen=True, slots=True)
class StalePair:
    """A pair whose evidence changed, as it waits to be looked at or for an admin.

    `releases` are those whose pages it cites and that changed, `marked_at` when that was last seen
    and `checked_at` when the pair was last looked at, in seconds since the epoch. `finding` says why
    it could not be renewed; `proposal` is what would be answered now, "" where there is nothing.
    """

    pair: Remembered
    releases: tuple[str, ...]
    marked_at: float
    checked_at: float = 0.0
    finding: str = ""
    proposal: str = ""
    proposed: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """Pairs of one store of one release: how many are recalled, and how many wait behind a better one."""

    release: str
    store: Store
    kept: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Census:
    """How large memory is, and how it grew: `days` holds (UTC day since the epoch, pairs since stored)."""

    stores: tuple[Stored, ...] = ()
    days: tuple[tuple[int, int], ...] = ()


class UpkeepStore(Protocol):
    """Looks after stale pairs, and counts what is stored."""

    async def stale(self) -> tuple[StalePair, ...]:
        """Return stale pairs that stand in the high store, in order of id."""

    async def unchecked(self, limit: int) -> tuple[StalePair, ...]:
        """Return those of them that were not looked at since they were marked, the longest waiting first."""

    async def found(
        self, seen: StalePair, finding: str, proposal: str, proposed: Sequence[Citation], at: float
    ) -> bool:
        """Write down why a pair was not renewed; False where it was marked again or is gone."""

    async def renew(self, seen: StalePair, answer: str, citations: Sequence[Citation]) -> bool:
        """Make a pair current again; False where it was marked again since it was `seen`, or is gone."""

    async def census(self) -> Census:
        """Count placed pairs by release and store, and by the day on which they were made."""

    async def broken(self) -> list[str]:
        """Return a sentence for each pair whose marks contradict each other."""
