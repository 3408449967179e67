"""What somebody sees of their own in one place: their questions, their votes, the release that they use."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from core.community.releases import DefaultReleases
from core.insights.given import GivenAnswer, GivenStore
from core.privacy.names import Privacy

LATEST = 10
"""Questions, and public answers, that are listed."""
VOTES = 5
"""Votes on answers to others that are listed."""


@dataclass(frozen=True, slots=True)
class OwnPage:
    """One person's page; `recent` are public answers in channels that they read, `release` their own one."""

    asked: tuple[GivenAnswer, ...] = ()
    voted: tuple[GivenAnswer, ...] = ()
    recent: tuple[GivenAnswer, ...] = ()
    release: str = ""
    is_out: bool = False

    @property
    def all(self) -> tuple[GivenAnswer, ...]:
        """Return every answer on it."""
        return (*self.asked, *self.voted, *self.recent)


class OwnPages:
    """Collects a person's page; `voter` returns the name that an account votes under."""

    def __init__(
        self, given: GivenStore, releases: DefaultReleases, privacy: Privacy, voter: Callable[[str], str]
    ) -> None:
        self._given = given
        self._releases = releases
        self._privacy = privacy
        self._voter = voter

    async def of(self, account: str, channels: Collection[str] = ()) -> OwnPage:
        """Return somebody's page, with answers of the public channels (`slack:C1`) that they read.

        What they voted on is listed where everybody on their platform can read it.
        """
        accounts, voter = self._privacy.names.everyone(account), self._voter(account)
        asked = await self._given.asked(accounts, voter, LATEST)
        recent = await self._given.public(channels, voter, LATEST) if channels else ()
        voted = await self._given.voted(voter, accounts, VOTES * 3)
        platform = account.partition(":")[0]
        read = [one for one in voted if one.scope == "public" and platform == one.channel.partition(":")[0]]
        return OwnPage(
            asked=asked,
            voted=tuple(read[:VOTES]),
            recent=recent,
            release=await self._releases.of_person(account),
            is_out=self._privacy.is_out(account),
        )
