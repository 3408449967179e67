"""Who hears what was learnt: channels that become private, and platforms that do not share."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from bot.commands.command_line import handle
from core.domain import Answer, Question, Scope, Vote
from core.errors import ConfigurationError, UsageError
from tests.journeys.house import Bot, Kettle, house
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
NEAR = "Which port does the dashboard listen on with `--debug`?"
C1, C2 = "slack:C1", "slack:C2"
PUBLIC = Scope()


async def ask(
    bot: Bot, channel: str, scope: Scope = PUBLIC, who: str = "slack:U2", text: str = PORT
) -> Answer:
    return await bot.app.engine.answer(Question(text, who, channel, scope))


async def learnt(bot: Bot, channel: str, scope: Scope = PUBLIC) -> Answer:
    who = f"{channel.partition(':')[0]}:U1"
    answer = await ask(bot, channel, scope, who)
    await bot.app.engine.feedback(Vote(answer.id, who, 1))
    return answer


async def told(bot: Bot, **request: Any) -> str:
    lines: list[str] = []

    async def send(message: dict[str, Any]) -> None:
        lines.extend(message[key] for key in ("line", "note") if key in message)

    await handle(bot.app, {"command": "memory", **request}, send)
    return lines[0]


async def test_a_channel_made_private_takes_what_was_learnt_in_it_along(bot: Bot) -> None:
    first = await learnt(bot, C1)
    near = await ask(bot, C2, text=NEAR)
    assert near.route != "reuse" and [e["pair"] for e in near.trace["high"]] == [first.pair_id]
    assert await told(bot, action="private", channel=C1) == (
        "1 answer learned in slack:C1 stays in that channel from now on."
    )
    outside = await ask(bot, C2)
    assert outside.route != "reuse" and outside.trace["high"] == []
    assert (await bot.app.engine.answer_log.why(near.id))["trace"]["high"] == [], (
        "nobody outside is told of it"
    )
    inside = await ask(bot, C1, Scope("private", C1))
    assert (inside.route, inside.pair_id) == ("reuse", first.pair_id)
    assert await told(bot, action="verify") == "Memory matches the votes. Answers: 1, in use: 1."


async def test_answers_that_nobody_voted_on_are_not_counted_as_learnt(bot: Bot) -> None:
    await ask(bot, C1, text="How do I start the dashboard?")
    neutral = ", and 1 given there that nobody voted on,"
    for learnt_there, more in ((0, neutral), (1, "")):
        if learnt_there:
            await learnt(bot, C1)
        assert await told(bot, action="private", channel=C1) == (
            f"{'1 answer' if learnt_there else '0 answers'} learned in {C1}{more} "
            f"{'stays' if learnt_there else 'stay'} in that channel from now on."
        )
    assert await told(bot, action="public", channel=C1) == (
        f"1 answer learned in {C1}{neutral} can be used everywhere now."
    )


async def test_it_stays_private_unless_an_admin_says_otherwise(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        first = await learnt(bot, C1)
        await bot.app.memory.channel_became_private(C1)
        assert (await ask(bot, C1)).route != "reuse", "public again, as the platform says"
        await told(bot, action="public", channel=C1)
        assert (await ask(bot, C2)).pair_id == first.pair_id
    async with house(kettle) as bot:
        assert (await ask(bot, C1, Scope("private", C1))).route == "reuse"
        assert (await ask(bot, C2)).route == "reuse", "an admin's word holds"
        assert await told(bot, action="verify") == "Memory matches the votes. Answers: 1, in use: 1."


async def test_what_was_published_stays_so_whenever_a_connection_looks_at_its_channel(bot: Bot) -> None:
    inside = Scope("private", C1)
    first = await learnt(bot, C1, inside)
    await told(bot, action="public", channel=C1)
    for now in (False, True):
        await bot.dispatch.channel_became_private(C1, now)
        assert (await bot.app.engine.answer_log.asked_by(first.id)).scope == "public"
        assert (await ask(bot, C2)).pair_id == first.pair_id
    assert await told(bot, action="verify") == "Memory matches the votes. Answers: 1, in use: 1."


async def test_a_question_that_waited_in_line_while_its_channel_became_private_stays_inside(bot: Bot) -> None:
    asked = Question(PORT, "slack:U2", C1, since=time.time())
    await bot.app.engine.channel_became_private(C1)
    first = await bot.app.engine.answer(asked)
    assert (await bot.app.engine.answer_log.asked_by(first.id)).scope == f"private:{C1}"


async def test_a_change_that_nobody_told_is_noticed_with_the_next_question(bot: Bot) -> None:
    await learnt(bot, C1)
    assert (await ask(bot, C2)).route == "reuse"
    assert (await ask(bot, C1, Scope("private", C1))).route == "reuse"
    assert (await ask(bot, C2)).route != "reuse"
    assert (await ask(bot, "", Scope("private"))).route != "reuse"


async def test_an_answer_that_is_written_while_its_channel_becomes_private_stays_inside(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.holds_back = True
    asking = asyncio.create_task(ask(writer, C1))
    while not ollama.running:
        await asyncio.sleep(0.01)
    await writer.app.engine.channel_became_private(C1)
    ollama.holds_back = False
    first = await asking
    assert (await writer.app.engine.answer_log.asked_by(first.id)).scope == f"private:{C1}"
    await writer.app.engine.feedback(Vote(first.id, "slack:U2", 1))
    assert (await ask(writer, C2)).route != "reuse"
    assert (await ask(writer, C1, Scope("private", C1))).pair_id == first.pair_id


async def test_a_better_public_pair_is_not_displaced_by_one_that_moved(bot: Bot) -> None:
    await learnt(bot, C1)
    await bot.app.memory.channel_became_private(C1)
    second = await learnt(bot, C2)
    assert {kept for _, kept in bot.app.memory.stores().values()} == {True}
    assert (await ask(bot, "slack:C3")).pair_id == second.pair_id
    await bot.app.memory.publish(C1)
    assert sorted(kept for _, kept in bot.app.memory.stores().values()) == [False, True]
    assert await bot.app.memory.verify() == []


async def test_a_channel_needs_its_platform(bot: Bot) -> None:
    with pytest.raises(UsageError, match="slack:C0123"):
        await told(bot, action="private", channel="general")


@pytest.mark.parametrize("share", [True, False])
async def test_platforms_share_what_is_public_if_the_file_says_so(kettle: Kettle, share: bool) -> None:
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write(f"\n[memory]\nshare_platforms = {str(share).lower()}\n")
    async with house(kettle) as bot:
        first = await learnt(bot, C1)
        assert (await ask(bot, C2)).route == "reuse"
        assert ((await ask(bot, "discord:7", who="discord:3")).route == "reuse") == share
        assert (await ask(bot, "", who="cli")).route == "reuse", "an admin at the machine hears all"
        assert ((await ask(bot, "discord:8", Scope("private", "discord:8"))).route == "reuse") == share
        second = await learnt(bot, "discord:7")
        assert await bot.app.memory.verify() == []
        if not share:
            assert (await ask(bot, "discord:9", who="discord:3")).pair_id == second.pair_id
            assert (await ask(bot, C2)).pair_id == first.pair_id


async def test_the_setting_may_change_at_any_time(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        await learnt(bot, C1)
        other = await ask(bot, "discord:7", who="discord:U1", text=NEAR)
        await bot.app.engine.feedback(Vote(other.id, "discord:U1", 1))
    plain = kettle.config.read_text()
    for share in ("false", "true"):
        kettle.config.write_text(f"{plain}\n[memory]\nshare_platforms = {share}\n")
        async with house(kettle) as bot:
            assert await bot.app.memory.verify() == []
            assert len(bot.app.memory.stores()) == 2
            assert ((await ask(bot, "discord:7", who="discord:3")).route == "reuse") == (share == "true")


async def test_a_mistake_in_the_setting_is_told_with_its_line(kettle: Kettle) -> None:
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write("\n[memory]\nshare_platform = false\n")
    with pytest.raises(ConfigurationError, match="share_platforms"):
        async with house(kettle):
            pass
