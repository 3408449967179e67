"""How a vote is weighed by what the store knows: linked accounts, helpers, the asker, a young community."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest

from core.domain import Standing
from core.memory.scoring import LISTED_DAYS, Policy, Thresholds, VoteWeighting, ballot
from core.ports import Acquaintance, VoteEvent

HOUR, DAY = 3600.0, 86400.0
NOW = 100 * DAY
OLD = Acquaintance(NOW - 30 * DAY, 5)
PEOPLE = {"ada": ("slack:A", "discord:A")}


class Store:
    """Knows one person, and notes what it is asked."""

    def __init__(self, seen: Acquaintance, known: bool = True) -> None:
        self.seen, self.known = seen, known
        self.asked: list[tuple[set[str], str, float]] = []
        self.looked: list[tuple[float, int]] = []
        self.since = 0.0

    async def acquaintance(self, accounts: Collection[str], pair_id: str, since: float) -> Acquaintance:
        self.asked.append((set(accounts), pair_id, since))
        return self.seen

    async def anybody_known(self, before: float, contributions: int) -> bool:
        self.looked.append((before, contributions))
        return self.known

    async def by_strangers(self, since: float) -> tuple[VoteEvent, ...]:
        self.since = since
        return ()

    async def link(self, people: Mapping[str, Sequence[str]]) -> int:
        return 0


def weighting(store: Store, policy: Policy | None = None, *, helpers: Collection[str] = ()) -> VoteWeighting:
    return VoteWeighting(store, Thresholds(), policy or Policy(), PEOPLE, helpers)


def test_linked_accounts_are_one_voter_and_others_are_themselves() -> None:
    weigher = weighting(Store(OLD), helpers=["discord:A"])
    assert weigher.voter("slack:A") == weigher.voter("discord:A") == "ada"
    assert weigher.voter("slack:B") == "slack:B"
    assert weigher.helps("slack:A") and not weigher.helps("slack:B")


async def test_what_is_known_of_all_accounts_in_the_last_hour_counts() -> None:
    store = Store(OLD)
    await weighting(store).weigh("slack:A", "", "p1", False, NOW)
    assert store.asked == [({"slack:A", "discord:A", "ada"}, "p1", NOW - HOUR)]


@pytest.mark.parametrize(
    ("account", "asker", "helper", "helpers", "standing"),
    [
        ("slack:A", "discord:A", False, (), "asker"),
        ("slack:A", "slack:B", False, (), "known"),
        ("slack:A", "", False, (), "known"),
        ("", "", False, (), "known"),
        ("slack:A", "slack:B", True, (), "helper"),
        ("slack:A", "slack:B", False, ("discord:A",), "helper"),
        ("slack:A", "discord:A", True, (), "helper"),
    ],
)
async def test_the_asker_and_helpers_are_told_by_any_of_their_accounts(
    account: str, asker: str, helper: bool, helpers: Collection[str], standing: Standing
) -> None:
    given = await weighting(Store(OLD), helpers=helpers).weigh(account, asker, "p1", helper, NOW)
    assert given.standing == standing


async def test_a_community_is_young_until_somebody_is_known_and_that_is_asked_once() -> None:
    store = Store(Acquaintance(), known=False)
    weigher = weighting(store)
    assert (await weigher.weigh("slack:B", "", "p1", False, NOW)).standing == "early"
    store.known = True
    assert (await weigher.weigh("slack:B", "", "p1", False, NOW)).standing == "new"
    assert (await weigher.weigh("slack:B", "", "p1", False, NOW)).standing == "new"
    assert store.looked == [(NOW - 7 * DAY, 3)] * 2


async def test_without_newcomers_nobody_asks_whether_the_community_is_young() -> None:
    store = Store(Acquaintance())
    assert (await weighting(store, Policy(0.0)).weigh("slack:B", "", "p1", False, NOW)).standing == "known"
    assert store.looked == []


async def test_bursts_are_logged_with_their_people_and_listed_for_a_week(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    store = Store(Acquaintance(voters=4, strangers=2))
    await weighting(store).weigh("slack:B", "", "p1", False, NOW)
    store.seen = replace(OLD, events=30)
    await weighting(store).weigh("slack:A", "", "p2", False, NOW)
    store.seen = OLD
    await weighting(store).weigh("slack:A", "", "p3", False, NOW)
    crowd, flood = (record.getMessage() for record in caplog.records)
    assert "on pair p1: 5 people within an hour, 3 of them strangers" in crowd
    assert "a person cast 30 votes" in flood
    assert await weighting(store).bursts(NOW) == [] and store.since == NOW - LISTED_DAYS * DAY


@pytest.mark.parametrize(("asks", "weight"), [(True, 3.0), (False, 2.0)])
def test_a_helper_who_asked_weighs_what_the_larger_of_both_does(asks: bool, weight: float) -> None:
    thresholds = Thresholds(asker_weight=3.0)
    assert ballot(OLD, Policy(), thresholds, NOW, asks=asks, helps=True).weight == weight


@pytest.mark.parametrize("first_seen", [NOW - 7 * DAY, 0.5])
def test_somebody_is_known_from_the_very_second(first_seen: float) -> None:
    policy = Policy(newcomer_days=7.0)
    assert policy.is_known(Acquaintance(first_seen, 3), NOW)
    assert not policy.is_known(Acquaintance(0.0, 3), NOW)
    assert Policy().newcomer_days == 7.0 and Policy().votes_per_hour == 30 and LISTED_DAYS == 7.0
