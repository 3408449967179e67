"""A question that is put to a person: who hears of it, how it is resolved, and what comes of the answer."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.ports.chat import Reply
from core.catalogue import ChannelSettings
from core.catalogue.sources import Targets
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import (
    EVERYWHERE,
    ON_EACH_WIRE,
    Said,
    Seen,
    Stage,
    answer,
    ask,
    open_stage,
    squeezed,
    told,
    until,
)
from tests.journeys.test_people import ADVICE, AGAIN, QUESTION, REUSED, remembered

LINK = re.compile(r"https?://|\]\(/#/m/\d")
"""A link to a message, as a platform has it; the playground's holds no address."""


def appoint(stage: Stage, bot: Bot, *people: str, place: str = "public", desk: bool = False) -> None:
    """Name who is asked in a channel, as `[channels."…".ask]` of `corpora.toml` does."""
    named = tuple(stage.account(who) for who in people)
    targets = Targets(named, (stage.key("desk"),) if desk else ())
    bot.app.catalogue.channels[stage.key(place)] = ChannelSettings(ask=targets)


async def asked(stage: Stage, place: str = "public", text: str = QUESTION) -> tuple[Said, Seen]:
    """Let ann ask what no page answers, and press the button for a person under it."""
    said = await stage.say("ann", text, place, to="bot")
    seen = await answer(stage, said)
    await stage.press("ann", seen, "person")
    await stage.quiet()
    return said, seen


async def advised(stage: Stage, said: Said, by: str, marked_by: str) -> Said:
    """Let somebody answer under a question, and somebody put ✅ on it."""
    advice = await stage.say(by, ADVICE, under=said)
    await stage.quiet()
    await stage.react(marked_by, advice, "✅")
    return advice


async def ticket(stage: Stage, who: str = "hal") -> Seen:
    """Wait for what the bot says to a person, and return it."""
    found = await until(lambda: stage.inbox(who), f"something in the inbox of {who}")
    return list(found)[-1]


async def reads(stage: Stage, who: str, part: str) -> str:
    """Wait until the last message to a person has that part, and return it."""

    def found() -> str:
        told = [squeezed(seen.text) for seen in stage.inbox(who)]
        return told[-1] if told and part in told[-1] else ""

    return str(await until(found, f"{part!r} in {stage.inbox(who)}"))


def notice(stage: Stage, said: Said) -> str:
    """Return what the thread says of a person who is asked."""
    texts = [squeezed(seen.text) for seen in stage.replies(said)]
    return next((text for text in texts if "I have asked" in text or "Resolved by" in text), "")


@ON_EACH_WIRE
async def test_the_answer_of_who_was_asked_is_remembered_for_the_next_asker(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, seen = await asked(stage)
        assert "person" in seen.controls and "I don't know" in seen.text
        first = await ticket(stage)
        text = squeezed(first.text)
        assert QUESTION in text and "Kettle 2.0" in text and "I don't know" in text and "http" in text
        assert "Nearest pages" in text and "would like help" in text and not first.seeds
        await told(stage, "ann", "I have asked")
        await until(lambda: "I have asked" in notice(stage, said))
        await advised(stage, said, by="hal", marked_by="hal")
        await remembered(bot, 1)
        assert "The answer" in await reads(stage, "hal", "Resolved by")
        await until(lambda: "Resolved by" in notice(stage, said))
        again = await ask(stage, AGAIN, who="bob")
        assert ADVICE in squeezed(again.text) and REUSED in again.text


@EVERYWHERE
async def test_the_askers_own_mark_resolves_what_who_was_asked_wrote(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        await ticket(stage)
        advice = await advised(stage, said, by="hal", marked_by="bob")
        await stage.quiet()
        await remembered(bot, 0)
        await stage.react("ann", advice, "✅")
        await remembered(bot, 1)
        await reads(stage, "hal", "Resolved by")


@EVERYWHERE
async def test_two_who_agree_teach_nothing(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        await ticket(stage)
        await stage.react("ann", await stage.say("ann", "I press the red button.", under=said), "✅")
        advice = await advised(stage, said, by="bob", marked_by="ann")
        await reads(stage, "hal", "Resolved by")
        await stage.quiet()
        await remembered(bot, 0)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)


@ON_EACH_WIRE
async def test_a_mark_that_is_taken_off_opens_it_again(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        await ticket(stage)
        advice = await advised(stage, said, by="hal", marked_by="hal")
        await remembered(bot, 1)
        await reads(stage, "hal", "Resolved by")
        await stage.react("hal", advice, "✅", added=False)
        await remembered(bot, 0)
        await until(lambda: "Resolved" not in stage.inbox("hal")[-1].text)
        await until(lambda: "I have asked" in notice(stage, said))
        assert await bot.app.escalations.counts() == (1, 0)
        await stage.react("boss", advice, "✅")
        await remembered(bot, 1)
        await reads(stage, "hal", "Resolved by")
        await stage.delete(advice)
        await remembered(bot, 0)
        await until(lambda: "Resolved" not in stage.inbox("hal")[-1].text)


@EVERYWHERE
async def test_a_mark_on_the_ticket_settles_it_without_an_answer(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        first = await ticket(stage)
        await stage.react("hal", first, "✅")
        await reads(stage, "hal", "Resolved by")
        await until(lambda: "Resolved by" in notice(stage, said))
        await remembered(bot, 0)
        await stage.react("hal", first, "✅", added=False)
        await until(lambda: "Resolved" not in stage.inbox("hal")[-1].text)


@EVERYWHERE
async def test_only_who_may_asks_and_only_once(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        seen = await ask(stage, QUESTION)
        await stage.press("bob", seen, "person")
        await told(stage, "bob", "Only the asker")
        await stage.press("ann", seen, "person")
        await ticket(stage)
        await stage.press("boss", seen, "person")
        await told(stage, "boss", "already")
        await stage.quiet()
        assert len(stage.inbox("hal")) == 1
        answered = await ask(stage, "Which port does the dashboard listen on?")
        assert "person" in answered.controls


@ON_EACH_WIRE
async def test_from_a_private_channel_only_what_its_asker_shows_goes_out(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal", place="private", desk=True)
        said, _ = await asked(stage, "private")
        title, fields = await until(lambda: stage.form("ann"))
        assert title == "Ask a person" and fields == ("show",) and not stage.inbox("hal")
        await stage.fill("ann", show="question")
        text = squeezed((await ticket(stage)).text)
        assert QUESTION in text and "Nearest pages" not in text and "I said" not in text
        desk = squeezed((await until(stage.desk))[-1].text)
        assert "would like help" in desk and "bread" not in desk and LINK.search(desk)
        await advised(stage, said, by="hal", marked_by="hal")
        await remembered(bot, 1)
        await until(lambda: "Resolved by" in stage.desk()[-1].text)
        assert "bread" not in squeezed(stage.desk()[-1].text)
        assert ADVICE in squeezed((await ask(stage, AGAIN, "private")).text)
        assert ADVICE not in (await ask(stage, AGAIN)).text


@EVERYWHERE
async def test_an_asker_may_show_nothing_of_what_is_private(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal", place="private")
        await asked(stage, "private")
        await until(lambda: stage.form("ann"))
        await stage.fill("ann", show="nothing")
        text = squeezed((await ticket(stage)).text)
        assert "would like help" in text and "bread" not in text and LINK.search(text)


@EVERYWHERE
async def test_from_direct_messages_a_person_hears_who_and_what_and_nothing_is_remembered(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        early = await ask(stage, "Which port does the dashboard listen on?", "direct")
        assert "person" not in early.controls
        appoint(stage, bot, "hal", place="direct", desk=True)
        said = await stage.say("ann", QUESTION, "direct")
        seen = await answer(stage, said, 2)
        await stage.press("ann", seen, "person")
        await until(lambda: stage.form("ann"))
        await stage.fill("ann", show="question")
        first = await ticket(stage)
        text = squeezed(first.text)
        assert QUESTION in text and "direct messages" in text and not LINK.search(text)
        assert not stage.desk()
        await stage.react("hal", first, "✅")
        await reads(stage, "hal", "Resolved by")
        await until(lambda: "Resolved by" in notice(stage, said))
        await remembered(bot, 0)


@EVERYWHERE
async def test_a_deleted_question_is_taken_back_from_who_was_asked(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal", desk=True)
        said, _ = await asked(stage)
        await ticket(stage)
        assert QUESTION in squeezed((await until(stage.desk))[-1].text)
        await stage.delete(said)
        await reads(stage, "hal", "The question was deleted")
        await until(lambda: not any("bread" in seen.text for seen in (*stage.inbox("hal"), *stage.desk())))
        assert await bot.app.escalations.counts() == (0, 0)


async def test_with_a_question_goes_what_was_asked_of_every_answer_to_it(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        [first] = await bot.app.escalations.about(f"fake:public:{said.id}")
        for again in ("@1.0", "@anew", "@1.0@anew"):
            posts = (await stage.chat.send("hal", Reply(f"> {QUESTION} {again}")),)
            await bot.app.escalations.add(
                replace(first, message=first.message + again, posts=posts, told=(f"> {QUESTION}",), notice=())
            )
        await stage.edit(said, "How long may bread be warmed?")
        await stage.quiet()
        assert {one.question for one in await bot.app.escalations.waiting()} == {
            "How long may bread be warmed?"
        }
        await stage.delete(said)
        await until(lambda: not any("bread" in seen.text for seen in stage.inbox("hal")))
        assert await bot.app.escalations.counts() == (0, 0) and len(stage.inbox("hal")) == 4


@EVERYWHERE
async def test_without_anybody_to_ask_there_is_no_button(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        assert "person" not in (await ask(stage, QUESTION)).controls


@EVERYWHERE
async def test_admins_see_what_waits(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        appoint(stage, bot, "hal")
        await stage.slash("boss", "threadlore", "tickets")
        await told(stage, "boss", "No question waits")
        await asked(stage)
        await ticket(stage)
        await stage.slash("boss", "threadlore", "tickets")
        assert QUESTION in await told(stage, "boss", "1 open")
        await stage.slash("ann", "threadlore", "tickets")
        await told(stage, "ann", "Only admins")


async def test_who_was_asked_answers_in_the_direct_messages(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        appoint(stage, bot, "hal")
        said, _ = await asked(stage)
        sent = await ticket(stage)
        await until(lambda: "I have asked" in notice(stage, said))
        await stage.say("hal", ADVICE, "hal")
        await reads(stage, "hal", "in the thread of my message")
        await stage.quiet()
        assert not [s for s in stage.replies(said) if ADVICE in squeezed(s.text)], (
            "it may be for the bot alone"
        )
        under = Said(sent.id, "hal", sent.id, sent.text)
        await stage.say("hal", "thanks!", under=under)
        await stage.say("hal", ADVICE, under=under)
        await until(lambda: [s for s in stage.replies(said) if ADVICE in squeezed(s.text)])
        assert "passed it on" in await reads(stage, "hal", "passed it on")
        await remembered(bot, 1)
        again = await ask(stage, AGAIN, who="bob")
        assert ADVICE in squeezed(again.text) and REUSED in again.text
