"""Calls that Discord refuses for a while: a ban that names no time, a limit of all calls, no gateway."""

from __future__ import annotations

import asyncio

import discord
import pytest
from discord.http import Route

from bot.platforms.discord.platform import connect
from tests.patience import SOON
from tests.platforms.discord_server import CHANNEL, discord_server, until
from tests.platforms.discord_world import settings
from tests.platforms.test_discord_wire import Running

pytest_plugins = ["tests.platforms.discord_world"]

BANNED = {"message": "You are being blocked from accessing our API temporarily.", "code": 0}


def reading():
    """Return a call to the server of the test, which stands in for Discord only while the bot runs."""
    return Route("GET", "/channels/{channel_id}", channel_id=CHANNEL)


async def test_a_ban_that_names_no_time_is_tried_again_at_login(recorder):
    async with discord_server() as server:
        server.limited, server.limit = ["/users/@me"], BANNED
        given = {"discord_api_url": f"{server.url}/api/v10", "discord_gateway_url": server.gateway}
        platform = connect(settings(**given), recorder)
        platform.first_retry = 0.05
        task = asyncio.create_task(platform.run())
        await until(lambda: server.identified or task.done())
        assert not task.done()
        await platform.stop()
        await asyncio.wait_for(task, SOON)


async def test_a_ban_that_names_no_time_is_a_refusal_of_discord(recorder):
    async with discord_server() as server, Running(server, recorder) as platform:
        server.limited, server.limit = ["/channels"], BANNED
        with pytest.raises(discord.HTTPException, match="blocked"):
            await platform.client.http.request(reading())


async def test_who_is_cancelled_in_a_limit_of_all_calls_holds_up_no_others(recorder):
    async with discord_server() as server, Running(server, recorder) as platform:
        http = platform.client.http
        server.limited, server.limit = ["/channels"], {"retry_after": 600.0, "global": True}
        waiting = asyncio.create_task(http.request(reading()))
        await until(lambda: not http._global_over.is_set())
        waiting.cancel()
        await asyncio.wait({waiting})
        assert await asyncio.wait_for(http.request(Route("GET", "/users/@me")), SOON)


async def test_a_gateway_that_cannot_be_asked_for_is_asked_for_again(recorder):
    async with discord_server() as server:
        server.dropping = 2 * ["/gateway"]
        platform = connect(settings(discord_api_url=f"{server.url}/api/v10"), recorder)
        platform.first_retry = 0.05
        task = asyncio.create_task(platform.run())
        await until(lambda: server.identified or task.done())
        assert not task.done()
        await platform.stop()
        await asyncio.wait_for(task, SOON)
