"""A flood on Slack: everybody gets an answer or a word, sees how long the line is, and has a turn."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.conversation.limits import Line
from bot.platforms.slack.api.errors import Pacing
from bot.platforms.slack.connection import Slack
from tests.effort import thorough
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import PATIENCE, Said, answer, until
from tests.ollama_answers import Recorded
from tests.ollama_server import OllamaServer
from tests.platforms.slack_bot import settings_for

AGAIN = "Please ask again in"
FASTER = 10
"""How much faster time passes for the limits of Slack."""


class Flooded(SlackStage):
    """Slack and the bot, whose limits are of a tenth of the time."""

    async def join(self, bot: Bot) -> None:
        self.bot = bot
        self.server.limits.minute = 60 / FASTER
        self.platform = Slack(settings_for(self.server), bot.dispatch, Pacing(posts=1.1 / FASTER))
        self._running = asyncio.create_task(self.platform.run())
        await self.server.until(lambda: self.server.connected, PATIENCE)

    def crowd(self, people: int, each: int) -> dict[str, list[str]]:
        """Have so many people ask so many questions each in the public channel; return their messages."""
        asked = defaultdict(list)
        for number in range(people):
            self.server.add_user(f"UCROWD{number}")
            self.server.channels["C1"]["members"].add(f"UCROWD{number}")
        for turn in range(each):
            for number in range(people):
                asks = f"<@UBOT> Which port does the dashboard listen on ({number}, {turn})?"
                asked[f"UCROWD{number}"].append(self.server.say(f"UCROWD{number}", "C1", asks))
        return dict(asked)

    def told(self, ts: str) -> list[str]:
        """Return what the bot's finished messages in a thread say."""
        return [seen.text for seen in self.replies(Said(ts, "public", ts)) if seen.finished]

    def written(self) -> list[str]:
        """Return everything that the bot ever showed, that it replaced since included."""
        return [str(call.arguments) for call in self.server.calls if call.method.startswith("chat.")]


@asynccontextmanager
async def flooded(kettle: Kettle, ollama: OllamaServer, **given: Any) -> AsyncIterator[tuple[Bot, Flooded]]:
    async with house(kettle, ollama_host=ollama.url, **given) as bot, Flooded(bot) as stage:
        yield bot, stage


async def settled(bot: Bot) -> None:
    """Wait until nothing is open: all is answered, or its asker was told why not."""
    async with asyncio.timeout(3 * PATIENCE):
        while await bot.app.conversations.unanswered(0.0):
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("people", "each"),
    [(12, 8), pytest.param(50, 1, marks=thorough("test_in_a_flood_nobody_is_left_silent"))],
)
async def test_in_a_flood_nobody_is_left_silent(
    kettle: Kettle, ollama: OllamaServer, people: int, each: int
) -> None:
    # a bucket refills so slowly that nobody may ask again, and be told again, while a slow machine is at it
    async with flooded(kettle, ollama, questions_per_minute=0.2) as (bot, stage):
        asked = stage.crowd(people, each)
        await until(lambda: all(any(map(stage.told, threads)) for threads in asked.values()))
        await settled(bot)
        told = {who: [text for ts in threads for text in stage.told(ts)] for who, threads in asked.items()}
        words = {
            who: [text for text in texts if "Please ask again in" in text] for who, texts in told.items()
        }
        answers = Counter({who: len(told[who]) - len(words[who]) for who in told})
        assert all(len(said) <= 1 for said in words.values()), "one person's many are told once"
        assert all(words[who] or answers[who] == each for who in asked), "what is left out is told"
        assert 25 <= answers.total() < 30, "a channel gets as many answers as it may, whoever asks"
        assert all("port 9090" in text for texts in told.values() for text in texts if AGAIN not in text)


async def test_who_waits_sees_how_many_are_before_and_is_not_behind_one_persons_many(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    order: list[str] = []
    ollama.first_token_delay = 0.5

    def answering(asked: Recorded) -> str:
        order.append(asked.prompt)
        return "The dashboard listens on port 9090 [1]."

    ollama.answer = answering
    async with flooded(kettle, ollama) as (bot, stage):
        async with asyncio.TaskGroup() as group:
            asks = [f"Which port has the dashboard, {number}?" for number in range(8)]
            first = [group.create_task(stage.say("ann", text, to="bot")) for text in asks]
        await until(lambda: bot.app.engine.model.status.waiting >= 6)
        later = await stage.say("bob", "How do I choose the port of the dashboard, number 99?", to="bot")
        await answer(stage, later)
        before = sum("number 99" not in prompt for prompt in order)
        assert before <= 4, "of ann's eight some are still waiting"
        await settled(bot)
        assert all(stage.told(one.result().id) for one in first)
        shown = stage.written()
        assert any("questions are before yours" in text for text in shown)


async def test_where_more_is_asked_than_a_process_bears_every_question_gets_a_word_in_time(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    ollama.first_token_delay = 0.5
    async with flooded(kettle, ollama) as (bot, stage):
        bot.dispatch._answering.line = line = Line(at_once=2, longest=2.0)
        asked = [ts for threads in stage.crowd(20, 1).values() for ts in threads]
        await until(lambda: line.refusal() is not None)
        asked += [ts for threads in stage.crowd(4, 1).values() for ts in threads]
        await until(lambda: all(map(stage.told, asked)))
        await settled(bot)
        words = [ts for ts in asked if any(AGAIN in text for text in stage.told(ts))]
        assert 0 < len(words) < len(asked) and all(len(stage.told(ts)) == 1 for ts in asked)
        assert any("questions are before yours" in text for text in stage.written())
        assert line.seconds == 0.0, "the line is empty again"


async def test_a_question_that_is_deleted_leaves_the_line_and_frees_the_model(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    async with flooded(kettle, ollama) as (bot, stage):
        ollama.script("hang")
        writing = await stage.say("ann", "Which port does the dashboard listen on?", to="bot")
        await until(lambda: ollama.running)
        waiting = await stage.say("bob", "How do I run a job every night?", to="bot")
        await until(lambda: bot.app.engine.model.status.waiting)
        await stage.delete(waiting)
        await until(lambda: not bot.app.engine.model.status.waiting)
        calls, went = ollama.calls, ollama.aborted
        await stage.delete(writing)
        await until(lambda: ollama.aborted > went and not ollama.running)
        await settled(bot)
        await until(lambda: not stage.replies(writing) and not stage.replies(waiting))  # after it is settled
        assert ollama.calls == calls


async def test_what_is_left_of_a_day_is_known_after_a_restart(kettle: Kettle, ollama: OllamaServer) -> None:
    given = {"ollama_host": ollama.url, "questions_per_day": 2}
    async with house(kettle, **given) as bot:
        stage = await Flooded(bot).__aenter__()
        for number in range(2):
            await answer(stage, await stage.say("ann", f"Which port has the dashboard, {number}?", to="bot"))
        await settled(bot)
        await stage.leave()
    async with house(kettle, **given) as later:
        await stage.join(later)
        try:
            said = await stage.say("ann", "Which port does the dashboard listen on?", to="bot")
            [told] = await until(lambda: stage.told(said.id))
            assert "as many of your questions as I may in a day" in told
            await answer(stage, await stage.say("bob", "Which port has the dashboard?", to="bot"))
        finally:
            await stage.__aexit__(None, None, None)
