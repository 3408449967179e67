"""What was read of a channel, kept for the next reading, so that only what changed is asked for again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from core.ports.history import Page, Post, Thread
from core.system.json_parts import members, written
from core.system.private_files import private_folder, write_whole

VERSION = 1
"""Raised when messages are read in another way, so that a channel is read again."""
_SETS = ("mentions", "accepted_by")
_PLAIN = {f.name: f.default for f in fields(Post)}


def order(message: str) -> tuple[int, ...]:
    """Return an id of Slack (`1700000000.000100`) or Discord as numbers in the order of posting."""
    return tuple(int(part) if part.isdigit() else 0 for part in message.split("."))


@dataclass(slots=True)
class ThreadCopy:
    """A thread with what was said in it; `read_at` is 0 until it was read, in seconds since the epoch."""

    head: Thread
    read_at: float = 0.0
    posts: list[Post] = field(default_factory=list)


class ChannelCopy:
    """The messages of one channel; one that cannot be read back counts as not there.

    `cursor` is the id from which older messages are to be read still, None where all were that belong here.
    `turn` is the id from which older ones are looked at again; `listed` until when threads were listed.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.clear()
        self._load()

    def clear(self) -> None:
        """Begin again; what is on disk stays until it is written or removed."""
        self.name = ""
        self.top: dict[str, Post] = {}
        self.threads: dict[str, ThreadCopy] = {}
        self.cursor: str | None = ""
        self.turn = ""
        self.listed = 0.0

    @property
    def empty(self) -> bool:
        """Return True if nothing is kept."""
        return not self.top and not self.threads

    def replace(self, page: Page, before: str, posts: Iterable[Post]) -> None:
        """Put a page in the place of what was kept of the same span: what was deleted goes."""
        least = order(page.oldest) if page.older and page.oldest else ()
        most = order(before) if before else None
        heads = {thread.id for thread in page.threads or ()}
        for key in [k for k in self.top if least <= order(k) and (most is None or order(k) < most)]:
            del self.top[key]
            if page.threads is not None and key not in heads:
                self.threads.pop(key, None)
        self.top |= {post.id: post for post in posts}
        for thread in page.threads or ():
            self.head(thread)

    def head(self, thread: Thread) -> None:
        """Take what a thread is now; one whose mark is another is to be read again."""
        known = self.threads.get(thread.id)
        if known is None:
            self.threads[thread.id] = ThreadCopy(thread)
            return
        known.read_at = known.read_at if known.head.mark == thread.mark else 0.0
        known.head = thread

    def keep_newest(self, most: int, since: float, apart: bool) -> None:
        """Drop messages beyond the newest `most` or older than `since`; threads as well, where they stand
        `apart`, else those of these messages.
        """
        left = sorted((k for k, post in self.top.items() if post.at >= since), key=order)[-most:]
        self.top = {key: self.top[key] for key in left}
        if apart:
            kept = [key for key, thread in self.threads.items() if thread.head.at >= since]
            newest = sorted(kept, key=lambda key: self.threads[key].head.at)[-most:]
        else:
            newest = [key for key in self.threads if key in self.top]
        self.threads = {key: self.threads[key] for key in newest}

    def posts(self) -> Iterator[Post]:
        """Yield every message once; what opened a thread belongs to it."""
        seen: set[str] = set()
        for key, post in self.top.items():
            seen.add(key)
            yield replace(post, thread=key) if key in self.threads else post
        for thread in self.threads.values():
            for post in thread.posts:
                if post.id not in seen:
                    seen.add(post.id)
                    yield post

    def withhold(self, leaves_out: Callable[[str, float], bool]) -> None:
        """Keep no words and no names of people who are left out: told an author's id and a message's time."""

        def clean(post: Post) -> Post:
            if post.author and leaves_out(post.author, post.at):
                return Post(
                    post.id, "", "", post.at, thread=post.thread, reply_to=post.reply_to, withheld=True
                )
            named = post.mentions | post.accepted_by
            gone = {who for who in named if leaves_out(who, post.at)}
            if not gone:
                return post
            by, mentions = post.accepted_by - gone, post.mentions - gone
            marked = bool(by) or (post.accepted and not post.accepted_by)
            return replace(post, mentions=mentions, accepted_by=by, accepted=marked)

        self.top = {key: clean(post) for key, post in self.top.items()}
        for key, thread in self.threads.items():
            thread.posts = [clean(post) for post in thread.posts]
            opener = self.top.get(key) or next((p for p in thread.posts if p.id == key), None)
            owner = thread.head.owner and leaves_out(thread.head.owner, thread.head.opened)
            if owner or (opener and opener.withheld):  # its title is their words
                thread.head = replace(thread.head, title="", owner="")

    def save(self) -> None:
        """Write it down, whole or not at all; raises OSError."""
        private_folder(self._file.parent)
        thing = {
            "version": VERSION,
            "name": self.name,
            "cursor": self.cursor,
            "turn": self.turn,
            "listed": self.listed,
            "top": [_row(post) for post in self.top.values()],
            "threads": [
                {"head": asdict(t.head), "read_at": t.read_at, "posts": [_row(post) for post in t.posts]}
                for t in self.threads.values()
            ],
        }
        write_whole(self._file, written(thing))

    def remove(self) -> None:
        """Remove all that is kept."""
        self._file.unlink(missing_ok=True)
        self.clear()

    def _load(self) -> None:
        try:
            found: dict[str, Any] = {}
            top: list[Post] = []
            threads: list[ThreadCopy] = []
            with self._file.open(encoding="utf-8") as opened:
                for name, value in members(opened, "top", "threads"):
                    if name == "top":
                        top.append(_post(value))
                    elif name == "threads":
                        posts = [_post(row) for row in value["posts"]]
                        threads.append(ThreadCopy(Thread(**value["head"]), float(value["read_at"]), posts))
                    else:
                        found[name] = value
            if found["version"] != VERSION:
                return
            self.name, self.cursor = str(found["name"]), found["cursor"]
            self.turn, self.listed = str(found["turn"]), float(found["listed"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        self.top = {post.id: post for post in top}
        self.threads = {thread.head.id: thread for thread in threads}


def _row(post: Post) -> dict[str, Any]:
    """Return what of a post is not the usual."""
    told = {name: getattr(post, name) for name in _PLAIN if getattr(post, name) != _PLAIN[name]}
    return {name: sorted(value) if name in _SETS else value for name, value in told.items()}


def _post(row: dict[str, Any]) -> Post:
    given: dict[str, Any] = {n: frozenset(value) if n in _SETS else value for n, value in row.items()}
    return Post(**given)
