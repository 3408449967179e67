"""What the bot says on Discord: threads, lengths, edits, votes, and what goes wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platforms.discord.markdown import LIMIT, for_discord, messages, units, without_previews
from bot.ports.chat import Reply
from core.domain import MessageRef, Turn
from core.errors import PlatformError, PlatformRejected

pytest_plugins = ["tests.platforms.discord_world"]


async def test_a_long_answer_is_cut_between_lines_of_code(world, recorder):
    code = "\n".join(f"value_{n} = call({n})  # a line of the example" for n in range(80))
    recorder.answer = f"Do this:\n\n```python\n{code}\n```\n\nThat is all."
    asked = await world.alice.send(world.help, f"{world.bot} show me")
    said = world.thread_of(asked).history()
    said = [m.content for m in said if m.author.id == world.env.bot.user.id and m.content]
    assert len(said) == 2 and len(recorder.parts) == 2
    assert said[0].endswith("\n```") and said[1].startswith("```python\nvalue_")
    assert "".join(said).count("value_") == 80


async def test_nobody_is_pinged(world, recorder):
    recorder.answer = f"@everyone @here {world.bob.mention} <@&{world.guild.default_role.id}> hi"
    asked = await world.alice.send(world.help, f"{world.bot} ping")
    said = world.thread_of(asked).last_message
    assert said.content.startswith("@\u200beveryone @\u200bhere <\u200b@") and not said.mention_everyone
    sent = [r.json for r in world.env.http_requests if r.method == "POST" and r.path.endswith("/messages")]
    assert all(body["allowed_mentions"]["parse"] == [] for body in sent)


@pytest.mark.parametrize("code", [50013, 160006])
async def test_where_no_thread_can_be_opened_the_answer_is_a_reply(world, recorder, platform, caplog, code):
    world.env.inject_error(
        "POST", "/channels/*/threads", status=403, code=code, message="no thread", times=None
    )
    recorder.answer = "Like this."
    for _ in range(2):
        asked = await world.alice.send(world.help, f"{world.bot} how?")
    said = world.help.last_message
    assert said.content == "Like this." and said.reference.message_id == asked.id
    assert recorder.parts == (MessageRef("discord", str(world.help.id), str(said.id), str(said.id)),)
    assert caplog.text.count("Create Public Threads") == 1
    recorder.answer = None
    follow_up = await world.alice.send(world.help, "and then?", reply_to=said)
    history = await platform.chat.history(recorder.of("message")[-1].ref, 10)
    assert [turn.text for turn in history] == ["how?", "Like this."]
    [edited] = await platform.chat.edit(recorder.parts, Reply("Like that."))
    await world.env.settle()
    assert edited == recorder.parts[0] and follow_up.id > said.id
    assert [m.content for m in world.help.history() if m.id == said.id] == ["Like that."]


async def test_without_the_permission_no_thread_is_tried(world, recorder):
    denied = discord.PermissionOverwrite(send_messages_in_threads=False)
    channel = world.guild.create_text_channel("strict", overwrites={world.env.bot.user: denied})
    recorder.answer = "Here."
    asked = await world.alice.send(channel, f"{world.bot} how?")
    assert channel.last_message.reference.message_id == asked.id and channel.threads == []


async def test_without_read_message_history_an_answer_is_no_reply(world, recorder, platform, caplog):
    """Discord refuses a reply with 160002 then, which kept people from their answers."""
    denied = discord.PermissionOverwrite(send_messages_in_threads=False, read_message_history=False)
    channel = world.guild.create_text_channel("strict", overwrites={world.env.bot.user: denied})
    recorder.answer = "Here."
    await world.alice.send(channel, f"{world.bot} how?")
    assert channel.last_message.content == "Here." and channel.last_message.reference is None
    assert "Read Message History" in caplog.text
    assert await platform.chat.history(recorder.of("message")[0].ref, 10) == []


async def test_a_thread_that_is_there_already_is_used(world, recorder, platform):
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    ref = recorder.of("message")[0].ref
    world.env.backend.create_thread(
        world.help.id, "by Bob", world.bob.id, message_id=asked.id, broadcast=False
    )
    world.env.inject_error("POST", "/channels/*/threads", status=400, code=160004, message="exists")
    [said] = await platform.chat.post(ref, Reply("Here."))
    assert said.thread == str(asked.id) and world.thread_of(asked).last_message.content == "Here."
    before = len(world.env.http_requests)
    await platform.chat.post(ref, Reply("And again."))
    assert not [r for r in world.env.http_requests[before:] if r.path.endswith("/threads")][1:]


async def test_an_edit_adds_and_deletes_messages_as_its_length_needs(world, recorder, platform):
    recorder.answer = "short"
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    thread = world.thread_of(asked)
    long = "\n\n".join(f"Paragraph {n}. " + "word " * 150 for n in range(6))
    parts = await platform.chat.edit(recorder.parts, Reply(long))
    assert len(parts) == 3 and parts[0] == recorder.parts[0]
    assert {part.thread for part in parts} == {str(asked.id)}
    assert [m.id for m in thread.history()][-3:] == [int(p.message) for p in parts]
    changed = await platform.chat.edit(parts, Reply(long.replace("Paragraph 5", "Paragraph five")))
    patched = [r.path for r in world.env.http_requests if r.method == "PATCH"]
    assert changed == parts and len(patched) == 2  # what did not change is not sent again
    assert await platform.chat.edit(parts, Reply("short again")) == parts[:1]
    assert thread.last_message.content == "short again"


async def test_a_growing_answer_is_edited_once_a_second(world, recorder, platform):
    now = [100.0]
    platform.chat._clock = lambda: now[0]
    recorder.answer = "Looking …"
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    thread = world.thread_of(asked)

    async def grown(text: str, *, final: bool = False) -> str:
        await platform.chat.edit(recorder.parts, Reply(text, final=final))
        return thread.last_message.content

    assert await grown("one") == "one", "the pages that are read are shown at once"
    assert await grown("one two") == "one"
    now[0] += 1.01
    assert await grown("one two") == "one two"
    now[0] += 0.5
    assert await grown("one two three") == "one two"
    assert await grown("one two three.", final=True) == "one two three."


async def test_deleting_what_is_gone_is_no_error(world, recorder, platform):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    thread = world.thread_of(asked)
    await platform.chat.delete(recorder.parts)
    assert all(m.content != "Like this." for m in thread.history())
    await platform.chat.delete(recorder.parts)
    with pytest.raises(PlatformError, match="deleted"):
        await platform.chat.edit(recorder.parts, Reply("again"))


async def test_half_an_answer_is_taken_back(world, recorder, platform):
    await world.alice.send(world.help, f"{world.bot} how?")
    ref = recorder.of("message")[0].ref
    [first] = await platform.chat.post(ref, Reply("first"))
    thread = world.help.threads[0]
    routes = world.env.backend.faults

    class SecondMessage(dict):
        """A fault that lets one message through."""

        seen = 0

        def __getitem__(self, key):
            if key == "method":
                self.seen += 1
                return "POST" if self.seen == 2 else "NONE"
            return super().__getitem__(key)

    routes.append(
        SecondMessage(method="POST", path="*/messages", status=403, code=160005, message="locked", times=1)
    )
    with pytest.raises(PlatformRejected, match="locked"):
        await platform.chat.post(ref, Reply("word " * 500))
    await world.env.settle()
    assert thread.last_message.id == int(first.message)


async def test_in_a_locked_thread_nothing_is_posted(world, recorder, platform):
    await world.alice.send(world.help, f"{world.bot} how?")
    world.env.inject_error("POST", "*/messages", status=403, code=160005, message="Thread is locked")
    with pytest.raises(PlatformRejected, match="locked"):
        await platform.chat.post(recorder.of("message")[0].ref, Reply("second"))


async def test_an_archived_thread_is_opened_for_an_edit(world, recorder, platform):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    path = f"/channels/{asked.id}/messages/*"
    world.env.inject_error("PATCH", path, status=400, code=50083, message="Thread is archived")
    await platform.chat.edit(recorder.parts, Reply("Like that."))
    assert world.thread_of(asked).last_message.content == "Like that."
    assert any(r.method == "PATCH" and r.json == {"archived": False} for r in world.env.http_requests)


async def test_votes_that_cannot_be_seeded_are_told_once(world, recorder, caplog):
    world.env.inject_error("PUT", "/channels/*/reactions/*", status=403, code=50013, message="no", times=None)
    recorder.answer = "Like this."
    for _ in range(2):
        await world.alice.send(world.help, f"{world.bot} how?")
    assert caplog.text.count("Add Reactions") == 1


async def test_a_failure_says_what_to_do(world, recorder, platform):
    await world.alice.send(world.help, f"{world.bot} how?")
    ref = recorder.of("message")[0].ref
    world.env.inject_error(
        "POST", "/channels/*/messages", status=403, code=50013, message="Missing Permissions"
    )
    with pytest.raises(PlatformRejected, match="give my role Send Messages"):
        await platform.chat.post(ref, Reply("no"))
    world.env.inject_error("POST", "/channels/*/messages", status=500)
    with pytest.raises(PlatformError, match="Try again later") as caught:
        await platform.chat.post(ref, Reply("no"))
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("status", "code", "later"),
    [(400, 200000, False), (400, 50035, False), (401, 0, True), (400, 40004, True), (429, 30046, True)],
)
async def test_what_discord_would_refuse_again_is_not_tried_again(
    status, code, later, world, recorder, platform
):
    """A blocked word is refused however often it is said; what is switched off for a while is not."""
    await world.alice.send(world.help, f"{world.bot} how?")
    ref = recorder.of("message")[0].ref
    world.env.inject_error("POST", "/channels/*/messages", status=status, code=code, message="no")
    with pytest.raises(PlatformError) as caught:
        await platform.chat.post(ref, Reply("no"))
    assert caught.value.retryable is later


async def test_what_dispatch_raises_is_logged_and_the_next_message_is_heard(world, recorder, caplog):
    async def broken(chat, message):
        raise RuntimeError("no engine today")

    working, recorder.message = recorder.message, broken
    await world.alice.send(world.help, "one")
    recorder.message = working
    await world.alice.send(world.help, "two")
    assert "no engine today" in caplog.text and recorder.of("message")[-1].text == "two"


async def test_history_has_the_question_that_opened_the_thread(world, recorder, platform):
    long = "\n\n".join(f"Paragraph {n}. " + "word " * 150 for n in range(3))
    recorder.answer = long
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    thread = world.thread_of(asked)
    robot = world.guild.add_member(world.env.create_user("robot", bot=True))
    await robot.send(thread, "buy now")
    await world.bob.send(thread, "good question")
    await world.alice.send(thread, "and then?")
    before = recorder.of("message")[-1].ref
    history = await platform.chat.history(before, 10)
    assert [(t.role, t.author) for t in history] == [
        ("user", f"discord:{world.alice.id}"),
        ("assistant", ""),
        ("user", f"discord:{world.bob.id}"),
    ]
    assert history[0].text == "how?" and history[1].text.count("Paragraph") == 3
    [last] = await platform.chat.history(before, 1)
    assert last.at > 0 and replace(last, at=0.0) == Turn(
        "user", "good question", f"discord:{world.bob.id}"
    ), "with the time at which it was written, for its author may be forgotten since"
    assert await platform.chat.history(recorder.of("message")[0].ref, 10) == []


def test_markdown_is_written_as_discord_shows_it():
    table = "| name | default |\n|---|:-:|\n| `DEBUG` | False |\n| ENV | production |"
    assert for_discord(f"Look:\n\n{table}\n\nend") == (
        "Look:\n\n```\nname  | default\n------+-----------\nDEBUG | False\nENV   | production\n```\n\nend"
    ).replace("name  | default\n", "name  | default\n")
    linked = "| page | what |\n|---|---|\n| [Config](https://a.b/c) | keys |"
    assert for_discord(linked) == "**page · what**\n- **[Config](https://a.b/c)**; what: keys"
    assert for_discord("#### Deep\n# Top") == "**Deep**\n# Top"
    assert for_discord("a ![pic](https://a.b/c.png)") == "a [pic](https://a.b/c.png)"
    assert for_discord("~~~py\n| a | b |\n|---|---|\n~~~") == "```py\n| a | b |\n|---|---|\n```"
    assert for_discord("one\n\n---\n\ntwo") == "one\n\n\ntwo"
    assert for_discord("a || b") == "a || b"


def test_links_without_previews():
    text = "see [a](https://a.b/c_(d)), https://x.y/z. `https://code` <https://done>"
    assert without_previews(text) == (
        "see [a](<https://a.b/c_(d)>), <https://x.y/z>. `https://code` <https://done>"
    )


def test_an_address_keeps_its_own_brackets_and_stays_whole_as_the_words_of_a_link():
    assert without_previews("(see https://a.b/c_(d), or https://a.b)") == (
        "(see <https://a.b/c_(d)>, or <https://a.b>)"
    )
    assert without_previews("[https://a.b](https://a.b)!") == "[https://a.b](<https://a.b>)!"


def test_three_angle_brackets_do_not_quote_the_rest_of_a_message():
    assert for_discord("Type\n>>> import flask\n\nThen go on.") == ("Type\n\\>>> import flask\n\nThen go on.")
    assert for_discord("```\n>>> a\n```\n> a quotation\n>>>no quotation") == (
        "```\n>>> a\n```\n> a quotation\n>>>no quotation"
    )


@given(st.text(st.sampled_from("ab |-`~#![]()*_\n>:.hps/"), max_size=200))
def test_writing_for_discord_takes_any_text(text):
    assert all(units(part) <= LIMIT for part in messages(text))
    assert Counter(for_discord(text))["b"] == Counter(text)["b"]  # a letter that is in no word we add


def test_a_table_without_a_header_shows_none() -> None:
    narrow = for_discord("|  |  |\n| --- | --- |\n| Default | 5 |")
    assert narrow == "```\nDefault | 5\n```"
    wide = for_discord(f"|  |  |\n| --- | --- |\n| Default | {'five ' * 30}|")
    assert wide == f"- **Default**: {'five ' * 30}".rstrip()
