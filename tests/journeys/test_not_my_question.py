"""*Not my question* under a remembered answer: what is shown, learnt, answered anew, and counted."""

from __future__ import annotations

import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.app.builders.storage import questions_told_apart
from bot.app.overview import Overview
from bot.ports.chat import Press, packed
from core.domain import MessageRef, Question
from core.memory.scoring import DAY_SECONDS
from core.ports import Claim
from tests.journeys.fake_stage import FakeStage, person, scope
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Said, Seen, Stage, answer, open_stage, told, until

PORT = "Which port does the dashboard listen on?"
REWORDED = "On which port is the dashboard listening?"
OTHER = "What port number is used for the dashboard in the browser?"
NEAR_OTHER = "What port number is used by the dashboard in the browser?"
SHOWN = f"This was an answer to: “{PORT}”"
NOTED = "not given to this question again"


async def reused(stage: Stage, bot: Bot, text: str = OTHER, place: str = "public") -> tuple[Said, Seen]:
    """Let memory hold an answer, and ann get it for another question."""
    await remembered(stage, bot, place)
    said = await stage.say("ann", text, place, to="bot")
    return said, await answer(stage, said)


async def remembered(stage: Stage, bot: Bot, place: str = "public") -> None:
    """Let ann ask and vote the answer good."""
    first = await stage.say("ann", PORT, place, to="bot")
    await stage.press("ann", await answer(stage, first), "up")
    for _ in range(500):
        if (await bot.counts())["high"]:
            return
        await FakeStage(bot).quiet()
    raise AssertionError("the vote was not counted")


async def route(bot: Bot, text: str, place: str = "public") -> str:
    """Return by which route a question is answered now."""
    asked = Question(text, "fake:kim", f"fake:{place}", scope(place))
    return (await bot.app.engine.answer(asked)).route


async def anew(stage: Stage, bot: Bot, who: str = "ann") -> tuple[Said, Seen]:
    """Let somebody press it, and return the question with the new answer."""
    said, seen = await reused(stage, bot)
    await stage.press(who, seen, "apart")
    await told(stage, who, NOTED)
    return said, await answer(stage, said, 2)


# --- what is shown, and what a press does -----------------------------------------------------


@ON_EACH_WIRE
async def test_a_press_answers_anew_and_the_pair_is_not_said_to_that_question_again(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        said, seen = await reused(stage, bot)
        assert SHOWN in seen.text and "apart" in seen.controls
        [before] = await bot.app.memory.everything()
        await stage.press("bob", seen, "apart")
        await told(stage, "bob", NOTED)
        fresh = await answer(stage, said, 2)
        assert "quoted from the documentation" in fresh.text and PORTS["2.0"] in fresh.text
        assert "apart" not in fresh.controls
        assert SHOWN in stage.replies(said)[0].text, "the reused answer stays as it was"
        [after] = await bot.app.memory.everything()
        assert bot.app.memory.score(after) == bot.app.memory.score(before), "it is no vote"
        await stage.press("ann", seen, "apart")
        await told(stage, "ann", "There is a new answer already")
        await stage.quiet()
        assert len(stage.replies(said)) == 2 and len(await bot.app.memory.told_apart()) == 1
        for text in (OTHER, NEAR_OTHER):
            assert await route(bot, text) == "quote", "neither that question nor one like it"
        for text in (PORT, REWORDED):
            assert await route(bot, text) == "reuse", "nothing else has changed"


@EVERYWHERE
async def test_nothing_is_shown_where_the_questions_are_nearly_word_for_word(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, seen = await reused(stage, bot, REWORDED)
        assert "from community memory" in seen.text
        assert "This was an answer to" not in seen.text and "apart" not in seen.controls


async def test_who_asked_alone_is_answered_anew_alone(bot: Bot) -> None:
    stage = FakeStage(bot)
    await remembered(stage, bot)
    await stage.slash("ann", "ask", OTHER)
    assert SHOWN in stage.heard("ann")[-1]
    await stage.press("ann", Seen("none", ""), "apart")
    assert "quoted from the documentation" in stage.heard("ann")[-1] and not stage.public()
    assert {control.name for control in stage.chat.told["ann"][-1].controls} == {"up", "down", "why", "share"}
    assert await route(bot, OTHER) == "quote"


async def test_why_tells_that_the_nearest_question_is_another_one(bot: Bot) -> None:
    stage = FakeStage(bot)
    await anew(stage, bot)
    again = await bot.app.engine.answer(Question(OTHER, "fake:kim", "fake:public"))
    said = (await bot.app.engine.answer_log.why(again.id))["sentences"]
    assert any(
        "Somebody said that the nearest remembered question is a different one" in line for line in said
    )


async def test_a_new_answer_that_people_like_is_said_to_its_own_question_only(bot: Bot) -> None:
    stage = FakeStage(bot)
    _, fresh = await anew(stage, bot)
    await stage.press("ann", fresh, "up")
    assert (await bot.counts())["high"] == 2, "it is a pair of its own"
    answers = {}
    for text in (PORT, OTHER, NEAR_OTHER):
        found = await bot.app.engine.answer(Question(text, "fake:kim", "fake:public"))
        assert found.route == "reuse"
        answers[text] = found.pair_id
    assert answers[PORT] != answers[OTHER] == answers[NEAR_OTHER]


async def test_a_deleted_question_takes_the_new_answer_along(bot: Bot) -> None:
    stage = FakeStage(bot)
    said, _ = await anew(stage, bot)
    await stage.delete(said)
    assert stage.replies(said) == []


# --- who may, and when ------------------------------------------------------------------------


async def test_a_pause_refuses_the_press_as_it_refuses_another_release(bot: Bot) -> None:
    stage = FakeStage(bot)
    said, seen = await reused(stage, bot)
    await stage.slash("boss", "threadlore", "pause here until further notice")
    await stage.press("ann", seen, "apart")
    await told(stage, "ann", "I am paused in this channel")
    assert len(stage.replies(said)) == 1 and not await bot.app.memory.told_apart()


async def test_who_opted_out_tells_nothing_apart(bot: Bot) -> None:
    stage = FakeStage(bot)
    said, seen = await reused(stage, bot)
    await stage.slash("bob", "threadlore", "opt-out")
    await stage.press("bob", seen, "confirm")
    await stage.press("bob", seen, "apart")
    await told(stage, "bob", "this does not count")
    assert len(stage.replies(said)) == 1 and not await bot.app.memory.told_apart()


async def test_words_of_a_private_channel_are_shown_there_alone(bot: Bot) -> None:
    stage = FakeStage(bot)
    _, seen = await reused(stage, bot, place="private")
    assert SHOWN in seen.text
    said = await stage.say("bob", OTHER, to="bot")
    assert "This was an answer to" not in (await answer(stage, said)).text, "it is not even reused"
    await stage.press("ann", seen, "apart")
    [one] = await bot.app.memory.told_apart()
    assert (one.question, one.scope) == (OTHER, "private:fake:private")


async def test_of_a_direct_message_only_the_fingerprint_is_learnt(bot: Bot) -> None:
    stage = FakeStage(bot)
    await remembered(stage, bot)
    said = await stage.say("ann", OTHER, "direct", to="bot")
    await stage.press("ann", await answer(stage, said), "apart")
    [one] = await bot.app.memory.told_apart()
    assert (one.question, one.topic) == ("", "")
    assert await route(bot, OTHER) == "quote" and await route(bot, NEAR_OTHER) == "reuse"


# --- what it survives -------------------------------------------------------------------------


async def test_it_holds_over_a_restart_a_rebuild_and_the_forgetting_of_who_said_so(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        await anew(FakeStage(bot), bot, who="bob")
        await bot.app.memory.rebuild()
        assert await route(bot, NEAR_OTHER) == "quote"
    async with house(kettle) as bot:
        assert await route(bot, NEAR_OTHER) == "quote"
        await bot.app.people.forget("fake:bob")
        [one] = await bot.app.memory.told_apart()
        assert "bob" not in one.person and await route(bot, NEAR_OTHER) == "quote"


async def test_once_the_words_are_forgotten_the_same_words_are_still_known(bot: Bot) -> None:
    stage = FakeStage(bot)
    await remembered(stage, bot)
    said = await stage.say("bob", OTHER, to="bot")
    await stage.press("ann", await answer(stage, said), "apart")
    await bot.app.people.forget("fake:bob")
    [one] = await bot.app.memory.told_apart()
    assert (one.question, one.topic) == ("", "")
    assert await route(bot, OTHER) == "quote" and await route(bot, PORT) == "reuse"


async def test_a_forgotten_pair_takes_along_what_was_told_apart_from_it(bot: Bot) -> None:
    stage = FakeStage(bot)
    await anew(stage, bot)
    await bot.app.people.forget("fake:ann")
    assert not await bot.app.memory.told_apart()


async def test_what_is_old_keeps_its_words_while_the_pair_is_remembered_and_nobody_s_name(bot: Bot) -> None:
    await anew(FakeStage(bot), bot, who="bob")
    bot.app.retention._clock = lambda: time.time() + 366 * DAY_SECONDS
    assert (await bot.app.retention.run())["names of who told questions apart"] == 1
    [one] = await bot.app.memory.told_apart()
    assert (one.person, one.question) == ("", "") and "browser" in one.topic
    await bot.app.memory.rebuild()
    assert await route(bot, NEAR_OTHER) == "quote"


async def test_a_press_that_a_stop_interrupts_is_carried_out_after_the_restart(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        said, seen = await reused(stage, bot)
        bot.dispatch._answering.stopping = True
        await stage.press("ann", seen, "apart")
        await told(stage, "ann", "restarted")
    async with house(kettle) as bot:
        later = FakeStage(bot, stage.chat)
        await bot.dispatch.resume(later.chat)
        assert "quoted from the documentation" in (await answer(later, said, 2)).text
        await bot.dispatch.resume(later.chat)
        assert len(later.replies(said)) == 2 and await route(bot, OTHER) == "quote"


@pytest.mark.parametrize("learnt", [False, True])
async def test_a_press_of_a_process_that_was_killed_is_carried_out_once(kettle: Kettle, learnt: bool) -> None:
    """The process died before or after it had learnt from the press."""
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        said, seen = await reused(stage, bot)
        value = next(c.value for c in stage.chat.of(seen.id)["controls"] if c.name == "apart")
        if learnt:
            await bot.app.engine.tell_apart(value, "fake:bob")
        ref = MessageRef("fake", "public", seen.id, said.root)
        press = Press("apart", value, ref, person("bob"), scope("public"), event="p1", again=True)
        payload = {"to": {"who": "bob"}, "press": packed(press)}
        claim = Claim("fake:press:p1", "", "fake:bob", time.time(), payload, kind="press")
        await bot.app.conversations.claim(claim, "p1")
    async with house(kettle) as bot:
        later = FakeStage(bot, stage.chat)
        await bot.dispatch.resume(later.chat)
        await until(lambda: len(later.replies(said)) == 2)
        assert len(await bot.app.memory.told_apart()) == 1 and await route(bot, OTHER) == "quote"


# --- what admins see of it --------------------------------------------------------------------


@EVERYWHERE
async def test_admins_see_it_and_take_it_back(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await anew(stage, bot)
        [one] = await bot.app.memory.told_apart()
        await stage.slash("boss", "threadlore", f"memory show {one.pair_id}")
        assert f"1. {OTHER}" in await told(stage, "boss", "Not its question")
        await stage.slash("boss", "threadlore", f"memory restore {one.pair_id} --question 2")
        await told(stage, "boss", "has no question 2")
        await stage.slash("boss", "threadlore", f"memory restore {one.pair_id} --question 1")
        await told(stage, "boss", "Taken back")
        assert await route(bot, OTHER) == "reuse" and not await bot.app.memory.told_apart()
        acts = [(act.what, act.outcome) for act in await bot.app.audit.acts()]
        assert acts[0] == (f"memory restore {one.pair_id} --question 1", "done")


async def test_words_of_a_private_channel_are_hidden_from_admins_elsewhere(bot: Bot) -> None:
    stage = FakeStage(bot)
    await remembered(stage, bot)
    said = await stage.say("ann", OTHER, "private", to="bot")
    await stage.press("ann", await answer(stage, said), "apart")
    [one] = await bot.app.memory.told_apart()
    await stage.slash("boss", "threadlore", f"memory show {one.pair_id}")
    assert OTHER not in await told(stage, "boss", "(from a private channel)")


async def test_it_is_counted_as_wrong_reuse(bot: Bot) -> None:
    stage = FakeStage(bot)
    await anew(stage, bot)
    overview = Overview(bot.app)
    assert (await overview.figures())["days"][-1]["wrong_reuse"] == 1
    found = text_string_to_metric_families((await overview.metrics()).decode())
    values = {sample.name: sample.value for family in found for sample in family.samples}
    assert values["threadlore_wrong_reuses_total"] == 1
    assert await bot.app.statistics.wrong_reuse(7) == 1


async def test_calibrate_reads_it_from_the_home(bot: Bot) -> None:
    await anew(FakeStage(bot), bot)
    [one] = await questions_told_apart(bot.settings)
    assert one.remembered.startswith("Which port") and "browser" in one.topic
