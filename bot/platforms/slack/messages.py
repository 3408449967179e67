"""The bot's own messages in Slack: brought to say a reply, in as many pieces as it takes, and taken away."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import STREAMS_YET, TOO_LONG, UNDELETABLE, SlackRefused
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.stream import Streams
from bot.platforms.slack.text.format import LEAST, ROOMY, Composer, calling, cut
from bot.ports.chat import Control, Reply
from core.domain import MessageRef

_SHOWN = 2_000
"""Messages whose text is remembered, to leave out edits that change nothing."""
Shown = tuple[str, tuple[Control, ...]]
"""What a message shows: its Markdown and what hangs under it."""


class Messages:
    """Says, changes and deletes; raises SlackRefused where Slack does not let it."""

    def __init__(self, api: SlackApi, directory: Directory, streams: Streams) -> None:
        self._api, self._directory, self._streams = api, directory, streams
        self.composer = Composer()
        self._shown: OrderedDict[str, Shown] = OrderedDict()

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
        return await self.post(to, "", reply)

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
                shown = (piece, reply.controls if index == len(pieces) - 1 else ())
                if index < len(parts):
                    await self._update(parts[index], shown, quick)
                else:
                    calls = () if parts else reply.calls
                    parts.append(await self._say(channel, thread, shown, calls))
        except SlackRefused as error:
            if error.code not in TOO_LONG or limit < LEAST:
                raise
            return await self.show(parts, channel, thread, reply, limit // 2, quick)
        while len(parts) > len(pieces):
            await self.remove(parts[-1], quick)
            parts.pop()
        return tuple(parts)

    async def _say(self, channel: str, thread: str, shown: Shown, calls: Sequence[str] = ()) -> MessageRef:
        given: dict[str, Any] = {"channel": channel, "unfurl_links": False, "unfurl_media": False}
        if thread:
            given["thread_ts"] = thread
        answer = await self.composer.send(
            *shown, lambda payload: self._api.call("chat.postMessage", **given, **calling(calls, payload))
        )
        ts = str(answer.get("ts") or "")
        channel = str(answer.get("channel") or channel)
        direct = not thread and (await self._directory.scope(channel)).kind == "direct"
        ref = MessageRef("slack", channel, ts, thread or ("" if direct else ts))
        self._remember(ref, shown)
        return ref

    async def _update(self, ref: MessageRef, shown: Shown, quick: bool) -> None:
        if self._shown.get(ref.key) == shown:
            return
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
        """Put 👍 and 👎 under a message."""
        for name in ("+1", "-1"):
            fine = {"already_reacted", "message_not_found"}
            await self._tolerant("reactions.add", fine, channel=ref.channel, timestamp=ref.message, name=name)

    async def _tolerant(self, method: str, fine: set[str], **given: Any) -> None:
        try:
            await self._api.call(method, **given)
        except SlackRefused as error:
            if error.code not in fine:
                raise
