"""How slash commands and presses are answered: to one person alone, or by one message in the channel."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import time
from typing import Any, Protocol

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.platforms.slack.components import Link, view
from bot.platforms.slack.messages import Asides
from bot.platforms.slack.text.format import Composer, cut
from bot.ports.chat import Control, Form, Reply
from core.domain import MessageRef
from core.errors import MessageGone

log = logging.getLogger(__name__)

_SPARED = 3
"""Uses of a response URL that are kept back for what is final."""
PATIENCE = 2.0
"""Seconds that a command may take before a sign of work is shown: nothing can take that away again."""
LATEST = 86_400.0
"""Seconds after the end of a response URL until which somebody is told otherwise what became of a command."""
_ROOMIEST = 6_000
"""Bytes of a message where those of the usual size would take too many uses; no such message is edited."""


class Says(Protocol):
    """What a responder needs of the chat that it answers in."""

    composer: Composer
    asides: Asides

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post a reply."""

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a posted reply."""

    def no_reply(self, parts: Iterable[MessageRef]) -> None:
        """Note that messages are no replies."""


class SlackResponder:
    """Answers one slash command, or one press, through its response URL as long as that is good.

    `where` is the message with the control, and `thread` the one that it stands in, if that has replies.
    For a command somebody `waits` without any sign of work. What was said through the URL of one stays:
    Slack posts what is to replace it as one more message. One that is `late` says final things only: how
    often an earlier process used the URL is not known exactly.
    """

    def __init__(
        self,
        api: SlackApi,
        chat: Says,
        where: MessageRef,
        user: str,
        link: Link,
        *,
        thread: str = "",
        trigger: str = "",
        waits: bool = False,
        late: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        self._api, self._chat, self._link = api, chat, link
        self._where, self.user, self._thread, self._trigger = where, user, thread, trigger
        self._waits, self._patience = waits and not late, patience
        self._turn = asyncio.Lock()
        self._sign: asyncio.Task[None] | None = None
        self._shown: tuple[MessageRef, ...] | None = None
        self._private = False

    @property
    def address(self) -> Mapping[str, Any]:
        """Return the response URL, and where else the person can be told something."""
        where = (self._where.channel, self._where.message, self._where.thread)
        # the version before this one, which may take over, wants to know whether it `replaces`
        place = {"where": where, "user": self.user, "thread": self._thread, "replaces": False}
        return place | {"url": self._link.url, "until": self._link.until, "used": self._link.used}

    @classmethod
    def late(cls, api: SlackApi, chat: Says, address: Mapping[str, Any]) -> SlackResponder | None:
        """Return how to answer somebody whom an earlier process left waiting; None after a day."""
        if time() > address.get("until", 0.0) + LATEST:
            return None
        link = Link(str(address["url"]), float(address["until"]), int(address["used"]))
        where = MessageRef("slack", *address["where"])
        thread = str(address["thread"])
        return cls(api, chat, where, str(address["user"]), link, thread=thread, late=True)

    async def reply(self, reply: Reply) -> None:
        """Answer the caller alone, where Slack lets it; an unfinished text may be left out.

        The first unfinished one is a sign of work, shown where nothing else is said soon. Raises SlackRefused
        where a final text cannot be said now, and may be later.
        """
        if not reply.final and not self._waits:
            return
        if not reply.final and self._sign is None:
            self._sign = asyncio.create_task(self._show_work(reply))
            return
        async with self._turn:
            if self._sign is not None:
                self._sign.cancel()  # it is not on its way: that would take this turn
            await self._say(reply)

    async def _show_work(self, reply: Reply) -> None:
        await asyncio.sleep(self._patience)
        async with self._turn:
            await self._say(reply)

    async def _say(self, reply: Reply) -> None:
        left = self._link.left(time())
        if not reply.final and left <= _SPARED:
            return
        pieces = _pieces(reply, left)
        for index, piece in enumerate(pieces):
            controls = reply.controls if index == len(pieces) - 1 else ()
            if not await self._through_link(piece, controls, reply.has_times):
                if not reply.final:
                    return
                rest = replace(reply, markdown="\n\n".join(pieces[index:]))
                at = (self._where.channel, self._thread)
                await self._chat.asides.say(*at, self.user, rest, surely=True)
                return

    async def ask(self, form: Form) -> None:
        """Open a form; Slack takes the trigger for three seconds, once. Raises SlackRefused."""
        shown = view(form, self._where, self._thread, self._link)
        await self._api.call("views.open", quick=True, trigger_id=self._trigger, view=shown)

    async def _through_link(self, markdown: str, controls: Sequence[Control], has_times: bool) -> bool:
        """Use the response URL; False where it is used up, too old or refused.

        Of a press the original is the message with the control, which is to stay.
        """
        body: dict[str, Any] = {"response_type": "ephemeral", "replace_original": False}
        if thread := self._chat.asides.thread(self._where.channel, self._thread):
            body["thread_ts"] = thread

        async def send(payload: dict[str, Any]) -> None:
            if not self._link.left(time()):
                raise SlackRefused("response_url", "used_url")
            self._link.used += 1
            await self._api.respond(self._link.url, body | payload)

        if not self._link.left(time()):
            return False
        try:
            await self._chat.composer.send(markdown, controls, send, has_times)
        except SlackRefused as error:
            log.info("Slack refuses a response URL, so it is said otherwise: %s", error)
            self._link.spend()
            return False
        return True

    async def progress(self, reply: Reply) -> None:
        """Post in the channel and edit that message later; to the caller where the bot cannot write there."""
        if not self._private:
            try:
                self._shown = await self._show(reply)
                return
            except (SlackRefused, MessageGone) as error:
                log.info("The bot cannot write in %s: %s", self._where.channel_key, error)
                self._private = True
        if reply.final or self._sign is None:  # of several states each would stay
            await self.reply(reply)

    async def _show(self, reply: Reply) -> tuple[MessageRef, ...]:
        if self._shown is not None:
            try:
                return await self._chat.edit(self._shown, reply)
            except MessageGone as error:
                log.info("A message that showed progress is gone, so there will be a new one: %s", error)
        shown = await self._chat.post(self._where, reply)
        self._chat.no_reply(shown)
        return shown


def _pieces(reply: Reply, left: int) -> list[str]:
    """Cut what is said so that a URL takes it, with one use to spare; of what is not final the beginning."""
    pieces = cut(reply.markdown)
    if len(pieces) >= left > 0:
        pieces = cut(reply.markdown, _ROOMIEST, 2 * _ROOMIEST)
    return pieces if reply.final else pieces[:1]
