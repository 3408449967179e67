"""Learn the ranking of pages from votes: on some, kept only if the others are ranked no worse (*ours*).

What is kept is a file of weights and figures; no words are in it. It starts from the ranking that is shipped,
or tuned by an admin, and is pulled towards it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.domain import content_hash
from core.errors import StorageError
from core.learning.fit import fit_weights
from core.learning.voted import Said, Voted, looked_up, said
from core.models.embedding.encoder import Encoders
from core.pipeline.research import Research
from core.ports import MemoryStore, RewordingStore
from core.privacy.names import nobody
from core.retrieval.features import FEATURES, Numbers
from core.retrieval.ranking import FILE as TUNED
from core.retrieval.ranking import Ranking, load_ranking
from core.retrieval.search import Searcher
from core.system.private_files import write_whole
from core.workers.process import apart

log = logging.getLogger(__name__)

FILE = "learnt.json"
"""Name of the file in the home."""
PRIOR = 8.0
"""As much as so many questions speak for the ranking it starts from; docs/simulation.md has others."""
PARTS = 3
"""One in so many sections is judged by, the questions on all others are learned from."""
LEAST, LEAST_GOOD = 40, 5
"""Questions with votes below which nothing is learned, and those of them to judge by that were found good."""
PAUSE_SECONDS = 0.01
"""Between two searches, so that questions of people go first."""
PAUSE_SHARE = 3.0
"""How much longer than a search it waits after one on schedule, when nobody waits for what it learns."""
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Shares:
    """How questions with votes are ranked: means over them of what is right.

    What was voted good is right on the first place, or among the first three; what was voted bad is right
    where it is not. Both kinds count for half, however many there are: pages in any other order would be
    right where all is bad.
    """

    first: float = 0.0
    third: float = 0.0
    mrr: float = 0.0

    @classmethod
    def of(cls, voted: Sequence[Voted], weights: Numbers) -> Shares:
        """Return them for some weights, shape (FEATURES,)."""
        kinds: dict[bool, list[Numbers]] = {}
        for one in voted:
            rank = _rank(one, weights)
            row = np.array([rank == 1, rank <= 3, 1.0 / rank], np.float64)
            kinds.setdefault(one.is_good, []).append(row if one.is_good else 1.0 - row)
        means = [np.mean(rows, axis=0) for rows in kinds.values()]
        return cls(*map(float, np.mean(means, axis=0))) if means else cls()

    def beats(self, other: Shares) -> bool:
        """Return True if none of the three is lower and one is higher."""
        gains = [mine - theirs for mine, theirs in zip(self.all, other.all, strict=True)]
        return min(gains) >= -_SAME and max(gains) > _SAME

    @property
    def all(self) -> tuple[float, float, float]:
        """Return the three."""
        return self.first, self.third, self.mrr


@dataclass(frozen=True, slots=True)
class Learnt:
    """What votes taught: weights to rank by, empty where nothing is used; and the figures behind it.

    `start` are the weights that they were learned from, `encoder` the one they are for. `looked` is what was
    there when it last tried, at `at`, in seconds since the epoch. With `off` votes have no say in ranking.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    start: Mapping[str, float] = field(default_factory=dict)
    encoder: str = ""
    votes: int = 0
    questions: int = 0
    before: Shares = Shares()
    after: Shares = Shares()
    at: float = 0.0
    looked: str = ""
    off: bool = False
    why: str = ""
    """Why nothing was learned when it last tried; empty where something was."""

    @property
    def told(self) -> str:
        """Say in one line what is used; empty where nothing is."""
        if not self.weights:
            return ""
        shares = f"first page right {self.before.first:.2f} → {self.after.first:.2f}"
        return f"learned from {self.votes} votes on {self.questions} questions: {shares} on those held out"

    def fits(self, base: Ranking, encoder: str) -> bool:
        """Return True if it was learned from this ranking, for this encoder and the features there are."""
        is_whole = set(self.weights) == set(FEATURES)
        return is_whole and self.encoder == encoder and dict(self.start) == dict(base.weights)


def used(base: Ranking, learnt: Learnt, encoder: str) -> Ranking:
    """Return the ranking to serve by: the base one with what votes taught, where that fits.

    Where it was undone no vote has a say in the order of pages.
    """
    if learnt.off:
        return replace(base, lift=0.0)
    if not learnt.fits(base, encoder):
        return base
    return replace(base, weights=dict(learnt.weights), learnt=learnt.told)


def read_learnt(home: Path) -> Learnt:
    """Return what is kept in a home; nothing where there is no file, or none that can be read; blocking."""
    try:
        kept = json.loads((home / FILE).read_text("utf-8"))
        named = {name: {str(k): float(v) for k, v in kept[name].items()} for name in ("weights", "start")}
        shares = {name: Shares(**kept[name]) for name in ("before", "after")}
        numbers = [*named["weights"].values(), *shares["before"].all, *shares["after"].all]
        if not np.isfinite(numbers).all():
            raise ValueError("it has what is no number")
        return Learnt(**{**kept, **named, **shares})
    except FileNotFoundError:
        return Learnt()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        log.warning("%s cannot be used and is learned again (%s)", home / FILE, type(error).__name__)
        return Learnt()


def keep_learnt(home: Path, learnt: Learnt) -> None:
    """Write what was learned, whole or not at all; blocking. Raises StorageError."""
    try:
        write_whole(home / FILE, json.dumps(asdict(learnt), indent=2) + "\n")
    except OSError as error:
        raise StorageError(f"{home / FILE} cannot be written ({error.strerror}); make room for it.") from None


class Learner:
    """Learns from votes and has searches use it; one process at a time, as the home is one's own."""

    def __init__(
        self,
        *,
        home: Path,
        store: MemoryStore,
        rewordings: RewordingStore,
        research: Research,
        searcher: Searcher,
        encoders: Encoders,
        is_out: Callable[[str], bool] = nobody,
    ) -> None:
        self._home = home
        self._store = store
        self._rewordings = rewordings
        self._research = research
        self._searcher = searcher
        self._encoders = encoders
        self._is_out = is_out
        self._working = asyncio.Lock()

    async def standing(self) -> Learnt:
        """Return what is kept now."""
        return await asyncio.to_thread(read_learnt, self._home)

    async def base(self) -> Ranking:
        """Return the ranking without what votes taught: as shipped, or as tuned."""
        encoder = (await self._encoders.current()).name
        ranking, _ = await asyncio.to_thread(load_ranking, self._home / TUNED, encoder)
        return ranking

    async def refresh(self) -> None:
        """Have searches rank by what is kept in the home."""
        encoder = (await self._encoders.current()).name
        self._searcher.ranking = used(await self.base(), await self.standing(), encoder)

    async def run(self, *, on_schedule: bool = False) -> Learnt | None:
        """Learn from the votes there are, and rank by it at once; None where nothing is new.

        On schedule it leaves alone what was undone, and does nothing where no votes came since. Nothing is
        changed before the end, so that a killed process leaves what there was.
        """
        async with self._working:
            old = await self.standing()
            if on_schedule and old.off:
                return None
            base = await self.base()
            encoder = (await self._encoders.current()).name
            entries = await said(self._store, self._rewordings, self._is_out)
            seen = _seen(entries, base, encoder)
            if on_schedule and old.looked == seen:
                return None
            voted: list[Voted] = []
            for entry in entries:
                began = time.perf_counter()
                if (found := await looked_up(self._research, self._searcher, entry)) is not None:
                    voted.append(found)
                took = time.perf_counter() - began
                await asyncio.sleep(max(PAUSE_SECONDS, PAUSE_SHARE * took if on_schedule else 0.0))
            old = old if old.fits(base, encoder) else Learnt()
            # what fits weights is loaded for this alone, and takes 40 MB
            fitted = apart if len(voted) >= LEAST else _here
            learnt = await asyncio.to_thread(fitted, learn, voted, base, old)
            learnt = replace(learnt, encoder=encoder, at=time.time(), looked=seen)
            await asyncio.to_thread(keep_learnt, self._home, learnt)
            await self.refresh()
            return learnt

    async def undo(self) -> bool:
        """Rank as before any vote, at once and until somebody has it learn again; False where it did."""
        async with self._working:
            old = await self.standing()
            await asyncio.to_thread(keep_learnt, self._home, Learnt(at=time.time(), off=True))
            await self.refresh()
            return bool(old.weights)


def learn(voted: Sequence[Voted], base: Ranking, old: Learnt) -> Learnt:
    """Fit weights on the questions about some sections, and judge them on those about the others.

    What was learned before stays where the new weights are not better than the base ranking and it still is.
    """
    start = np.array([base.weights[name] for name in FEATURES])
    held = [one for one in voted if int(content_hash(one.section), 16) % PARTS == 0]
    rest = [one for one in voted if int(content_hash(one.section), 16) % PARTS != 0]
    good = sum(one.is_good for one in held)
    if len(voted) < LEAST:
        return Learnt(why=f"{len(voted)} questions with votes are not enough, it takes {LEAST}")
    if good < LEAST_GOOD:
        told = f"of the questions to judge by {good} were found good"
        return Learnt(why=f"{told}, it takes {LEAST_GOOD}")
    weights = fit_weights(
        [one.table for one in rest],
        [one.cited for one in rest],
        start,
        PRIOR / max(1, len(rest)),
        _worths(rest),
    )
    before, after = Shares.of(held, start), Shares.of(held, weights)
    tried = Learnt(votes=sum(one.votes for one in voted), questions=len(voted), before=before, after=after)
    if after.beats(before):
        fitted, named = (dict(zip(FEATURES, map(float, some), strict=True)) for some in (weights, start))
        return replace(tried, weights=fitted, start=named)
    why = f"what {tried.votes} votes teach is no better on the {len(held)} questions held out"
    if old.weights:
        again = Shares.of(held, np.array([old.weights[name] for name in FEATURES]))
        if again.beats(before):
            return replace(old, before=before, after=again, why=why)
    return replace(tried, why=why)


def _here(work: Callable[..., Learnt], *given: Any) -> Learnt:
    return work(*given)


def _worths(voted: Sequence[Voted]) -> list[float]:
    """Return what each question counts for; all bad ones together no more than all good ones.

    What is only said to be wrong says little of what is right: it would turn every weight around.
    """
    good = sum(one.worth for one in voted if one.is_good)
    bad = -sum(one.worth for one in voted if not one.is_good)
    share = min(1.0, good / bad) if bad else 1.0
    return [one.worth if one.is_good else one.worth * share for one in voted]


def _rank(one: Voted, weights: Numbers) -> int:
    """Return at which place the first page comes that was cited, from 1."""
    order = np.argsort(-(one.table @ weights), kind="stable")
    return int(np.flatnonzero(one.cited[order])[0]) + 1


def _seen(entries: Sequence[Said], base: Ranking, encoder: str) -> str:
    """Return a name for what there is to learn from: the same while nobody votes and nothing is tuned."""
    votes = sorted(f"{entry.question}\0{entry.release}\0{entry.net:.3f}" for entry in entries)
    return f"{len(votes)} {content_hash(*votes)} {sum(base.weights.values()):.3f} {encoder}"
