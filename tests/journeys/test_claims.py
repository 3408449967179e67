"""What is taken is answered, or given up with a word, whatever happens to the process that took it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.conversation import strays
from bot.conversation.triggers import Triggers
from bot.dispatch.dispatch import dispatch_of
from bot.ports.chat import Command, Message, Press, Reply, Stray, packed
from core.community.overrides import ChannelModes
from core.domain import MessageRef
from core.errors import PlatformError
from core.ports import Claim, ConversationStore
from core.ports.conversations import MOST_TRIES
from tests.fake_channels import FakeChannels
from tests.journeys.fake_stage import FakeChat, FakeStage, person, scope
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import Said, answer, ask, until
from tests.ollama_server import OllamaServer
from tests.patience import SOON

PORT = "Which port does the dashboard listen on?"
NIGHT = "How do I run a job every night?"


def keep(chat: FakeChat, text: str, who: str = "ann", under: Said | None = None) -> tuple[Message, Said]:
    """Put a message on the platform that the bot has not heard of yet."""
    kept = chat.keep(who, "public", "", text)
    kept["root"] = under.root if under else str(kept["id"])
    kept["to"] = "" if under else "bot"
    return chat.shown(kept), Said(str(kept["id"]), "public", kept["root"], text)


def claimed(message: Message, **more: object) -> Claim:
    """Return the claim that a process made of a message before it died."""
    known = Claim(message.key, message.ref.conversation, message.author.id, time.time(), packed(message))
    return replace(known, **more)  # type: ignore[arg-type]


async def open_keys(bot: Bot) -> list[str]:
    return [claim.message for claim in await bot.app.conversations.unanswered(0.0)]


async def test_a_message_is_taken_before_any_sign_of_work(writer: Bot, ollama: OllamaServer) -> None:
    ollama.script("hang")
    async with FakeStage(writer) as stage:
        message, said = keep(stage.chat, PORT)
        seen: list[tuple[int, list[str]]] = []
        taken = asyncio.Event()

        def note() -> None:
            seen.append((stage.chat.posted, []))
            taken.set()

        asking = asyncio.create_task(writer.dispatch.message(stage.chat, message, note))
        await taken.wait()
        assert seen == [(0, [])], "taken once, before anything was posted"
        assert await open_keys(writer) == [message.key]
        await until(lambda: stage.replies(said))
        await writer.dispatch.stop()
        await asyncio.gather(asking, return_exceptions=True)


async def test_a_follow_up_to_an_answer_that_is_being_written_outlives_a_stop(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    chat = FakeChat()
    ollama.script("hang")
    async with house(kettle, ollama_host=ollama.url) as bot:
        FakeStage(bot, chat)
        first, said = keep(chat, PORT)
        second, _ = keep(chat, "And in 1.0?", under=said)
        took = [asyncio.Event(), asyncio.Event()]
        work = [
            asyncio.create_task(bot.dispatch.message(chat, message, event.set))
            for message, event in zip((first, second), took, strict=True)
        ]
        await asyncio.wait_for(asyncio.gather(*(event.wait() for event in took)), 60)
        await until(lambda: ollama.running)
        assert await open_keys(bot) == [first.key, second.key]
        await bot.dispatch.stop()
        await asyncio.gather(*work, return_exceptions=True)
    async with house(kettle) as bot:
        stage = FakeStage(bot, chat)
        await bot.dispatch.resume(chat)
        answers = [seen.text for seen in stage.replies(said)]
        assert len(answers) == 2 and PORTS["2.0"] in answers[0] and PORTS["1.0"] in answers[1], answers
        assert await open_keys(bot) == []


class Settling:
    """A store in which the question of a thread is settled right after the first look at it."""

    def __init__(self, store: ConversationStore, key: str) -> None:
        self._store = store
        self._key = key

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def open_in(self, conversation: str) -> tuple[Claim, ...]:
        found = await self._store.open_in(conversation)
        await self._store.answered(self._key, "a1")
        return found

    async def last_told(self, conversation: str) -> Claim | None:
        found = await self._store.last_told(conversation)
        await self._store.answered(self._key, "a1")
        return found


async def test_a_follow_up_is_taken_while_the_answer_before_it_is_being_settled(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        first, said = keep(stage.chat, PORT)
        second, _ = keep(stage.chat, "And in 1.0?", under=said)
        await bot.app.conversations.claim(claimed(first))
        await bot.app.conversations.posted(first.key, [MessageRef("fake", "public", "m1", said.root)])
        store: Any = Settling(bot.app.conversations, first.key)
        triggers = Triggers(
            store, ChannelModes(FakeChannels(), {}), bot.dispatch.opted_out, bot.dispatch.unsolicited
        )
        assert await triggers.at_once(second) == (second, False)


async def test_what_turns_out_to_be_for_somebody_else_is_let_go(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        seen = await ask(stage, PORT)
        root = Said("", "public", stage.chat.of(seen.id)["root"])
        for text, to in (("thanks!", ""), ("what do you think?", "bob")):
            await stage.say("ann", text, under=root, to=to)
        assert len(stage.replies(root)) == 1 and await open_keys(bot) == []
        claims = [await bot.app.conversations.claimed(f"fake:public:{m['id']}") for m in stage.chat.messages]
        assert sum(claim is not None for claim in claims) == 1, "nothing is kept of what was not for the bot"


async def sign_becomes_answer(bot: Bot, stage: FakeStage) -> None:
    """Begin with a question whose sign of work nobody noted, and see that it becomes the answer."""
    message, said = keep(stage.chat, PORT)
    await bot.app.conversations.claim(claimed(message))
    stage.chat.keep("bot", "public", said.root, "Looking it up …")
    await bot.dispatch.resume(stage.chat)
    [seen] = stage.replies(said)
    assert PORTS["2.0"] in seen.text


async def test_a_sign_of_work_that_nobody_noted_becomes_the_answer(bot: Bot) -> None:
    """A process died between posting it and writing down that it did."""
    async with FakeStage(bot) as stage:
        await sign_becomes_answer(bot, stage)


async def test_what_stands_under_a_question_is_looked_for_again_where_the_platform_did_not_say(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strays, "LOOK_SECONDS", (0.0, 0.0))

    class Busy(FakeChat):
        """A platform that does not say at first what it shows."""

        refusals = 2

        async def own_after(self, ref: MessageRef) -> Sequence[Stray]:
            if self.refusals:
                self.refusals -= 1
                raise PlatformError("The platform did not answer.")
            return await super().own_after(ref)

    async with FakeStage(bot, Busy()) as stage:
        await sign_becomes_answer(bot, stage)


async def test_nobody_waits_for_what_the_platform_does_not_show(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strays, "LOOK_SECONDS", (600.0,))
    looked: list[str] = []

    class Busy(FakeChat):
        """A platform that does not say what it shows in one place."""

        async def own_after(self, ref: MessageRef) -> Sequence[Stray]:
            looked.append(ref.message)
            if ref.message == hidden.ref.message:
                raise PlatformError("The platform did not answer.")
            return await super().own_after(ref)

    async with FakeStage(bot, chat := Busy()) as stage:
        hidden, _ = keep(chat, PORT)
        other, said = keep(chat, NIGHT)
        for message in (hidden, other):
            await bot.app.conversations.claim(claimed(message))
        resuming = asyncio.create_task(bot.dispatch.resume(chat))
        await until(lambda: [seen for seen in stage.replies(said) if seen.finished])
        await asyncio.wait_for(bot.dispatch.deleted(chat, hidden.ref), SOON)
        assert hidden.ref.message in looked and await open_keys(bot) == []
        resuming.cancel()


async def test_in_direct_messages_only_a_sign_of_work_is_taken_over(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        stage.chat.keep("ann", "direct", "", PORT)
        message = stage.chat.shown(stage.chat.messages[-1])
        await bot.app.conversations.claim(claimed(message))
        stage.chat.keep("bot", "direct", "", "Good morning, here are the gaps of the week.")
        stage.chat.keep("bot", "direct", "", "Looking it up …")
        await bot.dispatch.resume(stage.chat)
        greeting, seen = stage.replies(Said("", "direct", ""))
        assert greeting.text.startswith("Good morning") and PORTS["2.0"] in seen.text


async def test_what_took_two_processes_down_is_given_up_with_a_word(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        message, said = keep(stage.chat, PORT)
        once, twice = keep(stage.chat, NIGHT)
        await bot.app.conversations.claim(claimed(message, tries=MOST_TRIES))
        await bot.app.conversations.claim(claimed(once, tries=MOST_TRIES - 1))
        await bot.dispatch.resume(stage.chat)
        [seen] = stage.replies(said)
        assert (
            seen.text
            == "I was interrupted twice while working on this, so I gave up. Please ask in other words."
        )
        [other] = stage.replies(twice)
        assert "stopped" not in other.text and other.finished
        assert await open_keys(bot) == []


async def test_a_stop_is_not_held_against_what_it_interrupts(kettle: Kettle, ollama: OllamaServer) -> None:
    chat = FakeChat()
    ollama.script(*["hang"] * 4)
    for _ in range(3):
        async with house(kettle, ollama_host=ollama.url) as bot:
            FakeStage(bot, chat)
            if not chat.messages:
                message, said = keep(chat, PORT)
                work = asyncio.create_task(bot.dispatch.message(chat, message))
            else:
                work = asyncio.create_task(bot.dispatch.resume(chat))
            await until(lambda: ollama.running)
            await bot.dispatch.stop()
            await asyncio.gather(work, return_exceptions=True)
            [claim] = await bot.app.conversations.unanswered(0.0)
            assert claim.tries == 0
    async with house(kettle) as bot:
        stage = FakeStage(bot, chat)
        await bot.dispatch.resume(chat)
        [seen] = stage.replies(said)
        assert PORTS["2.0"] in seen.text


async def test_an_answer_whose_process_died_while_it_was_posted_is_not_found_anew(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    """People may have seen it and voted on it; nor is it too old, or given up, for it is there."""
    chat = FakeChat()
    async with house(kettle, ollama_host=ollama.url) as bot, FakeStage(bot, chat) as stage:
        seen = await ask(stage, PORT)
        key = f"fake:public:{chat.of(seen.id)['root']}"
        answer_id = await bot.app.conversations.answer_of(f"fake:public:{seen.id}")
        was = await bot.app.conversations.claimed(key)
        assert was is not None
        await bot.app.conversations.reopen(key, was.payload, time.time() - 3600)
        await bot.app.conversations.posting(key, answer_id)
        chat.of(seen.id)["text"] = "Looking it up …"
        await stage.react("bob", seen, "👍")
        assert await bot.app.engine.opinion(answer_id, "fake:bob") == 1, "a vote counts already"
        for _ in range(MOST_TRIES):
            await bot.app.conversations.tried(key)
        calls = len(ollama.requests)
        await bot.dispatch.resume(chat)
        [now] = stage.replies(Said("", "public", chat.of(seen.id)["root"]))
        assert (now.id, now.text) == (seen.id, seen.text) and len(ollama.requests) == calls
        assert now.controls == seen.controls
        assert await bot.app.conversations.answer_of(f"fake:public:{seen.id}") == answer_id
        assert await open_keys(bot) == []


async def test_what_is_still_being_posted_at_a_stop_is_looked_for_by_the_next_process(
    kettle: Kettle,
) -> None:
    class Slow(FakeChat):
        """A platform that takes a message and says so only after the process is gone."""

        async def post(self, to: MessageRef, reply: Any) -> tuple[MessageRef, ...]:
            await super().post(to, reply)
            await asyncio.sleep(3600)
            return ()

    slow = Slow()
    async with house(kettle) as bot:
        FakeStage(bot, slow)
        message, said = keep(slow, PORT)
        work = asyncio.create_task(bot.dispatch.message(slow, message))
        await until(lambda: len(slow.messages) > 1)
        await bot.dispatch.stop()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        [claim] = await bot.app.conversations.unanswered(0.0)
        assert claim.tries == 1 and claim.parts == ()
    chat = FakeChat()
    chat.messages = slow.messages
    async with house(kettle) as bot:
        stage = FakeStage(bot, chat)
        await bot.dispatch.resume(chat)
        [seen] = stage.replies(said)
        assert PORTS["2.0"] in seen.text


async def test_what_is_too_old_is_told_so_although_nothing_was_said_yet(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        message, said = keep(stage.chat, PORT)
        await bot.app.conversations.claim(claimed(message, at=time.time() - 3600))
        await bot.dispatch.resume(stage.chat)
        [seen] = stage.replies(said)
        assert seen.text == "I was stopped before I could answer this. Please ask again."


async def test_a_follow_up_that_nobody_decided_on_in_time_is_told_so(bot: Bot) -> None:
    """Processes died for ten minutes before one of them looked whether it was for the bot."""
    async with FakeStage(bot) as stage:
        first, said = keep(stage.chat, PORT)
        second, _ = keep(stage.chat, "And in 1.0?", under=said)
        thanks, _ = keep(stage.chat, "thanks!", under=said)
        hour = time.time() - 3600
        await bot.app.conversations.claim(claimed(first, at=hour))
        for seconds, message in enumerate((second, thanks), 1):
            await bot.app.conversations.claim(claimed(message, at=hour + seconds, decided=False, tries=0))
        await bot.dispatch.resume(stage.chat)
        texts = [seen.text for seen in stage.replies(said)]
        assert texts == ["I was stopped before I could answer this. Please ask again."] * 2
        assert await open_keys(bot) == []
        assert await bot.app.conversations.claimed(thanks.key) is None, "it was not for the bot"


async def test_a_follow_up_is_one_although_what_it_follows_is_not_answered_yet(bot: Bot) -> None:
    """So much waits after a restart that the question's turn has not come."""
    async with FakeStage(bot) as stage:
        first, said = keep(stage.chat, PORT)
        second, _ = keep(stage.chat, "And in 1.0?", under=said)
        others, _ = keep(stage.chat, "And in 1.0?", who="bob", under=said)
        await bot.app.conversations.claim(claimed(first, at=time.time() - 9))
        for seconds, message in ((8, second), (7, others)):
            at = time.time() - seconds
            await bot.app.conversations.claim(claimed(message, at=at, decided=False, tries=0))
        triggers = Triggers(
            bot.app.conversations,
            ChannelModes(FakeChannels(), {}),
            bot.dispatch.opted_out,
            bot.dispatch.unsolicited,
        )
        assert await triggers.goes_on(stage.chat, second)
        assert not await triggers.goes_on(stage.chat, others), "somebody else's question waits there"


async def test_an_edit_of_what_may_be_for_the_bot_is_what_is_answered(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    ollama.script("hang")
    async with house(kettle, ollama_host=ollama.url) as bot, FakeStage(bot) as stage:
        first, said = keep(stage.chat, PORT)
        second, follow_up = keep(stage.chat, "And in 0.0?", under=said)
        work = [asyncio.create_task(bot.dispatch.message(stage.chat, m)) for m in (first, second)]
        await until(lambda: ollama.running)
        await until(lambda: len(stage.chat.messages) > 2)
        await stage.edit(follow_up, "And in 1.0?")
        await asyncio.gather(*work)
        texts = [seen.text for seen in stage.replies(said)]
        assert len(texts) == 2 and "1.0" in texts[1], texts


async def test_a_question_by_command_of_a_dead_process_is_answered_to_who_gave_it(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        where = MessageRef("fake", "public", "")
        command = Command("ask", PORT, person("ann"), where, scope("public"), "c1")
        payload = {"to": {"who": "ann"}, "command": packed(command)}
        claim = Claim("fake:command:c1", "", "fake:ann", time.time(), payload, kind="command")
        await bot.app.conversations.claim(claim, "c1")
        await bot.dispatch.resume(stage.chat)
        [told] = stage.heard("ann")
        assert PORTS["2.0"] in told
        await bot.dispatch.resume(stage.chat)
        assert len(stage.heard("ann")) == 1 and await open_keys(bot) == []


async def test_any_other_command_of_a_dead_process_is_given_up_with_a_word(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        await bot.dispatch.take("fake", "command", "c2", "fake:boss", {"who": "boss"})
        claim = Claim(
            "fake:command:c3", "", "fake:boss", time.time(), {"to": {"who": "boss"}}, kind="command"
        )
        await bot.app.conversations.claim(claim, "c3")
        await bot.dispatch.resume(stage.chat)
        assert stage.heard("boss") == ["I was restarted before I could do this. Please try again."]
        assert await open_keys(bot) == ["fake:command:c2"], "that of this process is under way"


async def test_one_that_cannot_be_dealt_with_keeps_no_other_waiting(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    async with FakeStage(bot) as stage:
        for event, to in (("c1", {"nobody": "x"}), ("c2", {"who": "boss"})):
            claim = Claim(f"fake:command:{event}", "", "fake:boss", time.time(), {"to": to}, kind="command")
            await bot.app.conversations.claim(claim, event)
        await bot.dispatch.resume(stage.chat)
        assert stage.heard("boss") == ["I was restarted before I could do this. Please try again."]
        assert "fake:command:c1, which an earlier process left, cannot be dealt with" in caplog.text
        assert await open_keys(bot) == ["fake:command:c1"], "the next process tries again"


async def test_a_vote_by_button_of_a_dead_process_is_counted_once(bot: Bot) -> None:
    """The process died before or after it counted the vote; a press that is repeated takes nothing back."""
    async with FakeStage(bot) as stage:
        seen = await ask(stage, PORT)
        answer_id = await bot.app.conversations.answer_of(f"fake:public:{seen.id}")
        ref = MessageRef("fake", "public", seen.id, stage.chat.of(seen.id)["root"])
        press = Press("up", answer_id, ref, person("bob"), scope("public"), event="p1", again=False)
        payload = {"to": {"who": "bob"}, "press": packed(press)}
        for turn in range(2):
            claim = Claim(f"fake:press:p{turn}", "", "fake:bob", time.time(), payload, kind="press")
            await bot.app.conversations.claim(claim, f"p{turn}")
            await bot.dispatch.resume(stage.chat)
            assert await bot.app.engine.opinion(answer_id, "fake:bob") == 1
        assert len(stage.heard("bob")) == 2 and await open_keys(bot) == []


async def test_a_vote_that_was_only_noted_is_counted_by_the_next_process(bot: Bot) -> None:
    """The process died right after the acknowledgement, before it looked at the vote."""
    async with FakeStage(bot) as stage:
        seen = await ask(stage, PORT)
        answer_id = await bot.app.conversations.answer_of(f"fake:public:{seen.id}")
        ref = MessageRef("fake", "public", seen.id, stage.chat.of(seen.id)["root"])
        press = Press("up", answer_id, ref, person("bob"), scope("public"), event="p1", again=False)
        assert await bot.dispatch.take("fake", "press", "p1", "fake:bob", {"who": "bob"}, press)
        await dispatch_of(bot.app).resume(stage.chat)
        assert await bot.app.engine.opinion(answer_id, "fake:bob") == 1 and await open_keys(bot) == []


async def test_a_vote_that_a_stop_interrupts_is_counted_by_the_next_process(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeStage(bot) as stage:
        seen = await ask(stage, PORT)
        answer_id = await bot.app.conversations.answer_of(f"fake:public:{seen.id}")
        ref = MessageRef("fake", "public", seen.id, stage.chat.of(seen.id)["root"])
        press = Press("up", answer_id, ref, person("bob"), scope("public"), event="p1")
        begun = asyncio.Event()

        async def stalled(*given: object, **more: object) -> None:
            begun.set()
            await asyncio.Event().wait()

        with monkeypatch.context() as patched:
            patched.setattr(bot.app.engine, "feedback", stalled)
            pressing = asyncio.create_task(
                bot.dispatch.press(stage.chat, press, stage.chat.responder({"who": "bob"}))
            )
            await begun.wait()
            await bot.dispatch.stop()
            await asyncio.wait({pressing})
        await dispatch_of(bot.app).resume(stage.chat)
        assert await bot.app.engine.opinion(answer_id, "fake:bob") == 1 and await open_keys(bot) == []


@pytest.mark.parametrize("stands", [False, True])
async def test_an_answer_that_was_being_shared_is_not_asked_anew(stands: bool, bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        await stage.slash("ann", "ask", PORT)
        [told] = stage.chat.told["ann"]
        share = next(control for control in told.controls if control.name == "share")
        answer_id = share.value.split()[0]
        where = MessageRef("fake", "public", "", "")
        asked = Message(where, person("ann"), PORT, scope("public"))
        key = f"{where.key}@{answer_id}"
        claim = Claim(key, where.conversation, "fake:ann", time.time(), packed(asked), kind="share")
        await bot.app.conversations.claim(claim)
        stage.chat.keep("bot", "public", "", "Good morning, here are the gaps of the week.")
        if stands:
            stage.chat.keep("bot", "public", "", f"**ann** asked:\n> {PORT}\n\n{told.markdown}")
        before = len(stage.chat.messages)
        await bot.dispatch.resume(stage.chat)
        assert len(stage.chat.messages) == before and await open_keys(bot) == []
        latest = replace(where, message=str(stage.chat.messages[-1]["id"]))
        assert await bot.app.conversations.answer_of(latest.key) == (answer_id if stands else "")


async def test_the_same_event_twice_is_carried_out_once(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        await ask(stage, PORT)
        await stage.slash("ann", "ask", NIGHT)
        asked = await bot.app.conversations.taken("none")
        assert not asked
        before = len(stage.heard("ann"))
        where = MessageRef("fake", "public", "")
        command = Command("ask", PORT, person("ann"), where, scope("public"), "same")
        responder = stage.chat.responder({"who": "ann"})
        assert responder is not None
        assert await bot.dispatch.take("fake", "command", "same", "fake:ann", responder.address)
        assert not await bot.dispatch.take("fake", "command", "same", "fake:ann", responder.address)
        await asyncio.gather(*(bot.dispatch.command(stage.chat, command, responder) for _ in range(2)))
        assert len(stage.heard("ann")) == before + 1


async def test_a_question_is_answered_in_the_language_that_is_found_out_after_it_is_taken(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", "Auf welchem Port lauscht das Dashboard denn eigentlich?", to="bot")
        await answer(stage, said)
        claim = await bot.app.conversations.claimed(f"fake:public:{said.id}")
        assert claim is not None and claim.language == "de"


async def test_a_follow_up_whose_thread_cannot_be_read_just_now_is_answered(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        read, tried = stage.chat.history, []

        async def once(before: MessageRef, limit: int) -> Any:
            tried.append(limit)
            if len(tried) == 1:
                raise PlatformError("Discord answered 503.")
            return await read(before, limit)

        monkeypatch.setattr(stage.chat, "history", once)
        await stage.say("ann", "And in 1.0?", under=said)
        assert PORTS["1.0"] in (await answer(stage, said, 2)).text and len(tried) > 1


async def test_what_cannot_be_said_instead_of_an_answer_holds_nothing_up(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeStage(bot) as stage:
        said = await stage.say("ann", PORT, to="bot")
        await answer(stage, said)
        post = stage.chat.post

        async def refused(where: MessageRef, reply: Reply) -> Any:
            raise PlatformError("Discord answered 503.")

        monkeypatch.setattr(stage.chat, "post", refused)
        await stage.say("ann", "thanks!", to="bot", under=said)
        await stage.quiet()
        monkeypatch.setattr(stage.chat, "post", post)
        assert await open_keys(bot) == []
        await asyncio.wait_for(stage.say("ann", "And in 1.0?", under=said), 20)
        assert PORTS["1.0"] in (await answer(stage, said, 2)).text
