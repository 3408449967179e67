"""The bot's own messages in Slack: said, changed and taken away; and those that one person alone sees."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import (
    PACING,
    STREAMS_YET,
    TOO_LONG,
    UNDELETABLE,
    UNTHREADED,
    SlackRefused,
)
from bot.platforms.slack.api.posting import Posting
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.stream import Streams
from bot.platforms.slack.text.format import LEAST, ROOMY, Composer, calling, cut
from bot.ports.chat import Control, Reply
from bot.rendering.answers import Votes, hung
from core.domain import MessageRef
from core.languages import _

_KNOWN = 500
"""Channels whose last message is remembered."""
_SHOWN = 2_000
"""Messages whose text is remembered, to leave out edits that change nothing."""
_AT_ONCE = 4
Shown = tuple[str, tuple[Control, ...]]
"""What a message shows: its Markdown and what hangs under it."""
log = logging.getLogger(__name__)
_REMEMBERED = 2_000
"""Threads of which it is remembered that the bot deleted something in them."""


class Turns:
    """Lets `burst` messages into a channel at once, and then one every `seconds`, in the order they come."""

    def __init__(self, seconds: float, burst: int) -> None:
        self._seconds, self._ahead = seconds, (burst - 1) * seconds
        self._due: OrderedDict[str, float] = OrderedDict()

    async def take(self, channel: str) -> None:
        """Wait until a message may be posted in a channel."""
        now = asyncio.get_running_loop().time()
        due = max(self._due.pop(channel, now), now)
        self._due[channel] = due + self._seconds
        while len(self._due) > _KNOWN:
            self._due.popitem(last=False)
        if (wait := due - self._ahead - now) > 0:
            await asyncio.sleep(wait)


class Messages:
    """Says, changes and deletes; raises SlackRefused where Slack does not let it."""

    def __init__(
        self,
        api: SlackApi,
        directory: Directory,
        streams: Streams,
        votes: Votes = "buttons",
        seconds: float = PACING.posts,
    ) -> None:
        """Post in a channel every `seconds` at most, but for the first few messages."""
        self._turns = Turns(seconds, _AT_ONCE)
        self._api, self._directory, self._streams, self._votes = api, directory, streams, votes
        self.composer = Composer()
        self._shown: OrderedDict[str, Shown] = OrderedDict()
        self._posting = Posting(api, self._shown)
        self.heard = self._posting.heard
        self.sent: OrderedDict[str, None] = OrderedDict()
        """Messages that are no replies, such as notices: none of them will ever be noted as an answer's."""

    async def post(self, channel: str, thread: str, reply: Reply) -> tuple[MessageRef, ...]:
        """Post a reply, the whole of it or nothing."""
        posted: list[MessageRef] = []
        try:
            return await self.show(posted, channel, thread, reply)
        except SlackRefused:
            # half an answer that nobody can edit or vote on is worse than none
            for ref in posted:
                with suppress(SlackRefused):
                    await self.remove(ref, quick=True)
            raise

    async def send(self, to: str, reply: Reply) -> tuple[MessageRef, ...]:
        """Post in a channel, or to a person (`U…`) in their direct channel with the bot."""
        if to[:1] in ("U", "W"):
            opened = await self._api.call("conversations.open", users=to)
            to = str((opened.get("channel") or {}).get("id") or to)
        parts = await self.post(to, "", reply)
        self.no_reply(parts)
        return parts

    def no_reply(self, parts: Iterable[MessageRef]) -> None:
        """Note that messages are no replies, so that nobody looks for their answer."""
        self.sent.update(dict.fromkeys(part.key for part in parts))
        while len(self.sent) > _REMEMBERED:
            self.sent.popitem(last=False)

    async def show(
        self,
        parts: list[MessageRef],
        channel: str,
        thread: str,
        reply: Reply,
        limit: int = ROOMY,
        quick: bool = False,
    ) -> tuple[MessageRef, ...]:
        """Bring the messages `parts` to say a reply; the list follows what is there."""
        pieces = cut(reply.markdown, limit)
        try:
            for index, piece in enumerate(pieces):
                shown = (piece, hung(reply.controls, self._votes) if index == len(pieces) - 1 else ())
                if index < len(parts):
                    await self._update(parts[index], shown, quick)
                else:
                    calls = () if parts else reply.calls
                    after = parts[-1].message if parts else self._posting.latest
                    if not parts and (not reply.final or (reply.answer_id and thread)):
                        after = ""  # who answers looks for it
                    parts.append(await self._say(channel, thread, shown, calls, after))
        except SlackRefused as error:
            if error.code not in TOO_LONG or limit < LEAST:
                raise
            return await self.show(parts, channel, thread, reply, limit // 2, quick)
        while len(parts) > len(pieces):
            try:
                await self.remove(parts[-1], quick)
            except SlackRefused as error:
                if error.retryable:
                    raise
                log.warning("What an answer says no more stays below it: %s", error)  # which is no failure
            parts.pop()
        return tuple(parts)

    async def _say(
        self, channel: str, thread: str, shown: Shown, calls: Sequence[str], after: str
    ) -> MessageRef:
        given: dict[str, Any] = {"channel": channel, "unfurl_links": False, "unfurl_media": False}
        if thread:
            given["thread_ts"] = thread

        async def send(payload: dict[str, Any]) -> dict[str, Any]:
            said = calling(calls, payload)
            try:
                return await self._posting.post(given | said, after)
            except SlackRefused as error:
                if error.code not in UNTHREADED or not given.pop("thread_ts", ""):
                    raise
                log.info("There are no threads in slack:%s, so it is said in the channel: %s", channel, error)
                return await self._posting.post(given | said, after)

        await self._turns.take(channel)
        answer = await self.composer.send(*shown, send)
        ts, thread = str(answer.get("ts") or ""), str(given.get("thread_ts") or "")
        channel = str(answer.get("channel") or channel)
        direct = not thread and (await self._directory.scope(channel)).kind == "direct"
        ref = MessageRef("slack", channel, ts, thread or ("" if direct else ts))
        self._remember(ref, shown)
        return ref

    async def _update(self, ref: MessageRef, shown: Shown, quick: bool) -> None:
        if self._shown.get(ref.key) == shown and not self._api.has_others:
            return  # another process of a cluster may have changed it since
        # `parse` is `client` by default here, unlike with chat.postMessage, and would find @names
        given = {"channel": ref.channel, "ts": ref.message, "parse": "none", "link_names": False}

        async def send(payload: dict[str, Any]) -> None:
            try:
                await self._api.call("chat.update", quick=quick, **given, **payload)
            except SlackRefused as error:
                if error.code not in STREAMS_YET:
                    raise
                # a process that died has left it streaming
                await self._streams.stop(ref.channel, ref.message)
                await self._api.call("chat.update", quick=quick, **given, **payload)

        await self.composer.send(*shown, send)
        self._remember(ref, shown)

    def _remember(self, ref: MessageRef, shown: Shown) -> None:
        self.heard(ref.message)
        self._shown[ref.key] = shown
        self._shown.move_to_end(ref.key)
        while len(self._shown) > _SHOWN:
            self._shown.popitem(last=False)

    async def remove(self, ref: MessageRef, quick: bool = False) -> None:
        """Delete a message; that it is gone already is no error."""
        self._shown.pop(ref.key, None)
        given = {"quick": quick, "channel": ref.channel, "ts": ref.message}
        try:
            await self._tolerant("chat.delete", {"message_not_found"}, **given)
        except SlackRefused as error:
            if error.code not in UNDELETABLE:
                raise
            await self._streams.stop(ref.channel, ref.message)
            await self._tolerant("chat.delete", {"message_not_found"}, **given)

    async def seed_votes(self, ref: MessageRef) -> None:
        """Put 👍 and 👎 under a message, where people vote by them."""
        if self._votes == "buttons":
            return
        for name in ("+1", "-1"):
            fine = {"already_reacted", "message_not_found"}
            await self._tolerant("reactions.add", fine, channel=ref.channel, timestamp=ref.message, name=name)

    async def solve(self, ref: MessageRef) -> None:
        """Put ✅ under the message that opened a thread; a direct message has none."""
        if ref.thread:
            fine = {"already_reacted", "message_not_found", "missing_scope", "no_reaction"}
            given = {"channel": ref.channel, "timestamp": ref.thread, "name": "white_check_mark"}
            await self._tolerant("reactions.add", fine, **given)

    async def _tolerant(self, method: str, fine: set[str], **given: Any) -> None:
        try:
            await self._api.call(method, **given)
        except SlackRefused as error:
            if error.code not in fine:
                raise


class Asides:
    """Says things to one person alone."""

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

    async def say(self, channel: str, thread: str, user: str, reply: Reply, *, surely: bool = False) -> bool:
        """Say something in a channel to one of its people, else in their direct messages.

        `thread` is one that has replies, or empty. Returns False where nothing could be said. What must be
        said `surely` raises SlackRefused where one of the two ways may be open later.
        """
        refusals: list[SlackRefused] = []
        for way in (self._here, self._directly):
            try:
                await way(channel, thread, user, reply)
            except SlackRefused as error:
                refusals.append(error)
            else:
                return True
        for refusal in refusals:
            if surely and refusal.retryable:
                raise refusal
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
                reply.has_times,
            )

    async def _directly(self, channel: str, thread: str, user: str, reply: Reply) -> None:
        said = reply.markdown
        if not channel.startswith("D") and (title := await self._directory.title(channel)):
            place = _("In {channel}:").format(channel=title)
            said = f"*{place}*\n\n{said}"
        # what is shared goes where the button stands, and here nobody else would read it
        controls = tuple(control for control in reply.controls if control.name != "share")
        await self._messages.send(user, replace(reply, markdown=said, controls=controls))
