"""The slash commands `/ask` and `/threadlore`, and "Answer this" in the menu of a message."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands

from bot.chat import Command
from bot.platforms import discord_reading as reading
from bot.platforms.discord_chat import DiscordChat
from bot.platforms.discord_responding import DiscordResponder
from core.domain import MessageRef

log = logging.getLogger(__name__)

QUESTION = 2000
"""Characters of a question; more than people type and less than a model takes."""
ANSWER_THIS = "Answer this"

HandOver = Callable[[Command, DiscordResponder], Awaitable[None]]
Short = app_commands.Range[str, 1, 100]


class Commands:
    """Turns commands into those of `bot.chat` and hands them over."""

    def __init__(self, chat: DiscordChat, standing: reading.Standing, hand_over: HandOver) -> None:
        self._chat, self._standing, self._hand_over = chat, standing, hand_over

    async def called(self, interaction: discord.Interaction, name: str, text: str) -> None:
        """Hand a slash command over; what it says to all stands in the channel, or in this thread."""
        responder = DiscordResponder(self._chat, interaction)
        if await responder.think():
            channel = await self._channel(interaction)
            where = reading.place(channel, interaction.id)
            await self._call(interaction, responder, channel, where, name, text)

    async def answer_this(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """Ask with the words of a message; what is said in the channel stands in a thread on it."""
        responder = DiscordResponder(self._chat, interaction)
        if await responder.think():
            message.channel = channel = await self._channel(interaction)
            read = await reading.whole(self._standing, message, self._chat.me)
            self._chat.heard(message, read.text)
            await self._call(interaction, responder, channel, read.ref, "ask", read.text)

    async def _channel(self, interaction: discord.Interaction) -> Any:
        return await self._chat.places.channel(interaction.channel_id or 0, interaction.guild_id)

    async def _call(
        self,
        interaction: discord.Interaction,
        responder: DiscordResponder,
        channel: Any,
        where: MessageRef,
        name: str,
        text: str,
    ) -> None:
        responder.where = where
        person = self._standing.person(interaction.user, interaction.permissions)
        event = str(interaction.id)
        await self._hand_over(Command(name, text, person, where, reading.scope(channel), event), responder)


def build_tree(client: discord.Client, commands: Commands) -> app_commands.CommandTree[Any]:
    """Make the commands that `setup_hook` registers with Discord.

    `/threadlore` is there for everybody, for some of it is: `Admin` says what only admins may do.
    """
    tree: app_commands.CommandTree[Any] = app_commands.CommandTree(
        client,
        allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
    )

    @tree.command(name="ask", description="Ask the documentation; only you see the answer")
    @app_commands.describe(question="What you want to know; name the release you use if it matters")
    async def ask(interaction: discord.Interaction, question: app_commands.Range[str, 1, QUESTION]) -> None:
        await commands.called(interaction, "ask", question)

    @tree.context_menu(name=ANSWER_THIS)
    async def answer_this(interaction: discord.Interaction, message: discord.Message) -> None:
        await commands.answer_this(interaction, message)

    tree.add_command(_threadlore(commands))
    return tree


def _threadlore(commands: Commands) -> app_commands.Group:
    group = app_commands.Group(
        name="threadlore", description="Look after the documentation and the memory that answers come from"
    )

    async def run(interaction: discord.Interaction, *words: str | None) -> None:
        await commands.called(interaction, "threadlore", " ".join(word for word in words if word))

    @group.command(name="status", description="Show what is indexed, how fresh it is, and what is wrong")
    async def status(interaction: discord.Interaction) -> None:
        await run(interaction, "status")

    @group.command(name="releases", description="List the releases that can be asked about")
    async def releases(interaction: discord.Interaction) -> None:
        await run(interaction, "releases")

    @group.command(name="reindex", description="Read the documentation anew")
    @app_commands.describe(release="One release, such as 2.3; all of them when left out")
    async def reindex(interaction: discord.Interaction, release: Short | None = None) -> None:
        await run(interaction, "reindex", release)

    @group.command(name="forget", description="Remove for good what you asked and voted")
    @app_commands.describe(
        person="Somebody else; only admins may do that",
        account="An account on another platform, such as slack:U123; only admins may do that",
        confirm="Really do it; without this you are told what it does",
    )
    async def forget(
        interaction: discord.Interaction,
        person: discord.User | None = None,
        account: Short | None = None,
        confirm: bool = False,
    ) -> None:
        who = account or (f"<@{person.id}>" if person and person != interaction.user else "me")
        await run(interaction, "forget", who, "confirm" if confirm else None)

    memory = app_commands.Group(
        name="memory", parent=group, description="Look into what the community has taught the bot"
    )

    @group.command(name="gaps", description="List what was asked in public and not answered, or not well")
    async def gaps(interaction: discord.Interaction) -> None:
        await run(interaction, "gaps")

    @memory.command(name="corrections", description="List what people found wrong with answers")
    async def corrections(interaction: discord.Interaction) -> None:
        await run(interaction, "memory corrections")

    @group.command(name="help", description="List these commands and what they do")
    async def helped(interaction: discord.Interaction) -> None:
        await run(interaction, "help")

    return group


async def register(tree: app_commands.CommandTree[Any]) -> None:
    """Tell Discord about the commands; without them the bot still answers mentions."""
    try:
        await tree.sync()
    except (discord.DiscordException, OSError) as error:
        log.warning(
            "Discord did not take the slash commands (%s): invite the bot with the scope "
            "applications.commands and start again. Mentions work all the same.",
            error,
        )
