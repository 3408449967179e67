"""What people write is in no line of the log above DEBUG, whatever happens to it on whichever platform."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from bot.home.logs import stream_handler
from core.pipeline.context import Needs, QueryContext
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import ON_EACH_WIRE, answer, ask, open_stage, until
from tests.ollama_server import OllamaServer

WORD = "marmalade"
QUESTION = f"Which port does the dashboard listen on when I say {WORD}?"


@contextmanager
def log_of(bot: Bot, level: str = "INFO") -> Iterator[io.StringIO]:
    """Write down what a process with these settings would write."""
    stream, root = io.StringIO(), logging.getLogger()
    handler, before = stream_handler(bot.settings, level, stream), root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield stream
    finally:
        root.setLevel(before)
        root.removeHandler(handler)


@ON_EACH_WIRE
async def test_what_people_write_is_not_in_the_log(
    platform: str, kettle: Kettle, ollama: OllamaServer
) -> None:
    given = {"ollama_host": ollama.url, "log_format": "json", "dashboard_token": f"secret-{WORD}"}
    async with house(kettle, **given) as bot:
        with log_of(bot) as log:
            async with open_stage(platform, bot) as stage:
                said = await stage.say("ann", QUESTION, to="bot")
                seen = await answer(stage, said)
                await stage.say("bob", f"{WORD} is what I would try.", under=said)
                follow = await stage.say("ann", f"And in 1.5, with {WORD}?", under=said, to="bot")
                await answer(stage, follow, 2)
                await stage.react("ann", seen, "👍")
                ollama.script("cut", "garbage", "refused", "crashed")
                await ask(stage, f"How many retries does a job with {WORD} have?")
                await stage.slash("ann", "ask", QUESTION)
                await until(lambda: stage.heard("ann"))
                await stage.slash("boss", "threadlore", f"forget {WORD}")
                await until(lambda: stage.heard("boss"))
                await stage.press("bob", seen, "down")
                if stage.form("bob"):
                    await stage.fill("bob", what="wrong", better=f"It needs {WORD}.")
                await stage.edit(said, f"{QUESTION} Or not {WORD}?")
                await stage.quiet()
                await stage.delete(said)
                await stage.quiet()
        found = [json.loads(line) for line in log.getvalue().splitlines()]
    assert WORD not in log.getvalue(), [line for line in log.getvalue().splitlines() if WORD in line]
    answered = [line for line in found if line["event"] == "answered"]
    assert len(answered) >= 4 and all(line["platform"] == platform for line in answered)
    assert {line["kind"] for line in answered} == {"public"}
    assert all(line["ms"] > 0 and line["route"] and line["answer"].startswith("a") for line in answered)
    assert len({line["request"] for line in answered[:2]}) == 2
    [vote] = [line for line in found if line["event"] == "vote counted" and line["vote"] == "up"]
    assert vote["answer"] == answered[0]["answer"] and vote["platform"] == platform


class Broken:
    """A stage that fails with the question in its error."""

    needs: Needs = ""

    async def __call__(self, context: QueryContext) -> None:
        if WORD in context.question.text:
            raise ValueError(f"cannot deal with {context}")


@ON_EACH_WIRE
async def test_an_error_of_ours_keeps_what_people_wrote_to_itself(platform: str, kettle: Kettle) -> None:
    """The engine fails with the question in its error, as a library would that was handed it."""

    async with house(kettle) as bot:
        bot.app.engine.stages = (Broken(), *bot.app.engine.stages)
        with log_of(bot) as log:
            async with open_stage(platform, bot) as stage:
                said = await stage.say("ann", QUESTION, to="bot")
                await until(lambda: [seen for seen in stage.replies(said) if "went wrong" in seen.text])
                await stage.slash("ann", "ask", QUESTION)
                await until(lambda: [text for text in stage.heard("ann") if "went wrong" in text])
    assert WORD not in log.getvalue() and log.getvalue().count("ValueError") >= 2
    assert "in __call__" in log.getvalue()


async def test_at_debug_it_is_there(kettle: Kettle) -> None:
    """Else the test above could not fail: the libraries do log what they carry."""
    async with house(kettle) as bot:
        with log_of(bot, "DEBUG") as log:
            async with SlackStage(bot) as stage:
                await ask(stage, QUESTION)
                tokens = [stage.server.bot_token, stage.server.app_token]
    assert WORD in log.getvalue() and not [token for token in tokens if token in log.getvalue()]


async def test_slacks_refusals_carry_nothing_into_the_log(kettle: Kettle) -> None:
    async with house(kettle) as bot, SlackStage(bot) as stage:
        with log_of(bot) as log:
            for error in ("msg_too_long", "internal_error", "invalid_blocks"):
                stage.server.fail("chat.update", error)
                stage.server.fail("reactions.add", error)
                said = await stage.say("ann", f"{QUESTION} {error}", to="bot")
                await stage.quiet()
                await until(lambda said=said: stage.replies(said))
            await stage.quiet()
    assert WORD not in log.getvalue() and stage.server.bot_token not in log.getvalue()
    assert log.getvalue(), "something was told"
