"""What can be read back: one message, the question that it answers, and a link to it."""

from __future__ import annotations

import discord
import pytest

from bot.platforms.discord.reading import ref
from core.domain import MessageRef, Scope
from core.errors import PlatformError

pytest_plugins = ["tests.platforms.discord_world"]


def stands(channel, message) -> MessageRef:
    """Say where a message stands, as the events do; `channel` is simcord's, not discord.py's."""
    return ref(channel._env.bot.get_channel(channel.id), message.id)


async def test_a_message_as_it_stands_now(world, platform):
    said = await world.alice.send(world.help, f"{world.bot} ask {world.bob.mention} about **routes**")
    await world.alice.edit(said, "never mind")
    message = await platform.chat.message(stands(world.help, said))
    assert message.text == "never mind" and message.author.id == f"discord:{world.alice.id}"
    assert message.scope == Scope() and message.ref == stands(world.help, said) and not message.mentions_bot
    await world.alice.delete(said)
    assert await platform.chat.message(stands(world.help, said)) is None


async def test_messages_of_bots_and_of_private_channels_are_told_as_such(world, recorder, platform):
    recorder.answer = "Like this."
    await world.alice.send(world.help, f"{world.bot} how?")
    mine = await platform.chat.message(recorder.parts[0])
    assert mine.author.bot and mine.text == "Like this." and mine.ref == recorder.parts[0]
    staff = world.private("staff")
    said = await world.alice.send(staff, "what now?")
    message = await platform.chat.message(stands(staff, said))
    assert message.scope == Scope("private", f"discord:{staff.id}")


async def test_what_may_not_be_read_is_not_there_and_other_trouble_is_told(world, platform):
    said = await world.alice.send(world.help, "hello")
    world.env.inject_error("GET", "/channels/*/messages/*", status=403, code=50001, message="Missing Access")
    assert await platform.chat.message(stands(world.help, said)) is None
    world.env.inject_error("GET", "/channels/*/messages/*", status=400, code=0, message="odd")
    with pytest.raises(PlatformError, match="Try again later"):
        await platform.chat.message(stands(world.help, said))


async def test_in_a_thread_the_question_is_the_message_it_was_opened_from(world, recorder, platform):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how do I start?")
    thread = world.thread_of(asked)
    helped = await world.bob.send(thread, "use `flask run`")
    for about in (recorder.parts[0], stands(thread, helped)):
        question = await platform.chat.question_of(about)
        assert question.text == "how do I start?" and question.ref == stands(world.help, asked)
        assert question.author.id == f"discord:{world.alice.id}"
    assert await platform.chat.question_of(question.ref) is None


async def test_elsewhere_it_is_the_message_that_is_replied_to(world, platform):
    asked = await world.alice.send(world.help, "how do I start?")
    helped = await world.bob.send(world.help, "use `flask run`", reply_to=asked)
    question = await platform.chat.question_of(stands(world.help, helped))
    assert question.text == "how do I start?" and question.ref == stands(world.help, asked)
    assert await platform.chat.question_of(stands(world.help, asked)) is None
    await world.alice.delete(asked)
    assert await platform.chat.question_of(stands(world.help, helped)) is None
    await world.bob.delete(helped)
    assert await platform.chat.question_of(stands(world.help, helped)) is None


async def test_what_is_forwarded_is_part_of_the_conversation(world, platform):
    asked = await world.bob.send(world.private("staff", world.bob), "how do I start?")
    forwarded = await world.alice.forward(asked, world.help)
    message = await platform.chat.message(stands(world.help, forwarded))
    assert message.text == "how do I start?" and message.scope == Scope()
    called = await world.bob.send(world.help, f"{world.bot} can you help here?", reply_to=forwarded)
    question = await platform.chat.question_of(stands(world.help, called))
    assert question.text == "how do I start?" and question.author.id == f"discord:{world.alice.id}"
    thread = world.thread("Starting")
    await world.alice.forward(asked, thread)
    below = await world.bob.send(thread, f"{world.bot} can you help here?")
    for said in (stands(world.help, called), stands(thread, below)):
        [turn] = await platform.chat.history(said, 10)
        assert (turn.text, turn.author) == ("how do I start?", f"discord:{world.alice.id}")
    assert (await platform.chat.question_of(stands(thread, below))).text == "how do I start?"


async def test_the_question_of_a_post_has_the_title_of_the_post(world, recorder, platform):
    forum, thread = await world.forum_post("Deploying behind nginx", "it says 502")
    assert recorder.of("message")[0].text == "Deploying behind nginx\n\nit says 502"
    helped = await world.bob.send(thread, "set `ProxyFix`")
    question = await platform.chat.question_of(stands(thread, helped))
    assert question.text == "Deploying behind nginx\n\nit says 502"
    assert question.ref == MessageRef("discord", str(forum.id), str(thread.id), str(thread.id))
    assert await platform.chat.question_of(question.ref) is None
    assert (await platform.chat.message(question.ref)).text == question.text


async def test_a_thread_of_no_message_has_its_first_as_the_question(world, platform):
    thread = world.thread("Deploying")
    asked = await world.alice.send(thread, "how do I deploy?")
    helped = await world.bob.send(thread, "with gunicorn")
    question = await platform.chat.question_of(stands(thread, helped))
    assert question.text == "how do I deploy?" and question.ref == stands(thread, asked)
    assert await platform.chat.question_of(stands(thread, asked)) is None


async def test_a_thread_whose_first_message_was_deleted_has_no_question(world, platform):
    thread = world.thread("how do I start?")
    sign = discord.MessageType.thread_starter_message  # which Discord puts first into a thread of a message
    world.guild.create_system_message(thread, sign.value, author=world.bob.user)
    await world.alice.send(thread, "never mind")
    helped = await world.bob.send(thread, "use `flask run`")
    assert await platform.chat.question_of(stands(thread, helped)) is None
    gone = MessageRef("discord", str(world.help.id), "6", "7")
    assert await platform.chat.question_of(gone) is None and await platform.chat.message(gone) is None


async def test_links_lead_to_messages_in_channels_threads_and_direct_messages(world, recorder, platform):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    here = f"https://discord.com/channels/{world.guild.id}"
    link = platform.chat.permalink
    assert await link(stands(world.help, asked)) == f"{here}/{world.help.id}/{asked.id}"
    assert await link(recorder.parts[0]) == f"{here}/{asked.id}/{recorder.parts[0].message}"
    await world.alice.send_dm("where is the config?")
    channel = world.alice.user.dm_channel.id
    said = recorder.parts[0]
    assert await link(said) == f"https://discord.com/channels/@me/{channel}/{said.message}"
    assert await link(MessageRef("discord", "5", "6", "7")) == ""
    linked = platform.chat.linked
    assert await linked(await link(said)) == said
    assert await linked(f"{here}/{world.help.id}/{asked.id}") == stands(world.help, asked)
    in_thread = await linked(f"{here}/{asked.id}/99")
    assert in_thread == MessageRef("discord", str(world.help.id), "99", str(asked.id))
    for other in ("https://example.org/channels/1/2/3", f"{here}/5", f"{here}/5/6/7"):
        assert await linked(other) is None


async def test_marks_on_peoples_messages_are_handed_over(world, recorder):
    said = await world.bob.send(world.help, "use `flask run`")
    await world.alice.react(said, "✅")
    await world.alice.react(said, "❌")
    await world.alice.unreact(said, "✅")
    told = [(r.emoji, r.added) for r in recorder.of("reaction")]
    assert told == [("✅", True), ("❌", True), ("✅", False)]
    assert {r.ref for r in recorder.of("reaction")} == {stands(world.help, said)}


async def test_a_mark_is_a_helpers_by_role_also_when_it_is_taken_off(world, recorder, platform):
    role = world.guild.create_role("Helpers")
    hal = world.guild.add_member(world.env.create_user("hal"), roles=[role])
    platform.standing.helpers = frozenset({f"discord:role:{role.id}"})
    said = await world.bob.send(world.help, "use `flask run`")
    world.env.bot._connection._messages.clear()  # of a message from before the start, nothing is known
    await hal.react(said, "✅")
    await hal.unreact(said, "✅")
    put, taken = recorder.of("reaction")
    assert put.person.helper and taken.person.helper and put.person.id == taken.person.id
    asked = len([r for r in world.env.http_requests if f"/members/{hal.id}" in r.path])
    await hal.react(said, "🎉")
    await hal.unreact(said, "🎉")
    assert asked == len([r for r in world.env.http_requests if f"/members/{hal.id}" in r.path]) == 1


async def test_nothing_is_whispered(world, recorder, platform):
    said = await world.alice.send(world.help, "hello")
    [heard] = recorder.of("message")
    assert not await platform.chat.whisper(heard.ref, heard.author, None)
    assert isinstance(said, discord.Message) and world.help.last_message.id == said.id


async def test_a_private_channel_is_named_only_in_itself(world, recorder):
    """What is read becomes the title of a thread, is quoted and remembered: all may see that."""
    staff = world.private("merger-talks")
    for place in (world.help, staff):
        await world.alice.send(place, f"{world.bot} how do <#{staff.id}> and <#{world.help.id}> differ?")
    outside, inside = (message.text for message in recorder.of("message"))
    assert outside == "how do #channel and #help differ?"
    assert inside == "how do #merger-talks and #help differ?"
