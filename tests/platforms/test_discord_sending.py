"""What the bot says unasked on Discord: to a channel, to a person, and whom it pings."""

from __future__ import annotations

import discord
import pytest
from simcord.backend.serializers import guild_create_payload, role_payload

from bot.platforms.discord.chat import DiscordChat, _parts
from bot.platforms.discord.reading import Standing
from bot.ports.chat import Control, Reply
from core.domain import MessageRef
from core.errors import PlatformRejected

pytest_plugins = ["tests.platforms.discord_world"]


def sent(world) -> dict:
    """Return the body of the message that was posted last."""
    posts = [r for r in world.env.http_requests if r.method == "POST" and r.path.endswith("/messages")]
    return posts[-1].json


async def test_to_a_channel_it_is_a_message_of_its_own(world, platform):
    [ref] = await platform.chat.send(
        str(world.help.id), Reply("**Help** is wanted.", controls=(Control("up", "👍", "a1"),))
    )
    said = world.help.last_message
    assert ref == MessageRef("discord", str(world.help.id), str(said.id), str(said.id))
    assert said.content == "**Help** is wanted." and world.help.threads == []
    assert sent(world)["components"][0]["components"][0]["custom_id"] == "tl|up|a1"
    await platform.chat.edit((ref,), Reply("Help came."))
    assert world.help.last_message.content == "Help came."


async def test_to_a_person_it_is_a_direct_message(world, platform):
    [ref] = await platform.chat.send(str(world.bob.id), Reply("Can you help?"))
    assert ref.thread == "" and world.bob.user.dm_channel.last_message.content == "Can you help?"
    message = await platform.chat.message(ref)
    assert message.author.bot and message.scope.kind == "direct"
    await platform.chat.edit((ref,), Reply("Thank you."))
    assert world.bob.user.dm_channel.last_message.content == "Thank you."


async def test_nobody_is_pinged_but_whom_the_reply_names(world, platform):
    role = world.guild.create_role("Helpers")
    calls = (f"role:{role.id}", str(world.bob.id))
    await platform.chat.send(str(world.help.id), Reply(f"{world.alice.mention} @everyone look", calls=calls))
    said = world.help.last_message
    looks = f"<\u200b@{world.alice.id}> @\u200beveryone look"
    assert said.content == f"<@&{role.id}> {world.bob.mention}\n{looks}"
    stored = world.env.backend.get_message(world.help.id, said.id)
    assert set(stored.ping_user_ids) == {world.bob.id} and set(stored.ping_role_ids) == {role.id}
    assert not stored.mention_everyone
    allowed = sent(world)["allowed_mentions"]
    assert allowed["parse"] == [] and allowed["roles"] == [role.id] and allowed["users"] == [world.bob.id]
    await platform.chat.send(str(world.help.id), Reply(world.bob.mention))
    quiet = world.env.backend.get_message(world.help.id, world.help.last_message.id)
    assert not (quiet.ping_user_ids or quiet.ping_role_ids)


@pytest.mark.parametrize("code", [50007, 50278])
async def test_who_takes_no_direct_messages_is_named(world, platform, code):
    world.env.inject_error(
        "POST", "/channels/*/messages", status=403, code=code, message="Cannot send messages to this user"
    )
    with pytest.raises(PlatformRejected, match="allow direct messages"):
        await platform.chat.send(str(world.bob.id), Reply("Can you help?"))


@pytest.mark.parametrize("to", ["404", "general"])
async def test_where_there_is_nobody(world, platform, to):
    with pytest.raises(PlatformRejected):
        await platform.chat.send(to, Reply("Can you help?"))


async def test_in_a_forum_nothing_can_be_said(world, platform):
    forum = world.guild.create_forum_channel("questions")
    with pytest.raises(PlatformRejected, match="text channel"):
        await platform.chat.send(str(forum.id), Reply("Can you help?"))


async def test_names(world, platform):
    asked = [str(world.bob.id), str(world.help.id), str(world.private("layoffs").id), "404", "x"]
    assert [await platform.chat.name_of(to) for to in asked] == ["Bob", "#help", "", "", ""]


@pytest.mark.parametrize("votes", ["buttons", "reactions"])
async def test_there_is_one_row_of_votes(votes):
    given = tuple(Control(name, name, "a1") for name in ("up", "down", "why"))
    chat = DiscordChat(discord.Client(intents=discord.Intents.none()), Standing(), votes=votes)
    [(_, shown)] = _parts(Reply("x", controls=given), votes=votes)
    assert len(shown) == (1 if votes == "reactions" else 3)
    if votes == "buttons":
        await chat.seed_votes(MessageRef("discord", "1", "2"))  # asks Discord for nothing


async def test_what_was_closed_while_the_bot_was_away_is_told_when_it_is_invited_again(world, recorder):
    backend, staff = world.env.backend, world.private("staff")
    told = guild_create_payload(backend, backend.get_guild(world.guild.id))
    told.pop("unavailable", None)  # Discord sends it where a server was away for an outage
    hear = world.env.bot._connection.parsers
    hear["GUILD_DELETE"]({"id": str(world.guild.id)})
    hear["GUILD_CREATE"](told)
    await world.env.settle()
    assert recorder.of("looked up") == [f"discord:{staff.id}"]


async def test_what_is_closed_when_everyone_is_no_administrator_any_more_is_told(world, recorder):
    staff, told = world.private("staff"), world.env.bot._connection.parsers["GUILD_ROLE_UPDATE"]
    role = role_payload(world.env.backend.get_guild(world.guild.id).roles[world.guild.id])
    usual = int(role["permissions"])
    for value in (usual | discord.Permissions(administrator=True).value, usual):
        told({"guild_id": str(world.guild.id), "role": {**role, "permissions": str(value)}})
        await world.env.settle()
    assert recorder.of("private") == [f"discord:{staff.id}"]
