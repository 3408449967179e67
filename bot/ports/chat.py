"""The port of a chat platform: what it reports to the dispatch, and what it must be able to do.

A platform is a package in `bot/platforms/`. It turns the platform's events into the values below, passes
them to `Dispatch`, and carries out what `Chat` asks. It decides nothing.

Claims keep messages, commands and presses as dictionaries (`packed`), from which they are made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from core.domain import MessageRef, Scope, Turn, single_spaced
from core.text.invisible import visible

UP = "👍"
DOWN = "👎"
ACCEPT = "✅"
OBJECT = "❌"
ANEW = "@anew"
"""Ends the key of what is answered once more without memory."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on a platform; `id` carries the platform's name: `slack:U1`."""

    id: str
    name: str = ""
    bot: bool = False
    admin: bool = False
    helper: bool = False
    locale: str = ""
    """The language that the platform shows to them, as it spells it: `de`, `pt-BR`; empty where untold."""
    roles: tuple[str, ...] = ()
    """Roles that a command's caller has, such as `discord:role:5`; empty elsewhere."""

    def __post_init__(self) -> None:
        """Remove invisible characters from the name."""
        object.__setattr__(self, "name", visible(self.name))


@dataclass(frozen=True, slots=True)
class Message:
    """A message somebody wrote.

    `text` is Markdown without the mention of the bot, single spaced. `event` is the platform's own id of
    the event ("" where there is none). `mentions_others` says whether it addresses another person.
    """

    ref: MessageRef
    author: Person
    text: str
    scope: Scope
    mentions_bot: bool = False
    mentions_others: bool = False
    event: str = ""
    release: str = ""
    """The release that a menu chose, where the message is a question asked once more."""
    language: str = ""
    """The language that it is answered in, once that is known: `de`."""
    unasked: Literal["", "questions", "forum"] = ""
    """The channel's mode by which it is answered, where nobody called the bot."""
    authors: tuple[str, ...] = ()
    """The accounts whose words `text` holds, where they are not its author's alone."""
    after: str = ""
    """The release for which it was answered before a menu chose another one."""
    fresh: bool = False
    """Whether a remembered answer to it was to another question, so that the pages have to answer."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", single_spaced(visible(self.text)))

    @property
    def key(self) -> str:
        """Return the key of what is answered: the message, its question for another release, or once more."""
        release = f"@{self.release}" if self.release else ""
        return f"{self.ref.key}{release}{ANEW if self.fresh else ''}"


@dataclass(frozen=True, slots=True)
class Reaction:
    """An emoji as the platform spells it, put on a message of `author`, or taken off; `at` is when.

    Of one that was read there, not heard of, `until` is the number of the latest vote that was known before.
    With `just_posted` the message is one of the bot's that may not be noted yet, and the platform tells of
    the reaction again if it is not taken. Of one that was taken off `still` are the emoji that the person has
    left under the message, where the platform tells.
    """

    ref: MessageRef
    person: Person
    emoji: str
    added: bool
    event: str = ""
    author: str = ""
    at: float = 0.0
    until: int | None = None
    just_posted: bool = False
    still: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleared:
    """Somebody else took everybody's reactions off a message: those of one `emoji`, or all where it is empty.

    `left` are the accounts under each emoji that still stands there.
    """

    ref: MessageRef
    emoji: str
    left: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: `name` is `ask` or `threadlore`, `text` the rest of the line, single spaced.

    `author` is who wrote the message that is asked ("Answer this"); empty where the caller wrote the words.
    """

    name: str
    text: str
    person: Person
    where: MessageRef
    scope: Scope
    event: str = ""
    author: str = ""
    release: str = ""
    """The release that a field names, for `ask`."""
    authors: tuple[str, ...] = ()
    """The accounts whose words that message holds, where they are not its author's alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", single_spaced(visible(self.text)))


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a menu: what goes back, and what people read."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Control:
    """A button under a reply, or a menu where it has choices, of which the `chosen` one is shown.

    A press comes back as `Press` with the same `name`, and `value` or that of the choice. Platforms keep
    both in the control itself, so that it works after a restart; together they take at most 90 characters.
    """

    name: str
    label: str
    value: str = ""
    choices: tuple[Choice, ...] = ()
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """One input of a form: a menu where it has choices, else text."""

    name: str
    label: str
    choices: tuple[Choice, ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A small form in a window of its own; what is sent comes back as `Press` with `fields`."""

    name: str
    title: str
    value: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Press:
    """Somebody used a control under a message of the bot, or sent a form that one opened.

    `ref` is the message with the control. `fields` holds what was filled in, by field name and single
    spaced; it is empty for a mere press. `again` tells of a vote whether it was pressed already and is to
    be taken back, None where the platform does not show what is pressed; of any other press whether a process
    that died had noted it.
    """

    name: str
    value: str
    ref: MessageRef
    person: Person
    scope: Scope
    fields: Mapping[str, str] = field(default_factory=dict)
    event: str = ""
    again: bool | None = None
    may_write: bool = True
    """Whether who pressed it may write there; False only where that is known."""

    def __post_init__(self) -> None:
        fields = {name: single_spaced(visible(said)) for name, said in self.fields.items()}
        object.__setattr__(self, "fields", fields)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file that goes with a reply, where the platform lets the bot send one."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the bot says: Markdown, the release it speaks for, and whether it can be voted on.

    `final` is False while the text still grows. Platforms cut `markdown` to their own lengths.
    `answer_id` is set on finished answers. `controls` hang under the last message of the reply.
    `calls` names people and roles that a sent message calls by sound, by the platform's own ids (`U1`,
    `S1`, `role:5`); it is the only way in which the bot can ping anybody. `concerns` are the answers and
    remembered pairs whose questions a message quotes, by their ids, apart by spaces.
    `grows` tells that it is the answer's words so far, to which more are added. `remembered` says in a line
    that it comes from memory. `has_times`: times (`2026-03-31 14:05 UTC`) are for the reader's zone. `asker`
    may delete the answer; empty where nothing is kept of them.
    """

    markdown: str
    final: bool = True
    release: str = ""
    answer_id: str = ""
    controls: tuple[Control, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    calls: tuple[str, ...] = ()
    concerns: str = ""
    grows: bool = False
    remembered: str = ""
    has_times: bool = False
    asker: str = ""


def unheard() -> None:
    """Do nothing: for platforms that need no signal when an event is safe."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A message of the bot that stands in a conversation, and what it says."""

    ref: MessageRef
    text: str


class Chat(Protocol):
    """A platform as dispatch sees it. Calls raise `core.errors.PlatformError` when they fail."""

    name: str

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return up to `limit` messages of the conversation before that message, oldest first."""

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post a reply in the conversation of `where`; return the messages it took, in order."""

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a posted reply in as many messages as it needs; one that is not final may be skipped.

        Raises MessageGone where one of them was deleted.
        """

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        """Delete a posted reply; a message that is gone already is no error."""

    async def seed_votes(self, ref: MessageRef) -> None:
        """Put the bot's own 👍 and 👎 under a message, where the platform has reactions."""

    async def solve(self, ref: MessageRef) -> None:
        """Mark the conversation of a message as solved, as the platform shows it; nothing where it cannot."""

    async def take_back(self, reaction: Reaction) -> bool:
        """Take somebody's emoji off a message; return False where the platform does not let the bot."""

    async def message(self, ref: MessageRef) -> Message | None:
        """Return a message as it stands now, of a person or a bot; None where it cannot be read."""

    async def own_after(self, ref: MessageRef) -> Sequence[Stray]:
        """Return the bot's latest messages in a conversation after that message, oldest first.

        Where that cannot be read there are none.
        """

    async def question_of(self, ref: MessageRef) -> Message | None:
        """Return what a message answers: the first message of its thread, or the one it replies to."""

    async def permalink(self, ref: MessageRef) -> str:
        """Return a link to a message; empty where the platform gives none."""

    async def linked(self, link: str) -> MessageRef | None:
        """Return the message that a link of this platform leads to; None for any other link."""

    async def whisper(self, where: MessageRef, person: Person, reply: Reply) -> bool:
        """Post something that only that person sees; return False if that is not possible."""

    async def send(self, to: str, reply: Reply) -> tuple[MessageRef, ...]:
        """Post something in a channel or to a person directly; return its messages.

        `to` is the platform's own id of the channel or person, without prefix: `C1`, `U1`. Whom
        `reply.calls` names is called by sound.
        """

    async def name_of(self, to: str) -> str:
        """Return the displayed name of a person or a public channel (`#help`) by id; empty if unknown."""

    def responder(self, address: Mapping[str, Any]) -> Responder | None:
        """Return a responder for somebody whom an earlier process left waiting; None if it is too late."""


class Responder(Protocol):
    """How a slash command or a press is answered."""

    @property
    def address(self) -> Mapping[str, Any]:
        """Return what `Chat.responder` needs to answer the same person after a restart; it fits into JSON."""

    async def reply(self, reply: Reply) -> None:
        """Answer, seen by the caller alone; a later call replaces the text."""

    async def ask(self, form: Form) -> None:
        """Open a form; only as the first thing done, and within the platform's three seconds."""

    async def progress(self, reply: Reply) -> None:
        """Show the state of long work in one message of the channel, edited by later calls."""


_SKIN_TONES = "".join(chr(c) for c in range(0x1F3FB, 0x1F400)) + "\ufe0f"
_UP = frozenset({"+1", "thumbsup", "thumbs_up", UP})
_DOWN = frozenset({"-1", "thumbsdown", "thumbs_down", DOWN})


def vote_of(emoji: str) -> Literal[0, 1] | None:
    """Read an emoji as a vote: 1, 0 or None; any spelling and any skin tone counts the same."""
    plain = emoji.strip(":").split("::")[0].rstrip(_SKIN_TONES)
    return 1 if plain in _UP else 0 if plain in _DOWN else None


def packed(what: Message | Command | Press) -> dict[str, Any]:
    """Return a message, a command or a press as a dictionary from which it can be restored."""
    return asdict(what)


def unpacked(payload: Mapping[str, Any]) -> Message:
    """Return the message of a claim; fields that an older version did not write get defaults."""
    return Message(
        **{
            **payload,
            "ref": MessageRef(**payload["ref"]),
            "author": Person(**payload["author"]),
            "scope": Scope(**payload["scope"]),
            "authors": tuple(payload.get("authors") or ()),
        }
    )


def command_of(payload: Mapping[str, Any]) -> Command:
    """Return the command that was packed."""
    made = {"person": Person(**payload["person"]), "scope": Scope(**payload["scope"])}
    return Command(**{**payload, **made, "where": MessageRef(**payload["where"])})


def press_of(payload: Mapping[str, Any]) -> Press:
    """Return the press that was packed."""
    made = {"person": Person(**payload["person"]), "scope": Scope(**payload["scope"])}
    return Press(**{**payload, **made, "ref": MessageRef(**payload["ref"])})


def asked_again(key: str, releases: Iterable[str]) -> list[str]:
    """Return the keys of what may be asked of a message once more: anew, and for each release."""
    return [f"{key}{of}{anew}" for of in ("", *(f"@{name}" for name in releases)) for anew in ("", ANEW)][1:]


def ref_of(key: str, conversation: str) -> MessageRef:
    """Return where a claimed message stands, by the keys of it and of its conversation."""
    platform, channel, message = key.split("@")[0].split(":", 2)
    thread = conversation.split("@")[0].split(":", 2)[2:]
    return MessageRef(platform, channel, message, thread[0] if thread else "")
