"""Weigh votes: who is known, what a vote counts for, and which votes form a burst (*ours*).

Known are askers of the answer, helpers, and people who have been about for a while. All strangers
together weigh half of what one voter does. Where no known person has voted they move nothing, except
while the community is so young that nobody can be known: then up to two of one opinion count as one
voter. So no crowd of fresh accounts promotes an answer, however large.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from core.domain import STRANGERS, Standing
from core.memory.scoring.score import CROWD, DAY_SECONDS, Thresholds
from core.ports import Acquaintance, VoteEvent, VoterStore

log = logging.getLogger(__name__)

HOUR_SECONDS = 3600.0
CONTRIBUTIONS = 3
"""Questions asked and pairs voted on after which somebody is known, if they are no newcomer."""
LISTED_DAYS = 7.0
"""Days for which a burst is shown to admins."""


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
