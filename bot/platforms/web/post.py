"""A message of the playground, as it stands, as the page is told of it, and as the journal has it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from bot.platforms.web.people import BOT, CHANNELS, PLATFORM, PLAYERS, without_mention
from bot.ports.chat import ACCEPT, DOWN, OBJECT, UP, Choice, Control
from core.domain import MessageRef, Turn

EMOJI = (UP, DOWN, ACCEPT, OBJECT)
"""What can be put on a message, in the order in which it is shown."""

MESSAGE = "/#/m/"
"""What a link to a message has before the message's id."""


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


def read(record: Mapping[str, Any]) -> Post:
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


def left(post: Post, record: Mapping[str, Any]) -> Post:
    """Return what is left of a message after somebody was forgotten."""
    if record.get("gone") and not post.gone:
        return read(record)
    return replace(post, votes=record["votes"], marks=record["marks"], asker=record["asker"])


def _control(record: Mapping[str, Any]) -> Control:
    return Control(**{**record, "choices": tuple(Choice(**choice) for choice in record.get("choices", ()))})


def kept(posts: Iterable[Post], out: Collection[str]) -> list[Post]:
    """Return what of messages, oldest first, is written down, where the players `out` opted out.

    Nothing that they wrote, that they were answered or that was said in threads and direct messages of
    theirs, and no vote or mark of theirs; and of nobody what one player alone was told. An answer without
    an asker is one to who wrote last in its thread: of who opted out no name is given.
    """
    told = [post for post in posts if not post.only]
    if not out:
        return told
    found: list[Post] = []
    began = {post.id: post.author for post in told}
    last: dict[str, str] = {}
    for post in told:
        root = post.thread or post.id
        if post.author == BOT:
            asker = post.asker or last.get(root, "")
            whose = {began.get(post.thread, ""), asker, post.channel.removeprefix("dm-")}
        else:
            last[root], whose = post.author, {post.author}
        if whose.isdisjoint(out):
            votes = {who: emoji for who, emoji in post.votes.items() if who not in out}
            marks = {who: emoji for who, emoji in post.marks.items() if who not in out}
            found.append(replace(post, votes=votes, marks=marks))
    return found
