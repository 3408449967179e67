"""Questions put to people, the less usual ways: channels, follow-ups, edits, restarts, floods, forgetting."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.dispatch.dispatch import dispatch_of
from bot.escalation import asking as escalation
from bot.ports.chat import Form, Press
from core.catalogue import ChannelSettings
from core.catalogue.sources import Targets
from core.domain import MessageRef, Scope
from core.errors import PlatformError
from tests.journeys.fake_stage import FakeResponder, FakeStage, person, scope
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import EVERYWHERE, Said, Seen, answer, ask, open_stage, squeezed, told, until
from tests.journeys.test_escalation import (
    advised,
    appoint,
    asked,
    notice,
    reads,
    ticket,
)
from tests.journeys.test_forgetting import files_with, rows_with
from tests.journeys.test_people import ADVICE, AGAIN, QUESTION, remembered

PORT = "Which port does the dashboard listen on?"
OTHER = "How do I feed a cat with the kettle?"


@EVERYWHERE
async def test_a_channel_of_people_who_help_is_asked(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, desk=True)
        said, _ = await asked(stage)
        [first] = await until(stage.desk)
        assert QUESTION in squeezed(first.text) and "http" in first.text
        assert "the people who help here" in await told(stage, "ann", "I have asked")
        await advised(stage, said, by="bob", marked_by="hal")
        await remembered(bot, 1)
        await until(lambda: "Resolved by" in stage.desk()[-1].text)


@EVERYWHERE
async def test_an_edited_question_is_told_as_it_reads_now(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        await ticket(stage)
        await stage.edit(said, OTHER)
        text = await reads(stage, "hal", OTHER)
        assert "bread" not in text


async def test_what_a_question_says_once_its_channel_is_private_stays_there(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal", desk=True)
        said, _ = await asked(stage)
        await bot.dispatch.channel_became_private(stage.key())
        monkeypatch.setattr("tests.journeys.fake_stage.scope", lambda _: Scope("private", stage.key()))
        await stage.edit(said, "Why does our secret oven burn sourdough bread?")
        people = [seen.text for seen in (*stage.inbox("hal"), *stage.desk())]
        assert len(people) == 2 and all("I said" in text and "bread" not in text for text in people)
        await stage.slash("boss", "threadlore", "tickets")
        assert "oven" not in await told(stage, "boss", "1 open")


@EVERYWHERE
async def test_a_follow_up_is_remembered_under_its_own_question(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        await stage.say("ann", "And how do I bake sourdough bread in 1.5?", under=said)
        second = await answer(stage, said, 2)
        assert "I don't know" in second.text and first.id != second.id
        await stage.press("ann", second, "person")
        text = squeezed((await ticket(stage)).text)
        assert "bake sourdough bread" in text and "Kettle 1.5" in text and PORT not in text
        await advised(stage, said, by="hal", marked_by="hal")
        await remembered(bot, 1)
        [pair] = [p for p in await bot.app.memory.everything() if p.origin == "person"]
        assert pair.release == "1.5" and "bread" in pair.question


@pytest.mark.parametrize("platform", ["slack", "discord", "web"])
async def test_a_shared_answer_can_be_put_to_a_person(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        question = await stage.say("bob", QUESTION)
        await stage.answer_this("ann", question)
        await told(stage, "ann", "I don't know")
        await stage.press("ann", Seen("", ""), "share")
        shared = await answer(stage, question)
        await stage.press("ann", shared, "person")
        await ticket(stage)
        await advised(stage, question, by="hal", marked_by="hal")
        await remembered(bot, 1)
        await reads(stage, "hal", "Resolved by")


async def test_what_is_left_of_a_question_in_forgotten_words_is_resolved_and_not_remembered(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        appoint(stage, bot, "hal")
        question = await stage.say("bob", QUESTION)
        await stage.answer_this("ann", question)
        await told(stage, "ann", "I don't know")
        await stage.press("ann", Seen("", ""), "share")
        await stage.press("ann", await answer(stage, question), "person")
        sent = await ticket(stage)
        await stage.say("hal", "I bake it in the lid.", under=Said(sent.id, "hal", sent.id))
        await until(lambda: "in the lid" in stage.replies(question)[-1].text)
        await remembered(bot, 1)
        await bot.app.people.forget(stage.account("bob"))
        await until(lambda: "asked to be forgotten" in stage.inbox("hal")[0].text)
        advice = await advised(stage, question, by="hal", marked_by="hal")
        await until(lambda: "Resolved by" in stage.inbox("hal")[0].text)
        await remembered(bot, 0)
        await stage.react("hal", advice, "✅", added=False)
        await until(lambda: "asked to be forgotten" in stage.inbox("hal")[0].text)
        assert "in the lid" in stage.replies(question)[-1].text, "hal's words are not bob's"


@EVERYWHERE
async def test_who_is_forgotten_is_taken_back_from_who_was_asked(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal", desk=True)
        await asked(stage)
        await ticket(stage)
        assert files_with(bot.kettle.home, "sourdough")
        await bot.app.people.forget(stage.account("ann"))
        await until(lambda: not any("bread" in seen.text for seen in (*stage.inbox("hal"), *stage.desk())))
        assert await bot.app.escalations.counts() == (0, 0)
        assert rows_with(f"sqlite:///{bot.kettle.home / 'threadlore.sqlite3'}", "sourdough") == []
        assert "playground.jsonl" not in files_with(bot.kettle.home, "sourdough")


@pytest.mark.parametrize("platform", ["slack", "discord", "web"])
async def test_the_next_process_resolves_what_the_one_before_asked(platform: str, kettle: Kettle) -> None:
    async with house(kettle) as bot:
        stage = await open_stage(platform, bot).__aenter__()
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        await ticket(stage)
        advice = await stage.say("hal", ADVICE, under=said)
        await stage.quiet()
        await bot.dispatch.stop()
        await stage.leave()
    async with house(kettle) as later:
        await stage.join(later)
        try:
            await stage.react("ann", advice, "✅")
            await remembered(later, 1)
            await reads(stage, "hal", "Resolved by")
            await until(lambda: "Resolved by" in notice(stage, said))
            assert ADVICE in squeezed((await ask(stage, AGAIN, who="bob")).text)
        finally:
            await stage.__aexit__(None, None, None)


async def test_a_restarted_bot_knows_what_the_one_before_asked(kettle: Kettle) -> None:
    async with house(kettle) as bot, FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        said, seen = await asked(stage)
        advice = await stage.say("hal", ADVICE, under=said)
    async with house(kettle) as bot, FakeStage(bot, stage.chat) as stage:
        appoint(stage, bot, "hal")
        await stage.press("ann", seen, "person")
        await told(stage, "ann", "I have asked hal already")
        assert len(stage.inbox("hal")) == 1
        await stage.react("ann", advice, "✅")
        await remembered(bot, 1)
        await reads(stage, "hal", "Resolved by")
        assert "Resolved by ann" in notice(stage, said)


async def test_who_cannot_be_reached_is_no_ticket(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        bot.app.catalogue.channels["fake:public"] = ChannelSettings(ask=Targets(("fake:nobody",)))
        said, seen = await asked(stage)
        await told(stage, "ann", "I could not reach anybody")
        assert await bot.app.escalations.counts() == (0, 0) and not notice(stage, said)
        bot.app.catalogue.channels["fake:public"] = ChannelSettings(
            ask=Targets(("fake:nobody", "fake:hal"), ("fake:desk",), ("fake:role:5",))
        )
        await stage.press("ann", seen, "person")
        assert "hal and the people who help here" in await told(stage, "ann", "I have asked")
        assert [kept["calls"] for kept in stage.chat.messages if "calls" in kept] == [(), ("role:5",)]


async def test_who_is_asked_themselves_cannot_ask(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "ann")
        await asked(stage)
        await told(stage, "ann", "You are the only person I could ask here")
        assert not stage.inbox("ann")


async def test_a_helper_asks_for_somebody_but_not_with_what_is_private(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "ivy")
        appoint(stage, bot, "ivy", place="private")
        await stage.press("hal", await ask(stage, QUESTION), "person")
        assert "hal, for ann, would like help" in squeezed((await ticket(stage, "ivy")).text)
        await stage.press("hal", await ask(stage, QUESTION, "private"), "person")
        await told(stage, "hal", "This was asked in private")
        assert len(stage.inbox("ivy")) == 1


async def test_people_are_not_flooded_by_one(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        for _ in range(escalation.OPEN_AT_ONCE + 1):
            await asked(stage)
        await told(stage, "ann", "You are already waiting for answers to 3 questions")
        assert len(stage.inbox("hal")) == escalation.OPEN_AT_ONCE
        for seen in stage.inbox("hal"):
            await stage.react("hal", seen, "✅")
        for _ in range(escalation.A_DAY - escalation.OPEN_AT_ONCE + 1):
            await asked(stage)
            await stage.react("hal", stage.inbox("hal")[-1], "✅")
        await told(stage, "ann", "in one day")
        assert len(stage.inbox("hal")) == escalation.A_DAY


async def test_people_are_not_flooded_by_many(bot: Bot) -> None:
    dispatch = dispatch_of(bot.app, escalations_an_hour=2)
    async with FakeStage(replace(bot, dispatch=dispatch)) as stage:
        appoint(stage, bot, "hal")
        for who in ("ann", "bob"):
            await stage.press(who, await ask(stage, QUESTION, who=who), "person")
        assert len(stage.inbox("hal")) == 2
        await stage.press("hal", await ask(stage, QUESTION), "person")
        await told(stage, "hal", "Many people ask for help")
        assert len(stage.inbox("hal")) == 2
    await dispatch.stop()


async def test_a_press_that_comes_twice_at_once_asks_once(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        seen = await ask(stage, QUESTION)
        await asyncio.gather(*(stage.press("ann", seen, "person") for _ in range(3)))
        assert len(stage.inbox("hal")) == 1


async def test_a_mark_on_the_question_settles_it_and_a_stranger_s_does_nothing(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        first = await ticket(stage)
        for on in (said, first, stage.replies(said)[-1]):
            await stage.react("bob", on, "✅")
        assert await bot.app.escalations.counts() == (1, 0)
        await stage.react("ann", said, "✅")
        assert await bot.app.escalations.counts() == (0, 1)
        await stage.react("bob", said, "✅", added=False)
        assert await bot.app.escalations.counts() == (0, 1)
        await stage.react("ann", said, "✅", added=False)
        assert await bot.app.escalations.counts() == (1, 0)
        await stage.react("ann", stage.replies(said)[-1], "✅")
        assert await bot.app.escalations.counts() == (0, 1)
        await remembered(bot, 0)


async def test_an_answer_that_its_author_objects_to_stays_resolved_and_unremembered(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        advice = await stage.say("hal", ADVICE, under=said)
        await stage.react("hal", advice, "❌")
        await stage.react("ann", advice, "✅")
        await remembered(bot, 0)
        await told(stage, "ann", "I do not remember this answer")
        assert await bot.app.escalations.counts() == (0, 1)
        assert ADVICE not in (await ask(stage, AGAIN)).text


async def test_the_mark_of_one_does_not_take_off_that_of_another(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        advice = await stage.say("bob", ADVICE, under=said)
        await stage.react("ann", advice, "✅")
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await stage.react("hal", advice, "✅", added=False)
        await remembered(bot, 0)
        assert await bot.app.escalations.counts() == (0, 1), "ann still holds it for the answer"
        await stage.react("ann", advice, "✅", added=False)
        assert await bot.app.escalations.counts() == (1, 0)


async def test_an_answer_that_was_forgotten_is_told_so(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        seen = await ask(stage, QUESTION)
        await bot.app.people.forget("fake:ann")
        await stage.press("ann", seen, "person")
        await told(stage, "ann", "no longer stored")


async def test_what_was_put_to_a_person_is_a_gap(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        seen = await ask(stage, PORT)
        await stage.press("ann", seen, "person")
        [gap] = await bot.app.statistics.gaps(1)
        assert gap.reasons == {"escalated": 1} and "port" in gap.example.question


async def test_a_form_that_opens_too_late_is_offered_by_a_button(bot: Bot) -> None:
    class Late(FakeResponder):
        async def ask(self, form: Form) -> None:
            raise PlatformError("The three seconds are over.")

    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal", place="private")
        seen = await ask(stage, QUESTION, "private")
        ref = MessageRef("fake", "private", seen.id)
        answer_id = stage.chat.of(seen.id)["controls"][0].value
        late = Press("person", answer_id, ref, person("ann"), scope("private"), event="late")
        await bot.dispatch.press(stage.chat, late, Late(stage, "ann"))
        await told(stage, "ann", "not asked in public")
        await stage.press("ann", Seen("", "", "private"), "person")
        await stage.fill("ann", show="nothing")
        await ticket(stage)
