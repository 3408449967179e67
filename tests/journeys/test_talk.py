"""The talk that follows a question: follow-ups, other people, edits and deletions."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.rendering.answers import SOURCES
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Said, answer, open_stage, until
from tests.ollama_server import Behaviour, OllamaServer

PORT = "Which port does the dashboard listen on?"
PAGE = "https://kettle.example/{}/dashboard#opening-the-dashboard"


# --- follow-ups -------------------------------------------------------------------------------


@ON_EACH_WIRE
async def test_the_asker_follows_up_without_a_mention(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.say("ann", "and in 1.5?", under=said)
        second = await answer(stage, said, 2)
        assert PORTS["1.5"] in second.text and PAGE.format("1.5") in second.text
        await stage.say("ann", "How do I protect it with a password?", under=said)
        third = await answer(stage, said, 3)
        assert "dashboard_password" in third.text, "the release named in the thread holds on"


@EVERYWHERE
async def test_the_model_hears_what_an_answer_said_without_its_sources(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        assert SOURCES in (await answer(stage, said)).text
        await stage.say("ann", "and in 1.5?", under=said)
        await answer(stage, said, 2)
    told = str(ollama.chats[-1].messages[-1]).partition("<conversation>")[2]
    assert PORT in told and "9090" in told and f"*{SOURCES}*" not in told
    assert PAGE.format("2.0") not in told


@EVERYWHERE
async def test_the_model_hears_for_which_release_each_answer_was(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", f"{PORT[:-1]} in 1.0?", to="bot")
        await answer(stage, said)
        for count, follow_up in enumerate(("and in 1.5?", "How do I protect it with a password?"), start=2):
            await stage.say("ann", follow_up, under=said)
            await answer(stage, said, count)
    told = str(ollama.chats[-1].messages[-1]).partition("<conversation>")[2]
    assert "you, on 1.0" in told and "you, on 1.5" in told


@EVERYWHERE
async def test_the_bot_stays_out_of_talk_between_people(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.say("ann", "thanks!", under=said)
        await stage.say("ann", "do you know this one?", under=said, to="bob")
        await stage.say("bob", "which port does yours listen on?", under=said)
        await stage.say("ann", "where does it listen at your place?", under=said)
        await stage.say("bob", "Which port does the dashboard listen on?")
        await stage.quiet()
        assert len(stage.replies(said)) == 1
        await stage.say("bob", "Which port does the dashboard listen on in 1.0?", under=said, to="bot")
        assert PORTS["1.0"] in (await answer(stage, said, 2)).text
        await stage.say("bob", "and in 1.5?", under=said)
        assert PORTS["1.5"] in (await answer(stage, said, 3)).text, "now bob is the one who asks"


@pytest.mark.parametrize("platform", ["fake", "slack", "discord"])
async def test_bots_are_never_answered(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("robot", PORT, to="bot")
        await stage.quiet()
        assert not stage.replies(said)


@ON_EACH_WIRE
async def test_direct_messages_are_answered_without_a_mention_and_not_remembered(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, "direct")
        seen = await answer(stage, said)
        assert PORTS["2.0"] in seen.text
        follow = await stage.say("ann", "and in 1.0?", "direct")
        found = await until(lambda: [s for s in stage.replies(follow) if PORTS["1.0"] in s.text and s.seeds])
        await stage.react("ann", found[0], "👍")
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        counts = await bot.counts()
        assert counts["pairs"] == counts["high"] == 0


async def test_a_follow_up_that_comes_before_the_answer_is_answered_after_it(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.first_token_delay = 0.1
    async with SlackStage(writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: ollama.running)
        await stage.say("ann", "and in 1.5?", under=said)
        assert PORTS["2.0"] in (await answer(stage, said)).text
        assert PORTS["1.5"] in (await answer(stage, said, 2)).text


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("Thanks a lot, that works now 🙏", False),
        ("👍", False),
        (":+1: perfect", False),
        ("no, I use 1.5", True),
        ("ok and in 1.5", True),
        ("great, does 1.5 have the same one", True),
    ],
)
async def test_thanks_are_not_answered_but_what_goes_on_is(text: str, answered: bool, bot: Bot) -> None:
    stage = FakeStage(bot)
    said = await stage.say("ann", PORT, to="bot")
    await stage.say("ann", text, under=said)
    assert len(stage.replies(said)) == 1 + answered


async def test_a_message_without_words_gets_no_answer(bot: Bot) -> None:
    stage = FakeStage(bot)
    assert not stage.replies(await stage.say("ann", "  "))


# --- edits and deletions ----------------------------------------------------------------------


@ON_EACH_WIRE
async def test_an_edited_question_is_answered_anew_in_place(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.edit(said, f"{PORT[:-1]} in 1.5?")
        again = await until(
            lambda: [s for s in stage.replies(said) if s.finished and PORTS["1.5"] in s.text],
            "an answer anew",
        )
        await stage.quiet()
        assert [s.id for s in stage.replies(said)] == [again[0].id] == [first.id]


@ON_EACH_WIRE
async def test_a_deleted_question_takes_its_answer_with_it(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.delete(said)
        await until(lambda: not stage.replies(said), "the answer goes")


async def test_a_question_that_is_edited_later_keeps_its_answer(bot: Bot) -> None:
    stage = FakeStage(bot)
    said = await stage.say("ann", PORT, to="bot")
    claim = await bot.app.conversations.claimed(f"fake:public:{said.id}")
    assert claim and claim.answer_id
    await bot.app.conversations.reopen(claim.message, claim.payload, time.time() - 61)
    await bot.app.conversations.answered(claim.message, claim.answer_id)
    await stage.edit(said, f"{PORT[:-1]} in 1.5?")
    [seen] = stage.replies(said)
    assert PORTS["2.0"] in seen.text


async def test_a_question_edited_while_it_is_answered_is_answered_once(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.script("hang")
    stage = FakeStage(writer)
    asking = asyncio.create_task(stage.say("ann", PORT, to="bot"))
    await until(lambda: ollama.running)
    said = Said("1", "public", "1", PORT)
    await stage.edit(said, f"{PORT[:-1]} in 1.5?")
    await asking
    [seen] = stage.replies(said)
    assert PORTS["1.5"] in seen.text and stage.chat.posted == 1


async def test_a_question_deleted_while_it_is_answered_leaves_nothing(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.script(Behaviour("stall", after=4))
    async with SlackStage(writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: ollama.running)
        await stage.delete(said)
        await until(lambda: not stage.replies(said), "the sign of work goes")
        await until(lambda: ollama.aborted, "the model stops writing")
        await stage.quiet()
        assert not stage.replies(said)


async def test_a_mention_added_by_an_edit_is_answered(bot: Bot) -> None:
    stage = FakeStage(bot)
    said = await stage.say("ann", PORT)
    assert not stage.replies(said)
    stage.chat.of(said.id)["to"] = "bot"
    await stage.edit(said, PORT)
    assert PORTS["2.0"] in stage.replies(said)[0].text


# --- what people say instead of a question ----------------------------------------------------


@pytest.mark.stages("fake", "web", "slack")
async def test_a_mention_alone_answers_the_question_above_it(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT)
        await stage.say("bob", "", under=said, to="bot")
        assert PORTS["2.0"] in (await answer(stage, said)).text


@EVERYWHERE
async def test_who_calls_a_question_off_keeps_the_answer(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.edit(said, "nvm, found it")
        await stage.quiet()
        assert [seen.text for seen in stage.replies(said)] == [first.text]


@EVERYWHERE
async def test_who_was_not_helped_is_offered_a_vote(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.say("ann", "That does not work for me.", under=said)
        sorry = await until(lambda: [s for s in stage.replies(said) if s.text.startswith("Sorry")])
        assert sorry[0].controls == ("down",)
        await stage.press("ann", sorry[0], "down")
        await until(lambda: stage.form("ann"))
        await stage.quiet()
        assert (await bot.counts())["votes"] == 1


async def test_an_answer_that_says_solved_marks_the_thread(bot: Bot) -> None:
    stage = FakeStage(bot)
    said = await stage.say("ann", PORT, to="bot")
    await stage.say("bob", "solved", under=said)
    assert "solved" not in stage.chat.of(said.root), "somebody else's word"
    await stage.say("ann", "That fixed it, thanks!", under=said)
    assert stage.chat.of(said.root)["solved"] and len(stage.replies(said)) == 1


async def test_solved_puts_a_check_mark_on_the_question_in_slack(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.say("ann", "solved", under=said)
        question = stage.server.messages["C1"][said.id]
        await until(
            lambda: stage.server.bot_user in question.get("reactions", {}).get("white_check_mark", ())
        )


@EVERYWHERE
async def test_what_no_page_is_near_says_what_can_be_asked(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await answer(stage, await stage.say("ann", "Who won the world cup in 1998?", to="bot"))
        assert "I answer from the Kettle documentation" in seen.text and "release" not in seen.controls
