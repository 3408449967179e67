"""How slash commands and presses are answered: to one person alone, or by one message in the channel."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from time import monotonic
from typing import Any

from bot.chat import Control, Form, Reply
from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_chat import SlackChat
from bot.platforms.slack_controls import view
from bot.platforms.slack_errors import NO_ENTRY, SlackRefused
from bot.platforms.slack_format import cut
from core.domain import MessageRef

log = logging.getLogger(__name__)

USES = 5
"""Times that a response URL may be used (docs.slack.dev, handling user interaction)."""
_SPARED = 3
"""Uses kept back for what is final."""
_PAUSE = 5.0
"""Seconds between two texts that are not final, which each take a use."""


class SlackResponder:
    """Answers one slash command, or one press: then there is no `url`, for through it an answer would
    replace the message with the control, and `where` is that message.
    """

    def __init__(
        self,
        api: SlackApi,
        chat: SlackChat,
        url: str,
        where: MessageRef,
        user: str,
        trigger: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._api, self._chat, self._url = api, chat, url
        self._where, self._user, self._trigger, self._clock = where, user, trigger, clock
        self._used = 0
        self._last = -math.inf
        self._shown: tuple[MessageRef, ...] | None = None
        self._private = False

    async def reply(self, reply: Reply) -> None:
        """Answer the caller alone; a later call replaces the text, an unfinished one may be left out."""
        now = self._clock()
        if not reply.final and (self._used >= USES - _SPARED or now - self._last < _PAUSE):
            return
        self._last = now
        parts = cut(reply.markdown)
        for index, part in enumerate(parts if reply.final else parts[:1]):
            controls = reply.controls if index == len(parts) - 1 else ()
            await self._whisper(part, controls, replace=index == 0 and self._used > 0)

    async def ask(self, form: Form) -> None:
        """Open a form; Slack takes the trigger for three seconds."""
        shown = view(form, self._where)
        await self._api.call("views.open", quick=True, trigger_id=self._trigger, view=shown)

    async def _whisper(self, markdown: str, controls: tuple[Control, ...], replace: bool) -> None:
        async def through_url(payload: dict[str, Any]) -> None:
            body = {"response_type": "ephemeral", **payload}
            await self._api.respond(self._url, body | ({"replace_original": True} if replace else {}))

        if self._url and self._used < USES:
            try:
                await self._chat.composer.send(markdown, controls, through_url)
                self._used += 1
                return
            except SlackRefused as error:
                log.warning("Slack refuses the command's response URL, so it is said otherwise: %s", error)
                self._used = USES
        await self._chat.tell(self._where, self._user, Reply(markdown, controls=controls))

    async def progress(self, reply: Reply) -> None:
        """Post in the channel and edit that message later; to the caller where the bot is not in it."""
        if not self._private:
            try:
                if self._shown is None:
                    self._shown = await self._chat.post(self._where, reply)
                else:
                    self._shown = await self._chat.edit(self._shown, reply)
                return
            except SlackRefused as error:
                if error.code not in NO_ENTRY:
                    raise
                log.info("The bot cannot write in %s: %s", self._where.channel_key, error)
                self._private = True
        await self.reply(reply)
