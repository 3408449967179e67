"""A platform that does not take what the bot says: the answer comes when it does again, once."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from typing import Any

import pytest

from bot.conversation import answering
from bot.conversation.desk import deletion
from bot.conversation.undelivered import MAY_NOT
from bot.platforms.slack.api import posting
from bot.ports.chat import Reply
from core.domain import Answer, MessageRef
from core.errors import PlatformError, PlatformRejected
from tests.journeys.fake_stage import FakeChat, FakeStage
from tests.journeys.house import Bot
from tests.journeys.kettle import PORTS
from tests.journeys.slack_stage import PLACES, SlackStage
from tests.journeys.stage import answer, until
from tests.platforms.slack_wire import CUT

PORT = "Which port does the dashboard listen on?"


async def test_an_answer_that_slack_did_not_take_is_said_when_it_is_back(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        stage.server.fail("chat.update", "internal_error", status=503, times=3)
        said = await stage.say("ann", PORT, to="bot")
        assert PORTS["2.0"] in (await answer(stage, said)).text
        await stage.quiet()
        assert len(stage.replies(said)) == 1
        updates = [call.error for call in stage.server.calls if call.method == "chat.update"]
        assert updates[:3] == ["internal_error"] * 3 and updates[-1] == ""


@pytest.mark.parametrize("status", [504, 503, CUT])
@pytest.mark.parametrize("streams", [False, True])
async def test_an_answer_that_slack_took_and_did_not_say_so_is_not_said_again(
    streams: bool, status: int, bot: Bot
) -> None:
    async with SlackStage(bot) as stage:
        answered, lost = stage.server._answer, []
        posting = "chat.startStream" if streams else "chat.postMessage"

        def late(method: str, *given: Any) -> Any:
            found = answered(method, *given)
            if method != posting or lost:
                return found
            lost.append(found)
            return {"ok": False, "error": "fatal_error"}, status, {}

        stage.server.streaming.there = streams
        stage.server._answer = late  # type: ignore[method-assign]
        said = await stage.say("ann", PORT, to="bot")
        assert PORTS["2.0"] in (await answer(stage, said)).text
        await stage.quiet()
        [only] = stage.replies(said)
        assert lost and await bot.app.conversations.answer_of(f"{stage.key()}:{only.id}")


@pytest.mark.parametrize(("place", "seen_late"), [("public", False), ("public", True), ("direct", False)])
async def test_of_a_long_answer_each_part_is_posted_once(
    place: str, seen_late: bool, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is `seen_late`, Slack does not show what it took when it is first looked for."""
    monkeypatch.setattr(answering, "AGAIN_SECONDS", (0.3, 0.3, 0.3))
    monkeypatch.setattr(posting, "LOOK_SECONDS", (0.1,))
    real = answering.compose

    def long(found: Answer, product: str) -> Reply:
        paragraphs = "\n\n".join(f"Paragraph {n} " + "word " * 120 for n in range(14))
        return replace(real(found, product), markdown=f"{paragraphs}\n\n{real(found, product).markdown}")

    monkeypatch.setattr(answering, "compose", long)
    async with SlackStage(bot) as stage:
        stage.server.streaming.there = False
        stage.server.fail("chat.postMessage", "fatal_error", status=CUT, after=1, done=True)
        if seen_late:
            stage.server.fail("conversations.replies", "missing_scope")
        said = await stage.say("ann", PORT, place, to="bot" if place == "public" else "")
        await until(lambda: [seen for seen in stage.replies(said) if PORTS["2.0"] in seen.text])
        key = f"{stage.key(place)}:{said.id}"
        while not (claim := await bot.app.conversations.claimed(key)) or not claim.is_settled:
            await asyncio.sleep(0.02)
        await stage.quiet()
        parts = stage.replies(said)
        assert [seen.text.count("Paragraph 5 ") for seen in parts] == [0, 1, 0]
        assert [part.message for part in claim.parts] == [seen.id for seen in parts]


async def test_a_sign_of_work_is_looked_for_until_slack_tells_what_stands_there(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "AGAIN_SECONDS", (0.2, 0.2, 0.2))
    async with SlackStage(bot) as stage:
        stage.server.streaming.there = False
        stage.server.fail("chat.postMessage", "fatal_error", status=CUT, done=True)
        stage.server.fail("conversations.replies", "internal_error")
        said = await stage.say("ann", PORT, to="bot")
        assert PORTS["2.0"] in (await answer(stage, said)).text
        await stage.quiet()
        assert len(stage.replies(said)) == 1


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("chat.update", "update_failed"),
        ("chat.update", "external_channel_migrating"),
        ("chat.postMessage", "message_limit_exceeded"),
        ("chat.postMessage", "team_added_to_org"),
    ],
)
async def test_what_slack_refuses_for_the_moment_is_tried_again(method: str, code: str, bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        stage.server.streaming.there = False
        stage.server.fail(method, code)
        said = await stage.say("ann", PORT, to="bot")
        assert PORTS["2.0"] in (await answer(stage, said)).text
        assert code in [call.error for call in stage.server.calls]


async def test_a_question_deleted_while_its_sign_of_work_is_posted_is_no_error(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    async with SlackStage(bot) as stage:
        stage.server.streaming.there = False
        stage.server.held.add("chat.postMessage")
        said = await stage.say("ann", PORT, to="bot")
        key = f"{stage.key()}:{said.id}"
        await until(lambda: stage.server.holding, "a sign of work on its way")
        await stage.delete(said)
        while not await bot.app.conversations.taken(deletion(key)):
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)  # the answer is cancelled meanwhile
        stage.server.fail("chat.postMessage", "thread_not_found")
        stage.server.held.clear()
        await until(lambda: [c for c in stage.server.calls if c.error == "thread_not_found"], "a refusal")
        await stage.quiet()
        gc.collect()
    assert not [record for record in caplog.records if record.name == "asyncio"]


async def test_what_slack_refuses_for_good_is_not_tried_again_and_the_asker_is_told_once(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        stage.server.streaming.there = False
        stage.server.fail("chat.postMessage", "restricted_action")
        said = await stage.say("ann", PORT, to="bot")
        inbox = PLACES["direct"]
        await until(lambda: stage.server.said(inbox), "a word to the asker")
        stage.server.fail("chat.postMessage", "restricted_action")
        await stage.say("ann", "Which port does the API listen on?", to="bot")
        await until(lambda: len(refused(stage)) == 2, "another refusal")
        while await bot.app.conversations.unanswered(0.0):
            await asyncio.sleep(0.02)
        await stage.quiet()
        assert [told["text"] for told in stage.server.said(inbox)] == [MAY_NOT] and not stage.replies(said)
        assert len([call for call in stage.server.calls if call.method == "chat.postMessage"]) == 3


async def test_where_an_answer_is_refused_for_good_its_sign_of_work_says_so(bot: Bot) -> None:
    class Refusing(FakeChat):
        """A platform that takes no answer: a word in it may be blocked there."""

        async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
            if reply.answer_id:
                raise PlatformRejected("Blocked by automatic moderation.")
            return await super().edit(parts, reply)

    async with FakeStage(bot, chat := Refusing()) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: [seen.text for seen in stage.replies(said)] == [PlatformError.told], "a word")
        while await bot.app.conversations.unanswered(0.0):
            await asyncio.sleep(0.02)
        assert not [kept for kept in chat.messages if kept["place"] == "dm-ann"], "it is said there already"


def refused(stage: SlackStage) -> list[Any]:
    return [call for call in stage.server.calls if call.error == "restricted_action"]


async def test_an_answer_that_gets_no_boxes_for_votes_can_still_be_voted_on(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        stage.server.fail("reactions.add", "missing_scope", times=99)
        said = await stage.say("ann", PORT, to="bot")
        [seen] = await until(lambda: [s for s in stage.replies(said) if s.finished], "an answer")
        await until(lambda: [c for c in stage.server.calls if c.error == "missing_scope"], "a refusal")
        await stage.quiet()
        assert await bot.app.conversations.answer_of(f"{stage.key()}:{seen.id}")
        assert not await bot.app.conversations.unanswered(0.0)


async def test_an_edit_is_answered_though_a_moderator_deleted_the_first_answer(bot: Bot) -> None:
    async with SlackStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        first = await answer(stage, said)
        del stage.server.messages["C1"][first.id]
        await stage.edit(said, f"{PORT} In 1.5.")
        assert PORTS["1.5"] in (await answer(stage, said)).text


async def test_an_edit_that_fails_takes_no_message_of_another_answer(bot: Bot, monkeypatch: Any) -> None:
    monkeypatch.setattr(answering, "AGAIN_SECONDS", (0.05, 0.05))

    class Hiccup(FakeChat):
        """A platform that refuses an edit once, while a part of another answer is on its way."""

        failed = 0

        async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
            if reply.final and PORTS["2.0"] in reply.markdown and not self.failed:
                self.failed += 1
                root = self.of(parts[0].message)["root"]
                self.keep("bot", parts[0].channel, root, "Part two of the answer to somebody else.")
                raise PlatformError("500")
            return await super().edit(parts, reply)

    async with FakeStage(bot, Hiccup()) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await until(lambda: [seen for seen in stage.replies(said) if PORTS["2.0"] in seen.text])
        await stage.quiet()
        assert [m["text"] for m in stage.chat.messages if "somebody else" in m["text"]]
