"""Emoji, buttons, menus, forms, links and whispers of the playground, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.ports.chat import ACCEPT, DOWN, OBJECT, UP, Person, Reaction, Reply
from core.domain import MessageRef, Scope
from core.errors import PlatformRejected
from tests.platforms.web_client import Client, serving, settings, until
from tests.platforms.web_dispatch import WRONG, FakeDispatch, controls_for


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Client]:
    async with serving(settings(tmp_path), FakeDispatch()) as client:
        yield client


async def press(
    web: Client, post: dict[str, Any], name: str, value: str = "", person: str = "ada", **fields: str
) -> tuple[int, Any]:
    value = value or post["answer"]
    body = {"person": person, "message": post["id"], "name": name, "value": value, "fields": fields}
    return await web.post("/api/presses", **body)


async def alone(web: Client, person: str = "ada") -> list[str]:
    """Return what that person alone was told."""
    return [m["text"] for m in await web.messages(person) if m["only"]]


# --- controls ---------------------------------------------------------------------------------


async def test_controls_hang_under_the_finished_answer_and_a_press_is_told_whole(web: Client) -> None:
    root = await web.say("How do I test in 2.3?")
    post = await web.answer(root)
    assert [control["name"] for control in post["controls"]] == ["up", "down", "release", "why", "delete"]
    assert post["controls"][2]["choices"] == [{"value": f"{post['answer']} 3.1", "label": "Flask 3.1"}]
    status, told = await press(web, post, "why", person="hana")
    assert (status, told) == (200, {"form": None})
    (seen,) = web.dispatch.presses
    assert (seen.name, seen.value, seen.fields) == ("why", post["answer"], {})
    assert seen.ref == MessageRef("web", "help", post["id"], root) and seen.scope == Scope()
    assert (seen.person.id, seen.person.helper, seen.person.admin) == ("web:hana", True, False)
    assert await alone(web, "hana") == ["Because the pages say so."]
    assert await alone(web) == []


async def test_a_second_press_replaces_what_the_first_one_said(web: Client) -> None:
    post = await web.answer(await web.say("How?"))
    for _ in range(2):
        await press(web, post, "why", person="ben")
    await press(web, post, "delete", person="ben")
    assert await alone(web, "ben") == ["Only Ada or an admin may delete this."]
    (said,) = [m for m in await web.messages("ben") if m["only"]]
    assert said["thread"] == post["thread"]
    path = f"/api/messages/{said['id']}"
    assert (await web.call("DELETE", path, json={"person": "ada"}))[0] == 404
    assert (await web.call("DELETE", path, json={"person": "ben"}))[0] == 200
    assert await alone(web, "ben") == [] and web.dispatch.deletions == []


async def test_what_was_said_about_a_message_goes_with_it(web: Client) -> None:
    post = await web.answer(await web.say("How?"))
    await press(web, post, "why", person="ben")
    assert await press(web, post, "delete") == (200, {"form": None})
    assert await alone(web, "ben") == []


async def test_menu_sends_the_line_that_was_chosen(web: Client) -> None:
    post = await web.answer(await web.say("How do I test in 2.3?"))
    assert (await press(web, post, "release", f"{post['answer']} 3.1"))[0] == 200
    last = (await web.messages())[-1]
    assert (last["text"], last["thread"], last["release"]) == (
        "For 3.1 it is the same.",
        post["thread"],
        "3.1",
    )
    for name, value in (
        ("release", f"{post['answer']} 9"),
        ("up", "another"),
        ("share", ""),
        ("release", ""),
    ):
        status, told = await press(web, post, name, value)
        assert status == 404 and "button" in told["error"], (name, value)
    assert len(web.dispatch.presses) == 1


async def test_press_that_deletes_and_presses_of_strangers(web: Client) -> None:
    root = await web.say("@Threadlore how?", person="chloe", channel="maintainers")
    post = await web.answer(root, "chloe")
    assert (await press(web, post, "why", person="ben"))[0] == 404
    assert (await press(web, post, "delete", person="ada"))[0] == 200
    assert [m["id"] for m in await web.messages("chloe")] == [root]
    assert (await press(web, post, "why", person="chloe"))[0] == 404
    assert [p.scope for p in web.dispatch.presses] == [Scope("private", "web:maintainers")]
    for body in ({"name": 5}, {"name": "up", "value": []}, {"name": "up", "value": "", "fields": [1]}):
        assert (await web.post("/api/presses", person="ada", message=root, **body))[0] == 422


async def test_a_button_and_an_emoji_are_one_opinion(web: Client) -> None:
    post = await web.answer(await web.say("How?"))

    async def thumbs() -> tuple[list[str], list[str]]:
        (now,) = [m for m in await web.messages() if m["id"] == post["id"]]
        return now["reactions"][UP], now["reactions"][DOWN]

    await press(web, post, "up", person="ben")
    assert await thumbs() == (["ben"], [])
    await web.post("/api/reactions", person="ben", message=post["id"], emoji=DOWN, added=True)
    assert await thumbs() == ([], ["ben"])
    await press(web, post, "up", person="ben")
    assert await thumbs() == (["ben"], [])
    told = [(r.emoji, r.added) for r in web.dispatch.reactions]
    assert told == [(UP, False), (DOWN, True), (DOWN, False)]
    await press(web, post, "up", person="ben")
    assert await thumbs() == ([], [])
    await press(web, post, "why", person="ben")
    told_of = [(p.name, p.again) for p in web.dispatch.presses]
    assert told_of == [("up", False), ("up", False), ("up", True), ("why", None)]
    assert len(web.dispatch.reactions) == 3, "a button takes its vote back by itself"


async def test_clicks_at_the_same_time_and_an_edit_lose_nothing(web: Client) -> None:
    post = await web.answer(await web.say("How?"))
    gate, heard = asyncio.Event(), list[tuple[str, str, bool]]()

    async def slow(chat: object, reaction: Reaction) -> None:
        await gate.wait()
        heard.append((reaction.person.id, reaction.emoji, reaction.added))

    web.dispatch.reaction = slow  # type: ignore[method-assign]

    async def react(person: str, emoji: str) -> None:
        body = {"person": person, "message": post["id"], "emoji": emoji, "added": True}
        assert (await web.post("/api/reactions", **body))[0] == 200

    async def now() -> dict[str, Any]:
        return next(m for m in await web.messages() if m["id"] == post["id"])

    clicks = [asyncio.create_task(react(*one)) for one in (("ada", UP), ("ben", UP), ("hana", ACCEPT))]
    await until(lambda: _shown(now, [2, 0, 1, 0]))
    clicks.append(asyncio.create_task(react("ada", DOWN)))
    await until(lambda: _shown(now, [1, 1, 1, 0]))
    part = MessageRef("web", "help", post["id"], post["thread"])
    await web.playground.chat.edit((part,), Reply("Another text.", answer_id=post["answer"]))
    gate.set()
    await asyncio.gather(*clicks)
    assert (await now())["text"] == "Another text." and await _shown(now, [1, 1, 1, 0])
    assert [one for one in heard if one[0] == "web:ada"] == [
        ("web:ada", UP, True),
        ("web:ada", UP, False),
        ("web:ada", DOWN, True),
    ]
    assert len(heard) == 5


async def _shown(now: Callable[[], Awaitable[dict[str, Any]]], counts: list[int]) -> bool:
    return [len(who) for who in (await now())["reactions"].values()] == counts


async def test_press_that_breaks_says_so(web: Client) -> None:
    post = await web.answer(await web.say("How?"))
    web.dispatch.presses = None  # type: ignore[assignment]
    assert (await press(web, post, "why"))[0] == 200
    await until(lambda: True)
    (said,) = await alone(web)
    assert "went wrong" in said


# --- forms ------------------------------------------------------------------------------------


async def test_form_opens_for_the_press_and_comes_back_filled(web: Client) -> None:
    post = await web.answer(await web.say("How?"))
    status, told = await press(web, post, "down", person="hana")
    form = told["form"]
    assert (status, form["name"], form["title"], form["value"]) == (
        200,
        "wrong",
        WRONG.title,
        post["answer"],
    )
    assert [field["name"] for field in form["fields"]] == ["what", "better"]
    assert form["fields"][0]["required"] and form["fields"][0]["choices"][0]["value"] == "release"
    for fields in ({"better": "x"}, {"what": "nonsense"}, {"what": "wrong", "better": "x" * 13_000}):
        assert (await press(web, post, "wrong", person="hana", **fields))[0] in (413, 422)
    status, told = await press(web, post, "wrong", person="hana", what="wrong", better=" Use \x00it.\r\nYes ")
    assert (status, told) == (200, {"form": None})
    assert [(p.name, dict(p.fields)) for p in web.dispatch.presses] == [
        ("down", {}),
        ("wrong", {"what": "wrong", "better": "Use it.\nYes"}),
    ]
    assert await alone(web, "hana") == ["Noted: wrong."]


async def test_form_that_was_open_over_a_restart_is_taken(tmp_path: Path) -> None:
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        post = await web.answer(await web.say("How?"))
        await press(web, post, "down")
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        assert (await press(web, post, "up", person="ben"))[0] == 200
        assert (await press(web, post, "wrong", what="outdated"))[0] == 200
        assert dict(web.dispatch.presses[-1].fields) == {"what": "outdated"}
        status, told = await press(web, post, "wrong", "another", what="outdated")
        assert status == 404 and "out of date" in told["error"]


async def test_form_that_comes_too_late_is_refused_to_dispatch(web: Client) -> None:
    post = await web.answer(await web.say("How?"))
    refused: list[str] = []

    async def slow(chat: object, press: Any, responder: Any) -> None:
        await responder.reply(Reply("First this."))
        try:
            await responder.ask(WRONG)
        except PlatformRejected as error:
            refused.append(str(error))

    web.dispatch.press = slow  # type: ignore[method-assign]
    assert (await press(web, post, "why"))[1] == {"form": None}
    await until(lambda: bool(refused))
    assert "first" in refused[0]


# --- emoji, messages, links, whispers ---------------------------------------------------------


async def test_marks_on_anybodys_message(web: Client) -> None:
    root = await web.say("How do I wait?", channel="general")
    reply = await web.say("Use await.", person="ben", channel="general", thread=root)

    async def mark(person: str, emoji: str, added: bool = True) -> dict[str, list[str]]:
        status, told = await web.post(
            "/api/reactions", person=person, message=reply, emoji=emoji, added=added
        )
        assert status == 200, told
        return {key: who for key, who in told["reactions"].items() if who}

    assert await mark("hana", ACCEPT) == {ACCEPT: ["hana"]}
    assert await mark("hana", f"{OBJECT}\ufe0f") == {ACCEPT: ["hana"], OBJECT: ["hana"]}
    assert await mark("ada", ACCEPT) == {ACCEPT: ["hana", "ada"], OBJECT: ["hana"]}
    assert await mark("ada", ACCEPT) == {ACCEPT: ["hana", "ada"], OBJECT: ["hana"]}
    assert await mark("hana", OBJECT, False) == {ACCEPT: ["hana", "ada"]}
    told = [(r.person.id, r.person.helper, r.emoji, r.added) for r in web.dispatch.reactions]
    assert told == [
        ("web:hana", True, ACCEPT, True),
        ("web:hana", True, OBJECT, True),
        ("web:ada", False, ACCEPT, True),
        ("web:ada", False, ACCEPT, True),  # a process that died may have shown it only
        ("web:hana", True, OBJECT, False),
    ]
    assert (await web.post("/api/reactions", person="ada", message=reply, emoji="🎉", added=True))[0] == 422


async def test_message_question_and_link(web: Client) -> None:
    chat = web.playground.chat
    root = await web.say("@Threadlore how do I wait?", channel="general")
    answer = await web.answer(root)
    reply = await web.say("Use await.", person="hana", channel="general", thread=root)

    def ref(key: str, channel: str = "general") -> MessageRef:
        return MessageRef("web", channel, key, root)

    asked = await chat.message(ref(root))
    assert asked and (asked.text, asked.author.id, asked.mentions_bot) == (
        "how do I wait?",
        "web:ada",
        True,
    )
    said = await chat.message(ref(reply))
    assert said and said.author.helper and said.ref == ref(reply)
    bot = await chat.message(ref(answer["id"]))
    assert bot and bot.author.bot and bot.text == answer["text"] and not bot.mentions_bot
    assert await chat.question_of(ref(reply)) == asked
    assert await chat.question_of(ref(root)) is None
    assert await chat.permalink(ref(reply)) == f"{web.playground.url}/#/m/{reply}"
    assert await chat.permalink(ref("7")) == ""
    assert await chat.linked(f"{web.playground.url}/#/m/{reply}") == ref(reply)
    port = web.playground.url.rpartition(":")[2]
    assert await chat.linked(f"http://localhost:{port}/#/m/{reply}") == ref(reply), "as a page copies it"
    for other in (f"{web.playground.url}/#/m/7", f"https://example.org/#/m/{reply}", reply):
        assert await chat.linked(other) is None
    assert await chat.message(ref("7")) is None and await chat.message(ref(reply, "help")) is None
    await web.call("DELETE", f"/api/messages/{root}", json={"person": "ada"})
    assert await chat.message(ref(root)) is None and await chat.question_of(ref(reply)) is None


async def test_direct_messages_answer_no_thread(web: Client) -> None:
    first = await web.say("How?", channel="dm-ada")
    await until(lambda: len(web.dispatch.answers) == 1)
    assert await web.playground.chat.question_of(MessageRef("web", "dm-ada", first)) is None


async def test_whisper_is_heard_by_one_person_and_its_buttons_work(web: Client) -> None:
    chat = web.playground.chat
    post = await web.answer(await web.say("How?"))
    where = MessageRef("web", "help", post["id"], post["thread"])
    reply = Reply("What was wrong?", controls=controls_for(post["answer"], "2.3")[1:2])
    assert await chat.whisper(where, Person("web:ben"), reply)
    assert not await chat.whisper(where, Person("slack:U1"), reply)
    assert not await chat.whisper(MessageRef("web", "maintainers", "1", "1"), Person("web:ben"), reply)
    assert not await chat.whisper(MessageRef("web", "help", "1", "1"), Person("web:ben"), reply)
    (said,) = [m for m in await web.messages("ben") if m["only"]]
    assert (said["text"], said["thread"]) == ("What was wrong?", post["thread"])
    assert await alone(web) == []
    body = {"message": said["id"], "name": "down", "value": post["answer"]}
    assert (await web.post("/api/presses", person="ada", **body))[0] == 404
    status, told = await web.post("/api/presses", person="ben", **body)
    assert status == 200 and told["form"]["name"] == "wrong"
