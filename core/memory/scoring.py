"""How good a remembered answer is: votes, each weighed, over a prior, as a Beta mean.

The prior says how well an answer is supported by its evidence, before anybody votes. Scorers, each from 0 to
1, and their mean: by the embedder (every sentence of the answer against what the pages say), by terms (the
share that the pages hold), and where they are configured by the model as a judge and by BERTScore. The prior
lies between .25 and .75, so that any single vote decides over it.

What a vote counts for depends on who is known, and on which votes form a burst (*ours*). Known are askers of
the answer, helpers, and people who have been about for a while. All strangers together weigh half of what one
voter does. Where no known person has voted they move nothing, except while the community is so young that
nobody can be known: then up to two of one opinion count as one voter. So no crowd of fresh accounts promotes
an answer, however large.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core import prompts
from core.domain import STRANGERS, Evidence, Standing, Store
from core.errors import ModelError
from core.ports import (
    Acquaintance,
    CorpusStore,
    Encoder,
    LanguageModel,
    Matrix,
    Prompt,
    Remembered,
    VoteEvent,
    VoterStore,
)
from core.text.markup import FENCED
from core.text.words import one_line, query_terms, sentences, window_texts

log = logging.getLogger(__name__)

HOUR_SECONDS = 3600.0
CONTRIBUTIONS = 3
"""Questions asked and pairs voted on after which somebody is known, if they are no newcomer."""
LISTED_DAYS = 7.0
"""Days for which a burst is shown to admins."""
DAY_SECONDS = 86400.0
CROWD = 2
"""Strangers of one opinion who count without a known person, at most; more are a crowd (*ours*)."""
BESIDE = 0.5
"""What all strangers together weigh beside known people or on what people brought, in voters (*ours*)."""
HALF_LIFE_DAYS = 180.0
"""Days without use after which a pair is worth half: about two releases of a usual product (*ours*)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """When people count as known, and how many votes an hour are usual."""

    newcomer_days: float = 7.0
    """Days after their first question or vote until which somebody is a newcomer; 0 for nobody."""
    votes_per_hour: int = 30
    """Votes of one person, and people voting on one answer, in excess of which is a burst."""

    def is_known(self, seen: Acquaintance, now: float) -> bool:
        """Return True if a person has been here long enough, and done enough, to be known."""
        if not self.newcomer_days:
            return True
        is_old = 0 < seen.first_seen <= now - self.newcomer_days * DAY_SECONDS
        return is_old and seen.contributions >= CONTRIBUTIONS


@dataclass(frozen=True, slots=True)
class Ballot:
    """The weight of a vote, and whether it starts a burst: of a `voter` or on an `answer`."""

    weight: float
    standing: Standing
    burst: str = ""


def ballot(
    seen: Acquaintance,
    policy: Policy,
    thresholds: Thresholds,
    now: float,
    *,
    asks: bool = False,
    helps: bool = False,
    young: bool = False,
) -> Ballot:
    """Weigh a vote; `asks`: the asker's, `helps`: a helper's, `young`: nobody can be known yet."""
    known = policy.is_known(seen, now)
    burst = _burst(seen, policy, stranger=not (asks or helps or known))
    if helps:
        weight = max(thresholds.helper_weight, thresholds.asker_weight if asks else 0.0)
        return Ballot(weight, "helper", burst)
    if seen.events >= policy.votes_per_hour:
        return Ballot(thresholds.voter_weight, "flood", burst)
    if asks:
        # a bot that asks and votes for itself moves no more than anybody's vote where people are known
        full = known or young
        return Ballot(thresholds.asker_weight if full else thresholds.voter_weight, "asker", burst)
    if known:
        in_excess = seen.voters >= policy.votes_per_hour
        return Ballot(thresholds.voter_weight, "flood" if in_excess else "known", burst)
    return Ballot(thresholds.voter_weight, "early" if young else "new", burst)


def _burst(seen: Acquaintance, policy: Policy, stranger: bool) -> str:
    if seen.events == policy.votes_per_hour:
        return "voter"
    if seen.voters == policy.votes_per_hour or (stranger and seen.strangers == CROWD):
        return "answer"
    return ""


@dataclass(frozen=True, slots=True)
class Burst:
    """Votes that came close together: on a pair, or of one voter (the other name is empty)."""

    pair_id: str
    voter: str
    people: int
    votes: int
    began_at: float
    ended_at: float


def bursts(events: Sequence[VoteEvent]) -> list[Burst]:
    """Find the bursts among the votes of strangers, given oldest first; the latest burst comes first."""
    by_pair: dict[str, list[VoteEvent]] = {}
    by_voter: dict[str, list[VoteEvent]] = {}
    for event in events:
        by_pair.setdefault(event.pair_id, []).append(event)
        if event.standing == "flood":
            by_voter.setdefault(event.voter, []).append(event)
    found = [_of(some, pair_id=key) for key, all_ in by_pair.items() for some in _crowds(all_)]
    found += [_of(some, voter=key) for key, some in by_voter.items()]
    return sorted(found, key=lambda burst: (-burst.ended_at, burst.pair_id, burst.voter))


def _crowds(events: Sequence[VoteEvent]) -> list[list[VoteEvent]]:
    """Cut the votes on one pair where an hour passes without any; keep what more than a few people cast."""
    groups: list[list[VoteEvent]] = []
    for event in events:
        if groups and event.at - groups[-1][-1].at < HOUR_SECONDS:
            groups[-1].append(event)
        else:
            groups.append([event])
    return [group for group in groups if len({event.voter for event in group}) > CROWD]


def _of(events: Sequence[VoteEvent], pair_id: str = "", voter: str = "") -> Burst:
    people = len({event.voter for event in events})
    return Burst(pair_id, voter, people, len(events), events[0].at, events[-1].at)


class VoteWeighting:
    """Weighs votes by what the store knows of people; `people` are the accounts that are linked."""

    def __init__(
        self,
        store: VoterStore,
        thresholds: Thresholds,
        policy: Policy,
        people: Mapping[str, Collection[str]],
        helpers: Collection[str] = (),
    ) -> None:
        self._store = store
        self._thresholds = thresholds
        self._policy = policy
        self._people = {name: frozenset(accounts) for name, accounts in people.items()}
        self._name = {account: name for name, accounts in people.items() for account in accounts}
        self._helpers = frozenset(map(self.voter, helpers))
        self._is_grown = not policy.newcomer_days

    def voter(self, account: str) -> str:
        """Return the name that a person votes under: accounts that are linked are one voter."""
        return self._name.get(account, account)

    def helps(self, account: str) -> bool:
        """Return True if this is a helper's account, or that of a person who has one."""
        return self.voter(account) in self._helpers

    async def weigh(self, account: str, asker: str, pair_id: str, helper: bool, now: float) -> Ballot:
        """Weigh a vote of an account on a pair that `asker` asked for; `helper` is what the platform says."""
        voter = self.voter(account)
        accounts = {account, voter, *self._people.get(voter, ())}
        seen = await self._store.acquaintance(accounts, pair_id, now - HOUR_SECONDS)
        given = ballot(
            seen,
            self._policy,
            self._thresholds,
            now,
            asks=bool(asker) and self.voter(asker) == voter,
            helps=helper or self.helps(account),
            young=await self._is_young(now),
        )
        if given.burst == "answer":
            log.warning(
                "a burst of votes on pair %s: %d people within an hour, %d of them strangers; "
                "`threadlore memory bursts` lists them",
                pair_id,
                seen.voters + 1,
                seen.strangers + (given.standing in STRANGERS),
            )
        elif given.burst:
            log.warning(
                "a person cast %d votes within an hour; what comes now is capped; `threadlore memory bursts` "
                "names them",
                seen.events,
            )
        return given

    async def bursts(self, now: float) -> list[Burst]:
        """Return the bursts of the last days, the latest first."""
        return bursts(await self._store.by_strangers(now - LISTED_DAYS * DAY_SECONDS))

    async def _is_young(self, now: float) -> bool:
        """Return True if nobody can be known yet; the result is cached once somebody is."""
        if not self._is_grown:
            before = now - self._policy.newcomer_days * DAY_SECONDS
            self._is_grown = await self._store.anybody_known(before, CONTRIBUTIONS)
        return not self._is_grown


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The settings of ComRAG's algorithms 1 and 2, for one embedder.

    Defaults suit all-MiniLM-L6-v2; docs/decisions/memory.md says by which data.
    """

    delta: float = 0.84
    """δ: from this cosine on two questions are the same."""
    tau: float = 0.6
    """τ: from this cosine on a pair is worth reading, and joins a cluster."""
    gamma: float = 0.6
    """γ: from this score on a pair belongs in the high store."""
    prior_strength: float = 1.0
    """m: how many votes the automatic score counts for."""
    asker_weight: float = 2.0
    helper_weight: float = 2.0
    voter_weight: float = 1.0
    recalled: int = 3
    """Pairs handed to the model as examples, from each store."""
    min_voters: int = 1
    """Known people who must have voted an answer good before it is reused in public."""
    limit: int = 0
    """Pairs that a store of one release and scope holds at most; 0 for no limit."""

    def store(self, score: float) -> Store:
        """Name the store that a score belongs in (ComRAG algorithm 2, line 1)."""
        return "high" if score >= self.gamma else "low"


def score(prior: float, opinions: Sequence[tuple[int, float]], strength: float) -> float:
    """Return `(m·s0 + Σ w·v) / (m + Σ w)` over (value, weight) opinions, in 0..1."""
    # summed exactly, so that the order of the voters' names does not matter
    weights = math.fsum(weight for _, weight in opinions)
    voted = math.fsum(weight * value for value, weight in opinions)
    return (strength * prior + voted) / (strength + weights)


def score_of(pair: Remembered, thresholds: Thresholds) -> float:
    """Return a pair's score from its prior and the opinions that count."""
    return score(pair.prior, counted(pair, thresholds), thresholds.prior_strength)


def counted(pair: Remembered, thresholds: Thresholds) -> tuple[tuple[int, float], ...]:
    """Return the opinions that count, as (value, weight): all strangers together weigh a voter at most."""
    strangers = counted_strangers(pair)
    weights = math.fsum(weight for _, weight in strangers)
    most = thresholds.voter_weight * (BESIDE if pair.opinions or pair.origin != "answer" else 1.0)
    share = min(1.0, most / weights) if weights else 1.0
    return (*pair.opinions, *((value, weight * share) for value, weight in strangers))


def counted_strangers(pair: Remembered) -> tuple[tuple[int, float], ...]:
    """Return the votes of strangers that count for something, as (value, weight).

    They do beside a known person's vote, or on what people brought. Alone they do while nobody is
    known in the community, and unless those who vote the same are a crowd.
    """
    if pair.opinions or pair.origin != "answer":
        return tuple((value, weight) for value, weight, _ in pair.strangers)
    return _early(pair)


def _early(pair: Remembered) -> tuple[tuple[int, float], ...]:
    """Return the votes from the time when nobody could be known, without those of a crowd."""
    early = [(value, weight) for value, weight, was_early in pair.strangers if was_early]
    sides = ([vote for vote in early if vote[0] == value] for value in (0, 1))
    return tuple(vote for side in sides if len(side) <= CROWD for vote in side)


def vouched(pair: Remembered) -> int:
    """Return how many people vouch for a pair: who are known and voted it good, or a few early ones."""
    return sum(1 for value, _ in (*pair.opinions, *_early(pair)) if value)


def liked(pair: Remembered) -> int:
    """Return how many people's standing vote on a pair is a 👍, whatever it weighs."""
    return sum(1 for value, *_ in (*pair.opinions, *pair.strangers) if value)


@dataclass(frozen=True, slots=True)
class Esteem:
    """What votes have made of an answer: how many people found it good, and whether it is given again.

    `missing` is how many 👍 it lacks until then; 0 where it is remembered, or votes alone do not help.
    """

    good: int
    is_remembered: bool
    missing: int = 0


def esteem(pair: Remembered, thresholds: Thresholds) -> Esteem:
    """Return what votes have made of a pair."""
    good, is_high = liked(pair), thresholds.store(score_of(pair, thresholds)) == "high"
    if is_neutral(pair) or pair.stale or not is_high:
        return Esteem(good, False)
    needed = thresholds.min_voters if pair.scope == "public" and pair.origin == "answer" else 0
    missing = max(needed - vouched(pair), 0)
    return Esteem(good, not missing, missing)


def is_neutral(pair: Remembered) -> bool:
    """Return True if a pair is in no store: nobody whose vote counts voted on it, or it was set aside."""
    return bool(pair.aside) or (pair.origin == "answer" and not pair.opinions and not counted_strangers(pair))


def worth(pair: Remembered, score: float, now: float) -> float:
    """Return what keeping a pair is worth: its score, raised by its uses, halved with age (*ours*).

    Age counts from the last reuse, or from when the pair was made; `now` in seconds since the epoch.
    """
    idle_days = max(0.0, now - max(pair.created_at, pair.used_at)) / DAY_SECONDS
    return float(score * (1 + math.log1p(pair.uses)) * 0.5 ** (idle_days / HALF_LIFE_DAYS))


SUPPORTED = 0.75
"""Prior of an answer that its evidence says in so many words."""


def support(answer: str, evidence: Sequence[Evidence]) -> float:
    """Return the share of an answer's terms that its evidence holds, pulled into .25 to .75.

    The bounds leave the last word to people: any single vote decides over the prior.
    """
    terms = set(query_terms(answer))
    if not terms or not evidence:
        return 0.25
    held = terms & set(query_terms(" ".join(item.chunk.text for item in evidence)))
    return 0.25 + 0.5 * len(held) / len(terms)


Similarity = Callable[[str, str], float]
"""Says how alike an answer and its evidence are, 0 to 1; blocking."""

UNLIKE, ALIKE = 0.35, 0.85
"""Cosines of MiniLM between which a sentence counts as partly supported: unrelated sentences of one manual
are near the first, rewordings near the second (.72 to .75 is the median of human rewordings)."""
SENTENCES = 12
"""Sentences of an answer that are looked at."""
PAGES = 4
"""Pages of evidence that they are compared with, the best ones."""
_MARKS = re.compile(r"\[\d+\]|^[>#*\- ]+", re.MULTILINE)
_TOKENS = 200


class PriorScorer:
    """Scores answers by their evidence; what fails is left out, and the rest decides."""

    def __init__(
        self, corpora: CorpusStore, judge: LanguageModel | None = None, alike: Similarity | None = None
    ) -> None:
        self._corpora = corpora
        self._judge = judge
        self._alike = alike

    async def score(self, answer: str, evidence: Sequence[Evidence], encoder: Encoder) -> dict[str, float]:
        """Return what each scorer says, and their mean within .25 to .75 as `prior`."""
        terms = support(answer, evidence)
        found = {"terms": (terms - 0.25) * 2}
        said = statements(answer)
        if said and evidence:
            found["embedder"] = await self._by_embedder(said, evidence[:PAGES], encoder)
            if self._judge is not None:
                found |= await self._by_model(self._judge, said, evidence[:PAGES])
            if self._alike is not None:
                pages = "\n".join(item.chunk.page for item in evidence[:PAGES])
                found["bertscore"] = await asyncio.to_thread(self._alike, " ".join(said), pages)
        mean = sum(found.values()) / len(found)
        rounded = {name: round(value, 3) for name, value in found.items()}
        return rounded | {"prior": round(0.25 + 0.5 * min(1.0, max(0.0, mean)), 4)}

    async def _by_embedder(
        self, said: Sequence[str], evidence: Sequence[Evidence], encoder: Encoder
    ) -> float:
        """Compare each sentence with the windows of the pages, whose vectors are kept from indexing."""
        texts: dict[str, str] = {}
        for item in evidence:
            texts |= window_texts(item.chunk)
        kept = await self._corpora.vectors(encoder.name, list(texts))
        missing = [text for key, text in texts.items() if key not in kept]
        fresh: Matrix = await encoder.encode([*said, *missing])
        held = np.vstack([fresh[len(said) :], *([np.stack(list(kept.values()))] if kept else [])])
        nearest = (fresh[: len(said)] @ held.T).max(axis=1)
        return float(np.clip((nearest - UNLIKE) / (ALIKE - UNLIKE), 0.0, 1.0).mean())

    async def _by_model(
        self, judge: LanguageModel, said: Sequence[str], evidence: Sequence[Evidence]
    ) -> dict[str, float]:
        system, user = prompts.supported(said, [item.chunk.page for item in evidence])
        try:
            output = await judge.structured(
                (Prompt("system", system), Prompt("user", user)), prompts.SUPPORTED_SCHEMA, max_tokens=_TOKENS
            )
        except ModelError as error:
            log.info("the model did not judge an answer: %s", error)
            return {}
        named = {number for number in output.get("supported") or () if isinstance(number, int)}
        return {"model": len(named & set(range(1, len(said) + 1))) / len(said)}


def statements(answer: str) -> list[str]:
    """Return the sentences of an answer without code, citations and marks of Markdown."""
    plain = _MARKS.sub("", FENCED.sub("", answer))
    found = [one_line(sentence) for line in plain.split("\n") for sentence in sentences(line)]
    return [sentence for sentence in found if re.search(r"\w\W+\w", sentence)][:SENTENCES]
