"""The Discord platform on a loopback REST API and gateway: addresses, refusals, reconnection."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import time

import discord
import pytest
from discord.gateway import DiscordWebSocket

from bot.platforms.discord import reading
from bot.platforms.discord.platform import connect
from bot.ports.chat import Control, Reply
from core.errors import PlatformError, PlatformRejected
from tests.patience import SOON
from tests.platforms.discord_server import ALICE, BOT, CHANNEL, GUILD, TOKEN, discord_server, until
from tests.platforms.discord_world import settings

pytest_plugins = ["tests.platforms.discord_world"]


@pytest.fixture(autouse=True)
def tidy(caplog):
    """Fail a test that leaves a session or a connection open: aiohttp reports them when collected."""
    yield
    gc.collect()
    assert "Unclosed" not in caplog.text


class Running:
    """A platform that runs against a loopback server."""

    def __init__(self, server, recorder, **given) -> None:
        self.server = server
        addresses = {"discord_api_url": f"{server.url}/api/v10/", "discord_gateway_url": server.gateway}
        self.platform = connect(settings(**addresses, **given), recorder)
        self.platform.client._connection.guild_ready_timeout = 0.02  # seconds to wait for more guilds

    async def __aenter__(self):
        self.task = asyncio.create_task(self.platform.run())
        await until(lambda: self.server.commands and self.platform.client.is_ready())
        return self.platform

    async def __aexit__(self, *_):
        await self.platform.stop()
        await asyncio.wait_for(self.task, SOON)


async def test_connects_answers_and_reacts_over_the_given_addresses(recorder):
    recorder.answer = "With `flask run`."
    base = discord.http.Route.BASE
    async with discord_server() as server, Running(server, recorder) as platform:
        assert {c["name"] for c in server.commands} == {"ask", "threadlore", "Answer this"}
        [identified] = server.identified
        assert identified["token"] == TOKEN and identified["intents"] == platform.client.intents.value
        asked = await server.says(f"<@{BOT}> how do I start?")
        await until(lambda: len(server.reactions) == 2)
        [posted] = server.posted
        assert posted["content"] == "With `flask run`." and posted["channel_id"] == asked
        assert posted["allowed_mentions"]["parse"] == [] and posted["flags"] == 4  # SUPPRESS_EMBEDS
        vote = {"user_id": "901", "channel_id": asked, "message_id": posted["id"], "guild_id": "100"}
        vote |= {"emoji": {"id": None, "name": "👍"}, "type": 0, "message_author_id": BOT}
        await server.dispatch("MESSAGE_REACTION_ADD", vote)
        await until(lambda: recorder.of("reaction"))
        assert recorder.of("reaction")[0].ref == recorder.parts[0]
        assert recorder.parts[0].channel == CHANNEL and server.heartbeats == 1
    assert base == discord.http.Route.BASE


async def test_of_what_is_put_on_peoples_messages_only_marks_are_handed_over(recorder):
    async with discord_server() as server, Running(server, recorder):
        said = await server.says("use `flask run`")
        put = {"user_id": "902", "channel_id": CHANNEL, "message_id": said, "guild_id": "100"}
        put |= {"type": 0, "message_author_id": ALICE}
        for emoji in ("👍", "🎉", "✅", "❌"):
            await server.dispatch("MESSAGE_REACTION_ADD", put | {"emoji": {"id": None, "name": emoji}})
        await until(lambda: len(recorder.of("reaction")) == 2)
        assert [r.emoji for r in recorder.of("reaction")] == ["✅", "❌"]
        assert recorder.of("reaction")[0].ref == recorder.of("message")[0].ref
        assert recorder.of("reaction")[0].author == f"discord:{ALICE}"


async def test_a_button_works_after_a_restart(recorder):
    recorder.answer, recorder.controls = "With `flask run`.", (Control("why", "Why?", "a1"),)
    recorder.on_press = lambda press, responder: responder.reply(Reply("So it is written."))
    async with discord_server() as server:
        async with Running(server, recorder):
            await server.says(f"<@{BOT}> how do I start?")
            await until(lambda: len(server.reactions) == 2)
        [posted] = server.posted
        [row] = posted["components"]
        async with Running(server, recorder):
            await server.pressed(posted, row["components"][0]["custom_id"])
            await until(lambda: server.answered)
    [press] = recorder.of("press")
    assert (press.name, press.value, press.person.id) == ("why", "a1", f"discord:{ALICE}")
    assert press.ref == recorder.parts[0] and not press.person.admin
    [answered] = server.answered
    assert answered["type"] == 4 and answered["data"]["content"] == "So it is written."
    assert answered["data"]["flags"] == 64  # EPHEMERAL


@pytest.mark.parametrize(
    ("thinks", "shown"),
    [
        (False, [("new", "I was restarted.", True), ("1000", "Done.", False)]),
        (True, [("@original", "I was restarted.", False), ("@original", "Done.", False)]),
    ],
)
async def test_after_a_restart_a_press_leaves_the_message_as_it_is_and_a_command_keeps_its_place(
    recorder, thinks, shown
):
    """discord.py itself refuses to say anything privately by a webhook that is no application's."""
    async with discord_server() as server:
        async with Running(server, recorder) as platform:
            address = {"application": int(BOT), "token": "t1", "until": time.time() + SOON, "thinks": thinks}
            late = platform.chat.responder(address)
            server._ids = itertools.count(1000)
            await late.reply(Reply("I was restarted.", controls=(Control("up", "👍", "a1"),)))
            await late.reply(Reply("Done."))
        assert server.followed == shown


async def test_a_network_that_fails_is_an_error_that_may_pass(recorder, monkeypatch):
    """discord.py lets what aiohttp raises through, which is none of its own errors."""
    recorder.answer = "With `flask run`."
    async with discord_server() as server, Running(server, recorder) as platform:
        await server.says(f"<@{BOT}> how do I start?")
        await until(lambda: len(server.reactions) == 2)
        [part], chat = recorder.parts, platform.chat
        monkeypatch.setattr(discord.http.Route, "BASE", "http://127.0.0.1:9")
        for work in (
            chat.post(part, Reply("word")),
            chat.edit((part,), Reply("word")),
            chat.delete((part,)),
            chat.seed_votes(part),
            chat.send(CHANNEL, Reply("word")),
            chat.message(part),
            chat.history(part, 5),
        ):
            with pytest.raises(PlatformError, match="Discord cannot be reached") as caught:
                await work
            assert caught.value.retryable
        assert await chat.name_of("777") == ""


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("MESSAGE_CREATE", None),
        ("MESSAGE_CREATE", {"id": "null", "channel_id": CHANNEL}),
        ("MESSAGE_REACTION_ADD", {"emoji": []}),
        ("INTERACTION_CREATE", {"id": "1", "type": 3}),
        ("GUILD_CREATE", {"id": {}}),
    ],
)
async def test_an_event_that_cannot_be_read_is_left_out_with_a_line(recorder, caplog, event, data):
    async with discord_server() as server, Running(server, recorder) as platform:
        await server.dispatch(event, data)
        await server.says("are you there?")
        await until(lambda: recorder.of("message"))
        assert server.connections == 1 and platform.client.is_ready()
    [record] = [r for r in caplog.records if r.levelname in ("WARNING", "ERROR")]
    assert record.getMessage().startswith(f"Discord: an event {event} cannot be read and is left out (")
    assert not record.exc_info


async def test_a_channel_of_a_server_that_just_went_away_is_taken_for_private(recorder):
    async with discord_server() as server, Running(server, recorder) as platform:
        channel = platform.client.get_channel(int(CHANNEL))
        assert reading.scope(channel).kind == "public"
        channel.guild._roles.clear()
        assert reading.scope(channel).kind == "private"


@pytest.mark.parametrize("by", ["a new session", "an invitation"])
async def test_an_archived_thread_is_as_private_as_its_channel_has_become_meanwhile(recorder, by):
    """Such a thread is in no cache of discord.py: what was fetched of it held on to the server of before."""
    async with discord_server() as server, Running(server, recorder) as platform:
        thread = {"id": "5555", "channel_id": "777", "content": "Like this."}
        await server.pressed(thread, "tl|why|a1")
        await until(lambda: len(recorder.of("press")) == 1)
        server.closed = True
        before = platform.client.get_guild(int(GUILD))
        await (server.invalidate() if by == "a new session" else server.invite_again())
        await until(
            lambda: platform.client.get_guild(int(GUILD)) is not before
        )  # alike they are, by their id
        await until(lambda: platform.client.get_channel(int(CHANNEL)))
        await server.pressed(thread, "tl|why|a1")
        await until(lambda: len(recorder.of("press")) == 2)
        assert [press.scope.kind for press in recorder.of("press")] == ["public", "private"]
        assert await platform.chat.name_of("777") == ""


async def test_what_happens_in_an_archived_thread_waits_until_discord_says_whose_thread_it_is(recorder):
    """503 is what discord.py does not try again itself."""
    async with discord_server() as server, Running(server, recorder) as platform:
        platform.chat.places.first_wait = 0.01
        where = {"channel_id": "777", "guild_id": GUILD}
        vote = {"user_id": ALICE, "message_id": "5555", "type": 0, "message_author_id": BOT}
        server.failing_threads = 5
        await server.dispatch("MESSAGE_REACTION_ADD", where | vote | {"emoji": {"id": None, "name": "👎"}})
        await server.dispatch("MESSAGE_DELETE", where | {"id": "5556"})
        await until(lambda: recorder.of("reaction") and recorder.of("deleted"))
        assert not server.failing_threads
        assert recorder.of("reaction")[0].ref.key == f"discord:{CHANNEL}:5555"
        assert recorder.of("deleted")[0].key == f"discord:{CHANNEL}:5556"


async def test_a_channel_that_discord_does_not_tell_of_is_not_waited_for_for_ever(recorder, caplog):
    caplog.set_level(logging.INFO)
    async with discord_server() as server, Running(server, recorder) as platform:
        platform.chat.places.first_wait = 0.01
        server.failing_threads = 1000
        found = await platform.chat.places.channel(777, int(GUILD), 0.1)
        assert isinstance(found, discord.PartialMessageable) and server.failing_threads < 999
        before = len(server.requests)
        await platform.chat.places.channel(404, int(GUILD), SOON)
        assert len(server.requests) == before + 1, "what is not there is asked for once"


async def test_a_gateway_that_sends_no_json_is_an_error_that_may_pass(recorder):
    async with discord_server() as server:
        running = Running(server, recorder)
        task = asyncio.create_task(running.platform.run())
        await until(running.platform.client.is_ready)
        await server.dispatch("MESSAGE_CREATE", {"id": float("nan")})
        with pytest.raises(PlatformError, match="an invalid event") as caught:
            await asyncio.wait_for(task, SOON)
    assert caught.value.retryable


async def test_a_command_of_another_version_is_a_line_in_the_log(recorder, caplog):
    async with discord_server() as server, Running(server, recorder):
        called = {"id": "7", "application_id": BOT, "type": 2, "token": "t", "version": 1, "entitlements": []}
        called |= {"authorizing_integration_owners": {}, "channel_id": CHANNEL, "attachment_size_limit": 0}
        called |= {"user": {"id": ALICE, "username": "alice", "discriminator": "0", "avatar": None}}
        await server.dispatch(
            "INTERACTION_CREATE", {**called, "data": {"id": "1", "name": "gone", "type": 1}}
        )
        await until(lambda: "none of mine" in caplog.text)
    [record] = [r for r in caplog.records if r.levelname in ("WARNING", "ERROR")]
    assert "CommandNotFound" in record.getMessage() and not record.exc_info


async def test_a_lost_connection_is_resumed(recorder):
    async with discord_server() as server, Running(server, recorder):
        await server.drop(4000)
        await until(lambda: server.resumed)
        await server.says("hello again")
        await until(lambda: recorder.of("message"))
        assert server.connections == 2 and len(recorder.of("resume")) == 1


async def test_a_wrong_token_is_named(recorder):
    async with discord_server() as server:
        running = Running(server, recorder, discord_token="wrong")
        with pytest.raises(PlatformRejected, match="DISCORD_TOKEN"):
            await running.platform.run()
        assert server.connections == 0


async def test_calls_that_come_too_often_are_made_again_after_the_time_that_discord_names(recorder, caplog):
    """A 429 has `Retry-After` and JSON, and no trace of a proxy (docs.discord.com, Rate Limits)."""

    async def reply(press, responder):
        await responder.reply(Reply("one"))
        await responder.reply(Reply("two " * 900))

    recorder.answer, recorder.on_press = "With `flask run`.", reply
    recorder.controls = (Control("more", "More"),)
    async with discord_server() as server:
        server.limited = ["/users/@me", "/applications", "/channels", "/channels", "/channels"]
        async with Running(server, recorder):
            await server.says(f"<@{BOT}> how do I start?")
            await until(lambda: len(server.reactions) == 2)
            server.limited = ["/interactions", "/webhooks", "/webhooks"]
            await server.pressed(server.posted[0], "tl|more|")
            await until(lambda: len(server.followed) == 2)
        assert len(server.posted) == 1 and not server.limited
    assert "too late" not in caplog.text and not [r for r in caplog.records if r.exc_info]


async def test_json_with_a_charset_is_json(recorder):
    recorder.answer = "With `flask run`."
    async with discord_server() as server:
        server.charset = "; charset=utf-8"
        async with Running(server, recorder):
            await server.says(f"<@{BOT}> how do I start?")
            await until(lambda: len(server.reactions) == 2)


async def test_the_gateway_of_another_server_is_asked_for_where_it_is_not_set(recorder):
    """`GET /gateway` tells it (docs.discord.com, Gateway, Connecting)."""
    given = DiscordWebSocket.DEFAULT_GATEWAY
    async with discord_server() as server:
        platform = connect(settings(discord_api_url=f"{server.url}/api/v10"), recorder)
        task = asyncio.create_task(platform.run())
        await until(lambda: server.identified)
        await platform.stop()
        await asyncio.wait_for(task, SOON)
    assert given == DiscordWebSocket.DEFAULT_GATEWAY


@pytest.mark.parametrize(("code", "said"), [(4004, "DISCORD_TOKEN"), (4014, "Message Content Intent")])
async def test_what_the_gateway_refuses_is_named(recorder, code, said):
    async with discord_server() as server:
        server.close_code = code
        with pytest.raises(PlatformRejected, match=said):
            await Running(server, recorder).platform.run()


async def test_an_address_that_is_not_discord_is_named(recorder):
    async with discord_server() as server:
        wrong = {"discord_api_url": server.url, "discord_gateway_url": server.gateway}
        with pytest.raises(PlatformError, match="DISCORD_API_URL"):
            await connect(settings(**wrong), recorder).run()


async def test_stopping_while_discord_cannot_be_reached(recorder, caplog):
    given = {"discord_api_url": "http://127.0.0.1:9/api/v10", "discord_gateway_url": "ws://127.0.0.1:9/"}
    platform = connect(settings(**given), recorder)
    task = asyncio.create_task(platform.run())
    await until(lambda: "cannot be reached" in caplog.text)
    await platform.stop()
    await asyncio.wait_for(task, SOON)


async def test_work_under_way_is_finished_when_the_bot_stops(recorder):
    started = asyncio.Event()

    async def slow(chat, message):
        started.set()
        await asyncio.sleep(0.1)
        await chat.post(message.ref, Reply("Done."))

    recorder.message = slow
    async with discord_server() as server:
        async with Running(server, recorder):
            await server.says(f"<@{BOT}> slow one")
            await asyncio.wait_for(started.wait(), SOON)
        assert server.posted[0]["content"] == "Done."
    handlers = logging.getLogger("discord").handlers
    assert all(isinstance(handler, logging.NullHandler) for handler in handlers)  # nothing is logged twice


async def test_log_in_is_tried_again_while_discord_is_down(recorder, caplog):
    # 503 is the one server error that discord.py does not try again itself.
    async with discord_server() as server:
        server.failing_logins = 2
        running = Running(server, recorder)
        running.platform.first_retry = 0.01
        async with running:
            assert "cannot be reached" in caplog.text


async def test_log_in_is_tried_again_where_a_connection_is_dropped(recorder, caplog):
    """A proxy that ends it makes aiohttp's ServerDisconnectedError, which is no OSError."""
    async with discord_server() as server:
        server.dropping = ["/users/@me", "/oauth2/applications/@me"] * 2
        running = Running(server, recorder)
        running.platform.first_retry = 0.01
        async with running:
            assert caplog.text.count("cannot be reached (Server disconnected)") == 2


async def test_commands_are_registered_later_where_discord_does_not_take_them_now(recorder, caplog):
    async with discord_server() as server:
        server.refused = [(503, 0), (503, 0)]
        server.dropping = [f"/applications/{BOT}/commands"] * 2
        running = Running(server, recorder)
        running.platform.first_retry = 0.01
        async with running:
            assert {c["name"] for c in server.commands} == {"ask", "threadlore", "Answer this"}
    assert caplog.text.count("Discord does not take the slash commands now") == 3
    assert "applications.commands" not in caplog.text, "the invitation is not what is wrong"


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [(403, 50001, "with the scope applications.commands"), (400, 50035, "report it")],
)
async def test_commands_that_are_refused_are_refused_once(recorder, caplog, status, code, said):
    async with discord_server() as server:
        server.refused = [(status, code)]
        running = Running(server, recorder)
        task = asyncio.create_task(running.platform.run())
        await until(lambda: "slash commands" in caplog.text)
        await running.platform.stop()
        await asyncio.wait_for(task, SOON)
        assert said in caplog.text and not server.commands


@pytest.mark.parametrize("stopping", [True, False])
async def test_a_stop_while_it_connects_is_no_error(recorder, monkeypatch, stopping):
    async with discord_server() as server:
        running = Running(server, recorder)

        async def connect(*_arguments, **_more):  # as aiohttp ends where its session is closed meanwhile
            await asyncio.sleep(0)
            if stopping:
                await running.platform.stop()
            raise AssertionError

        monkeypatch.setattr(running.platform.client, "connect", connect)
        if stopping:
            await running.platform.run()
            return
        with pytest.raises(AssertionError):
            await running.platform.run()


async def test_it_stops_at_once_while_commands_wait(recorder, caplog, monkeypatch):
    async with discord_server() as server:
        server.refused = [(503, 0)]
        running = Running(server, recorder)
        running.platform.first_retry = 3600.0
        task = asyncio.create_task(running.platform.run())
        await until(lambda: "trying again in 3600 s" in caplog.text)
        monkeypatch.setattr("bot.platforms.discord.platform.STOP_SECONDS", 3600.0)
        await asyncio.wait_for(running.platform.stop(), SOON)
        await asyncio.wait_for(task, SOON)


@pytest.mark.parametrize("public", [True, False])
async def test_that_anybody_can_invite_the_bot_is_told_at_the_start(recorder, caplog, public):
    async with discord_server() as server:
        server.public = public
        async with Running(server, recorder):
            assert ("anybody can invite this bot" in caplog.text) is public
