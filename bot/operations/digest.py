"""Once a week, tell the people who run the bot which public questions were not answered, or wrongly."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from bot.operations.notices import Notices
from bot.rendering.gaps import IN_DIGEST, digest_text
from core.insights.statistics import Gap

OFF = "off"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEK = 7
DAY = timedelta(days=1)
LONGEST_WEEKS = 4
"""Weeks that a digest tells of at most, beside the days that it is late."""
RETRY = timedelta(minutes=10)
"""Time between two tries to say a digest that could not be said."""


class Digest:
    """Tells gaps once a week, at a day and time of the machine's clock (`mon 09:00`); late, but never twice.

    What was told is kept with the notices, so a restart repeats nothing, and a digest that fell into a time
    when nothing ran comes with the next start, and tells of all days since the one before.
    """

    def __init__(
        self,
        when: str,
        gaps: Callable[[float], Awaitable[Sequence[Gap]]],
        wrong_reuse: Callable[[float], Awaitable[int]],
        notices: Notices,
        product: str,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._when = when.lower()
        self._gaps = gaps
        self._wrong_reuse = wrong_reuse
        self._notices = notices
        self._product = product
        self._now = now
        self._tried: datetime | None = None

    async def tick(self) -> None:
        """Tell the digest that is due, if it was not told yet; nothing where there is nothing to tell."""
        if self._when == OFF or not self._notices.has_channels:
            return
        now = self._now()
        due = latest(self._when, now)
        key = f"gaps {due:%Y-%m-%d}"
        if await self._notices.is_settled(key) or (self._tried and now - self._tried < RETRY):
            return
        self._tried = now
        owed: dict[int, list[str]] = {}
        for channel in self._notices.channels:
            if not await self._notices.is_settled(key, channel):
                owed.setdefault(await self._weeks(due, channel), []).append(channel)
        for weeks, channels in owed.items():
            since = (now - due) / DAY + WEEK * weeks
            found, wrong, days = await self._gaps(since), await self._wrong_reuse(since), round(since)
            if found or wrong:
                quoted = " ".join(gap.example.answer_id for gap in found[:IN_DIGEST])
                text = digest_text(found, self._product, days, wrong)
                await self._notices.say_once(text, key, quoted, channels)
            else:
                await self._notices.settle(key, channels)

    async def _weeks(self, due: datetime, channel: str) -> int:
        """Return how many weeks a channel was not told of; one where that is long ago, or never was."""
        for weeks in range(1, LONGEST_WEEKS + 1):
            if await self._notices.was_told(f"gaps {due - timedelta(weeks=weeks):%Y-%m-%d}", channel):
                return weeks
        return 1


def latest(when: str, now: datetime) -> datetime:
    """Return the last moment at or before `now` that `mon 09:00` names."""
    day, _, clock = when.partition(" ")
    hour, _, minute = clock.partition(":")
    due = now.replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)
    due -= timedelta(days=(now.weekday() - _DAYS.index(day)) % WEEK)
    return due if due <= now else due - timedelta(weeks=1)
