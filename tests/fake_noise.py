"""In-memory `NoiseStore` and `NoticeStore`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.community.unsolicited import Heard
from core.ports.about import Notice


@dataclass
class _Kept:
    channel: str
    conversation: str
    heard: Heard
    deleted: bool = False


class FakeNoise:
    """The `NoiseStore` port; `opinions` holds what voters think, by answer."""

    def __init__(self) -> None:
        self._answers: dict[str, _Kept] = {}
        self.opinions: dict[str, dict[str, int]] = {}
        self.askers: dict[str, str] = {}

    async def answered(self, answer_id: str, channel: str, conversation: str, at: float, keep: int) -> None:
        self._answers[answer_id] = _Kept(channel, conversation, Heard(at))
        for gone in self._of(channel)[keep:]:
            del self._answers[gone]

    async def channel_of(self, answer_id: str) -> str:
        return self._answers[answer_id].channel if answer_id in self._answers else ""

    async def noticed(self, answer_id: str) -> None:
        if kept := self._answers.get(answer_id):
            kept.heard = replace(kept.heard, noticed=True)

    async def went_on(self, conversation: str) -> None:
        for answer_id, kept in self._answers.items():
            if kept.conversation == conversation:
                await self.noticed(answer_id)

    async def deleted(self, answer_id: str) -> None:
        if kept := self._answers.get(answer_id):
            kept.deleted = True

    async def withdrawn(self, answer_id: str) -> None:
        self._answers.pop(answer_id, None)

    async def latest(self, channel: str, limit: int) -> tuple[Heard, ...]:
        return tuple(self._heard(answer_id) for answer_id in self._of(channel)[:limit])

    async def begin_anew(self, channel: str) -> None:
        for answer_id in self._of(channel):
            del self._answers[answer_id]

    def _of(self, channel: str) -> list[str]:
        found = [(-kept.heard.at, key) for key, kept in self._answers.items() if kept.channel == channel]
        return [key for _, key in sorted(found)]

    def _heard(self, answer_id: str) -> Heard:
        kept, opinions = self._answers[answer_id], self.opinions.get(answer_id, {})
        against = {voter for voter, value in opinions.items() if not value}
        if len(against) <= len(opinions) - len(against):
            against = set()
        if kept.deleted:
            against.add(self.askers.get(answer_id, answer_id))
        return replace(kept.heard, noticed=kept.heard.noticed or bool(opinions), against=frozenset(against))


class FakeNotices:
    """The `NoticeStore` port."""

    def __init__(self) -> None:
        self._notices: dict[tuple[str, str], Notice] = {}

    async def notice(self, destination: str, key: str) -> Notice | None:
        return self._notices.get((destination, key))

    async def keep(self, notice: Notice) -> None:
        self._notices[notice.destination, notice.key] = notice

    async def untold(self) -> tuple[Notice, ...]:
        waiting = [notice for notice in self._notices.values() if not notice.told_at and notice.text]
        return tuple(sorted(waiting, key=lambda notice: notice.at))
