"""How large memory is and how it grew, as `status` tells it."""

from __future__ import annotations

import json
import time

from sqlalchemy import text

from bot.commands.command_line import handle
from bot.rendering.status import status_text
from tests.journeys.house import Bot, Kettle, house


async def brought(bot: Bot, *lines: dict[str, object]) -> None:
    async def send(message: dict[str, object]) -> None:
        assert "error" not in message

    given = "\n".join(json.dumps(line) for line in lines)
    await handle(bot.app, {"command": "memory", "action": "import", "text": given}, send)


async def test_status_tells_pairs_by_release_and_store_and_the_growth_of_each_day(kettle: Kettle) -> None:
    async with house(kettle, memory_limit=3) as bot:
        assert (await bot.counts())["stores"] == [] == (await bot.counts())["growth"]
        names = ("grinder", "filter", "scale", "lid")
        pairs = [{"question": f"What is the {n} for?", "answer": n, "release": "2.0"} for n in names]
        bad = {"question": "Is boiling twice a good idea?", "answer": "Sure.", "score": 0.1}
        same = [{"question": "How do I descale it?", "answer": said, "release": "1.5"} for said in "ab"]
        await brought(bot, *pairs, bad, *same)
        memory = (await bot.app.corpus_manager.status())["memory"]
        assert memory["stores"] == [
            {"release": "*", "store": "low", "kept": 1, "waiting": 0},
            {"release": "1.5", "store": "high", "kept": 1, "waiting": 1},
            {"release": "2.0", "store": "high", "kept": 3, "waiting": 0},
        ]
        today = time.strftime("%Y-%m-%d", time.gmtime())
        assert memory["growth"] == [{"day": today, "stored": 6, "added": 6, "growth": None}]
        shown = status_text(await bot.app.corpus_manager.status())
        assert "- 2.0: 3 good" in shown and "- 1.5: 1 good (+1 behind them)" in shown
        assert "- all: 1 bad" in shown and f"Stored by day: {today} +6" in shown


async def test_growth_is_the_share_of_what_was_stored_before(bot: Bot) -> None:
    await brought(
        bot, *({"question": f"What is {n} kettle {n}?", "answer": "x"} for n in ("tea", "oat", "rye"))
    )
    pairs = await bot.app.memory.everything()
    yesterday = time.time() - 86400
    async with bot.app.upkeep._database.write() as connection:  # type: ignore[attr-defined]
        for pair in pairs[:2]:
            old = {"at": yesterday, "id": pair.id}
            await connection.execute(text("UPDATE pairs SET created_at = :at WHERE id = :id"), old)
    growth = (await bot.app.corpus_manager.status())["memory"]["growth"]
    assert [(day["stored"], day["added"], day["growth"]) for day in growth] == [(2, 2, None), (3, 1, 0.5)]
    assert "+1 (50.0%)" in status_text(await bot.app.corpus_manager.status())
