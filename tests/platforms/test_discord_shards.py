"""Discord over several gateway connections, of which one process may have some."""

from __future__ import annotations

import asyncio
import gc

import pytest

from bot.platforms.discord import reading
from bot.platforms.discord.platform import Client, ShardedClient, connect
from bot.ports.chat import Reply
from core.domain import MessageRef, Scope
from core.errors import PlatformRejected
from tests.patience import SOON
from tests.platforms.discord_server import BOT, discord_server, until
from tests.platforms.discord_world import World, settings

pytest_plugins = ["tests.platforms.discord_world"]

HALF = pytest.mark.parametrize(
    "platform", [{"discord_shard_count": 4, "discord_shard_ids": "0-1"}], indirect=True
)


def at_once(*_, **__):
    """Identify without the five seconds between two connections."""
    return asyncio.sleep(0)


class Running:
    """A platform with shards that runs against a loopback server."""

    def __init__(self, server, recorder, **given) -> None:
        addresses = {"discord_api_url": f"{server.url}/api/v10/", "discord_gateway_url": server.gateway}
        self.platform = connect(settings(**addresses, **given), recorder)
        self.platform.client._connection.guild_ready_timeout = 0.02
        self.platform.client.before_identify_hook = at_once

    async def __aenter__(self):
        self.task = asyncio.create_task(self.platform.run())
        await until(self.platform.client.is_ready)
        return self.platform

    async def __aexit__(self, *_):
        await self.platform.stop()
        await asyncio.wait_for(self.task, SOON)


@pytest.fixture(autouse=True)
def tidy(caplog):
    """Fail a test that leaves a session or a connection open."""
    yield
    gc.collect()
    assert "Unclosed" not in caplog.text


def shards_of(server) -> list:
    return [told.get("shard") for told in server.identified]


async def test_without_a_setting_there_is_one_connection_without_a_shard(recorder):
    async with discord_server() as server, Running(server, recorder) as platform:
        assert shards_of(server) == [None]
        assert isinstance(platform.client, Client) and platform.every_connection_hears_all


async def test_a_process_identifies_as_each_of_its_shards(recorder):
    given = {"discord_shard_count": 6, "discord_shard_ids": "0,2-3"}
    async with discord_server() as server, Running(server, recorder, **given) as platform:
        assert shards_of(server) == [[0, 6], [2, 6], [3, 6]]
        assert not platform.every_connection_hears_all
        await server.says(f"<@{BOT}> how do I start?")
        await until(lambda: recorder.of("message"))
    assert len(recorder.of("resume")) == 1


async def test_with_auto_it_connects_as_many_as_discord_recommends_at_the_given_address(recorder):
    async with discord_server() as server:
        server.recommended = 3
        async with Running(server, recorder, discord_shard_count="auto") as platform:
            assert shards_of(server) == [[0, 3], [1, 3], [2, 3]]
            assert platform.every_connection_hears_all


async def test_with_auto_it_asks_again_where_discord_does_not_say_how_many(recorder):
    async with discord_server() as server:
        server.dropping = ["/gateway/bot"] * 2
        running = Running(server, recorder, discord_shard_count="auto")
        running.platform.client.retry = 0.01
        async with running:
            assert shards_of(server) == [[0, 1]]


async def test_the_process_of_shard_0_alone_registers_the_commands(recorder):
    async with discord_server() as server:
        async with Running(server, recorder, discord_shard_count=2, discord_shard_ids="1"):
            assert shards_of(server) == [[1, 2]]
        assert not [method for method, path, _ in server.requests if path.endswith("/commands")]
        async with Running(server, recorder, discord_shard_count=2, discord_shard_ids="0"):
            await until(lambda: server.commands)
        assert len([method for method, path, _ in server.requests if path.endswith("/commands")]) == 1


async def test_one_lost_session_of_several_has_its_votes_counted_again(recorder):
    """discord.py tells `ready` again only when all connections were lost."""
    async with discord_server() as server, Running(server, recorder, discord_shard_count=2):
        assert len(recorder.of("recount")) == 1
        await server.invalidate(1)
        await until(lambda: len(recorder.of("recount")) == 2)
        assert shards_of(server) == [[0, 2], [1, 2], [1, 2]] and len(recorder.of("resume")) == 1


@pytest.mark.parametrize(
    ("code", "given", "said"),
    [
        (4004, {"discord_shard_count": 2}, "DISCORD_TOKEN"),
        (4014, {"discord_shard_count": 2}, "Message Content Intent"),
        (4010, {"discord_shard_count": 2}, "correct DISCORD_SHARD_COUNT"),
        (4011, {}, "DISCORD_SHARD_COUNT=auto"),
    ],
)
async def test_a_refusal_says_what_to_do(recorder, code, given, said):
    async with discord_server() as server:
        server.close_code = code
        running = Running(server, recorder, **given)
        with pytest.raises(PlatformRejected, match=said):
            await asyncio.wait_for(running.platform.run(), SOON)


async def test_it_stops_before_it_was_ever_connected(recorder):
    async with discord_server() as server:
        await Running(server, recorder, discord_shard_count=2).platform.stop()
        assert not server.connections


@HALF
async def test_only_the_servers_of_its_shards_are_heard_and_direct_messages_by_shard_0(recorder, simcord_env):
    env = simcord_env
    alice = env.create_user("alice")
    for shard in range(4):
        guild = env.create_guild(f"Guild {shard}", shard_id=shard)
        channel = guild.create_text_channel("help")
        await guild.add_member(alice).send(channel, f"<@{env.bot.user.id}> hello from {shard}")
    await env.settle()
    assert [m.text for m in recorder.of("message")] == ["hello from 0", "hello from 1"]


@HALF
async def test_a_channel_of_another_processs_server_is_known_with_who_may_see_it(
    platform, recorder, simcord_env
):
    elsewhere = World(simcord_env, simcord_env.create_guild("Elsewhere", shard_id=3))
    await simcord_env.settle()
    assert platform.client.get_guild(elsewhere.guild.id) is None
    closed = elsewhere.private("closed")
    name = await platform.chat.name_of(str(elsewhere.help.id))
    assert name == "#help" and await platform.chat.name_of(str(closed.id)) == ""
    thread = elsewhere.thread("a thread")
    read = await platform.chat.places.known(thread.id)
    assert reading.scope(read) == Scope()
    member = await platform.chat.places.member(elsewhere.guild.id, elsewhere.alice.id)
    assert member and not member.guild_permissions.manage_guild
    [part] = await platform.chat.send(str(elsewhere.help.id), Reply("Good morning."))
    assert part.channel == str(elsewhere.help.id)


@HALF
@pytest.mark.parametrize(("manages", "tags"), [(True, ["2.0"]), (False, [])])
async def test_a_post_of_another_processs_server_gets_its_tag_where_the_bot_may_put_one(
    platform, simcord_env, caplog, manages, tags
):
    """What Discord tells of a server by its id names no members, so the bot is not among them."""
    elsewhere = World(simcord_env, simcord_env.create_guild("Elsewhere", shard_id=3))
    forum, post = await elsewhere.forum_post("How to start", "how?")
    await elsewhere.offer(forum, "2.0")
    await elsewhere.let(forum, view_channel=True, manage_threads=manages)
    ref = MessageRef("discord", str(forum.id), str(post.id), str(post.id))
    await platform.chat.post(ref, Reply("With run.", answer_id="a1", release="2.0"))
    assert [message.content for message in post.history()] == ["how?", "With run."]
    assert await elsewhere.tagged(forum, post) == tags
    assert ("give my role Manage Threads" in caplog.text) is not manages


@HALF
async def test_a_process_reads_the_emoji_of_its_own_servers(platform, simcord_env):
    own = platform.chat.standing.reads_here
    here = simcord_env.create_guild("Here", shard_id=1).create_text_channel("help")
    there = simcord_env.create_guild("There", shard_id=2).create_text_channel("help")
    await simcord_env.settle()
    assert await own(MessageRef("discord", str(here.id), "1", "1"))
    assert not await own(MessageRef("discord", str(there.id), "1", "1"))
    assert await own(MessageRef("discord", "404", "1", "1")), "reading it says what is wrong"


def test_all_shards_in_one_process_are_one_connection_of_a_cluster(recorder):
    whole = connect(settings(discord_shard_count=2, discord_shard_ids="0,1"), recorder)
    assert whole.every_connection_hears_all and whole.chat.standing.reads_here is None
    assert isinstance(whole.client, ShardedClient)
    assert isinstance(
        connect(settings(discord_shard_count=1, discord_shard_ids="0"), recorder).client, Client
    )
