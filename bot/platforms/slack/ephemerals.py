"""What the bot says in Slack to one person alone, where that person sees it.

An ephemeral message is shown to members of a channel that the bot is in, and in a thread only if the thread
has replies already (docs.slack.dev, `chat.postEphemeral`).
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.messages import Messages
from bot.platforms.slack.text.format import cut
from bot.ports.chat import Reply
from core.domain import MessageRef
from core.languages import _

log = logging.getLogger(__name__)

_REMEMBERED = 2_000
"""Threads of which it is remembered that the bot deleted something in them."""


class Asides:
    """Says things to one person; never raises: what can be said nowhere is one line in the log."""

    def __init__(self, api: SlackApi, directory: Directory, messages: Messages) -> None:
        self._api, self._directory, self._messages = api, directory, messages
        self._emptied: OrderedDict[tuple[str, str], None] = OrderedDict()

    def deleted(self, ref: MessageRef) -> None:
        """Note that the bot deleted a message: its thread may have no replies any more."""
        self._emptied[ref.channel, ref.thread] = None
        while len(self._emptied) > _REMEMBERED:
            self._emptied.popitem(last=False)

    def posted(self, ref: MessageRef) -> None:
        """Note that the bot wrote in a thread, which so has replies."""
        self._emptied.pop((ref.channel, ref.thread), None)

    def thread(self, channel: str, thread: str) -> str:
        """Return a thread in which one person can be told something; empty where only the channel is sure."""
        return "" if (channel, thread) in self._emptied else thread

    async def say(self, channel: str, thread: str, user: str, reply: Reply) -> bool:
        """Say something in a channel to one of its people, else in their direct messages.

        `thread` is one that has replies, or empty. Returns False where nothing could be said.
        """
        refusals: list[SlackRefused] = []
        for way in (self._here, self._directly):
            try:
                await way(channel, thread, user, reply)
            except SlackRefused as error:
                refusals.append(error)
            else:
                return True
        told = " ".join(map(str, refusals))
        log.warning("A person in slack:%s could not be told something: %s", channel, told)
        return False

    async def _here(self, channel: str, thread: str, user: str, reply: Reply) -> None:
        given: dict[str, Any] = {"channel": channel, "user": user}
        if self.thread(channel, thread):
            given["thread_ts"] = thread
        pieces = cut(reply.markdown)
        for index, piece in enumerate(pieces):
            await self._messages.composer.send(
                piece,
                reply.controls if index == len(pieces) - 1 else (),
                lambda payload: self._api.call("chat.postEphemeral", **given, **payload),
            )

    async def _directly(self, channel: str, thread: str, user: str, reply: Reply) -> None:
        said = reply.markdown
        if not channel.startswith("D") and (title := await self._directory.title(channel)):
            place = _("In {channel}:").format(channel=title)
            said = f"*{place}*\n\n{said}"
        # what is shared goes where the button stands, and here nobody else would read it
        controls = tuple(control for control in reply.controls if control.name != "share")
        await self._messages.send(user, replace(reply, markdown=said, controls=controls))
