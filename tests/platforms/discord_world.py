"""A simulated Discord with people in it, and a dispatch that keeps what it is told.

A test module takes the fixtures with `pytest_plugins = ["tests.platforms.discord_world"]`.
"""

from __future__ import annotations

from typing import Any, cast

import discord
import pytest
from simcord.backend.models.channel import Overwrite
from simcord.backend.serializers import channel_payload, guild_create_payload
from simcord.enums import OverwriteType
from simcord.http.router import _ROUTES, RequestContext

from bot.commands.slash.derived import subcommands_of
from bot.commands.slash.table import SlashCommands
from bot.operations.application import Application
from bot.platforms.discord.platform import connect
from bot.ports.chat import Reply, unheard
from core.settings import Settings, load_settings
from tests.platforms.discord_server import TOKEN

TOLD_ON_CREATE = frozenset(
    "joined_at large unavailable member_count voice_states members channels threads presences "
    "stage_instances guild_scheduled_events soundboard_sounds".split()
)
"""What GUILD_CREATE has beside the guild itself, https://docs.discord.com/developers/events/gateway-events#guild-create"""


def _guild(asked: RequestContext) -> dict[str, Any]:
    """Return a guild by its id as Discord does: the bot is no member of what is told here."""
    told = guild_create_payload(asked.backend, asked.backend.get_guild(asked.int_arg("guild_id")))
    return {key: value for key, value in told.items() if key not in TOLD_ON_CREATE}


_ROUTES["GET"].insert(0, (["guilds", "{guild_id}"], _guild))  # simcord's own tells it all


class Blank:
    """Has everything, and does nothing: a table of commands is made of it, none of which is run."""

    def __getattr__(self, name: str) -> Any:
        return () if name == "admins" else Blank()


class Recorder:
    """Stands in for dispatch: keeps what it is told, and answers as a test asks it to."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []
        self.chat = None
        self.answer = None
        self.on_command = None
        self.on_press = None
        self.controls = ()
        self.slash = SlashCommands(subcommands_of(cast(Application, Blank())))

    async def releases(self) -> list[dict[str, Any]]:
        return [{"name": name, "ready": name != "3.0"} for name in ("1.0", "2.0", "3.0")]

    def of(self, kind: str) -> list:
        return [value for name, value in self.told if name == kind]

    async def message(self, chat, message, taken=unheard):
        self.told.append(("message", message))
        if self.answer is not None and (message.mentions_bot or message.scope.kind == "direct"):
            self.parts = await chat.post(
                message.ref, Reply(self.answer, answer_id="a1", controls=self.controls)
            )
            await chat.seed_votes(self.parts[-1])

    async def take(self, platform, kind, event, account, to, vote=None):
        self.told.append(("noted", (kind, event, account)))
        return True

    async def edited(self, chat, message, taken=unheard):
        self.told.append(("edited", message))

    async def deleted(self, chat, ref, links=""):
        self.told.append(("deleted", (ref, links) if links else ref))

    async def reaction(self, chat, reaction):
        self.told.append(("reaction", reaction))

    async def command(self, chat, command, responder):
        self.told.append(("command", command))
        if self.on_command:
            await self.on_command(command, responder)

    async def press(self, chat, press, responder):
        self.told.append(("press", press))
        if self.on_press:
            await self.on_press(press, responder)

    async def channel_became_private(self, channel, now=True):
        self.told.append(("private" if now else "looked up", channel))

    @property
    def recount(self):
        return self

    def begin(self, chat, reader):
        self.told.append(("recount", chat))

    async def resume(self, chat):
        self.told.append(("resume", chat))


def settings(**given) -> Settings:
    return load_settings(None, **({"discord_token": TOKEN, "discord_votes": "both"} | given))


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def platform(recorder, request):
    return connect(settings(**getattr(request, "param", {})), recorder)


@pytest.fixture
def simcord_bot(platform):
    return platform.client


@pytest.fixture
def world(simcord_env):
    """A guild with a bot that may do what it needs, a help channel, and Alice."""
    env = simcord_env
    guild = env.create_guild("Flask")
    return World(env, guild)


class World:
    def __init__(self, env, guild) -> None:
        self.env, self.guild = env, guild
        self.help = guild.create_text_channel("help")
        self.alice = guild.add_member(env.create_user("alice", global_name="Alice"))
        self.bob = guild.add_member(env.create_user("bob", global_name="Bob"))
        self.bot = f"<@{env.bot.user.id}>"

    def thread_of(self, message):
        return next(t for t in self.help.threads if t.id == message.id)

    def private(self, name: str, *more):
        """Make a channel that only Alice, the bot and whom one names see."""
        seen = discord.PermissionOverwrite(view_channel=True, send_messages=True, read_message_history=True)
        return self.guild.create_text_channel(
            name,
            overwrites={
                self.guild.default_role: discord.PermissionOverwrite(view_channel=False),
                self.alice: seen,
                self.env.bot.user: seen,
                **dict.fromkeys(more, seen),
            },
        )

    async def let(self, channel, **given: bool):
        """Allow and deny everyone these things in a channel, and nothing else to anybody."""
        allow, deny = discord.PermissionOverwrite(**given).pair()
        everyone = Overwrite(self.guild.id, OverwriteType.ROLE, allow=allow.value, deny=deny.value)
        self.env.backend.edit_channel(channel.id, {}, overwrites=[everyone] if given else [])
        await self.env.settle()

    async def hide(self, channel):
        """Take a channel from the bot's sight: Discord tells of a stand-in that says nothing of it.

        `let` and any other change show the bot what it is.
        """
        everyone = {"id": str(self.guild.id), "type": 0, "allow": "0", "deny": str(1 << 10)}
        stand_in = {"name": "___hidden___", "flags": 1 << 17, "permission_overwrites": [everyone]}
        backend = self.env.backend
        backend.emit("CHANNEL_UPDATE", channel_payload(backend, channel._channel) | stand_in)
        await self.env.settle()

    async def offer(self, forum, *tags: str):
        """Let a forum offer these tags, in place of those it had."""
        offered = [
            {"id": str(number), "name": tag, "moderated": False, "emoji_id": None, "emoji_name": None}
            for number, tag in enumerate(tags, 1)
        ]
        self.env.backend.edit_channel(forum.id, {"available_tags": offered})
        await self.env.settle()

    async def tagged(self, forum, post) -> list[str]:
        """Return the names of a post's tags, as Discord has them."""
        await self.env.settle()
        names = {int(tag["id"]): tag["name"] for tag in forum._channel.available_tags}
        return [names[int(tag)] for tag in post._channel.applied_tags]

    async def forum_post(self, title: str, content: str, *tags: str):
        """Open a post as Alice: a thread whose first message has the thread's own id."""
        backend = self.env.backend
        forum = self.guild.create_forum_channel("questions")
        await self.offer(forum, *tags)
        given = range(1, len(tags) + 1)
        backend.create_thread(forum.id, title, self.alice.id, applied_tags=given, broadcast=False)
        [thread] = forum.threads
        backend.announce_thread_create(thread._channel)
        starter = backend.prepare_message(thread.id, self.alice.id, content)
        starter.id = thread.id
        backend.commit_message(starter)
        await self.env.settle()
        return forum, thread

    def thread(self, name: str, *, private: bool = False):
        """Open a thread in the help channel as Bob, of no message."""
        kind = 12 if private else 11
        thread = self.env.backend.create_thread(self.help.id, name, self.bob.id, type=kind)
        for member in (self.alice, self.env.bot.user):
            self.env.backend.add_thread_member(thread.id, member.id)
        return next(t for t in self.help.threads if t.id == thread.id)
