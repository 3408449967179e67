"""The `OptOutStore` port in memory."""

from __future__ import annotations

from collections.abc import Collection


class FakeOptOuts:
    """Names with what they were told, in a dictionary."""

    def __init__(self) -> None:
        self._told: dict[str, frozenset[str]] = {}
        self._forgotten: dict[str, float] = {}

    async def opt_outs(self) -> frozenset[str]:
        return frozenset(self._told)

    async def opt_out(self, names: Collection[str], at: float) -> None:
        for name in names:
            self._told.setdefault(name, frozenset())

    async def opt_in(self, names: Collection[str]) -> None:
        for name in names:
            self._told.pop(name, None)

    async def forgotten(self) -> dict[str, float]:
        return dict(self._forgotten)

    async def forget(self, names: Collection[str], at: float) -> None:
        self._forgotten |= dict.fromkeys(names, at)

    async def tell(self, names: Collection[str], what: str) -> bool:
        own = [name for name in names if name in self._told]
        if not own or any(what in self._told[name] for name in own):
            return False
        for name in own:
            self._told[name] |= {what}
        return True
