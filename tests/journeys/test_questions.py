"""A question to its answer, and the talk that follows, on every platform."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.journeys.house import Bot, Kettle, house, new_kettle
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import FakeStage, Said, answer, ask, open_stage, squeezed, until
from tests.ollama_server import Behaviour, OllamaServer

EVERYWHERE = pytest.mark.parametrize("platform", ["fake", "slack", "discord", "web"])
PORT = "Which port does the dashboard listen on?"
PAGE = "https://kettle.example/{}/dashboard#opening-the-dashboard"


# --- answers ----------------------------------------------------------------------------------


@EVERYWHERE
async def test_a_mention_is_answered_in_its_thread_for_the_latest_release(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        seen = await answer(stage, said)
        await stage.quiet()
        assert PORTS["2.0"] in seen.text and "Kettle 2.0" in seen.text
        assert PAGE.format("2.0") in seen.text
        assert seen.seeds == ("up", "down")
        assert len(stage.replies(said)) == 1


@EVERYWHERE
async def test_a_named_release_is_the_one_that_answers(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, "Which port does the dashboard listen on in v1.5?")
        assert PORTS["1.5"] in seen.text and PAGE.format("1.5") in seen.text
        assert "Kettle 1.5" in seen.text and PORTS["2.0"] not in seen.text


@EVERYWHERE
async def test_a_comparison_is_answered_from_both_releases(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, "What changed for the port of the dashboard between 1.5 and 2.0?")
        assert PORTS["1.5"] in seen.text and PORTS["2.0"] in seen.text and "Kettle 1.5 and 2.0" in seen.text


async def test_a_channel_answers_for_the_release_it_is_set_to(bot: Bot) -> None:
    stage = FakeStage(bot)
    assert PORTS["1.0"] in (await ask(stage, PORT, place="old")).text
    assert PORTS["2.0"] in (await ask(stage, f"{PORT[:-1]} in 2.0?", place="old")).text


async def test_work_shows_at_once_and_the_answer_takes_its_place(writer: Bot, ollama: OllamaServer) -> None:
    ollama.tokens_per_second = 100
    async with SlackStage(writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        working = await until(lambda: stage.replies(said))
        assert not working[0].finished and working[0].text.startswith("Looking it up")
        seen = await answer(stage, said)
        assert seen.id == working[0].id and PORTS["2.0"] in seen.text
        assert stage.server.called("chat.update")


async def test_two_events_and_a_redelivered_one_are_answered_once(kettle: Kettle) -> None:
    async with house(kettle) as bot, SlackStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        message, mention = stage.server.envelopes[:2]
        assert mention["payload"]["event"]["type"] == "app_mention"
        for envelope in (message, mention, message):
            stage.server.redeliver(envelope)
        await stage.quiet()
        assert len(stage.replies(said)) == 1
        server = stage.server
    async with server, house(kettle) as later, SlackStage(later, server) as stage:
        server.redeliver(message)
        await stage.quiet()
        assert len(stage.replies(said)) == 1


async def test_events_that_come_together_are_answered_once(bot: Bot) -> None:
    stage = FakeStage(bot)
    said = await stage.say("ann", "nothing for the bot")
    heard = stage.message("ann", said, "bot")
    await asyncio.gather(*(bot.dispatch.message(stage.chat, heard) for _ in range(5)))
    assert len(stage.replies(said)) == stage.chat.posted == 1


# --- follow-ups -------------------------------------------------------------------------------


@EVERYWHERE
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


@EVERYWHERE
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


async def test_a_question_without_words_gets_no_answer(bot: Bot) -> None:
    stage = FakeStage(bot)
    assert not stage.replies(await stage.say("ann", "  ", to="bot"))


# --- what is not answered ---------------------------------------------------------------------


@EVERYWHERE
async def test_an_unknown_release_is_refused_with_those_there_are(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        text = squeezed((await ask(stage, "Which port does the dashboard listen on in 3.7?")).text)
        assert "3.7" in text and "2.0 (latest), 1.5, 1.0" in text
        assert not any(port in text for port in PORTS.values())


@EVERYWHERE
async def test_what_the_pages_do_not_hold_is_the_fixed_phrase_with_the_nearest_pages(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        text = (await ask(stage, "How do I bake sourdough bread?")).text
        assert text.startswith("I don't know.") and "https://kettle.example/" in text


async def test_a_model_that_does_not_know_is_the_fixed_phrase(writer: Bot, ollama: OllamaServer) -> None:
    ollama.say("The evidence does not mention this.")
    text = (await ask(FakeStage(writer), PORT)).text
    assert text.startswith("I don't know.") and PAGE.format("2.0") in text


async def test_a_release_that_is_still_being_indexed_is_named_with_the_ready_ones(
    tmp_path: Path, encoder_cache: Path
) -> None:
    kettle = await new_kettle(tmp_path / "kettle", encoder_cache, "2.0", "1.5")
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        text = (await ask(stage, f"{PORT[:-1]} in 1.0?")).text
        assert "1.0" in text and "2.0" in text and "1.5" in text and "still reading" in text
        assert PORTS["2.0"] in (await ask(stage, PORT)).text
        await bot.app.library.reindex("1.0")
        assert PORTS["1.0"] in (await ask(stage, f"{PORT[:-1]} in 1.0?")).text


# --- edits and deletions ----------------------------------------------------------------------


@EVERYWHERE
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


@EVERYWHERE
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
    await bot.dispatch.edited(stage.chat, stage.message("ann", said, "bot"))
    assert PORTS["2.0"] in stage.replies(said)[0].text


# --- limits and harm --------------------------------------------------------------------------


async def test_a_flood_is_told_to_slow_down_once(kettle: Kettle) -> None:
    async with house(kettle, questions_per_minute=6.0) as bot:
        stage = FakeStage(bot)
        said = await asyncio.gather(*(stage.say("ann", PORT, to="bot") for _ in range(50)))
        texts = [seen.text for one in said for seen in stage.replies(one)]
        slowed = [text for text in texts if "ask again in" in text]
        assert len(slowed) == 1
        assert len(texts) - len(slowed) == 6
        assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text, "others are served"


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_the_bot_never_pings(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    async with open_stage(platform, writer) as stage:
        people = (
            "<!channel> <!here> <@U1> <!subteam^S1>" if platform == "slack" else f"{stage.mentions['bob']}"
        )
        ollama.say(f"Ask @everyone @here {people} for the port 9090 [1].")
        seen = await ask(stage, PORT)
        if platform == "slack":
            sent = [
                c.arguments for c in stage.server.calls if c.method in ("chat.postMessage", "chat.update")
            ]
            for payload in sent:
                assert "<!" not in str(payload.get("text")) and "<@" not in str(payload.get("text"))
                assert "<!" not in str(payload.get("blocks")) and "<@" not in str(payload.get("blocks"))
        else:
            stored = stage.stored(seen)
            assert not stored.mention_everyone and not stored.ping_user_ids and not stored.ping_role_ids
        assert "9090" in seen.text
