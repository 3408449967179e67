"""The playground's messages: who may see which, and what survives a restart."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from typing import Any

from bot.platforms.web.http.feed import Feed
from bot.platforms.web.journal import Journal, players_of, without
from bot.platforms.web.people import BOT, CHANNELS, PLATFORM, PLAYERS
from bot.platforms.web.post import Post, kept, left, read
from bot.ports.chat import Attachment
from core.domain import MessageRef
from core.privacy.names import nobody

MAX_POSTS = 1000
"""Messages kept; beyond it the oldest conversations go, so that page and file stay small."""
TIDY_SECONDS = 2.0
"""Time after a deletion or an edit until the file is rewritten without the words that are gone."""


class Posts:
    """All messages in order; every change goes to the feed, and finished ones to the journal."""

    def __init__(
        self,
        feed: Feed,
        journal: Journal | None = None,
        limit: int = MAX_POSTS,
        is_out: Callable[[str], bool] = nobody,
    ) -> None:
        """`is_out` tells by account who opted out: what is theirs is shown and not written down."""
        self._feed = feed
        self._journal = journal
        self._limit = limit
        self._posts: dict[str, Post] = {}
        self._last = 0
        self._lines = 0
        self._tidying: asyncio.TimerHandle | None = None
        self.files: dict[str, tuple[Attachment, ...]] = {}
        """Files that go with messages to one player, by message; held in memory alone."""
        self._is_out = is_out

    async def load(self) -> None:
        """Read the conversation of earlier runs; lines that cannot be read are skipped."""
        if self._journal is None:
            return
        for record in await self._journal.read():
            try:
                if "gone_id" in record:
                    self._posts.pop(str(record["gone_id"]), None)
                else:
                    post = read(record)
                    self._posts[post.id] = post
            except (KeyError, TypeError, ValueError, OverflowError, OSError):
                self._journal.skipped += 1
        self._posts = dict(sorted(self._posts.items(), key=lambda item: int(item[0])))
        self._last = max((int(key) for key in self._posts), default=0)
        self._trim()
        self._rewrite()

    def new_id(self) -> str:
        """Return an id that was never used before, even if the journal was lost: microseconds."""
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return str(self._last)

    def file(self, post_id: str, name: str, player: str) -> Attachment | None:
        """Return a file that goes with a message to that player, while the message is there."""
        post = self._posts.get(post_id)
        files = self.files.get(post_id, ()) if post and post.only == player else ()
        return next((file for file in files if file.name == name), None)

    def get(self, post_id: str) -> Post | None:
        """Return one message, if it is still there."""
        return self._posts.get(post_id)

    def seen_by(self, player: str) -> list[Post]:
        """Return all messages that player may read, oldest first."""
        return [
            post
            for post in self._posts.values()
            if CHANNELS[post.channel].seen_by(player) and post.only in ("", player)
        ]

    def last_direct(self, player: str) -> str:
        """Return the id of what the bot wrote to that player last; empty for nothing."""
        posts = reversed(self._posts.values())
        return next((p.id for p in posts if p.channel == f"dm-{player}" and p.author == BOT), "")

    def answered_with(self, answer: str) -> Post | None:
        """Return the newest message that carries that answer."""
        return next((p for p in reversed(self._posts.values()) if p.answer == answer), None)

    def conversation(self, ref: MessageRef, growing: bool = False) -> list[Post]:
        """Return the finished messages of the conversation that `ref` stands in, oldest first.

        With `growing` also those that are not finished yet.
        """
        direct = ref.channel in CHANNELS and CHANNELS[ref.channel].kind == "direct"
        return [
            post
            for post in self._posts.values()
            if post.channel == ref.channel
            and (direct or (ref.thread != "" and ref.thread in (post.id, post.thread)))
            and (post.final or growing)
            and not (post.gone or post.only)
        ]

    def add(self, channel: str, author: str, text: str, **more: Any) -> Post:
        """Keep and show a new message."""
        post = Post(self.new_id(), channel, author, text, time.time(), **more)
        self._posts[post.id] = post
        self._tell("posted", post)
        self._trim()
        if author == BOT and CHANNELS[channel].kind == "direct":
            player = channel.removeprefix("dm-")
            self._feed.publish("direct", {"person": player, "id": post.id}, key=player)
        return post

    def whisper(self, channel: str, player: str, text: str, *, about: str = "", **more: Any) -> Post:
        """Show a new message of the bot to one player, in place of an earlier one about the same message."""
        self.hush(player, about)
        return self.add(channel, BOT, text, only=player, about=about, **more)

    def hush(self, player: str, about: str) -> None:
        """Take away what was said to a player alone about a message."""
        for post in [p for p in self._posts.values() if about and p.only == player and p.about == about]:
            self.remove(post)

    def change(self, post: Post, **changes: Any) -> Post:
        """Replace fields of a message and show it."""
        changed = replace(post, **changes)
        if changed != post:
            self._posts[post.id] = changed
            if post.final and not post.only and changed.text != post.text:
                self._tidy_soon()
            self._tell("reaction" if changes.keys() <= {"votes", "marks"} else "edited", changed)
        return changed

    def remove(self, post: Post) -> None:
        """Delete a message; a root with replies stays as a mark until they are gone as well.

        What was said about it to one person alone goes with it.
        """
        for said in [other for other in self._posts.values() if other.about == post.id]:
            self.remove(said)
        if any(other.thread == post.id for other in self._posts.values()):
            self.change(post, text="", gone=True, votes={}, marks={}, controls=())
            return
        self._drop(post)
        if not post.only:
            self._tidy_soon()
        root = self._posts.get(post.thread)
        if root and root.gone:
            self.remove(root)

    async def settled(self) -> None:
        """Wait until everything so far is written down."""
        if self._journal is not None:
            await self._journal.settled()

    def close(self) -> None:
        """Rewrite the file now where that was to be done soon."""
        if self._tidying is not None:
            self._tidy()

    async def forget(self, accounts: Collection[str], answers: Collection[str]) -> None:
        """Take out what accounts wrote and voted, and those answers; pages see the state without them."""
        players = players_of(accounts)
        records = without([asdict(post) for post in self._posts.values()], players, answers)
        stays = {record["id"]: record for record in records}
        self._posts = {key: left(post, stays[key]) for key, post in self._posts.items() if key in stays}
        self.files.clear()
        self._rewrite()
        self._feed.forget()
        if self._journal:
            await self._journal.settled()

    async def expire(self, before: float, dry_run: bool) -> int:
        """Remove conversations without a word since then (seconds since the epoch); count their messages.

        On a `dry_run` they are only counted.
        """
        latest: dict[str, float] = {}
        for post in self._posts.values():
            root = post.thread or post.id
            latest[root] = max(latest.get(root, 0.0), post.at)
        gone = {key for key, post in self._posts.items() if latest[post.thread or key] < before}
        if gone and not dry_run:
            self._posts = {key: post for key, post in self._posts.items() if key not in gone}
            self._rewrite()
            self._feed.forget()
            if self._journal:
                await self._journal.settled()
        return len(gone)

    def _drop(self, post: Post) -> None:
        """Take out one message, and tell the pages and the journal."""
        del self._posts[post.id]
        self.files.pop(post.id, None)
        if not post.only:
            self._write({"gone_id": post.id})
        told = {"id": post.id, "channel": post.channel, "thread": post.thread}
        self._feed.publish("deleted", told, key=post.id, channel=post.channel, only=post.only)

    def _tell(self, kind: str, post: Post) -> None:
        # Growing text is shown but not written down; its first and its last state are.
        if not post.only and (post.final or kind == "posted"):
            for written in self._kept(post.id):
                self._write(asdict(written))
        self._feed.publish(kind, post.shown(), key=post.id, channel=post.channel, only=post.only)

    def _write(self, record: dict[str, Any]) -> None:
        if self._journal:
            self._lines += 1
            if self._lines > 10 * self._limit:
                self._rewrite()
            else:
                self._journal.append(record)

    def _rewrite(self) -> None:
        if self._journal:
            posts = self._kept()
            self._lines = len(posts)
            self._journal.start(asdict(post) for post in posts)

    def _tidy_soon(self) -> None:
        """Rewrite the file in a moment: so far it has words that somebody deleted or changed."""
        if self._journal and self._tidying is None:
            self._tidying = asyncio.get_running_loop().call_later(TIDY_SECONDS, self._tidy)

    def _tidy(self) -> None:
        if self._tidying is not None:
            self._tidying.cancel()
            self._tidying = None
        self._rewrite()

    def _kept(self, post_id: str = "") -> list[Post]:
        """Return what is written down of all messages, or of that one."""
        out = {player for player in PLAYERS if self._is_out(f"{PLATFORM}:{player}")}
        posts = self._posts.values() if out or not post_id else (self._posts[post_id],)
        return [post for post in kept(posts, out) if post_id in ("", post.id)]

    def _trim(self) -> None:
        """Let the conversations go that rested longest; of the latest, its oldest replies alone."""
        if len(self._posts) <= self._limit:
            return
        resting: dict[str, list[Post]] = {}
        for post in self._posts.values():
            under = self._posts.get(post.about, post)
            root = under.thread or under.id
            resting[root] = [*resting.pop(root, ()), post]
        *others, latest = resting.values()
        for gone in [*others, *([reply] for reply in latest[1:-1])]:
            if len(self._posts) <= self._limit:
                break
            for post in gone:
                self._drop(post)
