"""The playground's messages: who may see which, and what survives a restart."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from bot.platforms.web.http.feed import Feed
from bot.platforms.web.journal import Journal, players_of, without
from bot.platforms.web.people import BOT, CHANNELS, PLATFORM, PLAYERS, without_mention
from bot.ports.chat import ACCEPT, DOWN, OBJECT, UP, Attachment, Choice, Control
from core.domain import MessageRef, Turn
from core.privacy.names import nobody

EMOJI = (UP, DOWN, ACCEPT, OBJECT)
"""What can be put on a message, in the order in which it is shown."""
MAX_POSTS = 1000
"""Messages kept; beyond it the oldest conversations go, so that page and file stay small."""


@dataclass(frozen=True, slots=True)
class Post:
    """A message as it stands; `thread` is the root's id, empty for roots and in direct messages.

    `votes` maps a player to their one of 👍 and 👎, `marks` to their other emoji. `only` names the one
    player who sees an ephemeral message, `about` the message that it stands under, if it does. `gone`
    marks a deleted root whose replies are still there. `concerns` are ids of answers and pairs that are
    told of here. `remembered` is the line that marks an answer from memory. `asker` is the player who
    asked for an answer, where that is kept.
    """

    id: str
    channel: str
    author: str
    text: str
    at: float
    thread: str = ""
    edited: bool = False
    final: bool = True
    release: str = ""
    answer: str = ""
    votable: bool = False
    votes: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    controls: tuple[Control, ...] = ()
    gone: bool = False
    only: str = ""
    about: str = ""
    command: str = ""
    concerns: str = ""
    remembered: str = ""
    asker: str = ""

    @property
    def ref(self) -> MessageRef:
        """Return where this message stands, in the words of the domain."""
        direct = CHANNELS[self.channel].kind == "direct"
        return MessageRef(PLATFORM, self.channel, self.id, "" if direct else self.thread or self.id)

    @property
    def turn(self) -> Turn:
        """Return this message as a turn of its conversation."""
        if self.author == BOT:
            return Turn("assistant", self.text, release=self.release, message=self.ref.key)
        return Turn("user", without_mention(self.text), author=f"{PLATFORM}:{self.author}", at=self.at)

    @property
    def reactions(self) -> dict[str, list[str]]:
        """Return who put which emoji on it."""
        return {
            emoji: [who for who, own in self.votes.items() if own == emoji]
            + [who for who, own in self.marks.items() if emoji in own]
            for emoji in EMOJI
        }

    def shown(self) -> dict[str, Any]:
        """Return what the page is told."""
        told = {name: getattr(self, name) for name in TOLD}  # `asdict` takes five times as long
        told["controls"] = tuple(map(asdict, self.controls))
        told["at"] = datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds")
        told["reactions"] = self.reactions
        told["only"] = bool(self.only)
        return told


TOLD = tuple(each.name for each in fields(Post) if each.name not in ("votes", "marks"))
"""What of a message the page is told; of votes and marks it is told as reactions."""


def _read(record: Mapping[str, Any]) -> Post:
    """Read a message back from its journal line; raises KeyError, TypeError or ValueError."""
    controls = tuple(_control(control) for control in record.get("controls", ()))
    post = Post(**{**record, "controls": controls})
    texts = (post.id, post.channel, post.author, post.text, post.thread, post.release, post.answer)
    if not all(isinstance(text, str) for text in texts) or not (
        isinstance(post.votes, dict) and isinstance(post.marks, dict)
    ):
        raise TypeError("a field of the wrong type")
    if post.channel not in CHANNELS or (post.author != BOT and post.author not in PLAYERS):
        raise ValueError("an unknown channel or person")
    datetime.fromtimestamp(post.at, UTC)
    int(post.id)
    if not post.final:
        note = "_Threadlore was restarted here._"
        return replace(post, final=True, text=f"{post.text}\n\n{note}".strip())
    return post


def _left(post: Post, record: Mapping[str, Any]) -> Post:
    """Return what is left of a message after somebody was forgotten."""
    if record.get("gone") and not post.gone:
        return _read(record)
    return replace(post, votes=record["votes"], marks=record["marks"], asker=record["asker"])


def _control(record: Mapping[str, Any]) -> Control:
    return Control(**{**record, "choices": tuple(Choice(**choice) for choice in record.get("choices", ()))})


class Posts:
    """All messages in order; every change goes to the feed, and finished ones to the journal."""

    def __init__(
        self,
        feed: Feed,
        journal: Journal | None = None,
        limit: int = MAX_POSTS,
        is_out: Callable[[str], bool] = nobody,
    ) -> None:
        """`is_out` tells by account who opted out: what they write is shown and not written down."""
        self._feed = feed
        self._journal = journal
        self._limit = limit
        self._posts: dict[str, Post] = {}
        self._last = 0
        self._lines = 0
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
                    post = _read(record)
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
        self._trim()
        self._tell("posted", post)
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
        del self._posts[post.id]
        if not post.only:
            self._write({"gone_id": post.id})
        told = {"id": post.id, "channel": post.channel, "thread": post.thread}
        self._feed.publish("deleted", told, key=post.id, channel=post.channel, only=post.only)
        root = self._posts.get(post.thread)
        if root and root.gone:
            self.remove(root)

    async def settled(self) -> None:
        """Wait until everything so far is written down."""
        if self._journal is not None:
            await self._journal.settled()

    async def forget(self, accounts: Collection[str], answers: Collection[str]) -> None:
        """Take out what accounts wrote and voted, and those answers; pages see the state without them."""
        players = players_of(accounts)
        records = without([asdict(post) for post in self._posts.values()], players, answers)
        left = {record["id"]: record for record in records}
        self._posts = {key: _left(post, left[key]) for key, post in self._posts.items() if key in left}
        self.files.clear()
        self._rewrite()
        self._feed.forget()
        if self._journal:
            await self._journal.settled()

    async def expire(self, before: float) -> int:
        """Remove conversations without a word since then (seconds since the epoch); count their messages."""
        latest: dict[str, float] = {}
        for post in self._posts.values():
            root = post.thread or post.id
            latest[root] = max(latest.get(root, 0.0), post.at)
        gone = {key for key, post in self._posts.items() if latest[post.thread or key] < before}
        if gone:
            self._posts = {key: post for key, post in self._posts.items() if key not in gone}
            self._rewrite()
            self._feed.forget()
            if self._journal:
                await self._journal.settled()
        return len(gone)

    def _tell(self, kind: str, post: Post) -> None:
        # Growing text is shown but not written down; its first and its last state are.
        if self._kept(post) and (post.final or kind == "posted"):
            self._write(asdict(post))
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
            kept = [asdict(post) for post in self._posts.values() if self._kept(post)]
            self._lines = len(kept)
            self._journal.start(kept)

    def _kept(self, post: Post) -> bool:
        return not post.only and not self._is_out(f"{PLATFORM}:{post.author}")

    def _trim(self) -> None:
        while len(self._posts) > self._limit:
            oldest = next(iter(self._posts))
            gone = [p.id for p in self._posts.values() if oldest in (p.id, p.thread)]
            for key in gone:
                del self._posts[key]
