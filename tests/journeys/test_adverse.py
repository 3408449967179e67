"""People who act against each other: what one does while, or after, somebody does another thing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from bot.ports.chat import Reply
from tests.journeys.discord_stage import DiscordStage
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import (
    EVERYWHERE,
    ON_EACH_WIRE,
    Said,
    Seen,
    Stage,
    answer,
    open_stage,
    squeezed,
    until,
)
from tests.journeys.test_cleared import hands
from tests.journeys.test_escalation import appoint, asked
from tests.journeys.test_people import remembered, talk
from tests.ollama_server import OllamaServer
from tests.platforms.slack_wire import CUT

PORT = "Which port does the dashboard listen on?"


# --- another release --------------------------------------------------------------------------


@ON_EACH_WIRE
async def test_a_press_of_somebody_else_does_not_choose_the_askers_release(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("bob", first, "release", "1.5")
        assert PORTS["1.5"] in (await answer(stage, said, 2)).text
        await stage.say("ann", "how often is a failed job tried again?", under=said)
        assert "Kettle 2.0" in squeezed((await answer(stage, said, 3)).text)


@ON_EACH_WIRE
async def test_ones_own_press_chooses_the_release_of_what_one_asks_next(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("bob", first, "release", "1.5")
        await answer(stage, said, 2)
        await stage.say("bob", "how often is a failed job tried again?", under=said, to="bot")
        assert "Kettle 1.5" in squeezed((await answer(stage, said, 3)).text), "it is bob's"
        await stage.press("ann", first, "release", "1.0")
        await answer(stage, said, 4)
        await stage.say("ann", "how often is a failed job tried again?", under=said, to="bot")
        assert "Kettle 1.0" in squeezed((await answer(stage, said, 5)).text), "it is ann's"


# --- talk -------------------------------------------------------------------------------------


@EVERYWHERE
async def test_an_aside_is_left_alone_and_what_goes_on_is_not(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        for aside in ("I will give it a go later", "ah, gut zu wissen", "je teste tout de suite"):
            await stage.say("ann", aside, under=said)
        await stage.quiet()
        assert len(stage.replies(said)) == 1
        await stage.say("ann", "in 1.5", under=said)
        assert PORTS["1.5"] in (await answer(stage, said, 2)).text
        await stage.say("ann", "will try tomorrow", under=said, to="bot")
        await until(lambda: len(stage.replies(said)) == 3, "who calls the bot is answered")
        await stage.say("ann", "will try tomorrow", "direct")
        await until(lambda: stage.replies(Said("", "direct", "")), "and who writes to it")


# --- what is no answer ------------------------------------------------------------------------


async def votes(bot: Bot) -> int:
    return (await bot.counts())["votes"]


def reactions_are_taken(stage: SlackStage) -> bool:
    """Return True if the bot has acknowledged two reactions."""
    events = {e["envelope_id"]: e["payload"].get("event", {}) for e in stage.server.envelopes}
    reacted = [key for key, event in events.items() if event.get("type") == "reaction_added"]
    return len(reacted) == 2 and set(reacted) <= set(stage.server.acknowledged)


@pytest.mark.parametrize("platform", ["fake", "web", "slack"])
async def test_a_sign_of_work_takes_no_votes(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.holds_back = True
    async with open_stage(platform, writer) as stage:
        asking = asyncio.create_task(stage.say("ann", PORT, to="bot"))
        await until(lambda: ollama.running, "it is being answered")
        said = await asking if platform != "fake" else Said("1", "public", "1")
        sign = (await until(lambda: stage.replies(said), "a sign of work"))[0]
        reacting = asyncio.gather(stage.react("bob", sign, "👎"), stage.react("hal", sign, "✅"))
        if isinstance(stage, SlackStage):  # there `react` also waits for the answer
            await until(partial(reactions_are_taken, stage))
        else:
            await reacting
        ollama.holds_back = False
        await asking
        await answer(stage, said)
        await reacting
        await stage.quiet()
        assert await votes(writer) == 0


@ON_EACH_WIRE
async def test_what_the_bot_says_beside_answers_takes_no_votes(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        await until(lambda: len(stage.replies(said)) == 2, "the notice that hal is asked")
        notice, thread = stage.replies(said)[1], await stage.say("ann", "thanks!", to="bot")
        hint = (await until(lambda: stage.replies(thread), "a hint"))[0]
        chat = bot.dispatch.chat_of(stage.name)
        assert chat is not None
        await chat.send(stage.key("desk").partition(":")[2], Reply("3 questions were not answered."))
        digest = (await until(stage.desk, "the digest"))[-1]
        for seen in (notice, hint, digest):
            for who, emoji in (("ann", "👍"), ("bob", "👎"), ("hal", "✅")):
                await stage.react(who, seen, emoji)
        await stage.quiet()
        assert await votes(bot) == 0
        assert not [p for p in await bot.app.memory.everything() if p.opinions or p.origin == "person"]


# --- edited, deleted, asked again -------------------------------------------------------------


async def begun(stage: FakeStage, ollama: OllamaServer) -> tuple[Said, asyncio.Task[Said]]:
    """Let ann ask what the model is slow to answer."""
    ollama.holds_back = True
    number = len(stage.chat.messages) + 1
    asking = asyncio.create_task(stage.say("ann", PORT, to="bot"))
    await until(lambda: ollama.running, "it is being answered")
    return Said(str(number), "public", str(number)), asking


async def test_a_question_that_is_deleted_while_it_is_answered_leaves_nothing(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with FakeStage(writer) as stage:
        said, asking = await begun(stage, ollama)
        sign = stage.replies(said)[0]
        await asyncio.gather(stage.react("bob", sign, "👍"), stage.delete(said))
        ollama.holds_back = False
        await asking
        assert not stage.replies(said) and await votes(writer) == 0
        assert await writer.app.conversations.unanswered(0.0) == ()


async def sign_deleted(stage: Stage, ollama: OllamaServer) -> tuple[Said, asyncio.Task[Said], Seen]:
    """Let ann ask what the model is slow to answer, and a moderator delete the sign of work."""
    ollama.holds_back = True
    asking = asyncio.create_task(stage.say("ann", PORT, to="bot"))
    await until(lambda: ollama.running, "it is being answered")
    if isinstance(stage, DiscordStage):  # its writer waits for the answer, too
        public = stage.places["public"]
        await until(lambda: public.threads, "a thread on the question")
        said = Said(str(public.threads[0].id), "public", str(public.threads[0].id))
    else:
        said = await asking if isinstance(stage, SlackStage) else Said("1", "public", "1")
    sign = (await until(lambda: stage.replies(said), "a sign of work"))[0]
    if isinstance(stage, DiscordStage):
        message = stage.stored(sign)
        stage.env.backend.delete_message(message.channel_id, message.id)
    elif isinstance(stage, SlackStage):
        stage.server.delete("C1", sign.id)
    else:
        await stage.delete(replace(said, id=sign.id))
    return said, asking, sign


def directly(stage: Stage) -> list[str]:
    """Return what the bot told ann in direct messages."""
    if isinstance(stage, SlackStage):
        return [message["text"] for message in stage.server.said("D1")]
    return [seen.text for seen in stage.inbox("ann")]


@pytest.mark.parametrize("platform", ["fake", "slack", "slack without streams", "discord"])
async def test_an_answer_whose_sign_of_work_somebody_deletes_is_posted_anew(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform.split()[0], writer) as stage:
        if isinstance(stage, SlackStage):
            stage.server.streaming.there = platform == "slack"
        said, asking, sign = await sign_deleted(stage, ollama)
        ollama.holds_back = False
        await asking
        seen = await answer(stage, said)
        assert PORTS["2.0"] in seen.text and seen.id != sign.id
        await stage.react("bob", seen, "👍")
        await stage.quiet()
        assert [one.id for one in stage.replies(said)] == [seen.id] and await votes(writer) == 1
        assert not directly(stage)
        assert not await writer.app.conversations.unanswered(0.0)


async def test_an_answer_that_is_posted_anew_and_lost_on_its_way_is_looked_for(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with SlackStage(writer) as stage:
        said, _, sign = await sign_deleted(stage, ollama)
        answered, lost = stage.server._answer, []

        def late(method: str, *given: Any) -> Any:
            found = answered(method, *given)
            if method != "chat.postMessage" or lost:
                return found
            lost.append(found)
            return {"ok": False, "error": "fatal_error"}, CUT, {}

        stage.server._answer = late  # type: ignore[method-assign]
        ollama.holds_back = False
        seen = await answer(stage, said)
        await stage.quiet()
        assert lost and [one.id for one in stage.replies(said)] == [seen.id] != [sign.id]
        assert await writer.app.conversations.answer_of(f"{stage.key()}:{seen.id}")


@pytest.mark.parametrize("platform", ["fake", "slack", "discord"])
async def test_an_answer_whose_sign_of_work_and_question_are_deleted_is_withheld(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        said, asking, _ = await sign_deleted(stage, ollama)
        if isinstance(stage, DiscordStage):
            stage.env.backend.delete_message(stage.places["public"].id, int(said.id))
        else:
            await stage.delete(said)
        await until(lambda: not ollama.running, "the model is no longer asked")
        ollama.holds_back = False
        await asking
        await stage.quiet()
        assert not stage.replies(said) and not directly(stage) and await votes(writer) == 0
        assert await writer.app.conversations.unanswered(0.0) == ()


async def test_of_two_edits_while_it_is_answered_the_last_one_is(writer: Bot, ollama: OllamaServer) -> None:
    async with FakeStage(writer) as stage:
        said, asking = await begun(stage, ollama)
        edits = [asyncio.create_task(stage.edit(said, f"{PORT[:-1]} in {name}?")) for name in ("1.0", "1.5")]
        await asyncio.sleep(0.1)
        ollama.holds_back = False
        await asyncio.gather(asking, *edits)
        await stage.quiet()
        assert [PORTS["1.5"] in seen.text for seen in stage.replies(said)] == [True]


async def test_an_edit_and_a_deletion_at_once_leave_nothing(writer: Bot, ollama: OllamaServer) -> None:
    async with FakeStage(writer) as stage:
        said, asking = await begun(stage, ollama)
        editing = asyncio.create_task(stage.edit(said, f"{PORT[:-1]} in 1.5?"))
        await asyncio.sleep(0)
        deleting = asyncio.create_task(stage.delete(said))
        await asyncio.sleep(0.1)
        ollama.holds_back = False
        await asyncio.gather(asking, editing, deleting)
        await stage.quiet()
        assert not stage.replies(said)
        assert await writer.app.conversations.unanswered(0.0) == ()


async def test_an_edit_that_turns_into_an_aside_leaves_the_answer(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        onward = await stage.say("ann", "and in 1.5?", under=said)
        second = await answer(stage, said, 2)
        await stage.edit(onward, "let me check that first")
        await stage.quiet()
        assert [seen.text for seen in stage.replies(said)][1:] == [second.text]


async def test_with_a_question_goes_the_answer_for_another_release_that_is_being_written(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with FakeStage(writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        ollama.holds_back = True
        pressing = asyncio.create_task(stage.press("bob", first, "release", "1.5"))
        await until(lambda: ollama.running, "it is being answered")
        await stage.delete(said)
        ollama.holds_back = False
        await pressing
        assert not stage.replies(said)
        assert await writer.app.conversations.unanswered(0.0) == ()


async def test_two_who_press_the_same_release_at_once_get_one_answer(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with FakeStage(writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await asyncio.gather(*(stage.press(who, first, "release", "1.5") for who in ("ann", "bob", "hal")))
        await stage.quiet()
        assert len(stage.replies(said)) == 2


async def test_a_second_question_in_the_thread_waits_for_the_first_and_one_that_is_gone_for_nothing(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with FakeStage(writer) as stage:
        said, asking = await begun(stage, ollama)
        later = [
            asyncio.create_task(stage.say("ann", text, under=said))
            for text in ("and in 1.0?", "and in 1.5?", "will try tomorrow")
        ]
        await asyncio.sleep(0.1)
        gone = next(m for m in stage.chat.messages if m["text"] == "and in 1.0?")
        await stage.delete(Said(str(gone["id"]), "public", said.root))
        ollama.holds_back = False
        await asyncio.gather(asking, *later)
        await stage.quiet()
        told = [seen.text for seen in stage.replies(said)]
        assert len(told) == 2 and PORTS["2.0"] in told[0] and PORTS["1.5"] in told[1]


async def test_an_answer_that_is_deleted_by_its_button_while_it_is_written_anew_stays_away(
    writer: Bot, ollama: OllamaServer
) -> None:
    async with FakeStage(writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        before = stage.chat.of(first.id)["controls"]
        ollama.holds_back = True
        editing = asyncio.create_task(stage.edit(said, f"{PORT[:-1]} in 1.5?"))
        await until(lambda: ollama.running, "it is being answered")
        stage.chat.of(first.id)["controls"] = before  # her page is slow
        await stage.press("ann", first, "delete")
        ollama.holds_back = False
        await editing
        await stage.quiet()
        assert len(stage.replies(said)) <= 1
        assert await writer.app.conversations.unanswered(0.0) == ()


async def test_what_is_said_wrong_of_an_answer_that_is_replaced_meanwhile_is_kept_with_neither(
    bot: Bot,
) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.press("hal", first, "down")
        await stage.edit(said, f"{PORT[:-1]} in 1.5?")
        await until(lambda: PORTS["1.5"] in stage.replies(said)[0].text)
        await stage.fill("hal", better="It listens on 4711.")
        await stage.quiet()
        for name in ("1.5", "2.0"):
            asked_again = await stage.say("bob", f"{PORT[:-1]} in {name}?", to="bot")
            assert "4711" not in (await answer(stage, asked_again)).text


# --- votes and marks --------------------------------------------------------------------------


async def test_a_vote_that_is_taken_back_after_its_question_was_deleted_is_no_error(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await stage.react("bob", seen, "👍")
        await stage.delete(said)
        await stage.react("bob", seen, "👍", False)
        await stage.react("bob", seen, "👎")
        assert await bot.app.memory.verify() == []
        assert (await bot.counts())["low"] == 0


async def test_a_mark_of_who_is_no_helper_does_nothing_to_an_answer(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        for added in (True, False):
            await stage.react("bob", seen, "✅", added)
        assert await votes(bot) == 0


async def test_what_its_author_deletes_while_it_is_accepted_is_not_remembered(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        _, advice = await talk(stage)
        await asyncio.gather(stage.react("hal", advice, "✅"), stage.delete(advice))
        await stage.quiet()
        await remembered(bot, 0)


async def test_what_its_author_objects_to_while_it_is_accepted_is_not_remembered(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        _, advice = await talk(stage)
        await asyncio.gather(
            stage.react("hal", advice, "✅"),
            stage.react("bob", advice, "❌"),
            stage.react("hal", advice, "✅"),
        )
        await stage.quiet()
        await remembered(bot, 0)


async def test_a_button_that_is_pressed_twice_at_once_counts_once_at_most(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await asyncio.gather(*(stage.press("bob", seen, "up") for _ in range(2)))
        assert sum(await hands(bot)) <= 1
        assert await bot.app.memory.verify() == []


async def test_what_was_voted_in_a_channel_that_becomes_private_is_not_told_outside(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await asyncio.gather(stage.react("bob", seen, "👍"), bot.dispatch.channel_became_private(stage.key()))
        await stage.react("hal", seen, "👍")
        elsewhere = await stage.say("bob", PORT, "desk", to="bot")
        assert "community memory" not in (await answer(stage, elsewhere)).text
