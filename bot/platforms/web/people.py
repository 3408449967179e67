"""The playground's people and channels, and how a text addresses them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bot.ports.chat import Person
from core.domain import Scope

PLATFORM = "web"
BOT = "threadlore"
BOT_NAME = "Threadlore"
HELP = "help"
"""The channel in which everybody asks."""


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody whom the selector can play; `about` says in a word what they are for."""

    id: str
    name: str
    about: str
    admin: bool = False
    helper: bool = False

    @property
    def person(self) -> Person:
        """Return the person as dispatch knows them."""
        return Person(f"{PLATFORM}:{self.id}", self.name, admin=self.admin, helper=self.helper)


@dataclass(frozen=True, slots=True)
class Channel:
    """A place to talk; `members` is None where everybody may read.

    In a channel that `listens` the bot answers messages that open a thread without a mention. `mode` is
    how it is served where nobody says so; a `forum` shows each message as a post with a title.
    """

    id: str
    name: str
    kind: Literal["public", "private", "direct"]
    topic: str
    members: frozenset[str] | None = None
    listens: bool = False
    mode: str = "mentions"

    @property
    def forum(self) -> bool:
        """Return True if the channel is one of posts."""
        return self.mode == "forum"

    @property
    def scope(self) -> Scope:
        """Say who hears what is said here."""
        return Scope() if self.kind == "public" else Scope(self.kind, f"{PLATFORM}:{self.id}")

    def seen_by(self, player: str) -> bool:
        """Return True if that player may read here."""
        return self.members is None or player in self.members


PLAYERS = {
    player.id: player
    for player in (
        Player("ada", "Ada", "member"),
        Player("ben", "Ben", "member"),
        Player("noor", "Noor", "newcomer"),
        Player("hana", "Hana", "helper", helper=True),
        Player("chloe", "Chloé", "admin", admin=True),
    )
}
CHANNELS = {
    channel.id: channel
    for channel in (
        Channel(HELP, HELP, "public", "Every message here is a question to Threadlore", listens=True),
        Channel("general", "general", "public", "Everyone is here; mention @Threadlore to ask it"),
        Channel("forum", "forum", "public", "Each post has a thread of its own", mode="forum"),
        Channel(
            "maintainers",
            "maintainers",
            "private",
            "Private: what is learned here stays here",
            members=frozenset({"ada", "hana", "chloe"}),
        ),
        *(
            Channel(
                f"dm-{player.id}",
                BOT_NAME,
                "direct",
                "Just you and Threadlore; nothing here is remembered",
                members=frozenset({player.id}),
                listens=True,
            )
            for player in PLAYERS.values()
        ),
    )
}

_MENTION = re.compile(r"(?<![\w`/.@])@threadlore\b[,:]?[ \t]?", re.IGNORECASE)
_OTHERS = re.compile(
    rf"(?<![\w`/.@])@(?:{'|'.join(p.id for p in PLAYERS.values())}|chloé|here|channel|everyone)\b",
    re.IGNORECASE,
)
_MENTIONED = re.compile(r"(?<!\S)@(\w+)(?!\S)")


def mentions_bot(text: str) -> bool:
    """Return True if a text addresses the bot by name."""
    return _MENTION.search(text) is not None


def mentions_others(text: str) -> bool:
    """Return True if a text addresses another person, or everybody."""
    return _OTHERS.search(text) is not None


def with_accounts(words: str) -> str:
    """Return a command's words with the players that they mention as other platforms write accounts."""

    def account(found: re.Match[str]) -> str:
        return f"<@{found[1].lower()}>" if found[1].lower() in PLAYERS else found[0]

    return _MENTIONED.sub(account, words)


def without_mention(text: str) -> str:
    """Return a text without the bot's name in it."""
    return _MENTION.sub("", text).strip()
