"""How a command, a press or a sent form is answered on Discord: to the person alone, and in good time."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Mapping
from typing import Any

import discord

from bot.platforms.discord.chat import DiscordChat
from bot.platforms.discord.components import modal, view
from bot.platforms.discord.markdown import messages, without_previews
from bot.platforms.discord.places import (
    ACKNOWLEDGED,
    INVALID_TOKEN,
    TROUBLE,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    code_of,
    unheard,
    words_of,
)
from bot.ports.chat import Attachment, Control, Form, Reply
from bot.rendering.times import in_zone
from core.domain import MessageRef
from core.errors import PlatformError
from core.ports.cluster import STILL

log = logging.getLogger(__name__)

PATIENCE = 1.0
"""Seconds that a press may wait for its answer before it is acknowledged without one; Discord allows 3.

A form can only be the first answer, so a press is not acknowledged at once.
"""

TOKEN_SECONDS = 15 * 60 - 10
"""Seconds for which an interaction can be answered, with some to spare."""


class _First:
    """The message that answers an interaction; it is changed by the interaction's token, not by its id."""

    def __init__(self, interaction: discord.Interaction) -> None:
        self._interaction = interaction

    async def edit(self, **what: Any) -> None:
        await self._interaction.edit_original_response(**what)

    async def delete(self) -> None:
        await self._interaction.delete_original_response()


class DiscordResponder:
    """`bot.ports.chat.Responder` on one interaction: the caller alone sees the reply, all see the progress.

    `where` is set before it is handed on: that is looked up only after the interaction is acknowledged.
    """

    where: MessageRef

    @property
    def address(self) -> Mapping[str, Any]:
        """Return the interaction's token, how long it is good, and whether a sign of work is its answer."""
        given = self._interaction
        return {
            "application": given.application_id,
            "token": given.token,
            "until": given.created_at.timestamp() + TOKEN_SECONDS,
            "thinks": given.type is discord.InteractionType.application_command,
        }

    def __init__(self, chat: DiscordChat, interaction: discord.Interaction) -> None:
        self._chat, self._interaction = chat, interaction
        self._said: list[Any] = []
        self._shown: tuple[MessageRef, ...] = ()
        self._turn = asyncio.Lock()
        self._late: asyncio.Task[None] | None = None
        self._replied = False

    # --- acknowledging ------------------------------------------------------------------------

    async def think(self) -> bool:
        """Show the caller of a command that work goes on; returns True if Discord still took that."""
        async with self._turn:
            try:
                # Discord takes an interaction for failed after 3 seconds, whatever else is going on.
                await self._interaction.response.defer(ephemeral=True, thinking=True)
            except TROUBLE as error:
                if not self._is_acknowledged(error):
                    log.warning("A Discord command came too late to be answered: %s", error)
                    return False
            self._said.append(_First(self._interaction))
            return True

    def wait(self) -> None:
        """Acknowledge a press by itself if nothing has answered it soon."""
        self._late = asyncio.create_task(self._acknowledge(PATIENCE))

    async def _acknowledge(self, after: float = 0.0) -> None:
        await asyncio.sleep(after)
        async with self._turn:
            if not self._interaction.response.is_done():
                try:
                    await self._interaction.response.defer()
                except TROUBLE as error:
                    if not self._is_acknowledged(error):
                        log.warning("A press on Discord was acknowledged too late: %s", error)

    def _is_acknowledged(self, error: Exception) -> bool:
        """Return True if Discord has the acknowledgement: its word for that got lost, and it was sent again.

        Then Discord takes further answers, but none by the id of the interaction.
        """
        if code_of(error) != ACKNOWLEDGED:
            return False
        # the library marks it only after a success, and has no other way to be told
        self._interaction.response._response_type = discord.InteractionResponseType.deferred_message_update
        return True

    async def close(self) -> None:
        """Acknowledge what was not answered, and take the sign of waiting away where nothing was replied."""
        if self._late is not None:
            await self._acknowledge()  # takes its turn, so none is cut off that is on its way
            self._late.cancel()
        elif not self._replied:
            try:
                await self._interaction.delete_original_response()
            except TROUBLE as error:
                if code_of(error) not in (UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK, INVALID_TOKEN):
                    raise

    # --- answering ----------------------------------------------------------------------------

    async def reply(self, reply: Reply) -> None:
        """Answer the caller; raises PlatformError when the 15 minutes for that are over."""
        async with self._turn:
            try:
                await self._reply(reply)
            except TROUBLE as error:
                raise unheard(error) from error

    async def _reply(self, reply: Reply) -> None:
        self._replied = True
        await STILL.get()()
        texts = [text or "…" for text in messages(without_previews(reply.markdown))]
        if reply.has_times:  # a mark is shorter than the time that it stands for
            texts = [in_zone(text, _moment) for text in texts]
        for place, text in enumerate(texts):
            last = place == len(texts) - 1
            under = view(reply.controls) if last else None
            files = [_file(attached) for attached in reply.attachments] if last else []
            if place < len(self._said):
                with_files = {"attachments": files} if files else {}
                await self._said[place].edit(content=text, view=under, **with_files)
            else:
                given: dict[str, Any] = {"view": under} if under else {}
                self._said.append(await self._say(text, given | ({"files": files} if files else {})))
        while len(self._said) > len(texts):
            await self._said.pop().delete()

    async def _say(self, text: str, under: dict[str, Any]) -> Any:
        if not self._interaction.response.is_done():
            try:
                await self._interaction.response.send_message(text, ephemeral=True, **under)
                return _First(self._interaction)
            except TROUBLE as error:
                if not self._is_acknowledged(error):
                    raise
        nobody = discord.AllowedMentions.none()  # the client's own is for what it sends itself
        return await self._interaction.followup.send(
            text, ephemeral=True, wait=True, allowed_mentions=nobody, **under
        )

    async def ask(self, form: Form) -> None:
        """Open a form; where something was answered already, a button that opens it is shown instead."""
        async with self._turn:
            if not self._interaction.response.is_done():
                try:
                    await self._interaction.response.send_modal(modal(form))
                    self._replied = True
                    return
                except TROUBLE as error:
                    if not self._is_acknowledged(error):
                        raise PlatformError(
                            f"A form could not be opened on Discord ({words_of(error)}): "
                            "press the button again."
                        ) from error
        await self.reply(Reply(form.title, controls=(Control(form.name, "Open", form.value),)))

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
                    log.info("Progress is posted as a new message: %s", error)
            try:
                self._shown = await self._chat.post(self.where, reply)
            except PlatformError as error:
                if self._interaction.is_expired():
                    raise
                log.info("Progress goes to the caller alone: %s", error)
                await self._reply(reply)
                return
            if not self._replied:
                await self._reply(Reply("Progress is shown in this channel."))


def _moment(seconds: int, written: str) -> str:
    """Write a time that Discord shows in the reader's zone."""
    return f"<t:{seconds}:f>"


def _file(attached: Attachment) -> discord.File:
    return discord.File(io.BytesIO(attached.text.encode()), attached.name)
