"""Ways to ask, and what is left alone."""

from __future__ import annotations

import asyncio

from bot.interactions.sharing import SHARED
from core.catalogue import ChannelSettings, Mode
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.stage import Seen, answer, ask, open_stage, squeezed, told
from tests.ollama_server import OllamaServer

PORT = "Which port does the dashboard listen on?"
NOWHERE = Seen("", "")
"""No message: what is pressed hangs under what a person alone was told."""


def listen(bot: Bot, channel: str, mode: Mode) -> None:
    """Have a channel served in a mode, as `[channels]` of `corpora.toml` does."""
    bot.app.catalogue.channels[channel] = ChannelSettings(mode=mode)


async def answer_this(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        asked = await stage.say("bob", PORT)
        await stage.answer_this("ann", asked)
        await told(stage, "ann", PORTS["2.0"])
        await stage.quiet()
        assert not stage.replies(asked), "it is for ann alone"
        await stage.press("ann", NOWHERE, "share")
        await told(stage, "ann", SHARED)
        shared = await answer(stage, asked)
        assert PORTS["2.0"] in shared.text and PORT not in squeezed(shared.text), "the question stands above"


async def mode_off(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "off")
        said = await stage.say("ann", PORT, to="bot")
        await stage.quiet()
        assert not stage.replies(said)
        assert PORTS["2.0"] in (await ask(stage, PORT, "private")).text, "other places are served"


async def mode_mentions(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT)
        await stage.quiet()
        assert not stage.replies(said)


async def mode_questions(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        told_only = await stage.say("ann", "I have moved the dashboard behind the proxy.")
        said = await stage.say("ann", PORT)
        assert PORTS["2.0"] in (await answer(stage, said)).text
        await stage.say("bob", "How many queues does it show at your place?", under=said)
        await stage.quiet()
        assert not stage.replies(told_only)
        assert len(stage.replies(said)) == 1, "in a thread people ask each other"


async def mode_forum(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "forum")
        said = await stage.say("ann", "Port of the dashboard")
        assert PORTS["2.0"] in (await answer(stage, said)).text


async def unicode_and_emoji(platform: str, bot: Bot) -> None:
    text = "🫖👩‍🚒 “Which port” does the dashboard — naïve, Ελλάδα, 東京 — listen on? 🙏"
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", text, to="bot")
        assert PORTS["2.0"] in (await answer(stage, said)).text
        claim = await bot.app.conversations.claimed(f"{stage.key()}:{said.id}")
        assert claim and claim.payload["text"] == text, "no sign of it is lost"


async def thanks(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        for text in ("Thanks a lot, that works now 🙏", "👍", "perfect!"):
            await stage.say("ann", text, under=said)
        await stage.quiet()
        assert len(stage.replies(said)) == 1
        await stage.say("ann", "thanks, and in 1.5?", under=said)
        assert PORTS["1.5"] in (await answer(stage, said, 2)).text


async def pronoun(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        said = await stage.say("ann", "How do I open the dashboard?", to="bot")
        await answer(stage, said)
        await stage.say("ann", "which port does it listen on?", under=said)
        assert PORTS["2.0"] in (await answer(stage, said, 2)).text


async def two_at_once(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.first_token_delay = 0.1
    async with open_stage(platform, writer) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        for text in (f"{PORT[:-1]} in 1.5?", f"{PORT[:-1]} in 1.0?"):
            await stage.say("ann", text, under=said, to="bot")
        await answer(stage, said, 3)
        await stage.quiet()
        texts = [seen.text for seen in stage.replies(said)]
        assert len(texts) == 3
        for release in ("1.5", "1.0"):
            assert len([t for t in texts if PORTS[release] in t and f"Kettle {release}" in t]) == 1


async def bots_are_not_answered(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "forum")
        said = await stage.say("robot", PORT, to="bot")
        await stage.quiet()
        assert not stage.replies(said)


async def own_messages(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    async with open_stage(platform, writer) as stage:
        listen(writer, stage.key(), "forum")
        ollama.say("@threadlore <@UBOT> which port does the dashboard listen on? It is 9090 [1].")
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        await stage.quiet()
        assert (
            len(stage.replies(said)) == 1 and ollama.calls <= 2
        )  # once more where it says what no page does


async def at_once_in_a_crowd(platform: str, writer: Bot, ollama: OllamaServer) -> None:
    ollama.first_token_delay = 0.05
    async with open_stage(platform, writer) as stage:
        said = [await stage.say(who, f"{PORT} ({who})", to="bot") for who in ("ann", "bob", "hal", "boss")]
        await asyncio.gather(*(answer(stage, one) for one in said))
        await stage.quiet()
        assert all(len(stage.replies(one)) == 1 for one in said)
