"""The `ChannelStore`, `ReleaseStore` and `AuditStore` ports in memory."""

from __future__ import annotations

from core.ports.about import Act
from core.ports.channels import ModeSet, Pause, ReleaseSet


class FakeChannels:
    """Modes and pauses in dictionaries."""

    def __init__(self) -> None:
        self._modes: dict[str, ModeSet] = {}
        self._pauses: dict[str, Pause] = {}

    async def modes(self) -> tuple[ModeSet, ...]:
        return tuple(given for _, given in sorted(self._modes.items()))

    async def set_mode(self, given: ModeSet) -> None:
        self._modes[given.channel] = given

    async def unset_mode(self, channel: str) -> bool:
        return self._modes.pop(channel, None) is not None

    async def pauses(self) -> tuple[Pause, ...]:
        return tuple(pause for _, pause in sorted(self._pauses.items()))

    async def pause(self, pause: Pause) -> None:
        self._pauses[pause.place] = pause

    async def resume(self, place: str) -> bool:
        return self._pauses.pop(place, None) is not None


class FakeReleases:
    """Releases in dictionaries."""

    def __init__(self) -> None:
        self._people: dict[str, str] = {}
        self._channels: dict[str, ReleaseSet] = {}

    async def of_people(self) -> dict[str, str]:
        return dict(self._people)

    async def choose(self, person: str, release: str, at: float) -> None:
        self._people.pop(person, None)
        if release:
            self._people[person] = release

    async def of_channels(self) -> tuple[ReleaseSet, ...]:
        return tuple(given for _, given in sorted(self._channels.items()))

    async def give(self, given: ReleaseSet) -> None:
        self._channels.pop(given.channel, None)
        if given.release:
            self._channels[given.channel] = given


class FakeAudit:
    """Acts in a list."""

    def __init__(self) -> None:
        self._acts: list[Act] = []

    async def note(self, act: Act) -> None:
        self._acts.append(act)

    async def acts(self, limit: int = 50) -> tuple[Act, ...]:
        latest = sorted(enumerate(self._acts), key=lambda entry: (entry[1].at, entry[0]), reverse=True)
        return tuple(act for _, act in latest[:limit])

    async def older(self, at: float) -> int:
        return sum(act.at < at for act in self._acts)

    async def delete_before(self, at: float) -> int:
        kept = [act for act in self._acts if act.at >= at]
        gone = len(self._acts) - len(kept)
        self._acts = kept
        return gone
