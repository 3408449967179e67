"""The `AboutStore` port in memory."""

from __future__ import annotations

from core.privacy.names import is_veiled


class FakeAbout:
    """What is known by name, in a dictionary; the lists are what the database holds."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self.listed: list[str] = []
        self.people: list[str] = []
        self.times: list[float] = []

    async def told(self, name: str) -> str:
        return self._known.get(name, "")

    async def tell(self, name: str, value: str) -> None:
        self._known[name] = value

    async def has_one_way_names(self, lists_alone: bool = False) -> bool:
        return any(map(is_veiled, self.listed if lists_alone else self.listed + self.people))

    async def newest(self, before: float) -> float:
        return max((at for at in self.times if at < before), default=0.0)
