"""What is said, where, and who may hear it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.domain.documents import single_spaced


@dataclass(frozen=True, slots=True)
class Scope:
    """Who may hear what was said: everyone, one private channel, or nobody else.

    `platform` is where a listener sits; it matters where platforms do not share what they learn.
    """

    kind: Literal["public", "private", "direct"] = "public"
    channel: str = ""
    platform: str = ""

    @property
    def key(self) -> str:
        """Name the memory partition: `public`, `private:slack:C1`, `direct:slack:D1`."""
        return self.kind if self.kind == "public" else f"{self.kind}:{self.channel}"

    @property
    def remembered(self) -> bool:
        """Return True if pairs may come from here; direct messages never enter memory."""
        return self.kind != "direct"

    def hears(self, other: str) -> bool:
        """Return True if a pair whose scope key is `other` may be recalled here.

        `public@slack` is for everyone on Slack, where platforms do not share.
        """
        if other.startswith("public@"):
            return self.platform in ("", other.partition("@")[2])
        return other == "public" or (self.kind == "private" and other == self.key)

    @classmethod
    def parse(cls, key: str) -> Scope:
        """Read a scope back from its key."""
        match key.partition(":"):
            case ("private" | "direct") as kind, ":", channel:
                return cls(kind, channel)
            case _:
                return cls()


@dataclass(frozen=True, slots=True)
class MessageRef:
    """Where a message stands.

    `channel` is the platform's channel (the parent where the platform has thread channels),
    `thread` the conversation inside it (the root message's id), empty in a direct message that
    has no thread.
    """

    platform: str
    channel: str
    message: str
    thread: str = ""

    @property
    def channel_key(self) -> str:
        """Name the channel as `corpora.toml` does: `slack:C0123`."""
        return f"{self.platform}:{self.channel}"

    @property
    def conversation(self) -> str:
        """Name the conversation: one thread, or the whole of a direct channel."""
        return f"{self.platform}:{self.channel}:{self.thread}"

    @property
    def key(self) -> str:
        """Name the message uniquely over all platforms."""
        return f"{self.platform}:{self.channel}:{self.message}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation; `author` is a person's id, empty for the bot.

    `at` is when it was written, in seconds since the epoch, 0 where nobody knows. Of the bot's `message` is
    the key of its first message, and `authors` are the accounts whose words it may repeat. The text is single
    spaced, as a question's is.
    """

    role: Literal["user", "assistant"]
    text: str
    author: str = ""
    release: str = ""
    at: float = 0.0
    authors: tuple[str, ...] = ()
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", single_spaced(self.text))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, by whom (`slack:U1`), where, and after what was said before; single spaced."""

    text: str
    asker: str = ""
    channel: str = ""
    scope: Scope = Scope()
    history: tuple[Turn, ...] = ()
    release: str = ""
    """A release that the caller fixes; empty to resolve it from the words."""
    language: str = ""
    """The language it is asked in, as `de`; empty where nobody found out, which counts as English."""
    unasked: bool = False
    """Whether nobody asked the bot: it answers only where it is sure, and else keeps nothing of it."""
    authors: tuple[str, ...] = ()
    """The accounts whose words `text` holds, where they are not the asker's alone."""
    after: str = ""
    """The release for which the same question was answered, where it is asked again for another one."""
    fresh: bool = False
    """Whether it is answered from the pages alone, because a remembered answer was to another question."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", single_spaced(self.text))
