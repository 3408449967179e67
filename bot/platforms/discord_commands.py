"""The slash commands `/ask` and `/threadlore`, and how they are answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands

from bot.chat import Command, Reply
from bot.platforms import discord_reading as reading
from bot.platforms.discord_chat import UNKNOWN_MESSAGE, DiscordChat
from bot.platforms.discord_markdown import messages, without_previews
from core.domain import MessageRef
from core.errors import PlatformError

log = logging.getLogger(__name__)

QUESTION = 2000
"""Characters of a question; more than people type and less than a model takes."""

_UNKNOWN_WEBHOOK, _INVALID_TOKEN = 10015, 50027

HandOver = Callable[[Command, "DiscordResponder"], Awaitable[None]]


class DiscordResponder:
    """`bot.chat.Responder` on one interaction: the caller alone sees the reply, all see the progress."""

    def __init__(self, chat: DiscordChat, interaction: discord.Interaction, where: MessageRef) -> None:
        self._chat, self._interaction, self._where = chat, interaction, where
        self._followups: list[discord.WebhookMessage] = []
        self._shown: tuple[MessageRef, ...] = ()
        self._turn = asyncio.Lock()
        self.replied = False

    async def reply(self, reply: Reply) -> None:
        """Answer the caller; raises PlatformError when the 15 minutes for that are over."""
        async with self._turn:
            try:
                await self._reply(reply)
            except discord.HTTPException as error:
                raise PlatformError(
                    f"The reply to a Discord command did not arrive ({error.text}): call the command again."
                ) from error

    async def _reply(self, reply: Reply) -> None:
        first, *rest = messages(without_previews(reply.markdown))
        self.replied = True
        await self._interaction.edit_original_response(content=first or "…")
        for place, text in enumerate(rest):
            if place < len(self._followups):
                await self._followups[place].edit(content=text)
            else:
                followup = await self._interaction.followup.send(text, ephemeral=True, wait=True)
                self._followups.append(followup)
        while len(self._followups) > len(rest):
            await self._followups.pop().delete()

    async def progress(self, reply: Reply) -> None:
        """Show the state in the channel, or to the caller alone where the bot may not speak.

        The channel's message needs no interaction, so it outlives the 15 minutes of one.
        """
        async with self._turn:
            if self._shown:
                try:
                    self._shown = await self._chat.edit(self._shown, reply)
                    return
                except PlatformError as error:  # somebody deleted it: the work goes on, and so do the news
                    log.info("Progress is posted anew: %s", error)
            try:
                self._shown = await self._chat.post(self._where, reply)
            except PlatformError as error:
                if self._interaction.is_expired():
                    raise
                log.info("Progress goes to the caller alone: %s", error)
                await self._reply(reply)
                return
            if not self.replied:
                await self._reply(Reply("Progress is shown in this channel."))

    async def close(self) -> None:
        """Take the sign of waiting away where nothing was replied."""
        if not self.replied:
            try:
                await self._interaction.delete_original_response()
            except discord.HTTPException as error:
                if error.code not in (UNKNOWN_MESSAGE, _UNKNOWN_WEBHOOK, _INVALID_TOKEN):
                    raise


def build_tree(
    client: discord.Client, chat: DiscordChat, standing: reading.Standing, hand_over: HandOver
) -> app_commands.CommandTree[Any]:
    """Make the commands that `setup_hook` registers with Discord."""
    tree: app_commands.CommandTree[Any] = app_commands.CommandTree(
        client,
        allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
    )
    admin = app_commands.Group(
        name="threadlore",
        description="Look after the documentation that answers come from",
        guild_only=True,
        default_permissions=discord.Permissions(manage_guild=True),
    )

    async def called(interaction: discord.Interaction, name: str, text: str) -> None:
        try:
            # Discord takes an interaction for failed after 3 seconds, whatever else is going on.
            await interaction.response.defer(ephemeral=True, thinking=True)
        except discord.HTTPException as error:
            log.warning("A Discord command came too late to be answered: %s", error)
            return
        channel = await chat.channel(interaction.channel_id or 0, interaction.guild_id)
        thread = str(channel.id) if isinstance(channel, discord.Thread) else ""
        place = reading.ref(channel, interaction.id)
        where = MessageRef(place.platform, place.channel, place.message, thread)
        person = standing.person(interaction.user, interaction.permissions)
        event = str(interaction.id)
        command = Command(name, text, person, where, reading.scope(channel), event)
        await hand_over(command, DiscordResponder(chat, interaction, where))

    @tree.command(name="ask", description="Ask the documentation; only you see the answer")
    @app_commands.describe(question="What you want to know; name the release you use if it matters")
    async def ask(interaction: discord.Interaction, question: app_commands.Range[str, 1, QUESTION]) -> None:
        await called(interaction, "ask", question)

    @admin.command(name="status", description="Show what is indexed, how fresh it is, and what is wrong")
    async def status(interaction: discord.Interaction) -> None:
        await called(interaction, "threadlore", "status")

    @admin.command(name="releases", description="List the releases that can be asked about")
    async def releases(interaction: discord.Interaction) -> None:
        await called(interaction, "threadlore", "releases")

    @admin.command(name="reindex", description="Read the documentation anew")
    @app_commands.describe(release="One release, such as 2.3; all of them when left out")
    async def reindex(
        interaction: discord.Interaction, release: app_commands.Range[str, 1, 100] | None = None
    ) -> None:
        await called(interaction, "threadlore", f"reindex {release or ''}".strip())

    tree.add_command(admin)
    return tree


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
