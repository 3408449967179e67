"""Who votes: what fresh accounts, floods and bots that vote for themselves can move, on the whole bot."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.commands.command_line import handle
from bot.rendering.status import status_text
from core.domain import Answer, Question, Vote
from core.memory.scoring import Esteem
from tests.journeys.house import Bot, Kettle, house

PORT = "Which port does the dashboard listen on?"
RETRIES = "How often is a failed job tried again by default?"
LOGGING = "How do I see every job that is taken in the log of a worker?"
ANN, HAL = "slack:UANN", "slack:UHAL"
NOW = datetime.now(UTC)


async def vote(
    bot: Bot, answer: Answer, voter: str, value: Any = 1, days_ago: float = 0, **given: Any
) -> None:
    at = NOW - timedelta(days=days_ago)
    assert await bot.app.engine.feedback(Vote(answer.id, voter, value, at=at), **given)


async def ask(bot: Bot, text: str = PORT, who: str = ANN) -> Answer:
    return await bot.app.engine.answer(Question(text, who, "slack:C1"))


async def is_reused(bot: Bot, text: str = PORT) -> bool:
    return (await ask(bot, text, "slack:USOMEBODY")).route == "reuse"


async def grown(bot: Bot) -> None:
    """Let eve be somebody who has been about: three answers voted on, nine days ago."""
    for text in (RETRIES, LOGGING, "How do I protect the dashboard with a password?"):
        await vote(bot, await ask(bot, text, "slack:UEVE"), "slack:UEVE", days_ago=9)


async def told(bot: Bot, **request: Any) -> list[str]:
    lines: list[str] = []

    async def send(message: dict[str, Any]) -> None:
        lines.extend(message[key] for key in ("line", "note") if key in message)

    await handle(bot.app, {"command": "memory", **request}, send)
    return lines


@pytest.mark.parametrize("is_grown", [False, True])
async def test_ten_fresh_accounts_promote_nothing_until_somebody_known_agrees(
    bot: Bot, is_grown: bool, caplog: pytest.LogCaptureFixture
) -> None:
    if is_grown:
        await grown(bot)
    before = (await bot.counts())["high"]
    answer = await ask(bot)
    for number in range(10):
        await vote(bot, answer, f"slack:FRESH{number}")
    assert not await is_reused(bot)
    counts = await bot.counts()
    assert counts["high"] == before and counts["votes"] >= 10, "every vote is kept, none counts"
    assert counts["bursts"] == 1 and "burst of votes" in caplog.text
    shown = status_text(await bot.app.corpus_manager.status())
    assert "1 bursts of votes" in shown and "threadlore memory bursts" in shown
    (line,) = await told(bot, action="bursts")
    assert line.startswith(f"{answer.pair_id} (no store): 10 votes within 0 minutes")
    assert "by 10 strangers" in line and PORT in line
    assert json.loads((await told(bot, action="bursts", json=True))[0])["people"] == 10

    await vote(bot, answer, ANN)
    assert await is_reused(bot)
    assert await bot.app.memory.verify() == [] and await bot.app.upkeep.broken() == []


@pytest.mark.parametrize("who", ["asker", "helper", "admin", "known", "on another platform"])
async def test_what_suffices_beside_fresh_accounts(kettle: Kettle, who: str) -> None:
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write('\n[people]\nann = ["slack:UANN", "discord:77"]\n')
    settings = {"helpers": HAL, "admins": "slack:UBOSS"}
    async with house(kettle, **settings) as bot:
        await grown(bot)
        answer = await ask(bot)
        for number in range(10):
            await vote(bot, answer, f"discord:FRESH{number}")
        assert not await is_reused(bot)
        voters = {"asker": ANN, "helper": HAL, "admin": "slack:UBOSS", "known": "slack:UEVE"}
        await vote(bot, answer, voters.get(who, "discord:77"))
        assert await is_reused(bot)


async def test_fresh_accounts_take_out_nothing_that_a_known_person_said(bot: Bot) -> None:
    await grown(bot)
    answer = await ask(bot)
    await vote(bot, answer, ANN)
    for number in range(40):
        await vote(bot, answer, f"slack:FRESH{number}", 0)
    assert await is_reused(bot)


async def test_alone_in_a_grown_community_one_stranger_moves_nothing(bot: Bot) -> None:
    answer = await ask(bot)
    await vote(bot, answer, "slack:UBOB")
    assert await is_reused(bot), "nobody is known yet, so one of two people counts"
    await grown(bot)
    other = await ask(bot, "What does the dashboard show in the browser?")
    await vote(bot, other, "slack:UBOB2")
    assert not await is_reused(bot, "What does the dashboard show in the browser?")
    assert await is_reused(bot), "what counted goes on counting"


async def test_a_newcomer_is_known_after_a_week_and_three_contributions(bot: Bot) -> None:
    await grown(bot)
    answer = await ask(bot)
    for text in (RETRIES, LOGGING, "How do I run a job every night?"):
        await vote(bot, await ask(bot, text), "slack:UNEW", days_ago=8)
    await vote(bot, answer, "slack:UNEW")
    assert await is_reused(bot)


async def test_public_reuse_waits_for_enough_known_people(kettle: Kettle) -> None:
    async with house(kettle, min_voters=2) as bot:
        await grown(bot)
        answer = await ask(bot)
        await vote(bot, answer, ANN)
        assert await bot.app.engine.esteem(answer.id) == Esteem(1, False, missing=1)
        for number in range(10):
            await vote(bot, answer, f"slack:FRESH{number}")
        assert not await is_reused(bot)
        await vote(bot, answer, "slack:UEVE")
        assert await bot.app.engine.esteem(answer.id) == Esteem(12, True)
        assert await is_reused(bot)


async def test_a_person_on_two_platforms_is_one_voter(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        answer = await ask(bot)
        await vote(bot, answer, ANN, 1)
        await vote(bot, answer, "discord:77", 1)
        assert len((await bot.app.memory.everything())[0].opinions) == 1
        assert len((await bot.app.memory.everything())[0].strangers) == 1
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write('\n[people]\nann = ["slack:UANN", "discord:77"]\n')
    async with house(kettle) as bot:
        (pair,) = await bot.app.memory.everything()
        assert len(pair.opinions) + len(pair.strangers) == 1, "linked later, they are one from then on"
        await vote(bot, answer, "discord:77", 0)
        (pair,) = await bot.app.memory.everything()
        assert (pair.opinions, pair.strangers) == (((0, 2.0),), ()), "and the asker's weight is theirs"
        assert await bot.app.memory.verify() == []


async def test_a_flood_of_one_voter_is_capped_told_and_kept(
    kettle: Kettle, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(kettle, votes_per_hour=3) as bot:
        questions = [f"What is {word} in the dashboard of kettle?" for word in ("port", "queue", "worker")]
        asked = [await ask(bot, text, "slack:UBOT") for text in (*questions, PORT, RETRIES)]
        for answer in asked:
            await vote(bot, answer, "slack:UBOT")
        stands = {p.id: (len(p.opinions), len(p.strangers)) for p in await bot.app.memory.everything()}
        assert [stands[a.pair_id] for a in asked] == [(1, 0)] * 3 + [(0, 1)] * 2
        assert "cast 3 votes within an hour" in caplog.text
        assert not await is_reused(bot, RETRIES)
        assert (await bot.counts())["votes"] == 5
        (line,) = await told(bot, action="bursts")
        assert line.startswith("slack:UBOT: 2 votes")


async def test_a_bot_that_asks_and_votes_for_itself_weighs_like_anybody(bot: Bot) -> None:
    await grown(bot)
    answer = await ask(bot, PORT, "slack:UBOT")
    await vote(bot, answer, "slack:UBOT")
    await vote(bot, answer, "slack:UEVE", 0)
    pair = await bot.app.memory.find(answer.pair_id)
    assert pair is not None and sorted(pair.opinions) == [(0, 1.0), (1, 1.0)]
    assert not await is_reused(bot)
