"""How an interaction is answered on Discord that an earlier process had taken: by its token alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import discord

from bot.platforms.discord.components import view
from bot.platforms.discord.markdown import messages, without_previews
from bot.platforms.discord.places import TROUBLE, words_of
from bot.ports.chat import Control, Form, Reply
from core.errors import PlatformError


class LateResponder:
    """Answers an interaction that an earlier process had taken, by its token."""

    def __init__(self, webhook: discord.Webhook, address: Mapping[str, Any]) -> None:
        self._webhook, self.address = webhook, address
        self._said: list[int | Literal["@original"]] = ["@original"]

    async def reply(self, reply: Reply) -> None:
        """Answer the caller alone: in the place of the sign of work, where one stands."""
        texts = [text or "…" for text in messages(without_previews(reply.markdown))]
        try:
            for place, text in enumerate(texts):
                under = {"view": view(reply.controls)} if place == len(texts) - 1 else {}
                await self._say(place, text, {name: it for name, it in under.items() if it is not None})
        except TROUBLE as error:
            raise PlatformError(
                f"The reply to a Discord command did not arrive ({words_of(error)}): call it again."
            ) from error

    async def _say(self, place: int, text: str, under: dict[str, Any]) -> None:
        if place < len(self._said):
            known = self._said[place]
            try:
                # discord.py wants a number, and Discord takes this name for the first answer as well
                await self._webhook.edit_message(known, content=text, **under)  # type: ignore[arg-type]
                return
            except discord.NotFound:
                pass  # a press that was acknowledged without words has no first answer
        sent = await self._webhook.send(text, ephemeral=True, wait=True, **under)
        self._said[place : place + 1] = [sent.id]

    async def ask(self, form: Form) -> None:
        """Show a button that opens the form: only a fresh press can open one."""
        await self.reply(Reply(form.title, controls=(Control(form.name, "Open", form.value),)))

    async def progress(self, reply: Reply) -> None:
        """Show the state of long work to the caller."""
        await self.reply(reply)
