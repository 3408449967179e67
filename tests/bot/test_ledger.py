"""A command that is being noted while a process starts is not a dead process's."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from bot.interactions.ledger import InteractionLedger
from core.ports import Claim


class Rows:
    """Claims that are there before who wrote them hears of it, as those of a database are."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []

    async def claim(self, claim: Claim, _event: str = "") -> bool:
        self.claims.append(claim)
        await asyncio.sleep(0)
        return True

    async def left(self, _platform: str, messages: bool) -> list[Claim]:
        return list(self.claims)


async def test_what_is_being_noted_is_not_left_by_a_dead_process() -> None:
    rows, nobody = Rows(), SimpleNamespace(named=lambda account, _key: account, is_out=lambda _account: False)
    ledger = InteractionLedger(rows, nobody)  # type: ignore[arg-type]
    rows.claims.append(Claim("web:command:old", "", "ann", 1.0, kind="command"))
    noting = asyncio.create_task(ledger.take("web:command:new", "command", "new", "ann", {}))
    await asyncio.sleep(0)
    left = await ledger.left(SimpleNamespace(name="web"))
    assert [claim.message for claim in left] == ["web:command:old"]
    assert await noting and ledger.begin("web:command:new")
