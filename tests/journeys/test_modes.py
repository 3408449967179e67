"""How channels are served, on every platform: what is answered unasked, and what leaves no trace."""

from __future__ import annotations

import pytest

from core.catalogue import ChannelSettings, Mode
from core.domain import Scope
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, answer, ask, open_stage, squeezed, told, until
from tests.journeys.test_people import ADVICE, QUESTION, remembered, talk
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
UNSURE = "How do I connect Kettle to a Kafka cluster with SASL?"
"""Asks for help, and no page says it."""

GUESS = '{"passage": "A worker takes jobs from a queue of jobs.", "terms": ["worker", "queue"]}'
"""What a model may say that the documentation says."""


def listen(bot: Bot, channel: str, mode: Mode) -> None:
    """Have a channel served in a mode, as `[channels]` of `corpora.toml` does."""
    bot.app.catalogue.channels[channel] = ChannelSettings(mode=mode)


@EVERYWHERE
async def test_a_question_that_nobody_put_to_the_bot_is_answered_where_it_is_sure(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        said = await stage.say("ann", f"Hi all! {PORT}")
        first = await answer(stage, said)
        assert PORTS["2.0"] in first.text and "delete" in first.controls
        await stage.say("ann", "and in 1.5?", under=said)
        assert PORTS["1.5"] in (await answer(stage, said, 2)).text, "who was answered goes on"


@EVERYWHERE
async def test_what_the_bot_is_not_sure_of_leaves_nothing_visible_and_nothing_kept(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        said = [
            await stage.say("ann", text)
            for text in (
                UNSURE,
                "Who is going to the meetup on Friday?",
                "What do you all think about the dashboard?",
                "Who needs a dashboard when there is a log, right?",
                "How we moved the dashboard behind the proxy: https://example.org/?p=3",
                "```\nport = listen ? 9090 : 0\n```",
                "I have moved the dashboard behind the proxy.",
            )
        ]
        asked = await ask(stage, PORT, who="bob")
        await stage.quiet()
        assert PORTS["2.0"] in asked.text
        assert [stage.replies(one) for one in said] == [[]] * len(said)
        assert (await bot.app.corpus_manager.status())["memory"]["answers"] == 1
        assert await bot.app.statistics.gaps(30) == (), "nobody asked, so nothing is missing"
        claim = await bot.app.conversations.claimed(f"{stage.key()}:{said[0].id}")
        assert claim and not claim.payload and not claim.asker, "its words are kept nowhere"


@EVERYWHERE
async def test_what_a_person_answered_is_told_to_the_same_question_without_being_asked(
    platform: str, bot: Bot
) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        _, advice = await talk(stage)
        await stage.react("hal", advice, "✅")
        await remembered(bot, 1)
        again = await stage.say("hal", QUESTION)
        assert ADVICE in squeezed((await answer(stage, again)).text)


@ON_EACH_WIRE
async def test_a_question_to_somebody_else_is_left_to_them(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        said = await stage.say("ann", PORT, to="bob")
        await stage.quiet()
        assert not stage.replies(said)


@EVERYWHERE
async def test_a_model_that_does_not_know_is_not_heard_unasked(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        listen(writer, stage.key(), "questions")
        ollama.say("I don't know.")
        said = await stage.say("ann", PORT)
        await until(lambda: ollama.calls == 1, "the model is asked")
        await stage.quiet()
        ollama.say("I don't know.", GUESS, "I don't know.")
        asked = await ask(stage, PORT, who="bob")
        await stage.quiet()
        assert "I don't know" in asked.text, "who asks is told"
        assert ollama.calls == 4, "for them it is searched again"
        assert not stage.replies(said)


@EVERYWHERE
async def test_words_of_a_model_stand_at_once_and_no_sign_of_work_before(
    platform: str, writer: Bot, ollama: OllamaServer
) -> None:
    async with open_stage(platform, writer) as stage:
        listen(writer, stage.key(), "questions")
        ollama.say("It listens on port 9090 [1].")
        said = await stage.say("ann", PORT)
        assert "9090" in (await answer(stage, said)).text
        await stage.quiet()
        assert len(stage.replies(said)) == 1


@EVERYWHERE
async def test_every_new_post_of_a_forum_is_answered_but_thanks(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "forum")
        said = await stage.say("ann", "Port of the dashboard")
        assert PORTS["2.0"] in (await answer(stage, said)).text
        unknown = await stage.say("ann", UNSURE)
        await until(lambda: [s for s in stage.replies(unknown) if s.finished], "it is told what is not known")
        thanks = await stage.say("bob", "Thank you all!")
        await stage.quiet()
        assert not stage.replies(thanks)


@EVERYWHERE
async def test_too_many_questions_that_nobody_asked_it_are_left_alone(platform: str, kettle: Kettle) -> None:
    async with house(kettle, questions_per_minute=0.5) as bot, open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        said = [await stage.say("bob", PORT) for _ in range(8)]
        await until(lambda: len([one for one in said if stage.replies(one)]) >= 5, "some are answered")
        await stage.quiet()
        texts = [seen.text for one in said for seen in stage.replies(one)]
        assert len(texts) == 5 and all(PORTS["2.0"] in text for text in texts), "nobody is told to slow down"


@ON_EACH_WIRE
async def test_a_mention_without_words_says_what_can_be_asked(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", " ", to="bot")
        hint = (await until(lambda: stage.replies(said), "the hint"))[0].text
        assert "Ask me anything about Kettle" in hint and "For example" in hint
        listed = [line for line in hint.split("\n") if line.lstrip().startswith(("-", "•", "*"))]
        examples = [line.lstrip("-•* ") for line in listed]
        assert len(examples) == 2 and all(line.endswith("?") for line in examples)
        for example in examples:
            assert "I don't know" not in (await ask(stage, example)).text, "examples are answered"
        up = await ask(stage, PORT)
        await stage.react("ann", up, "👍")
        again = await stage.say("bob", " ", to="bot")
        second = (await until(lambda: stage.replies(again), "the hint"))[0].text
        assert PORT in second, "what people found well answered comes first"
        await stage.delete(again)
        await until(lambda: not stage.replies(again), "a deleted mention takes its hint along")


async def test_the_catalogues_own_questions_are_shown_where_the_pages_answer_them(kettle: Kettle) -> None:
    asked = ["Who won the cup in 1966?", PORT, "How do I run a job every night?"]
    text = kettle.config.read_text(encoding="utf-8")
    kettle.config.write_text(
        text.replace("[product]\n", f"[product]\nquestions = {asked}\n", 1), encoding="utf-8"
    )
    async with house(kettle) as bot:
        shown = await bot.app.examples.of("slack:C1", Scope(platform="slack"))
        assert [example.text for example in shown] == asked[1:], "only what the pages answer"


@EVERYWHERE
async def test_a_greeting_and_thanks_are_no_questions(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        for words in ("hello", "Who are you and what can you do?", "?"):
            said = await stage.say("ann", words, to="bot")
            told = (await until(lambda said=said: stage.replies(said), "the hint"))[0].text
            assert "Ask me anything about Kettle" in told and "don't know" not in told
        said = await stage.say("ann", "Thanks a lot!", "direct")
        told = (await until(lambda: stage.replies(said), "an answer to thanks"))[0].text
        assert told.startswith("Any time.") and "don't know" not in told
        said = await stage.say("ann", " /threadlore reindex 2.0", to="bot")
        told = (await until(lambda: stage.replies(said), "where commands are typed"))[0].text
        assert "messages run no commands" in told and "don't know" not in told


@pytest.mark.parametrize("platform", ["fake", "slack"])
async def test_a_direct_message_without_words_is_not_left_without_an_answer(platform: str, bot: Bot) -> None:
    """A picture of an error, say: it cannot be read, and silence would look like a bot that is down."""
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", " ", "direct")
        told = (await until(lambda: stage.replies(said), "the hint"))[0].text
        assert "Ask me anything about Kettle" in told


@EVERYWHERE
async def test_ask_without_words_says_what_can_be_asked(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "ask", " ")
        assert "For example" in await told(stage, "ann", "Write your question after the command")
