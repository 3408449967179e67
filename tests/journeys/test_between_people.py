"""A thread in which several people write: whose it is, what ✅ is remembered for, what is passed on."""

from __future__ import annotations

import asyncio

import pytest

from core.ports.memory import Remembered
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import EVERYWHERE, PATIENCE, Said, Stage, answer, ask, open_stage, squeezed, until
from tests.journeys.test_escalation import advised, appoint, asked, ticket
from tests.journeys.test_people import ADVICE, AGAIN, remembered

PORT = "Which port does the dashboard listen on?"
RETRIES = "How often is a failed job tried again?"


async def _of_people(bot: Bot) -> list[Remembered]:
    return [p for p in await bot.app.memory.everything() if p.origin == "person" and not p.aside]


# --- what ✅ is remembered for ----------------------------------------------------------------


@EVERYWHERE
@pytest.mark.parametrize("onward", ["and in 1.0?", "oh, I forgot to say that I'm on 1.0"])
async def test_an_answer_to_a_follow_up_is_remembered_for_its_release(
    platform: str, onward: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", RETRIES, to="bot")
        await answer(stage, said)
        await stage.say("ann", onward, under=said)
        assert "3 times" in (await answer(stage, said, 2)).text
        advice = await stage.say("bob", "There it is 3 times, and that is fixed.", under=said)
        await stage.quiet()
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        [pair] = await _of_people(bot)
        assert pair.release == "1.0" and "tried again" in pair.question


@EVERYWHERE
async def test_an_answer_to_somebody_else_in_the_thread_is_remembered_for_their_question(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", RETRIES, to="bot")
        await answer(stage, said)
        await stage.say("bob", PORT, under=said, to="bot")
        await answer(stage, said, 2)
        advice = await stage.say("hal", "Ours listens where the proxy looks: 9090.", under=said)
        await stage.quiet()
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        [pair] = await _of_people(bot)
        assert "port" in pair.question and pair.asker == stage.account("bob")


@EVERYWHERE
async def test_what_is_said_after_a_question_is_resolved_is_remembered_for_the_next_one(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        await ticket(stage)
        await advised(stage, said, by="hal", marked_by="hal")
        await remembered(bot, 1)
        second = await stage.say("hal", "Or bake it in the oven.", under=said)
        await stage.react("hal", second, "✅")
        await remembered(bot, 2)
        await stage.say("ann", "And how often is a failed job tried again in 1.5?", under=said, to="bot")
        await until(lambda: "5 times" in stage.replies(said)[-1].text)
        third = await stage.say("bob", "Ours tries for ever.", under=said)
        await stage.react("hal", third, "✅")
        await remembered(bot, 3)
        found = {pair.answer: pair for pair in await _of_people(bot)}
        assert found[third.text].release == "1.5" and "tried again" in found[third.text].question
        assert found[second.text].release == "2.0" and "bread" in found[second.text].question


# --- whose the thread is ----------------------------------------------------------------------


@EVERYWHERE
async def test_thanks_of_somebody_else_do_not_take_the_thread_from_its_asker(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.say("bob", "thanks!", under=said, to="bot")
        await until(lambda: "Any time" in stage.replies(said)[-1].text)
        await stage.say("ann", "and in 1.5?", under=said)
        assert PORTS["1.5"] in (await answer(stage, said, 3)).text


@EVERYWHERE
async def test_two_people_who_talk_are_left_alone_however_much_one_of_them_writes(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", RETRIES, to="bot")
        await answer(stage, said)
        await stage.say("bob", "We set retry_limit to 3 and never looked back.", under=said)
        await stage.say("ann", "bob, the pauses between them look odd here.", under=said)
        await stage.say("ann", "did you also have to restart the workers?", under=said)
        await stage.quiet()
        assert len(stage.replies(said)) == 1
        await stage.say("ann", "and in 1.5?", under=said, to="bot")
        assert "5 times" in (await answer(stage, said, 2)).text, "called, it answers again"


@EVERYWHERE
@pytest.mark.parametrize("pointing", ["^", "can you help here?", "👆"])
async def test_a_mention_that_only_points_up_answers_the_question_above(
    platform: str, pointing: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT)
        await stage.say("bob", pointing, under=said, to="bot")
        assert PORTS["2.0"] in (await answer(stage, said)).text


async def test_an_objection_that_is_reworded_is_answered_by_nothing_else(bot: Bot) -> None:
    stage = FakeStage(bot)
    said = await stage.say("ann", PORT, to="bot")
    await answer(stage, said)
    objection = await stage.say("ann", "that did not work", under=said)
    await until(lambda: len(stage.replies(said)) == 2)
    sorry = stage.replies(said)[-1]
    await stage.edit(objection, "that's still not working for me")
    await stage.quiet()
    assert [reply.text for reply in stage.replies(said)][1:] == [sorry.text]


# --- answers in the direct messages of who was asked ------------------------------------------


async def _under(stage: Stage, bot: Bot) -> tuple[Said, Said]:
    """Let ann ask, and hal be asked; return the question, and what hal answers under."""
    appoint(stage, bot, "hal")
    said, _ = await asked(stage)
    sent = await ticket(stage)
    return said, Said(sent.id, "hal", sent.id, sent.text)


async def _becomes(bot: Bot, *answers: str) -> None:
    """Wait until people's remembered answers are these."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while (found := sorted(pair.answer for pair in await _of_people(bot))) != sorted(answers):
        assert asyncio.get_running_loop().time() < end, found
        await asyncio.sleep(0.01)


def _passed(stage: Stage, said: Said, part: str) -> bool:
    return any(part in squeezed(seen.text) for seen in stage.replies(said))


async def test_lines_of_one_answer_are_remembered_together_and_what_asks_back_is_not(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        said, under = await _under(stage, bot)
        for line in ("Which release are you on?", ADVICE, "Then wait for the bell.", "hope that helps!"):
            await stage.say("hal", line, under=under)
            await stage.quiet()
        await until(lambda: _passed(stage, said, "wait for the bell"))
        assert _passed(stage, said, "Which release are you on?")
        await _becomes(bot, f"{ADVICE}\n\nThen wait for the bell.")
        await stage.react("ann", stage.replies(said)[-1], "✅")
        await until(lambda: _passed(stage, said, "Resolved by"))
        await stage.say("hal", "It rings twice.", under=under)
        await _becomes(bot, f"{ADVICE}\n\nThen wait for the bell.\n\nIt rings twice.")


async def test_what_was_passed_on_follows_its_edit_and_its_deletion(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        said, under = await _under(stage, bot)
        first = await stage.say("hal", f"{ADVICE} Then wait.", under=under)
        await until(lambda: _passed(stage, said, ADVICE))
        await _becomes(bot, f"{ADVICE} Then wait.")
        secret = await stage.say("hal", ADVICE, under=under)
        await _becomes(bot, f"{ADVICE} Then wait.\n\n{ADVICE}")
        await stage.edit(secret, "Ask Kim for the password.")
        await until(lambda: _passed(stage, said, "Ask Kim"))
        await _becomes(bot, f"{ADVICE} Then wait.\n\nAsk Kim for the password.")
        await stage.delete(secret)
        await until(lambda: not _passed(stage, said, "Ask Kim"))
        await _becomes(bot, f"{ADVICE} Then wait.")
        await stage.react("hal", first, "❌")
        await _becomes(bot)
        await stage.delete(first)
        await until(lambda: not _passed(stage, said, ADVICE))
        assert ADVICE not in (await ask(stage, AGAIN, who="bob")).text


async def test_what_is_deleted_as_soon_as_it_is_passed_on_is_not_remembered(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        said, under = await _under(stage, bot)
        secret = await stage.say("hal", "The password of ours is hunter2.", under=under)
        await until(lambda: _passed(stage, said, "hunter2"))
        await stage.delete(secret)
        await until(lambda: not _passed(stage, said, "hunter2"))
        await _becomes(bot)


async def test_an_edit_of_what_was_passed_on_is_no_question_where_the_asker_is_gone(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        said, under = await _under(stage, bot)
        advice = await stage.say("hal", ADVICE, under=under)
        await until(lambda: _passed(stage, said, ADVICE))
        await stage.delete(said)
        await stage.quiet()
        before = [seen.text for seen in stage.replies(said)]
        await stage.edit(advice, PORT)
        await stage.quiet()
        assert [seen.text for seen in stage.replies(said)] == before


@pytest.mark.parametrize("seconds", [60, 0])
async def test_a_helpers_answer_to_an_edited_question_is_remembered_for_its_new_words(
    seconds: int, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.conversation.questions.EDIT_SECONDS", seconds)
    async with SlackStage(bot) as stage:
        said, under = await _under(stage, bot)
        await stage.edit(said, "How do I bake rye bread with the kettle?")
        await stage.quiet()
        await stage.say("hal", ADVICE, under=under)
        await _becomes(bot, ADVICE)
        [pair] = await _of_people(bot)
        assert "rye bread" in pair.question and "rye bread" in pair.topic


async def test_an_askers_thread_stays_in_its_language_whoever_answers_in_another(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage, text="Wie backe ich mit dem Kettle ein Sauerteigbrot?")
        sent = await ticket(stage)
        await stage.say("hal", ADVICE, under=Said(sent.id, "hal", sent.id))
        await until(lambda: _passed(stage, said, "antwortet:"))
        for added, notice in ((True, "✅ Geklärt von"), (False, "um Hilfe gebeten")):
            await stage.react("hal", sent, "✅", added)
            await until(lambda notice=notice: _passed(stage, said, notice))
