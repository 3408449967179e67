"""What the bot does in Slack: read a conversation, say, change and delete what it said, vote boxes."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from bot.chat import Reply
from bot.mrkdwn import from_slack
from bot.platforms.slack_api import SlackApi
from bot.platforms.slack_directory import Directory
from bot.platforms.slack_errors import TOO_LONG, SlackRefused
from bot.platforms.slack_format import LEAST, ROOMY, Composer, cut
from core.domain import MessageRef, Turn

log = logging.getLogger(__name__)

EDIT_INTERVAL = 1.2
"""Seconds between edits that are not final: `chat.update` has 50 a minute over all messages."""
_STREAMING = 5.0
"""Seconds after which a message that was not edited counts as finished."""
_SHOWN = 2_000
"""Messages whose text is remembered, to leave out edits that change nothing."""
_PAGE = 200
_PAGES = 5
"""Messages of a page of history, and pages read at most."""
_ADDRESS = re.compile(r"<(?:@[UW]|!subteam|!here|!channel|!everyone)")
_SOURCES = re.compile(r"(?:\A|\n+)\*\*Sources\*\*\n.*", re.DOTALL)
"""Where the list of sources begins that `bot.render` puts under an answer."""


def timestamp(ts: str) -> tuple[int, int]:
    """Read `1700000000.000100` as numbers that compare in the order of posting."""
    seconds, _, micros = ts.partition(".")
    return (int(seconds), int(micros.ljust(6, "0") or 0)) if (seconds + micros).isdigit() else (0, 0)


class SlackChat:
    """Carries out what dispatch asks; raises SlackRefused where Slack does not."""

    name = "slack"

    def __init__(self, api: SlackApi, directory: Directory, clock: Callable[[], float] = monotonic) -> None:
        self._api, self._directory, self._clock = api, directory, clock
        self.user, self.bot = api.user, api.bot
        self.composer = Composer()
        self._mention = re.compile(
            rf"[ \t]*<@{re.escape(self.user)}(?:\|[^>]*)?>[:,]?[ \t]*" if self.user else r"(?!)"
        )
        self._shown: OrderedDict[str, str] = OrderedDict()
        self._edited: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._paused = -math.inf

    def read(self, text: str) -> tuple[str, bool]:
        """Return a message's Markdown without the mention of the bot, and whether it had one."""
        plain, mentions = self._mention.subn(_gap, text)
        return from_slack(plain), mentions > 0

    def addresses_others(self, text: str) -> bool:
        """Tell whether a message calls a person other than the bot, a group, or everyone."""
        return bool(_ADDRESS.search(self._mention.sub(" ", text)))

    def own(self, message: dict[str, Any]) -> bool:
        """Tell whether the bot wrote a message."""
        by_bot = bool(self.bot) and message.get("bot_id") == self.bot
        return by_bot or (bool(self.user) and message.get("user") == self.user)

    # --- reading ------------------------------------------------------------------------------

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return up to `limit` turns before a message, oldest first; fewer where Slack refuses."""
        if limit < 1 or (before.thread and before.thread == before.message):
            return ()
        given: dict[str, Any] = {"channel": before.channel}
        if before.message:
            given |= {"latest": before.message, "inclusive": False}
        method = "conversations.replies" if before.thread else "conversations.history"
        if before.thread:
            given |= {"ts": before.thread, "limit": _PAGE}
        else:
            given |= {"limit": min(_PAGE, limit * 3)}
        found: dict[str, dict[str, Any]] = {}
        turns: list[Turn] = []
        try:
            for _ in range(_PAGES):
                page = await self._api.call(method, quick=True, **given)
                found |= {str(m.get("ts")): m for m in page.get("messages") or ()}
                turns = self._turns(found, before)
                cursor = (page.get("response_metadata") or {}).get("next_cursor")
                # replies come oldest first, so that only the last page ends at the question
                if not cursor or (not before.thread and len(turns) >= limit):
                    break
                given["cursor"] = cursor
        except SlackRefused as error:
            log.warning("Slack does not give the conversation before %s: %s", before.key, error)
        return tuple(turns[-limit:])

    def _turns(self, found: dict[str, dict[str, Any]], before: MessageRef) -> list[Turn]:
        end = timestamp(before.message) if before.message else (math.inf, 0)
        turns: list[Turn] = []
        for ts, message in sorted(found.items(), key=lambda item: timestamp(item[0])):
            text, _ = self.read(str(message.get("text") or ""))
            if timestamp(ts) >= end or not text:
                continue
            if self.own(message):
                said = _SOURCES.sub("", text)
                if turns and turns[-1].role == "assistant":
                    # a long answer takes several messages
                    said = f"{turns.pop().text}\n\n{said}".strip()
                turns.append(Turn("assistant", said))
            elif is_person(message):
                turns.append(Turn("user", text, f"slack:{message['user']}"))
        return turns

    # --- writing ------------------------------------------------------------------------------

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post in the thread of `where`; in a direct message only where that is a thread."""
        thread = where.thread
        if not thread and where.message:
            direct = (await self._directory.scope(where.channel)).kind == "direct"
            thread = "" if direct else where.message
        posted: list[MessageRef] = []
        try:
            return await self._show(posted, where.channel, thread, reply.markdown, ROOMY)
        except SlackRefused:
            # half an answer that nobody can edit or vote on is worse than none
            for ref in posted:
                with suppress(SlackRefused):
                    await self._remove(ref, quick=True)
            raise

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a posted reply; one that is not final is skipped when it comes too soon."""
        if not parts:
            return ()
        key = parts[0].key
        lock = self._locks.setdefault(key, asyncio.Lock())
        if not reply.final and (lock.locked() or not self._may_edit(key)):
            return parts
        async with lock:
            try:
                shown = list(parts)
                return await self._show(
                    shown, parts[0].channel, parts[0].thread, reply.markdown, ROOMY, quick=not reply.final
                )
            except SlackRefused as error:
                if reply.final:
                    raise
                log.debug("An edit that is not the last was left out: %s", error)
                self._paused = self._clock() + 5 * EDIT_INTERVAL
                return tuple(shown)
            finally:
                if reply.final:
                    self._edited.pop(key, None)
                    self._locks.pop(key, None)

    def _may_edit(self, key: str) -> bool:
        now = self._clock()
        self._edited = {k: at for k, at in self._edited.items() if now - at < max(_STREAMING, EDIT_INTERVAL)}
        streams = len(self._edited.keys() | {key})
        if now < self._paused or now - self._edited.get(key, -math.inf) < EDIT_INTERVAL * streams:
            return False
        self._edited[key] = now
        return True

    async def _show(
        self,
        parts: list[MessageRef],
        channel: str,
        thread: str,
        markdown: str,
        limit: int,
        quick: bool = False,
    ) -> tuple[MessageRef, ...]:
        """Bring the messages `parts` to say `markdown`; the list follows what is there."""
        pieces = cut(markdown, limit)
        try:
            for index, piece in enumerate(pieces):
                if index < len(parts):
                    await self._update(parts[index], piece, quick)
                else:
                    parts.append(await self._say(channel, thread, piece))
        except SlackRefused as error:
            if error.code not in TOO_LONG or limit < LEAST:
                raise
            return await self._show(parts, channel, thread, markdown, limit // 2, quick)
        while len(parts) > len(pieces):
            await self._remove(parts[-1], quick)
            parts.pop()
        return tuple(parts)

    async def _say(self, channel: str, thread: str, markdown: str) -> MessageRef:
        given: dict[str, Any] = {"channel": channel, "unfurl_links": False, "unfurl_media": False}
        if thread:
            given["thread_ts"] = thread
        answer = await self.composer.send(
            markdown, lambda payload: self._api.call("chat.postMessage", **given, **payload)
        )
        ts = str(answer.get("ts") or "")
        channel = str(answer.get("channel") or channel)
        direct = not thread and (await self._directory.scope(channel)).kind == "direct"
        ref = MessageRef("slack", channel, ts, thread or ("" if direct else ts))
        self._remember(ref, markdown)
        return ref

    async def _update(self, ref: MessageRef, markdown: str, quick: bool) -> None:
        if self._shown.get(ref.key) == markdown:
            return
        # `parse` is `client` by default here, unlike with chat.postMessage, and would find @names
        given = {"channel": ref.channel, "ts": ref.message, "parse": "none", "link_names": False}
        await self.composer.send(
            markdown, lambda payload: self._api.call("chat.update", quick=quick, **given, **payload)
        )
        self._remember(ref, markdown)

    def _remember(self, ref: MessageRef, markdown: str) -> None:
        self._shown[ref.key] = markdown
        self._shown.move_to_end(ref.key)
        while len(self._shown) > _SHOWN:
            self._shown.popitem(last=False)

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        """Delete a posted reply."""
        for ref in parts:
            await self._remove(ref)

    async def _remove(self, ref: MessageRef, quick: bool = False) -> None:
        self._shown.pop(ref.key, None)
        await self._tolerant(
            "chat.delete", {"message_not_found"}, quick=quick, channel=ref.channel, ts=ref.message
        )

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


_PERSON_SUBTYPES = frozenset({None, "", "file_share", "thread_broadcast", "me_message"})


def _gap(mention: re.Match[str]) -> str:
    before, after = mention.string[: mention.start()], mention.string[mention.end() :]
    return "" if not before or before.endswith("\n") or after[:1] in ("", *".,;:!?)\n") else " "


def is_person(message: dict[str, Any]) -> bool:
    """Tell whether a person wrote a message: no bot, no join, no change of topic."""
    return (
        bool(message.get("user"))
        and message["user"] != "USLACKBOT"
        and not message.get("bot_id")
        and not message.get("bot_profile")
        and message.get("subtype") in _PERSON_SUBTYPES
    )
