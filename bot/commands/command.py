"""What a command is, for the command line and for chat alike: one value, from which both are made.

Only the standard library is imported here and at the top of every command's file, so that `--help` is quick.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bot.commands.option import Option, Place

if TYPE_CHECKING:
    from argparse import Namespace

    from bot.commands.slash.table import Call
    from bot.operations.application import Application

__all__ = ["FAMILIES", "GROUPS", "Command", "Given", "Option", "Result", "Table", "at_terminal", "plain"]

Group = Literal["ask", "look", "admin", "measure", "home"]
GROUPS: Mapping[str, str] = {
    "ask": "Ask",
    "look": "Look",
    "admin": "Look after it",
    "measure": "Measure",
    "home": "Set up and serve",
}
"""What people do with commands, in the order of `--help`, with its title there."""
FAMILIES: Mapping[str, str] = {
    "memory": "manage community memory",
    "glossary": "manage the product's glossary",
    "embedder": "try another embedding model",
    "finetune": "train a model of your own on good answers",
}
"""What commands of two words have in common, by the first one."""
Who = Literal["everybody", "admins", "owner"]
"""Who may give a command in chat; the `owner` is who has the machine, and has the command line alone."""


async def _unheard(message: dict[str, Any]) -> None:
    """Hear nothing of what is said along the way."""


@dataclass(frozen=True, slots=True)
class Given:
    """One command as somebody gave it.

    `who` is an account (`slack:U1`) or who uses the machine (`cli:root`). `hears` is the scope key of where
    it was given, None for the command line, which is shown everything. `along` takes what is said before the
    result: `{"progress": …}`, `{"note": …}` and, for what measures, `{"line": …}`.
    """

    values: Mapping[str, Any]
    who: str = "cli"
    hears: str | None = None
    channel: str = ""
    along: Callable[[dict[str, Any]], Awaitable[None]] = _unheard

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an option by its key, or `default` where it was left out."""
        value = self.values.get(name)
        return default if value is None else value

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def audience(self) -> dict[str, Any]:
        """Return who listens, as `bot.privacy.visibility` asks for it."""
        return {"hears": self.hears}

    @property
    def is_chat(self) -> bool:
        """Return True if it was given in a chat."""
        return self.hears is not None

    @property
    def program(self) -> str:
        """Return what commands begin with where it was given."""
        return "/threadlore" if self.is_chat else "threadlore"


@dataclass(frozen=True, slots=True)
class Result:
    """What a command found or did.

    `data` is made of dataclasses, dictionaries, lists and what JSON holds; a dataclass with `plain()` says
    itself what it is in JSON. `notes` stand beside it (standard error). `problem` is raised once the rest is
    told. `outcome` is what the audit log has in place of `done`.
    """

    data: Any = None
    notes: tuple[str, ...] = ()
    code: int = 0
    problem: Exception | None = None
    outcome: str = ""


def plain(data: Any) -> Any:
    """Return data as JSON holds it."""
    if hasattr(data, "plain"):
        return data.plain()
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        return dataclasses.asdict(data)
    if isinstance(data, (list, tuple)):
        return [plain(item) for item in data]
    return data


def told(result: Result) -> Sequence[str]:
    """Return the text of a result whose data is a sentence, or a list of them."""
    if result.data is None:
        return ()
    return [result.data] if isinstance(result.data, str) else [str(line) for line in result.data]


Run = Callable[["Application", Given], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that the process at the terminal sends, and the file that takes its lines, if one does.

    Nobody else on the machine may read that file: people's words may be in it.
    """

    request: dict[str, Any]
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the command line, of chat, or of both.

    `help` is a phrase without a capital and a full stop. `run` does it; `text` says a result, an entry for
    each message of several lines. `asks` says what a command is about to do that cannot be undone, and raises
    UsageError where it cannot be done; in chat it is then confirmed by the button `sure`.
    """

    name: str
    group: Group
    help: str
    run: Run | None = None
    text: Callable[[Result], Sequence[str]] = told
    options: tuple[Option, ...] = ()
    who: Who = "admins"
    where: Place = "both"
    rank: int = 100
    """Where it stands in lists: the smallest first."""
    changes: bool = False
    """It changes something: the command line's use of it is written down, too."""
    audit: Callable[[Given], Sequence[Any]] | None = None
    """Which words after the name are written down; None for nothing. Empty words are left out."""
    is_audited: Callable[[Given], bool] | None = None
    """Whether this use of a command that `changes` something does."""
    asks: Callable[[Application, Given], Awaitable[str]] | None = None
    sure: str = ""
    is_list: bool = False
    """Its text is a list: JSON has a row a line, and chat shows pages."""
    in_chat: str = ""
    """Its name in chat, where that is another one."""
    help_in_chat: str = ""
    dialogue: Callable[[Application, Call], Awaitable[str | None]] | None = None
    """How it goes in chat, where more is said than a result; returns the outcome, None for done."""
    logged: bool | None = None
    """Whether chat's use of what everybody may do is written down."""
    secret: bool = False
    """The words after its name are written down nowhere."""
    here: Callable[[Any, Namespace], int | Sent | None] | None = None
    """What the process at the terminal does itself, by settings and options.

    Returns the exit status, or a request to go on with; None to go on with `run`.
    """
    ends_with_caller: bool = False
    """The serving process stops it when who gave it at the terminal goes away."""
    program: str = ""
    """`module:function` that runs in its place at the terminal, by settings and options."""
    needs_settings: bool = True
    has_json: bool = True
    """The command line may print its data: `--json`."""
    indent: int | None = None
    """Spaces that its JSON is indented by; None for one line."""
    further: str = ""
    """A sentence for docs/commands.md."""

    def is_in(self, place: Literal["terminal", "chat"]) -> bool:
        """Return True if it can be given there."""
        return self.where in ("both", place)

    def options_in(self, place: Literal["terminal", "chat"]) -> tuple[Option, ...]:
        """Return what may stand after it there."""
        return tuple(option for option in self.options if option.where in ("both", place))

    def line(self, given: Given) -> str:
        """Return it as the audit log has it from the command line; empty for what changes nothing."""
        if not self.changes or (self.is_audited is not None and not self.is_audited(given)):
            return ""
        words = [self.name, *(self.audit(given) if self.audit else ())]
        return " ".join(str(word) for word in words if word)


at_terminal = partial(Command, who="owner", where="terminal")
"""Makes a command of who has the machine, for the command line alone."""


@dataclass(frozen=True, slots=True)
class Table:
    """All commands there are, in the order of their ranks."""

    commands: tuple[Command, ...] = field(default=())

    def named(self, name: str, action: str = "") -> Command | None:
        """Return the command of the command line with this name, of two words where there is an action."""
        wanted = f"{name} {action}".strip()
        return next((c for c in self.commands if c.name == wanted and c.is_in("terminal")), None)

    def taking(self, name: str, option: str) -> Command | None:
        """Return the command of one word with this name, where it takes such an option."""
        found = self.named(name)
        return found if found and any(one.key == option for one in found.options) else None

    def ends_with_caller(self, request: Mapping[str, Any]) -> bool:
        """Return True if a request is to be stopped when who gave it at the terminal goes away."""
        command = self.named(str(request.get("command") or ""), str(request.get("action") or ""))
        return command is not None and command.ends_with_caller

    def in_chat(self) -> tuple[Command, ...]:
        """Return those that are given in chat."""
        return tuple(command for command in self.commands if command.is_in("chat"))
