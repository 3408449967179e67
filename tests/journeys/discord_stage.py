"""Discord as a stage: simcord, and the platform with the real discord.py."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import discord
from simcord.backend.models.channel import Overwrite
from simcord.components import walk_components
from simcord.enums import OverwriteType
from simcord.env import Env

from bot.commands.slash.table import Subcommand, words
from bot.commands.slash.words import parsed
from bot.platforms.discord.commands import ANSWER_THIS
from bot.platforms.discord.platform import connect
from bot.ports.chat import Choice
from tests.journeys.discord_time import InRealTime
from tests.journeys.house import Bot
from tests.journeys.stage import PLAIN, Said, Seen, address, chosen
from tests.patience import PATIENCE
from tests.platforms.discord_world import World
from tests.platforms.discord_world import settings as discord_settings


class DiscordStage:
    """People on Discord."""

    name = "discord"

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self._messages: dict[str, Any] = {}
        self._told: dict[str, list[Any]] = {}
        self._forms: dict[str, tuple[Any, Any]] = {}

    async def __aenter__(self) -> DiscordStage:
        self._dispatch = InRealTime(self.bot.dispatch)
        self.platform = connect(discord_settings(), self._dispatch)  # type: ignore[arg-type]
        assert self.platform is not None
        self.env = Env(self.platform.client, settle_timeout=PATIENCE)
        await self.env.start()
        self._clock = self.env.time_context()
        self._clock.__enter__()
        guild = self.env.create_guild("Kettle")
        world = World(self.env, guild)
        managers = guild.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
        helpers = guild.create_role("Helpers")
        self._helpers = frozenset({f"discord:role:{helpers.id}"})
        self.platform.standing.helpers = self._helpers
        boss = guild.add_member(self.env.create_user("boss"), roles=[managers])
        hal = guild.add_member(self.env.create_user("hal"), roles=[helpers])
        robot = guild.add_member(self.env.create_user("robot", bot=True))
        self.people = {"ann": world.alice, "bob": world.bob, "hal": hal, "boss": boss, "robot": robot}
        self.mentions = {who: f"<@{member.id}>" for who, member in self.people.items()} | {"bot": world.bot}
        desk = guild.create_text_channel("desk")
        self.places = {"public": world.help, "private": world.private("maintainers", hal), "desk": desk}
        self.world = world
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.env.settle()
        finally:
            self._clock.__exit__(None, None, None)
            await self.env.shutdown()
            await self._dispatch.close()

    async def leave(self) -> None:
        """Wait until the bot does nothing more; it is disconnected when the next one joins."""
        await self.quiet()

    async def join(self, bot: Bot) -> None:
        """Connect another bot in place of the one before."""
        self.bot = bot
        await self._dispatch.close()
        self._dispatch = InRealTime(bot.dispatch)
        self.platform = connect(discord_settings(), self._dispatch)  # type: ignore[arg-type]
        assert self.platform is not None
        self.platform.standing.helpers = self._helpers
        await self.env.restart_bot(self.platform.client)
        await self.env.settle()

    async def disturb(self, trouble: str) -> None:
        """Let something go wrong from now on, as `tests.scenarios.trouble` names it; there are no streams."""
        if trouble in ("stream ends", "too many calls"):
            fault = {"method": "PATCH", "path": "/channels/*/messages/*", "code": 0, "message": "no"}
            status = 429 if trouble == "too many calls" else 500
            self.env.backend.faults.append(fault | {"status": status, "times": 1})
        elif trouble == "connection lost":
            backend = self.env.backend  # a session that is resumed tells again what it has told
            there = backend.messages[self.places["public"].id].values()
            backend.announce_message_create([m for m in there if self.mentions["bot"] in m.content][-1])

    def key(self, place: str = "public") -> str:
        """Return how the bot names a channel; the direct one is there once something was said in it."""
        channel = self.people["ann"].user.dm_channel if place == "direct" else self.places[place]
        return f"discord:{channel.id}"

    async def repeat(self, said: Said | None) -> None:
        """Tell the bot of a message once more, as a resumed session does.

        None means the last one of the public channel, while its writer still waits for the answer.
        """
        backend = self.env.backend
        if said is None:
            there = backend.messages[self.places["public"].id].values()
            backend.announce_message_create([m for m in there if self.mentions["bot"] in m.content][-1])
            return
        message = self._messages[said.id][1]
        backend.announce_message_create(backend.get_message(message.channel.id, message.id))
        await self.env.settle()

    def texts(self) -> list[str]:
        """Return all that the bot says in the threads of the public channel now."""
        found = [m for thread in self.places["public"].threads for m in thread.history()]
        return [m.content for m in found if m.author.id == self.env.bot.user.id and not m.is_system()]

    def pings(self, said: Said) -> list[str]:
        """Return whom or what the bot's messages in a conversation call by sound."""
        found = [self.stored(seen) for seen in self.replies(said)]
        called = [str(user) for m in found for user in (*m.ping_user_ids, *m.ping_role_ids)]
        return called + ["@everyone" for m in found if m.mention_everyone]

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

    async def reply(self, who: str, to: Said, text: str) -> Said:
        """Answer a message of a channel there, by Discord's reply."""
        message = await self.people[who].send(self.places[to.place], text, reply_to=self._messages[to.id][1])
        self._messages[str(message.id)] = (who, message)
        return Said(str(message.id), to.place, str(message.id), text)

    async def forward(self, who: str, said: Said, place: str = "public") -> Said:
        """Forward a message to a channel, or to the bot's direct messages."""
        channel = self.people[who].user.dm_channel if place == "direct" else self.places[place]
        message = await self.people[who].forward(self._messages[said.id][1], channel)
        self._messages[str(message.id)] = (who, message)
        return Said(str(message.id), place, str(message.id), said.text)

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

    async def react(self, who: str, on: Seen | Said, emoji: str, added: bool = True) -> None:
        message = self._messages[on.id][1]
        if on.place in ("direct", "hal"):
            self.env.backend.set_reaction(message.channel.id, message.id, emoji, self.people[who].id, added)
            await self.env.settle()
            return
        emoji = {"thumbsup": "👍", "+1": "👍"}.get(emoji, emoji)
        act = self.people[who].react if added else self.people[who].unreact
        await act(message, emoji)

    async def press(self, who: str, seen: Seen, name: str, value: str = "") -> None:
        places = [self._messages[seen.id][1]] if seen.id in self._messages else []
        places += [message for _, message in reversed(self._private(who))]
        message, part = next(
            (message, part)
            for message in places
            for part in self.parts(message)
            if part["custom_id"].split("|")[1] == name
        )
        actor = self.people[who].user if seen.place == "direct" else self.people[who]
        if "options" in part:
            lines = tuple(Choice(line["value"], line["label"]) for line in part["options"])
            result = await actor.select(message, [chosen(lines, value)], custom_id=part["custom_id"])
        else:
            result = await actor.click(message, custom_id=part["custom_id"])
        self._keep(who, actor, result)

    def _keep(self, who: str, actor: Any, result: Any) -> None:
        self._told.setdefault(who, []).append(result)
        if result.modal:
            self._forms[who] = (actor, result)

    def parts(self, message: Any) -> list[dict[str, Any]]:
        """Return the controls that hang under a message now."""
        channel = message.channel.id if isinstance(message, discord.Message) else message.channel_id
        found = self.env.backend.messages[channel].get(message.id)
        return [part for part in walk_components(found.components) if "custom_id" in part] if found else []

    def _fields(self, who: str) -> dict[str, dict[str, Any]]:
        form = self._forms[who][1].modal
        return {
            part["custom_id"]: part for part in walk_components(form["components"]) if "custom_id" in part
        }

    def form(self, who: str) -> tuple[str, tuple[str, ...]] | None:
        return (self._forms[who][1].modal["title"], tuple(self._fields(who))) if who in self._forms else None

    async def fill(self, who: str, **fields: str) -> None:
        given: dict[str, Any] = {}
        for name, value in fields.items():
            part = self._fields(who)[name]
            lines = tuple(Choice(line["value"], line["label"]) for line in part.get("options", ()))
            given[name] = [chosen(lines, value)] if lines else value
        actor, shown = self._forms.pop(who)
        self._keep(who, actor, await actor.submit_modal(shown, given))

    async def slash(self, who: str, command: str, text: str = "", place: str = "public") -> None:
        member, channel = self.people[who], self.places[place]
        if command == "ask":
            result = await member.slash(channel, "ask", question=text)
        else:
            name, options = _options(text, self.bot.dispatch.slash.subcommands, channel)
            result = await member.slash(channel, f"threadlore {name}", **options)
        self._keep(who, member, result)

    async def close_public(self) -> None:
        """Take the public channel from the sight of everyone but ann, hal and the bot."""
        sight = discord.Permissions(view_channel=True).value
        members = [self.people["ann"].id, self.people["hal"].id, self.env.bot.user.id]
        closed = [Overwrite(member, OverwriteType.MEMBER, allow=sight) for member in members]
        closed.append(Overwrite(self.world.guild.id, OverwriteType.ROLE, deny=sight))
        self.env.backend.edit_channel(self.places["public"].id, {}, overwrites=closed)
        await self.env.settle()

    async def answer_this(self, who: str, said: Said) -> None:
        """Choose "Answer this" in the menu of a message in a channel."""
        message = self._messages[said.id][1]
        self._keep(
            who,
            self.people[who],
            await self.people[who].context_menu(self.places[said.place], ANSWER_THIS, message),
        )

    def _private(self, who: str) -> list[tuple[str, Any]]:
        """Return what that person alone was told, as it reads now, oldest first."""
        told = []
        for result in self._told.get(who, []):
            first = [result.response] if result.response and result.ephemeral else []
            told += [(said.content, said) for said in [*first, *result.followups] if said.ephemeral]
        return told

    def account(self, who: str) -> str:
        return f"discord:{self.people[who].id}"

    def inbox(self, who: str) -> list[Seen]:
        channel = self.people[who].user.dm_channel
        return self._said(channel, who) if channel else []

    def desk(self) -> list[Seen]:
        return self._said(self.places["desk"], "desk")

    def heard(self, who: str) -> list[str]:
        return [text for text, _ in self._private(who)]

    def public(self) -> list[str]:
        me = self.env.bot.user.id
        found = self.places["public"].history()
        return [m.content for m in found if m.author.id == me and not (m.flags.ephemeral or m.is_system())]

    def replies(self, said: Said) -> list[Seen]:
        thread = self._thread(said)
        return [] if thread is None else self._said(thread, said.place)

    def _said(self, channel: Any, place: str) -> list[Seen]:
        """Return what the bot says in a channel, a thread or direct messages, oldest first."""
        me = self.env.bot.user.id
        found = [m for m in channel.history() if m.author.id == me and not m.is_system()]
        self._messages |= {str(m.id): ("bot", m) for m in found}
        return [
            Seen(
                str(m.id),
                m.content,
                place,
                self._seeds(channel, m.id),
                tuple(part["custom_id"].split("|")[1] for part in self.parts(m)),
            )
            for m in sorted(found, key=lambda m: m.id)
        ]

    def _seeds(self, thread: Any, message: int) -> tuple[str, ...]:
        stored = self.env.backend.get_message(thread.id, message)
        return tuple(PLAIN[r.emoji] for r in stored.reactions if self.env.bot.user.id in r.user_ids)

    async def quiet(self) -> None:
        await self.env.settle()
        await asyncio.sleep(0.02)


def _options(text: str, table: Sequence[Subcommand], here: Any) -> tuple[str, dict[str, Any]]:
    """Turn what is written after `/threadlore` into a command of Discord and its options."""
    said = words(text)
    found = max(
        (s for s in table if said[: len(s.name.split())] == tuple(s.name.split())), key=lambda s: len(s.name)
    )
    rest = [word for word in said[len(found.name.split()) :] if word != "me"]
    # whom an account names is chosen in a field of its own
    options = [replace(o, named=o.named and o.name != "account") for o in found.options if o.kind != "person"]
    if found.name == "mode" and len(rest) == 1 and rest[0] in found.options[1].choices:
        rest.insert(0, "here")
    given: dict[str, Any] = dict(parsed(options, rest))
    for option in options:
        if option.name in given and option.kind == "flag":
            given[option.name] = True
        elif option.name in given and option.kind == "channel":
            assert given[option.name] == "here", "people choose a channel there"
            given[option.name] = here
    return found.name, {name.replace("-", "_"): value for name, value in given.items()}
