"""A question to its answer, on every platform."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot, Kettle, house, new_kettle
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import EVERYWHERE, answer, ask, open_stage, squeezed, until
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
PAGE = "https://kettle.example/{}/dashboard#opening-the-dashboard"

GUESS = '{"passage": "A worker takes jobs from a queue of jobs.", "terms": ["worker", "queue"]}'
"""What a model may say that the documentation says."""


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
    stage.chat.of(said.id)["to"] = "bot"
    heard = stage.chat.shown(stage.chat.of(said.id))
    await asyncio.gather(*(bot.dispatch.message(stage.chat, heard) for _ in range(5)))
    assert len(stage.replies(said)) == stage.chat.posted == 1


# --- what is not answered ---------------------------------------------------------------------


@EVERYWHERE
async def test_an_unknown_release_is_refused_with_those_there_are(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        text = squeezed((await ask(stage, "Which port does the dashboard listen on in 3.7?")).text)
        assert "3.7" in text and "2.0 (latest), 1.5, 1.0" in text
        assert not any(port in text for port in PORTS.values())


@EVERYWHERE
async def test_what_the_pages_hardly_hold_is_said_to_be_the_closest_and_the_rest_the_fixed_phrase(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        text = (await ask(stage, "Which colour does the dashboard have?")).text
        assert text.startswith("The closest I found:") and "https://kettle.example/" in text
        assert (await ask(stage, "How do I paint the dashboard green?")).text.startswith("I don't know.")


async def test_pages_that_surely_answer_are_quoted_as_the_closest_whatever_is_thought_of_the_quote(
    bot: Bot,
) -> None:
    ranking = bot.app.searcher.ranking
    assert ranking.quotes.shown is not None
    never = replace(ranking.quotes.shown, bias=-50.0)
    bot.app.searcher.ranking = replace(ranking, quotes=replace(ranking.quotes, bias=-50.0, shown=never))
    try:
        stage = FakeStage(bot)
        text = (await ask(stage, PORT)).text
        assert text.startswith("The closest I found:") and PORTS["2.0"] in text
        assert (await ask(stage, "How do I paint the dashboard green?")).text.startswith("I don't know.")
    finally:
        bot.app.searcher.ranking = ranking


async def test_a_question_about_something_else_is_not_answered_with_pages_that_have_nothing_to_do_with_it(
    bot: Bot,
) -> None:
    text = (await ask(FakeStage(bot), "Who won the football world cup in 2014?")).text
    assert text.startswith("I don't know.") and "nearest" not in text and "https://" not in text


async def test_a_model_that_does_not_know_is_the_fixed_phrase(writer: Bot, ollama: OllamaServer) -> None:
    ollama.say("The evidence does not mention this.", GUESS, "The evidence does not mention this.")
    text = (await ask(FakeStage(writer), PORT)).text
    assert text.startswith("I don't know.") and PAGE.format("2.0") in text
    assert ollama.calls == 3


async def test_where_a_model_does_not_know_its_guess_is_searched_for_and_read(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say("I don't know.", GUESS, "It listens on port 9090 [1].")
    text = (await ask(FakeStage(writer), PORT)).text
    assert "It listens on port 9090" in text and "I don't know" not in text
    assert "You help a search" in ollama.chats[1].prompt and "a queue of jobs" not in text


async def test_where_the_main_thing_is_lacking_the_guess_is_searched_for_and_read(
    writer: Bot, ollama: OllamaServer
) -> None:
    lacking = "The documentation I found does not say which port. Start it with `kettle dashboard` [1]."
    ollama.say(lacking, GUESS, "It listens on port 9090 [1].")
    text = (await ask(FakeStage(writer), PORT)).text
    assert "It listens on port 9090" in text and "does not say" not in text
    assert "You help a search" in ollama.chats[1].prompt and ollama.calls == 3


async def test_a_release_that_is_still_being_indexed_is_named_with_the_ready_ones(
    tmp_path: Path, encoder_cache: Path
) -> None:
    kettle = await new_kettle(tmp_path / "kettle", encoder_cache, "2.0", "1.5")
    async with house(kettle) as bot:
        stage = FakeStage(bot)
        text = (await ask(stage, f"{PORT[:-1]} in 1.0?")).text
        assert "1.0" in text and "2.0" in text and "1.5" in text and "not read" in text
        assert PORTS["2.0"] in (await ask(stage, PORT)).text
        await bot.app.corpus_manager.reindex("1.0")
        assert PORTS["1.0"] in (await ask(stage, f"{PORT[:-1]} in 1.0?")).text


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
