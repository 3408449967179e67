"""An answer to one person alone, and how it comes to be seen by all."""

from __future__ import annotations

import time

import pytest

from bot.conversation.strays import Strays
from bot.interactions.sharing import ALREADY, MAY_NOT, SHARED
from bot.ports.chat import Reply
from core.domain import MessageRef
from core.errors import PlatformRejected
from core.ports import Claim
from tests.journeys.fake_stage import FakeChat, FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Said, Seen, ask, open_stage, told, until
from tests.platforms.slack_wire import CUT

PORT = "Which port does the dashboard listen on?"
NOWHERE = Seen("", "")
"""No message: what is pressed hangs under what a person alone was told."""


@ON_EACH_WIRE
async def test_an_answer_to_one_person_is_shared_once_with_its_question(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "ask", PORT)
        await told(stage, "ann", PORTS["2.0"])
        assert not stage.public()
        for said in (SHARED, ALREADY):
            await stage.press("ann", NOWHERE, "share")
            await told(stage, "ann", said)
        [shared] = await until(stage.public)
        assert PORT in shared and PORTS["2.0"] in shared and "Kettle 2.0" in shared


@EVERYWHERE
async def test_a_vote_under_an_answer_to_one_person_counts(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("ann", "ask", PORT)
        await told(stage, "ann", PORTS["2.0"])
        await stage.press("ann", NOWHERE, "up")
        await told(stage, "ann", "counts")
        assert (await bot.counts())["high"] == 1
        assert "from community memory" in (await ask(stage, PORT, who="bob")).text


async def test_what_could_not_be_shared_is_told_and_can_be_tried_again(bot: Bot) -> None:
    class Quiet(FakeChat):
        """A channel that the bot may not write to, until it may."""

        mute = True

        async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
            if self.mute:
                raise PlatformRejected("I cannot post an answer: give my role Send Messages.")
            return await super().post(where, reply)

    chat = Quiet()
    stage = FakeStage(bot, chat)
    await stage.slash("ann", "ask", PORT)
    await stage.press("ann", NOWHERE, "share")
    assert stage.heard("ann")[-1] == PlatformRejected.told and not stage.public()
    assert not await bot.app.conversations.unanswered(0.0)
    chat.mute = False
    await stage.press("ann", NOWHERE, "share")
    assert stage.heard("ann")[-1] == SHARED and len(stage.public()) == 1


async def test_who_asked_goes_on_in_the_thread_of_a_shared_answer(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        await stage.slash("ann", "ask", PORT)
        await told(stage, "ann", PORTS["2.0"])
        await stage.press("ann", NOWHERE, "share")
        await told(stage, "ann", SHARED)
        [shared] = await until(lambda: [m for m in stage.server.said("C1") if PORTS["2.0"] in m["text"]])
        assert "asked:" in shared["text"].splitlines()[0]
        said = Said(shared["ts"], "public", shared["ts"])
        await stage.say("ann", "and in 1.5?", under=said)
        await until(lambda: [seen for seen in stage.replies(said) if PORTS["1.5"] in seen.text])


@pytest.mark.parametrize("place", ["channel", "thread"])
async def test_what_may_be_shared_already_is_not_posted_again(place: str, bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        stage.server.epoch = int(time.time()) + 5
        if place == "channel":
            await stage.slash("ann", "ask", PORT)
        else:
            root = await stage.say("bob", "The dashboard is new.")
            await stage.answer_this("ann", await stage.say("bob", PORT, under=root))
        await told(stage, "ann", PORTS["2.0"])
        stage.server.fail("chat.postMessage", "fatal_error", status=CUT, done=True)
        for said in (SHARED, ALREADY):
            await stage.press("ann", NOWHERE, "share")
            await told(stage, "ann", said)
        assert len(stage.server.said("C1")) == 1


async def test_of_what_is_shared_only_messages_that_say_it_are_found(bot: Bot) -> None:
    async with FakeStage(bot, chat := FakeChat()) as stage:
        root = await stage.say("bob", "The dashboard is new.")
        where = MessageRef("fake", "public", root.id, root.id)
        claim = Claim(
            f"{where.key}@a1", where.conversation, "fake:ann", time.time(), {}, kind="share", tries=1
        )
        await bot.app.conversations.claim(claim)
        for text in ("Looking it up …", "It listens on 8500, by default.", "It has a lid on the spout."):
            chat.keep("bot", "public", root.id, text)
        strays = Strays(bot.app.conversations)
        found = await strays.of(chat, where, claim, "It listens on **8500**, by default. [1]")
        assert [chat.of(one.message)["text"] for one in found] == ["It listens on 8500, by default."]
        assert len(await strays.of(chat, where, claim)) == 2, "without its text all others are taken, too"


async def test_who_may_not_write_there_shares_nothing(bot: Bot) -> None:
    """A press works in a channel that one only reads, and the bot must not write there for everybody."""
    stage = FakeStage(bot, FakeChat())
    await stage.slash("ann", "ask", PORT)
    stage.may_write = False
    await stage.press("ann", NOWHERE, "share")
    assert stage.heard("ann")[-1] == MAY_NOT and not stage.public()
