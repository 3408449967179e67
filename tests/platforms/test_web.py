"""The playground over HTTP: what people do there, who may see it, and what dispatch is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.platforms.web.people import mentions_bot, mentions_others, without_mention
from bot.platforms.web.room import LOOK_SECONDS
from bot.ports.chat import DOWN, UP, Reply
from core.domain import MessageRef, Scope
from core.errors import PlatformRejected
from tests.platforms.web_client import Client, Stream, serving, settings, until
from tests.platforms.web_dispatch import ANSWER, FakeDispatch


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Client]:
    async with serving(settings(tmp_path), FakeDispatch()) as client:
        yield client


# --- asking -----------------------------------------------------------------------------------


async def test_question_in_help_streams_an_answer_into_its_thread(web: Client) -> None:
    async with Stream(web, "ada") as stream:
        root = await web.say("How do I test a redirect in 2.3?")
        _, asked = await stream.until("posted")
        assert (asked["id"], asked["thread"], asked["author"]) == (root, "", "ada")
        _, begun = await stream.until("posted", author="threadlore")
        assert (begun["thread"], begun["final"]) == (root, False)
        _, done = await stream.until("edited", final=True)
    assert done["text"].startswith(ANSWER)
    assert (done["release"], done["answer"]) == ("2.3", "a0000001")
    told = web.dispatch.messages[0]
    assert told.ref == MessageRef("web", "help", root, root)
    assert (told.scope, told.mentions_bot, told.author.id, told.author.admin) == (
        Scope(),
        True,
        "web:ada",
        False,
    )


async def test_a_message_is_acknowledged_once_it_is_claimed_or_waits_for_room(web: Client) -> None:
    web.dispatch.claims.clear()
    asking = asyncio.create_task(web.say("How do I test a redirect?"))
    await until(lambda: web.dispatch.messages)
    with pytest.raises(TimeoutError):  # longer than a look takes
        await asyncio.wait_for(asyncio.shield(asking), 3 * LOOK_SECONDS)
    web.dispatch.waiting.add(web.dispatch.messages[0].ref.key)
    assert await asking, "its thread says that it waits"
    web.dispatch.waiting.clear()
    asking = asyncio.create_task(web.say("And a cookie?"))
    await until(lambda: len(web.dispatch.messages) == 2)
    web.dispatch.claims.set()
    assert await asking


async def test_growing_answer_is_throttled_but_always_ends_whole(web: Client) -> None:
    shown = 0
    async with Stream(web, "ada") as stream:
        await web.say("How?")
        while True:
            kind, _, data = await stream.next()
            shown += kind == "edited"
            if kind == "edited" and data["final"]:
                break
    assert shown < len(ANSWER.split(" ")) / 2
    assert data["text"].startswith(ANSWER)


async def test_follow_up_has_the_thread_as_history(web: Client) -> None:
    root = await web.say("How do I test in 2.3?")
    first = await web.answer(root)
    await web.say("And in 3.1?", thread=root)
    await until(lambda: len(web.dispatch.histories) == 2)
    question, answer = web.dispatch.histories[1]
    assert (question.role, question.text, question.author) == ("user", "How do I test in 2.3?", "web:ada")
    assert (answer.role, answer.text, answer.author, answer.release) == (
        "assistant",
        first["text"],
        "",
        "2.3",
    )
    assert web.dispatch.messages[1].mentions_bot is False
    assert web.dispatch.messages[1].ref.thread == root


async def test_history_is_cut_to_the_latest_and_never_shows_other_threads(web: Client) -> None:
    other = await web.say("Elsewhere", channel="general")
    root = await web.say("one", channel="general")
    for text in ("two", "three", "four"):
        last = await web.say(text, channel="general", thread=root)
    turns = await web.playground.chat.history(MessageRef("web", "general", last, root), 2)
    assert [turn.text for turn in turns] == ["two", "three"]
    assert await web.playground.chat.history(MessageRef("web", "general", last, root), 0) == []
    assert await web.playground.chat.history(MessageRef("web", "general", other, other), 5) == []


async def test_general_needs_a_mention(web: Client) -> None:
    await web.say("Good morning", channel="general")
    await web.say("@Threadlore, how do I test?", channel="general")
    await web.say("@Ben do you know?", channel="general")
    await until(lambda: len(web.dispatch.messages) == 3)
    seen = [(m.text, m.mentions_bot, m.mentions_others) for m in web.dispatch.messages]
    assert seen == [
        ("Good morning", False, False),
        ("how do I test?", True, False),
        ("@Ben do you know?", False, True),
    ]


@pytest.mark.parametrize(
    ("text", "bot", "others", "rest"),
    [
        ("hi @threadlore how?", True, False, "hi how?"),
        ("@THREADLORE: how?", True, False, "how?"),
        (
            "write to bot@threadlore.org or `@threadlore`",
            False,
            False,
            "write to bot@threadlore.org or `@threadlore`",
        ),
        ("@threadlores are many", False, False, "@threadlores are many"),
        ("@chloe and @Chloé", False, True, "@chloe and @Chloé"),
        ("@everyone look", False, True, "@everyone look"),
        ("@adamant", False, False, "@adamant"),
    ],
)
def test_mentions_are_read_as_words(text: str, bot: bool, others: bool, rest: str) -> None:
    assert (mentions_bot(text), mentions_others(text), without_mention(text)) == (bot, others, rest)


async def test_direct_message_has_no_thread_and_its_own_scope(web: Client) -> None:
    first = await web.say("How?", channel="dm-ada")
    await until(lambda: len(web.dispatch.answers) == 1)
    await web.say("And in 3.1?", channel="dm-ada")
    await until(lambda: len(web.dispatch.histories) == 2)
    told = web.dispatch.messages[0]
    assert told.ref == MessageRef("web", "dm-ada", first, "")
    assert told.scope == Scope("direct", "web:dm-ada") and not told.scope.remembered
    assert told.mentions_bot
    assert [turn.role for turn in web.dispatch.histories[1]] == ["user", "assistant"]


# --- who may see and do what ------------------------------------------------------------------


async def test_private_channel_and_foreign_direct_messages_are_hidden(web: Client) -> None:
    async with Stream(web, "ben") as stream:
        secret = await web.say("@Threadlore rotate the key", person="chloe", channel="maintainers")
        await web.say("Just me", channel="dm-ada")
        await until(lambda: len(web.dispatch.answers) == 2)
        await web.say("Hello all", channel="general")
        while (told := await stream.next())[0] in ("direct", "modes", "releases"):
            assert "text" not in told[2]
        kind, _, data = told  # no words came before this
        assert (kind, data["text"]) == ("posted", "Hello all")
    _, ben = await web.call("GET", "/api/state?person=ben")
    assert [c["id"] for c in ben["channels"]] == ["help", "general", "forum", "dm-ben"]
    assert [m["text"] for m in ben["messages"]] == ["Hello all"]
    assert "@Threadlore rotate the key" in [m["text"] for m in await web.messages("ada")]
    assert web.dispatch.messages[0].scope == Scope("private", "web:maintainers")
    for call in (
        web.post("/api/messages", person="ben", channel="maintainers", text="hi"),
        web.post("/api/messages", person="ben", channel="general", thread=secret, text="hi"),
        web.post("/api/reactions", person="ben", message=secret, emoji=UP, added=True),
        web.post("/api/commands", person="ben", channel="dm-ada", text="/ask hi"),
        web.call("PATCH", f"/api/messages/{secret}", json={"person": "ben", "text": "hi"}),
    ):
        status, told = await call
        assert status == 404, told


async def test_why_is_told_to_those_who_can_read_the_answer(web: Client) -> None:
    root = await web.say("@Threadlore how?", person="chloe", channel="maintainers")
    answer = (await web.answer(root, "chloe"))["answer"]
    status, told = await web.call("GET", f"/api/answers/{answer}/why?person=ada")
    assert (status, told["route"], told["release"]) == (200, "quote", "2.3")
    for query in ("?person=ben", ""):
        status, told = await web.call("GET", f"/api/answers/{answer}/why{query}")
        assert (status, "sentences" in told) == (404, False)
    assert (await web.call("GET", "/api/answers/nothing/why?person=ada"))[0] == 404
    root = await web.say("How?")
    public = (await web.answer(root))["answer"]
    assert (await web.call("GET", f"/api/answers/{public}/why"))[0] == 200


async def test_only_the_author_edits_and_deletes(web: Client) -> None:
    root = await web.say("How do I tset?")
    answer = await web.answer(root)
    path = f"/api/messages/{root}"
    assert (await web.call("PATCH", path, json={"person": "ben", "text": "mine"}))[0] == 403
    assert (await web.call("DELETE", f"/api/messages/{answer['id']}", json={"person": "ada"}))[0] == 403
    assert (await web.call("PATCH", path, json={"person": "ada", "text": "How do I tset?"}))[0] == 200
    assert web.dispatch.edits == []
    assert (await web.call("PATCH", path, json={"person": "ada", "text": "@Threadlore test in 3.1?"}))[
        0
    ] == 200
    await until(lambda: len(web.dispatch.answers) == 2)
    assert (web.dispatch.edits[0].text, web.dispatch.edits[0].mentions_bot) == ("test in 3.1?", True)
    edited, again = await web.messages()
    assert (edited["edited"], edited["text"]) == (True, "@Threadlore test in 3.1?")
    assert (again["id"], again["edited"], again["release"]) == (answer["id"], False, "3.1")


async def test_deleting_a_question_takes_its_answer_and_leaves_peoples_replies(web: Client) -> None:
    root = await web.say("How?")
    await web.answer(root)
    reply = await web.say("@Ada look here", person="ben", thread=root)
    async with Stream(web, "ada") as stream:
        assert (await web.call("DELETE", f"/api/messages/{root}", json={"person": "ada"}))[0] == 200
        await stream.until("deleted", thread=root)
        mark, kept = await web.messages()
        assert (mark["id"], mark["gone"], mark["text"], kept["id"]) == (root, True, "", reply)
        assert (await web.call("DELETE", f"/api/messages/{reply}", json={"person": "ben"}))[0] == 200
        await stream.until("deleted", id=reply)
        await stream.until("deleted", id=root)
    assert await web.messages() == []
    assert [ref.message for ref in web.dispatch.deletions] == [root, reply]


# --- votes ------------------------------------------------------------------------------------


async def test_votes_toggle_switch_and_count_people_only(web: Client) -> None:
    root = await web.say("How?")
    answer = await web.answer(root)
    assert not any(answer["reactions"].values())  # seeded, but the bot does not count

    async def vote(person: str, emoji: str, added: bool) -> dict[str, list[str]]:
        status, told = await web.post(
            "/api/reactions", person=person, message=answer["id"], emoji=emoji, added=added
        )
        assert status == 200, told
        return {thumb: told["reactions"][thumb] for thumb in (UP, DOWN)}

    assert await vote("ada", UP, True) == {UP: ["ada"], DOWN: []}
    assert await vote("ada", UP, True) == {UP: ["ada"], DOWN: []}
    assert await vote("ben", ":+1:", True) == {UP: ["ada", "ben"], DOWN: []}
    assert await vote("ada", DOWN, True) == {UP: ["ben"], DOWN: ["ada"]}
    assert await vote("ben", DOWN, False) == {UP: ["ben"], DOWN: ["ada"]}
    assert await vote("ada", DOWN, False) == {UP: ["ben"], DOWN: []}
    told = [(r.person.id, r.emoji, r.added) for r in web.dispatch.reactions]
    assert told == [
        ("web:ada", UP, True),
        ("web:ada", UP, True),  # a process that died may have shown it only
        ("web:ben", UP, True),
        ("web:ada", UP, False),
        ("web:ada", DOWN, True),
        ("web:ada", DOWN, False),
    ]
    assert {r.ref for r in web.dispatch.reactions} == {MessageRef("web", "help", answer["id"], root)}
    assert len({r.event for r in web.dispatch.reactions}) == 6


async def test_vote_that_dispatch_fails_on_is_logged_not_lost(
    web: Client, caplog: pytest.LogCaptureFixture
) -> None:
    root = await web.say("How?")
    answer = await web.answer(root)
    web.dispatch.reactions = None  # type: ignore[assignment]
    status, told = await web.post("/api/reactions", person="ada", message=answer["id"], emoji=UP, added=True)
    assert (status, told["reactions"][UP]) == (200, ["ada"])
    assert "a reaction in the playground was not taken" in caplog.text


# --- commands ---------------------------------------------------------------------------------


async def test_command_is_answered_to_its_caller_alone(web: Client) -> None:
    status, told = await web.post(
        "/api/commands", person="chloe", channel="general", text="/threadlore status "
    )
    assert status == 202
    await until(lambda: bool(web.dispatch.commands))
    command = web.dispatch.commands[0]
    assert (command.name, command.text, command.person.admin) == ("threadlore", "status", True)
    assert (command.where.channel, command.where.thread) == ("general", "")
    (seen,) = await web.messages("chloe")
    assert (seen["id"], seen["only"], seen["final"]) == (told["id"], True, True)
    assert (seen["text"], seen["command"]) == ("You asked for **status**.", "/threadlore status")
    assert await web.messages("ada") == []
    await web.post("/api/commands", person="ben", channel="general", text="/ask\nHow do I\nrun it?")
    await until(lambda: len(web.dispatch.commands) == 2)
    asked = web.dispatch.commands[1]
    assert (asked.name, asked.text) == ("ask", "How do I\nrun it?")
    assert web.dispatch.typed == ["/threadlore", "/ask"], "what was typed is not noted"
    await web.post("/api/commands", person="chloe", channel="general", text="/threadlore forget @Ben x@ben")
    await until(lambda: len(web.dispatch.commands) == 3)
    assert web.dispatch.commands[2].text == "forget <@ben> x@ben", "as other platforms write people"


async def test_command_that_breaks_says_so_and_progress_is_one_message(web: Client) -> None:
    await web.post("/api/commands", person="chloe", channel="general", text="/threadlore reindex 2.3")
    await until(lambda: bool(web.dispatch.commands))
    assert [m["text"] for m in await web.messages("ben")] == ["900 of 900 passages"]
    await web.post("/api/commands", person="ada", channel="dm-ada", text="/ask fail")
    await until(lambda: len(web.dispatch.commands) == 2)
    (last,) = [m for m in await web.messages("ada") if m["channel"] == "dm-ada"]
    assert last["final"] and "went wrong" in last["text"]
    status, told = await web.post("/api/commands", person="ada", channel="general", text="/remind me")
    assert status == 422 and "/threadlore" in told["error"]


# --- the chat's promises ----------------------------------------------------------------------


async def test_posting_where_the_thread_is_gone_is_refused(web: Client) -> None:
    chat = web.playground.chat
    with pytest.raises(PlatformRejected, match="deleted"):
        await chat.post(MessageRef("web", "help", "1", "1"), Reply("hi"))
    with pytest.raises(PlatformRejected, match="channel"):
        await chat.post(MessageRef("web", "nowhere", "1", "1"), Reply("hi"))
    with pytest.raises(PlatformRejected, match="deleted"):
        await chat.edit((MessageRef("web", "help", "1", "1"),), Reply("hi"))
    await chat.delete((MessageRef("web", "help", "1", "1"),))
    await chat.seed_votes(MessageRef("web", "help", "1", "1"))


async def test_a_source_is_told_to_who_can_read_its_answer(web: Client) -> None:
    root = await web.say("@Threadlore how do I test?", person="chloe", channel="maintainers")
    answer = (await web.answer(root, "chloe"))["answer"]
    path = f"/api/answers/{answer}/sources"
    status, told = await web.call("GET", f"{path}/1?person=chloe")
    assert status == 200 and told["path"] == "testing.rst" and "requests" in told["text"]
    for wrong in (f"{path}/1?person=ben", f"{path}/9?person=chloe", f"{path}/x?person=chloe"):
        status, told = await web.call("GET", wrong)
        assert (status, told["error"]) == (404, "This source is not known any more.")


async def test_the_state_tells_commands_modes_and_whom_the_bot_wrote_to(web: Client) -> None:
    root = await web.say("How?", person="hana", channel="dm-hana")
    await until(lambda: len(web.dispatch.answers) == 1)
    _, told = await web.call("GET", "/api/state?person=ada")
    assert "/threadlore mode" not in {command["line"] for command in told["commands"]}
    modes = {channel["id"]: (channel["mode"], channel["forum"]) for channel in told["channels"]}
    assert modes["forum"] == ("forum", True) and modes["general"] == ("mentions", False)
    wrote = {person["id"]: person["direct"] for person in told["people"]}
    assert int(wrote["hana"]) > int(root) and wrote["ada"] == ""
    _, told = await web.call("GET", "/api/state?person=chloe")
    assert "/threadlore mode" in {command["line"] for command in told["commands"]}
