"""Discord as a stage: simcord, and the platform with the real discord.py."""

from __future__ import annotations

import asyncio
from typing import Any

import discord
from simcord.env import Env

from bot.platforms.discord import connect
from tests.journeys.house import Bot
from tests.journeys.stage import PLAIN, Said, Seen, address
from tests.platforms.discord_world import World
from tests.platforms.discord_world import settings as discord_settings


class DiscordStage:
    """People on Discord."""

    name = "discord"

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._messages: dict[str, Any] = {}
        self._told: dict[str, list[Any]] = {}

    async def __aenter__(self) -> DiscordStage:
        self.platform = connect(discord_settings(), self.bot.dispatch)
        assert self.platform is not None
        self.env = Env(self.platform.client, settle_timeout=20.0)
        await self.env.start()
        self._clock = self.env.time_context()
        self._clock.__enter__()
        guild = self.env.create_guild("Kettle")
        world = World(self.env, guild)
        managers = guild.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
        boss = guild.add_member(self.env.create_user("boss"), roles=[managers])
        robot = guild.add_member(self.env.create_user("robot", bot=True))
        self.people = {"ann": world.alice, "bob": world.bob, "boss": boss, "robot": robot}
        self.mentions = {who: f"<@{member.id}>" for who, member in self.people.items()} | {"bot": world.bot}
        self.places = {"public": world.help, "private": world.private("maintainers")}
        self.world = world
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.env.settle()
        finally:
            self._clock.__exit__(None, None, None)
            await self.env.shutdown()

    def _thread(self, said: Said) -> Any:
        if said.place == "direct":
            return self.people["ann"].user.dm_channel
        found = [t for t in self.places[said.place].threads if str(t.id) == said.root]
        return found[0] if found else None

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        place = under.place if under else place
        written = address(self.mentions, text, to)
        if place == "direct":
            message = await self.people[who].send_dm(written)
        else:
            message = await self.people[who].send(
                self._thread(under) if under else self.places[place], written
            )
        self._messages[str(message.id)] = (who, message)
        return Said(str(message.id), place, under.root if under else str(message.id), written)

    async def edit(self, said: Said, text: str) -> None:
        who, message = self._messages[said.id]
        mention = said.text.split(" ")[0] if said.text.startswith("<@") else ""
        await self.people[who].edit(message, f"{mention} {text}".strip())

    async def delete(self, said: Said) -> None:
        who, message = self._messages[said.id]
        await self.people[who].delete(message)

    def stored(self, seen: Seen) -> Any:
        """Return a message of the bot as Discord keeps it."""
        return self.env.backend.get_message(self._messages[seen.id][1].channel.id, int(seen.id))

    async def react(self, who: str, seen: Seen, emoji: str, added: bool = True) -> None:
        message = self._messages[seen.id][1]
        if seen.place == "direct":
            self.env.backend.set_reaction(message.channel.id, message.id, emoji, self.people[who].id, added)
            await self.env.settle()
            return
        emoji = {"thumbsup": "👍", "+1": "👍"}.get(emoji, emoji)
        act = self.people[who].react if added else self.people[who].unreact
        await act(message, emoji)

    async def slash(self, who: str, command: str, text: str = "") -> None:
        member, channel = self.people[who], self.places["public"]
        if command == "ask":
            result = await member.slash(channel, "ask", question=text)
        else:
            word, _, release = text.partition(" ")
            options = {"release": release} if release else {}
            result = await member.slash(channel, f"threadlore {word}", **options)
        self._told.setdefault(who, []).append(result)

    def heard(self, who: str) -> list[str]:
        return [result.response.content for result in self._told.get(who, []) if result.response]

    def public(self) -> list[str]:
        me = self.env.bot.user.id
        found = self.places["public"].history()
        return [m.content for m in found if m.author.id == me and not (m.flags.ephemeral or m.is_system())]

    def replies(self, said: Said) -> list[Seen]:
        thread = self._thread(said)
        if thread is None:
            return []
        me = self.env.bot.user.id
        found = [m for m in thread.history() if m.author.id == me and not m.is_system()]
        self._messages |= {str(m.id): ("bot", m) for m in found}
        return [
            Seen(str(m.id), m.content, said.place, self._seeds(thread, m.id))
            for m in sorted(found, key=lambda m: m.id)
        ]

    def _seeds(self, thread: Any, message: int) -> tuple[str, ...]:
        stored = self.env.backend.get_message(thread.id, message)
        return tuple(PLAIN[r.emoji] for r in stored.reactions if self.env.bot.user.id in r.user_ids)

    async def quiet(self) -> None:
        await self.env.settle()
        await asyncio.sleep(0.02)
