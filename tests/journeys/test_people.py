"""People's answers: what a helper accepts is remembered, and what its author takes back is not."""

from __future__ import annotations

import asyncio

import pytest

from bot.commands.answers import shown
from bot.commands.command_line import handle
from bot.home.control_socket import Send
from core.domain import MessageRef, Question
from core.ports.escalations import Ticket
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import (
    EVERYWHERE,
    ON_EACH_WIRE,
    PATIENCE,
    Said,
    Stage,
    answer,
    ask,
    open_stage,
    squeezed,
    told,
    until,
)
from tests.ollama_answers import Recorded, evidence_of
from tests.ollama_server import OllamaServer

QUESTION = "How do I bake sourdough bread with the kettle?"
AGAIN = "How can I bake sourdough bread with the kettle?"
"""Cosine .99 to QUESTION by MiniLM."""
ADVICE = "Put the dough into the lid and press the red button for an hour."
REUSED = "from community memory"


async def talk(stage: Stage, place: str = "public", text: str = QUESTION) -> tuple[Said, Said]:
    """Let ann ask what no page answers, and bob answer it; return both messages."""
    said = await stage.say("ann", text, place, to="bot")
    first = await answer(stage, said)
    assert REUSED not in first.text
    advice = await stage.say("bob" if place == "public" else "hal", ADVICE, under=said)
    await stage.quiet()
    return said, advice


async def remembered(bot: Bot, count: int) -> None:
    """Wait until memory holds as many answers of people."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while True:
        found = [p for p in await bot.app.memory.everything() if p.origin == "person" and not p.aside]
        if len(found) == count:
            return
        assert asyncio.get_running_loop().time() < end, f"{len(found)} answers of people, not {count}"
        await asyncio.sleep(0.01)


@EVERYWHERE
async def test_what_a_helper_accepts_is_reused_in_its_authors_name(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        again = await ask(stage, AGAIN)
        assert ADVICE in squeezed(again.text) and REUSED in again.text
        [pair] = [p for p in await bot.app.memory.everything() if p.origin == "person"]
        link = pair.citations[0].url
        shown = link[link.index("/#/m/") :] if platform == "web" else link
        assert link.startswith("http") and shown in again.text
        assert "Answer by" in again.text and pair.release == "2.0" and pair.scope == "public"
        [gap] = await bot.app.statistics.gaps(1)
        assert gap.is_resolved


@EVERYWHERE
async def test_a_mark_of_anybody_else_does_nothing(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage)
        for who in ("ann", "bob", "boss"):
            await stage.react(who, advice, "✅")
        await stage.quiet()
        await remembered(bot, 0)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await stage.react("ann", advice, "✅", added=False)
        await stage.quiet()
        await remembered(bot, 1)


@EVERYWHERE
async def test_it_is_forgotten_when_the_last_helper_takes_the_mark_off(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await stage.react("hal", advice, "✅", added=False)
        await remembered(bot, 0)
        assert ADVICE not in (await ask(stage, AGAIN)).text
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        assert ADVICE in squeezed((await ask(stage, AGAIN)).text)


async def test_one_of_two_helpers_takes_the_mark_off_and_it_stays(kettle: Kettle) -> None:
    async with house(kettle, helpers="fake:ivy") as bot:
        stage = FakeStage(bot)
        _, advice = await talk(stage)
        for who in ("hal", "ivy"):
            await stage.react(who, advice, "✅")
        await stage.react("hal", advice, "✅", added=False)
        await remembered(bot, 1)
        await stage.react("ivy", advice, "✅", added=False)
        await remembered(bot, 0)


@EVERYWHERE
async def test_an_author_who_objects_is_not_remembered_now_or_later(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await stage.react("ann", advice, "❌")
        await stage.quiet()
        await remembered(bot, 1)
        await stage.react("bob", advice, "❌")
        await remembered(bot, 0)
        await stage.react("hal", advice, "✅", added=False)
        await stage.react("hal", advice, "✅")
        await stage.quiet()
        await remembered(bot, 0)
        assert ADVICE not in (await ask(stage, AGAIN)).text


@EVERYWHERE
async def test_an_objection_counts_before_anybody_accepts(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage)
        await stage.react("bob", advice, "❌")
        await stage.quiet()
        await stage.react("hal", advice, "✅")
        await stage.quiet()
        await remembered(bot, 0)


@ON_EACH_WIRE
async def test_a_remembered_message_follows_its_edits_and_goes_when_deleted(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        await stage.edit(advice, "Use an oven, the kettle only boils water.")
        await stage.quiet()
        text = squeezed((await ask(stage, AGAIN)).text)
        assert "Use an oven" in text and "red button" not in text
        await stage.delete(advice)
        await remembered(bot, 0)
        assert "Use an oven" not in (await ask(stage, AGAIN)).text


@EVERYWHERE
async def test_the_release_of_the_question_is_that_of_its_answer(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage, text=f"{QUESTION[:-1]} in 1.5?")
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        assert ADVICE not in (await ask(stage, AGAIN)).text
        assert ADVICE in squeezed((await ask(stage, f"{AGAIN[:-1]} in 1.5?")).text)


@EVERYWHERE
async def test_what_is_accepted_in_private_stays_there_and_direct_messages_are_never_kept(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        _, advice = await talk(stage, "private")
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        assert ADVICE not in (await ask(stage, AGAIN)).text
        assert ADVICE in squeezed((await ask(stage, AGAIN, "private")).text)


async def test_nothing_of_a_direct_message_is_kept(bot: Bot) -> None:
    stage = FakeStage(bot)
    said = await stage.say("ann", QUESTION, "direct", to="bot")
    await answer(stage, said)
    advice = await stage.say("ann", ADVICE, "direct")
    stage.chat.of(advice.id)["root"] = said.id
    await stage.react("hal", advice, "✅")
    await remembered(bot, 0)
    assert "direct messages" in stage.heard("hal")[-1]


@EVERYWHERE
async def test_a_question_is_not_its_own_answer_and_bots_are_not_remembered(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said, _ = await talk(stage)
        await stage.react("hal", said, "✅")
        await stage.quiet()
        await remembered(bot, 0)


async def test_what_another_bot_says_is_not_remembered(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        said, _ = await talk(stage)
        spam = await stage.say("robot", ADVICE, under=said)
        await stage.react("hal", spam, "✅")
        await stage.quiet()
        await remembered(bot, 0)


@EVERYWHERE
async def test_a_helpers_mark_on_the_bots_answer_is_their_vote(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, "Which port does the dashboard listen on?")
        await stage.react("bob", seen, "✅")
        await stage.quiet()
        assert (await bot.counts())["high"] == 0
        await stage.react("hal", seen, "✅")
        await stage.quiet()
        assert (await bot.counts())["high"] == 1
        again = await ask(stage, "On which port is the dashboard listening?")
        assert REUSED in again.text and PORTS["2.0"] in again.text
        await stage.react("hal", seen, "✅", added=False)
        await stage.quiet()
        assert (await bot.counts())["high"] == 0


async def test_helper_and_author_are_told_what_was_remembered_and_how_to_undo_it(bot: Bot) -> None:
    for platform in ("fake", "slack"):
        async with open_stage(platform, bot) as stage:
            _, advice = await talk(stage, text=f"{QUESTION} ({platform})")
            await stage.react("hal", advice, "✅")
            assert "Take the ✅ off" in await told(stage, "hal", "I remember this answer")
            assert "Put ❌ on it" in await told(stage, "bob", "marked your answer")


async def test_events_that_come_twice_change_nothing(bot: Bot) -> None:
    async with open_stage("slack", bot) as stage:
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        accepted = stage.server.envelopes[-1]
        await stage.react("hal", advice, "✅", added=False)
        await remembered(bot, 0)
        stage.server.redeliver(accepted)
        await stage.quiet()
        await remembered(bot, 0)


async def test_a_persons_answer_survives_a_restart(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
    async with house(kettle) as bot:
        later = FakeStage(bot, stage.chat)
        assert ADVICE in (await ask(later, AGAIN)).text
        await later.react("hal", advice, "✅", added=False)
        await remembered(bot, 0)


@pytest.mark.parametrize("who", ["ann", "bob"])
async def test_forgetting_who_asked_or_who_wrote_it_removes_it(who: str, bot: Bot) -> None:
    stage = FakeStage(bot)
    _, advice = await talk(stage)
    await stage.react("hal", advice, "✅")
    await remembered(bot, 1)
    await bot.app.people.forget(f"fake:{who}")
    await remembered(bot, 0)
    assert ADVICE not in (await ask(stage, AGAIN, who="carol")).text
    database = (bot.kettle.home / "threadlore.sqlite3").read_bytes()
    assert ADVICE.encode() not in database


async def test_a_forgotten_corrector_leaves_nothing_behind(bot: Bot) -> None:
    stage = FakeStage(bot)
    seen = await ask(stage, "Which port does the dashboard listen on?")
    for who in ("bob", "hal"):
        await stage.press(who, seen, "down")
        await stage.fill(who, what="wrong", better=f"The port that {who} says.")
        await bot.app.people.forget(f"fake:{who}")
        assert (
            f"The port that {who} says.".encode() not in (bot.kettle.home / "threadlore.sqlite3").read_bytes()
        )
    assert await bot.app.engine.accepted.corrections() == ()
    await remembered(bot, 0)


VALVE = "Which solvent removes limescale from the brass valve?"
IN_OTHER_WORDS = "What should I clean a scaled brass valve with?"
"""Cosine .666 to VALVE by MiniLM; .674 is reused."""
ANOTHER = "Which solvent removes limescale from the iron valve?"
SOAK = "Soak it in `acetic_7` for 20 minutes, then rinse it."


async def accepted(bot: Bot) -> tuple[FakeStage, str]:
    """Let a helper accept what no page says; return where, and the address of that message."""
    stage = FakeStage(bot)
    said = await stage.say("ann", VALVE, to="bot")
    assert "acetic" not in (await answer(stage, said)).text
    advice = await stage.say("bob", SOAK, under=said)
    await stage.quiet()
    await stage.react("hal", advice, "✅")
    await remembered(bot, 1)
    [pair] = [p for p in await bot.app.memory.everything() if p.origin == "person"]
    return stage, pair.citations[0].url


def soaking(recorded: Recorded) -> str:
    """Say what somebody said of the valve, where that is in the evidence."""
    number = next((n for n, text in evidence_of(recorded).items() if SOAK in text), None)
    return f"{SOAK[:-1]} [{number}]." if number else "I don't know."


async def test_what_a_helper_accepted_is_evidence_for_nearly_the_same_question(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    ollama.answer = soaking
    async with house(kettle, ollama_host=ollama.url) as bot:
        stage, url = await accepted(bot)
        seen = await ask(stage, IN_OTHER_WORDS)
        assert "Soak it in" in seen.text and "acetic_7" in seen.text and url in seen.text
        assert "I don't know" not in seen.text
        answered = await bot.app.engine.answer(Question(IN_OTHER_WORDS))
        assert answered.route == "reference" and url in [entry.url for entry in answered.citations]
    assert 'title="Community' in ollama.chats[-1].prompt and SOAK in ollama.chats[-1].prompt


def _into(said: list[dict[str, object]]) -> Send:
    async def send(message: dict[str, object]) -> None:
        said.append(message)

    return send


async def test_without_a_model_it_is_quoted_with_the_question_that_it_answers(bot: Bot) -> None:
    stage, url = await accepted(bot)
    seen = await ask(stage, IN_OTHER_WORDS)
    assert f"A similar question was answered: “{VALVE}”" in seen.text and SOAK in seen.text
    assert url in seen.text and "I don't know" not in seen.text and "from the documentation" not in seen.text
    answered = await bot.app.engine.answer(Question(IN_OTHER_WORDS))
    assert answered.route == "quote" and answered.similarity is not None and answered.similarity < 0.674
    assert shown(answered)["pair_id"] == answered.pair_id, "scripts are told what a vote on it counts for"
    said: list[dict[str, object]] = []
    await handle(bot.app, {"command": "why", "answer_id": answered.id}, _into(said))
    assert "The remembered answer is pair" in str(said)
    assert (await bot.app.engine.answer(Question(ANOTHER))).route == "abstain", (
        "the guard knows it is another"
    )


async def test_with_a_thread_goes_what_a_person_answered_in_it(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        thread = MessageRef("fake", "public", "", said.root)
        for links in ("", "https://fake.example/elsewhere/"):
            await bot.dispatch.deleted(stage.chat, thread, links)
        await remembered(bot, 1)
        await bot.dispatch.deleted(stage.chat, thread, "https://fake.example/public/")
        await remembered(bot, 0)
        assert ADVICE not in (await ask(stage, AGAIN)).text


async def test_with_a_channel_goes_what_waits_there_and_what_people_were_asked(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    ollama.script("hang")
    async with house(kettle, ollama_host=ollama.url) as bot, FakeStage(bot) as stage:
        asking = asyncio.create_task(stage.say("ann", "Which port does the dashboard listen on?", to="bot"))
        await until(lambda: ollama.running)
        [open_] = await bot.app.conversations.unanswered(0.0)
        ticket = Ticket(
            *("fake:public:77", "a1", "fake:public:77", "fake:public", "public", "fake:ann", "fake:ann"),
            *("How?", "2.0", 1.0),
        )
        await bot.app.escalations.add(ticket)
        await bot.dispatch.deleted(stage.chat, MessageRef("fake", "elsewhere", ""), "")
        assert [one.message for one in await bot.app.conversations.unanswered(0.0)] == [open_.message]
        await bot.dispatch.deleted(stage.chat, MessageRef("fake", "public", ""), "")
        await asking
        assert await bot.app.conversations.unanswered(0.0) == () and not stage.public()
        assert await bot.app.escalations.counts() == (0, 0)
