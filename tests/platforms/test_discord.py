"""What people do on Discord is handed to dispatch as what it is."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import discord
import pytest

from bot.platforms.discord.platform import connect
from bot.platforms.discord.reading import scope, thread_name
from bot.platforms.discord.standing import StandingReactions
from bot.ports.chat import Reply, vote_of
from bot.ports.standing import Standing
from core.domain import MessageRef, Scope
from core.settings import load_settings

pytest_plugins = ["tests.platforms.discord_world"]


def test_without_a_token_there_is_no_platform(recorder):
    assert connect(load_settings(None, discord_token=""), recorder) is None


def test_asks_for_the_intents_it_needs_and_pings_nobody(platform):
    wanted = {"guilds", "message_content", "guild_messages", "dm_messages", "guild_reactions", "dm_reactions"}
    assert {name for name, on in platform.client.intents if on} == wanted
    assert platform.client.allowed_mentions.to_dict() == {"parse": []}


def test_the_invitation_asks_for_the_permissions_that_the_documents_name():
    steps = (Path(__file__).parents[2] / "docs" / "setup.md").read_text(encoding="utf-8")
    number, named = re.search(r"permissions=(\d+)`\s*\(([^)]+)\)", steps).groups()
    names = [re.sub(r"\W+", "_", name.strip().lower()) for name in named.split(",")]
    one = {"view_channels": "view_channel"}
    wanted = discord.Permissions(**{one.get(name, name): True for name in names})
    assert int(number) == wanted.value and wanted.send_messages_in_threads


async def test_a_mention_gets_its_answer_in_a_thread(world, recorder):
    recorder.answer = "Use `flask run`. [1](https://example.org)"
    asked = await world.alice.send(world.help, f"{world.bot} how do I **start** the server?")
    thread = world.thread_of(asked)
    assert thread.name == "how do I start the server?"
    said = thread.last_message
    assert said.content == recorder.answer and said.flags.suppress_embeds
    assert [str(r.emoji) for r in said.reactions] == ["👍", "👎"]
    [heard] = recorder.of("message")
    root = str(asked.id)
    assert heard.ref == MessageRef("discord", str(world.help.id), root, root)
    assert heard.text == "how do I **start** the server?"
    assert heard.mentions_bot and not heard.mentions_others and heard.event == root
    assert heard.author.id == f"discord:{world.alice.id}" and heard.author.name == "Alice"
    assert heard.scope == Scope() and not heard.author.admin
    assert recorder.parts == (MessageRef("discord", str(world.help.id), str(said.id), root),)


async def test_a_follow_up_in_the_thread_is_handed_over_without_a_mention(world, recorder):
    recorder.answer = "Yes."
    asked = await world.alice.send(world.help, f"{world.bot} does it scale?")
    await world.alice.send(world.thread_of(asked), "and with async views?")
    heard = recorder.of("message")[-1]
    assert heard.text == "and with async views?" and not heard.mentions_bot
    assert heard.ref.channel == str(world.help.id) and heard.ref.thread == str(asked.id)
    assert heard.ref.conversation == recorder.of("message")[0].ref.conversation


async def test_mentions_are_read_as_names_and_code_is_left_alone(world, recorder):
    role = world.guild.create_role("Maintainers")
    await world.alice.send(
        world.help,
        f"{world.bot}, ask {world.bob.mention} or {role.mention} in {world.help.mention} about `<@1>` <:a:5>",
    )
    [heard] = recorder.of("message")
    assert heard.text == "ask @Bob or @Maintainers in #help about `<@1>` :a:"
    assert heard.mentions_bot and heard.mentions_others


async def test_the_role_of_the_bot_stands_for_the_bot(world, recorder):
    own = next(r for r in world.guild.me.roles if r.managed)
    await world.alice.send(world.help, f"{own.mention} what is a blueprint?")
    [heard] = recorder.of("message")
    assert heard.mentions_bot and not heard.mentions_others and heard.text == "what is a blueprint?"


async def test_a_reply_addresses_whom_it_replies_to(world, recorder, platform):
    recorder.answer = "A blueprint groups routes."
    asked = await world.alice.send(world.help, f"{world.bot} what is a blueprint?")
    said = world.thread_of(asked).last_message
    await world.alice.send(world.thread_of(asked), "and how do I nest it?", reply_to=said)
    assert recorder.of("message")[-1].mentions_bot
    talk = await world.bob.send(world.help, "has anybody seen this?")
    await world.alice.send(world.help, "yes, yesterday", reply_to=talk)
    last = recorder.of("message")[-1]
    assert last.mentions_others and not last.mentions_bot


async def test_bots_webhooks_and_system_messages_are_not_heard(world, recorder):
    robot = world.guild.add_member(world.env.create_user("robot", bot=True))
    await robot.send(world.help, f"{world.bot} hello")
    await world.guild.create_webhook(world.help).send(f"{world.bot} hello")
    world.guild.create_system_message(
        world.help, discord.MessageType.new_member.value, author=world.alice.user
    )
    await world.alice.send(world.help, attachments=[("picture.png", b"\x89PNG")])
    await world.env.settle()
    assert recorder.of("message") == [] and recorder.of("edited") == []


async def test_text_that_was_too_long_to_paste_is_read_from_its_file(world, recorder):
    trace = "Traceback (most recent call last):\n  ..."
    await world.alice.send(
        world.help, f"{world.bot} what is this?", attachments=[("message.txt", trace.encode())]
    )
    assert recorder.of("message")[-1].text == f"what is this?\n\n{trace}"
    too_long = [("log.txt", b"x" * 30_000), ("picture.png", b"\x89PNG")]
    await world.alice.send(world.help, f"{world.bot} and this?", attachments=too_long)
    assert recorder.of("message")[-1].text == "and this?"


async def test_what_is_forwarded_is_what_was_said(world, recorder):
    dm, trace = world.alice.user.dm_channel, [("message.txt", b"Traceback ...")]
    asked = await world.bob.send(world.help, f"{world.bot} how do I **start** {world.help.mention}?")
    await world.alice.forward(asked, dm)
    [heard] = recorder.of("message")[1:]
    assert heard.text == "how do I **start** #channel?" and heard.author.id == f"discord:{world.alice.id}"
    assert heard.scope == Scope("direct", f"discord:{dm.id}")
    inside = await world.alice.send(world.private("staff"), "why does it fail?", attachments=trace)
    await world.alice.forward(inside, world.help)
    heard = recorder.of("message")[-1]
    assert heard.text == "why does it fail?\n\nTraceback ..." and heard.scope == Scope()
    assert heard.author.id == f"discord:{world.alice.id}" and not heard.mentions_bot


async def test_the_words_of_a_message_stand_above_what_it_forwards(world, recorder):
    asked = await world.bob.send(world.help, "how do I start?")
    about = {"type": 1, "channel_id": str(world.help.id), "message_id": str(asked.id)}
    words = f"{world.bot}, do you know this?"
    world.env.backend.create_message(world.help.id, world.alice.id, words, reference=about)
    await world.env.settle()
    heard = recorder.of("message")[-1]
    assert heard.text == "do you know this?\n\nhow do I start?" and heard.mentions_bot


async def test_direct_messages(world, recorder):
    recorder.answer = "In `instance/`."
    asked = await world.alice.send_dm("where is the config?")
    [heard] = recorder.of("message")
    channel = world.alice.user.dm_channel
    assert heard.ref == MessageRef("discord", str(channel.id), str(asked.id), "")
    assert heard.scope == Scope("direct", f"discord:{channel.id}") and not heard.author.admin
    assert channel.last_message.content == "In `instance/`."
    await world.alice.user.set_reaction(channel.last_message, "👍", reacted=True)
    [vote] = recorder.of("reaction")
    assert vote.ref == recorder.parts[0] and vote.person.id == f"discord:{world.alice.id}"


async def test_a_picture_in_a_direct_message_is_heard_although_it_has_no_words(world, recorder):
    """Dispatch says then what can be asked; in a channel a picture is none of the bot's business."""
    picture, dm = [("error.png", b"\x89PNG")], world.alice.user.dm_channel
    await world.alice.send(world.help, "", attachments=picture)
    assert recorder.of("message") == []
    await world.alice.send_dm("", attachments=world.env.backend.store_attachments(dm.id, picture))
    assert [(m.text, m.scope.kind) for m in recorder.of("message")] == [("", "direct")]


async def test_a_forum_post_is_answered_inside(world, recorder, platform):
    forum, thread = await world.forum_post("Deploying", f"{world.bot} how do I deploy?")
    [heard] = recorder.of("message")
    assert heard.ref == MessageRef("discord", str(forum.id), str(thread.id), str(thread.id))
    assert heard.scope == Scope()
    [said] = await platform.chat.post(heard.ref, Reply("With gunicorn."))
    assert thread.last_message.content == "With gunicorn."
    assert said == MessageRef("discord", str(forum.id), str(thread.last_message.id), str(thread.id))
    await world.alice.send(thread, "on Windows, too?")
    history = await platform.chat.history(recorder.of("message")[-1].ref, 10)
    assert [turn.text for turn in history] == ["how do I deploy?", "With gunicorn."]


async def test_the_release_that_a_post_is_tagged_with_is_told_with_its_title(world, recorder):
    await world.forum_post("Deploying", f"{world.bot} how do I deploy?", "Flask 2.3", "deployment")
    [heard] = recorder.of("message")
    assert heard.text == "Deploying (Flask 2.3)\n\nhow do I deploy?"


async def test_a_post_gets_the_forums_tags_for_its_release_and_for_solved(world, recorder, platform):
    forum, thread = await world.forum_post("Deploying", f"{world.bot} how do I deploy?")
    await world.offer(forum, "Flask 2.2", "12.3", "v2.3", "Solved")
    [heard] = recorder.of("message")
    await platform.chat.post(heard.ref, Reply("Looking it up …", final=False, release="2.3"))
    assert await world.tagged(forum, thread) == []
    parts = await platform.chat.post(heard.ref, Reply("With gunicorn.", release="2.3", answer_id="a1"))
    assert await world.tagged(forum, thread) == ["v2.3"]
    await platform.chat.edit(parts, Reply("With waitress.", release="2.2", answer_id="a2"))
    assert await world.tagged(forum, thread) == ["v2.3"], "one for a release is enough"
    for _ in range(2):
        await platform.chat.solve(parts[0])
        assert await world.tagged(forum, thread) == ["v2.3", "Solved"]


async def test_no_tag_is_made_and_none_put_without_the_permission(world, recorder, platform, caplog):
    forum, thread = await world.forum_post("Deploying", f"{world.bot} how do I deploy?", "other")
    [heard] = recorder.of("message")
    answered = Reply("With gunicorn.", release="2.3", answer_id="a1")
    [said] = await platform.chat.post(heard.ref, answered)
    await platform.chat.solve(said)
    assert await world.tagged(forum, thread) == ["other"] and len(forum._channel.available_tags) == 1
    await world.offer(forum, "other", "2.3")
    channel = platform.client.get_channel(forum.id)
    await channel.set_permissions(channel.guild.me, manage_threads=False)
    await world.env.settle()
    for _ in range(2):
        await platform.chat.post(heard.ref, answered)
    assert await world.tagged(forum, thread) == ["other"]
    assert caplog.text.count("I cannot put the tag “2.3” on a post") == 1


async def test_scopes(world, recorder):
    staff = world.private("staff")
    await world.alice.send(staff, f"{world.bot} what now?")
    assert recorder.of("message")[-1].scope == Scope("private", f"discord:{staff.id}")
    open_thread, closed = world.thread("open"), world.thread("closed", private=True)
    await world.alice.send(open_thread, "hello")
    assert recorder.of("message")[-1].scope == Scope()
    await world.alice.send(closed, "hello")
    assert recorder.of("message")[-1].scope == Scope("private", f"discord:{closed.id}")


async def test_a_channel_that_is_closed_to_everyone_is_told(world, recorder):
    seen = discord.PermissionOverwrite(view_channel=True, manage_channels=True, manage_roles=True)
    help_too = world.guild.create_text_channel("more help", overwrites={world.env.bot.user: seen})
    channel = world.env.bot.get_channel(help_too.id)
    everyone = world.env.bot.get_guild(world.guild.id).default_role
    await channel.edit(topic="Help with Flask")
    await channel.set_permissions(everyone, send_messages=False)
    await world.env.settle()
    assert recorder.of("private") == []
    await channel.set_permissions(everyone, view_channel=False)
    await world.env.settle()
    assert recorder.of("private") == [f"discord:{help_too.id}"]
    await channel.set_permissions(everyone, view_channel=True)
    await everyone.edit(permissions=discord.Permissions(everyone.permissions.value & ~1024))
    await world.env.settle()
    assert recorder.of("private")[1:] == [f"discord:{world.help.id}"]


@pytest.mark.parametrize("kind", ["voice", "stage"])
async def test_what_is_said_in_voice_is_for_everyone_only_where_everyone_may_connect(world, recorder, kind):
    channel = getattr(world.guild, f"create_{kind}_channel")("Lounge")
    spoken, inside = world.env.bot.get_channel(channel.id), Scope("private", f"discord:{channel.id}")
    await world.env.settle()
    assert scope(spoken) == Scope()
    await world.let(channel, speak=False)
    assert scope(spoken) == Scope() and recorder.of("private") == []
    await world.let(channel, connect=False)
    assert scope(spoken) == inside and recorder.of("private") == [f"discord:{channel.id}"]
    await world.let(channel)
    await world.let(channel, view_channel=False)
    assert scope(spoken) == inside and recorder.of("private") == 2 * [f"discord:{channel.id}"]


async def test_voice_that_is_taken_from_everyone_is_told_and_text_needs_none(world, recorder, platform):
    lounge = world.guild.create_voice_channel("Lounge")
    await world.let(world.help, connect=False)
    assert recorder.of("private") == [] and scope(world.env.bot.get_channel(world.help.id)) == Scope()
    everyone = world.env.bot.get_guild(world.guild.id).default_role
    await everyone.edit(permissions=discord.Permissions(everyone.permissions.value & ~(1 << 20)))
    await world.env.settle()
    assert recorder.of("private") == [f"discord:{lounge.id}"]
    await platform.on_ready()
    await world.env.settle()
    assert recorder.of("looked up")[-1] == f"discord:{lounge.id}"


@pytest.mark.parametrize("kind", ["text", "voice", "forum"])
async def test_a_channel_that_is_hidden_from_the_bot_is_told_as_private_once(world, recorder, kind):
    channel = getattr(world.guild, f"create_{kind}_channel")("lounge")
    await world.env.settle()
    there = world.env.bot.get_channel(channel.id)
    assert scope(there) == Scope()
    await world.hide(channel)
    await world.hide(channel)
    assert scope(there) == Scope("private", f"discord:{channel.id}")
    assert recorder.of("private") == [f"discord:{channel.id}"]
    await world.let(channel)
    assert there.name == "lounge" and scope(there) == Scope()
    assert recorder.of("private") == [f"discord:{channel.id}"]


async def test_a_channel_with_the_name_of_hidden_ones_is_told_and_the_name_is_never_said(world, recorder):
    channel = world.guild.create_text_channel("___hidden___")
    named, other = world.env.bot.get_channel(channel.id), world.guild.create_text_channel("other")
    await world.hide(other)
    await world.alice.send(world.help, f"{world.bot} see {channel.mention} or {other.mention}?")
    assert scope(named) == Scope() and recorder.of("message")[-1].text == "see #___hidden___ or #channel?"
    staff = discord.PermissionOverwrite(view_channel=True)
    await named.set_permissions(named.guild.me, overwrite=staff)
    await named.set_permissions(named.guild.default_role, view_channel=False)
    await world.env.settle()
    assert recorder.of("private")[-1] == f"discord:{channel.id}"


async def test_channels_that_became_private_while_the_bot_was_away_are_told(world, recorder, platform):
    staff = world.private("staff")
    platform._resumed = False
    await platform.on_ready()
    await world.env.settle()
    assert recorder.of("looked up")[-1] == f"discord:{staff.id}" and recorder.of("private") == []


@pytest.mark.parametrize("platform", [{"admins": "discord:42", "helpers": "discord:role:77"}], indirect=True)
async def test_ranks_come_from_permissions_and_from_settings(world, recorder, platform):
    manager = world.guild.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
    carol = world.guild.add_member(world.env.create_user("carol"), roles=[manager])
    await carol.send(world.help, "hi")
    assert recorder.of("message")[-1].author.admin
    standing = platform.standing
    assert standing.person(None, None, 42).admin and not standing.person(None, None, 43).admin
    assert not recorder.of("message")[-1].author.helper
    role = discord.utils.get(world.env.bot.get_guild(world.guild.id).roles, name="Managers")
    platform.standing.helpers = frozenset({f"discord:role:{role.id}"})
    await carol.send(world.help, "again")
    assert recorder.of("message")[-1].author.helper


async def test_edits_of_the_words_are_handed_over_and_previews_are_not(world, recorder):
    asked = await world.alice.send(world.help, f"{world.bot} how do I stat?")
    await world.alice.edit(asked, f"{world.bot} how do I start?")
    [edited] = recorder.of("edited")
    assert edited.text == "how do I start?" and edited.ref == recorder.of("message")[0].ref
    world.env.backend.set_pinned(world.help.id, asked.id, True)
    world.env.backend.edit_message(world.help.id, asked.id, {"embeds": [{"title": "preview"}]})
    await world.env.settle()
    assert len(recorder.of("edited")) == 1


async def test_deletions_are_handed_over(world, recorder):
    asked = await world.alice.send(world.help, f"{world.bot} never mind")
    ref = recorder.of("message")[0].ref
    await world.alice.delete(asked)
    assert recorder.of("deleted") == [ref]
    more = [await world.alice.send(world.help, f"line {n}") for n in range(2)]
    world.env.backend.bulk_delete_messages(world.help.id, [m.id for m in more])
    await world.env.settle()
    assert [r.message for r in recorder.of("deleted")[1:]] == [str(m.id) for m in more]


async def test_reactions_and_their_removal(world, recorder):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    said = world.thread_of(asked).last_message
    assert recorder.of("reaction") == []  # the bot's own are no votes
    await world.bob.react(said, "👍🏽")
    await world.bob.unreact(said, "👍🏽")
    robot = world.guild.add_member(world.env.create_user("robot", bot=True))
    await robot.react(said, "👎")
    added, removed, by_robot = recorder.of("reaction")
    assert (added.emoji, added.added, removed.emoji, removed.added) == ("👍🏽", True, "👍🏽", False)
    assert added.ref == removed.ref == recorder.parts[0]
    assert added.person.id == removed.person.id == f"discord:{world.bob.id}" and not added.person.bot
    assert by_robot.person.bot


async def test_a_reaction_in_a_thread_that_is_no_longer_cached(world, recorder):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    thread = world.thread_of(asked)
    said = thread.last_message
    world.env.bot.get_guild(world.guild.id)._remove_thread(discord.Object(thread.id))
    await world.bob.react(said, "👍")
    assert recorder.of("reaction")[0].ref == recorder.parts[0]


def test_a_thread_is_named_by_the_first_words():
    assert thread_name("How do I set `SECRET_KEY` in **Flask**?\n```py\nx\n```") == (
        "How do I set SECRET_KEY in Flask ?"
    )
    assert thread_name("```py\nonly code\n```") == "Answer" and thread_name("") == "Answer"
    long = thread_name("word " * 60)
    assert len(long) <= 100 and long.endswith("word…")
    assert len(thread_name("x" * 300)) <= 100


async def test_a_thread_or_a_channel_that_is_deleted_is_told_with_how_links_there_begin(world, recorder):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    thread = world.thread_of(asked)
    world.env.backend.delete_channel(thread.id)
    await world.env.settle()
    links = f"https://discord.com/channels/{world.guild.id}"
    ref = MessageRef("discord", str(world.help.id), "", str(thread.id))
    assert recorder.of("deleted") == [(ref, f"{links}/{thread.id}/")]
    world.env.backend.delete_channel(world.help.id)
    await world.env.settle()
    whole = (MessageRef("discord", str(world.help.id), ""), f"{links}/{world.help.id}/")
    assert whole in recorder.of("deleted")


async def test_an_emoji_of_the_servers_own_is_none_of_those_that_mean_something(world, recorder):
    recorder.answer = "Like this."
    asked = await world.alice.send(world.help, f"{world.bot} how?")
    said = world.thread_of(asked).last_message
    own = world.env.backend.create_emoji(world.guild.id, "thumbsup", world.bob.id)
    await world.bob.react(said, f"thumbsup:{own.id}")
    assert [vote_of(one.emoji) for one in recorder.of("reaction")] == [None]


class Reacted:
    """A reaction as discord.py tells of it, of which `users` lists one kind at a time."""

    me = me_burst = False

    def __init__(self, count: int, ordinary: list[int], burst: list[int]) -> None:
        self.emoji, self.count, self.burst_count = "👍", count, len(burst)
        self._users = {None: ordinary, discord.ReactionType.burst: burst}

    async def users(self, type=None):
        for number in self._users[type]:
            yield SimpleNamespace(id=number)


@pytest.mark.parametrize(("count", "whole"), [(3, True), (4, False)])
async def test_super_reactions_are_votes_too_and_who_is_not_listed_is_noticed(count, whole):
    message = SimpleNamespace(reactions=[Reacted(count, [1, 2], [3])])

    class Place:
        async def fetch_message(self, number):
            return message

    async def of(ref):
        return Place()

    places = SimpleNamespace(of=of, me=9)
    found = await StandingReactions(places, SimpleNamespace()).standing(MessageRef("discord", "1", "2"))
    assert found == Standing({"👍": frozenset({"discord:1", "discord:2", "discord:3"})}, whole)
