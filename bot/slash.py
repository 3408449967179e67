"""The table of slash commands: the same words on every platform, and who may say them."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.chat import Command, Person, Reply, Responder
from core.domain import MessageRef, Scope

ONLY_ADMINS = "Only admins may do that. An admin can add you with THREADLORE_ADMINS in `.env`."
CONFIRM = "--confirm"
"""The word that makes a command do what cannot be undone; people may leave its dashes out."""
_TYPED = str.maketrans({"—": "--", "–": "--", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
"""What phones and Slack's composer make of dashes and quotes."""


@dataclass(frozen=True, slots=True)
class Option:
    """What may stand after a command: a value at its place, `--name value` if named, or `--name` (flag)."""

    name: str
    help: str
    required: bool = False
    kind: Literal["text", "person", "channel", "flag"] = "text"
    choices: tuple[str, ...] = ()
    named: bool = False

    @property
    def usage(self) -> str:
        """Return how it is written: `[release]`, `[--dry-run]`, `[--days N]`."""
        if self.kind == "flag":
            written = f"--{self.name}"
        elif self.named:
            written = f"--{self.name} N"
        else:
            written = "|".join(self.choices) or self.name.upper()
        return written if self.required else f"[{written}]"


@dataclass(frozen=True, slots=True)
class Call:
    """One command somebody gave; `words` is what stands after its name, without flags' dashes lost."""

    words: tuple[str, ...]
    person: Person
    where: MessageRef
    scope: Scope
    responder: Responder
    is_admin: bool = False

    @property
    def confirmed(self) -> bool:
        """Tell whether what cannot be undone was confirmed."""
        return any(word.lstrip("-") == CONFIRM.lstrip("-") for word in self.words)

    async def tell(self, text: str) -> None:
        """Answer whoever called."""
        await self.responder.reply(Reply(text))


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One line of the table: `/threadlore NAME OPTIONS`; without `everybody` it is for admins."""

    name: str
    help: str
    run: Callable[[Call], Awaitable[None]]
    options: tuple[Option, ...] = ()
    everybody: bool = False

    @property
    def usage(self) -> str:
        """Return how it is written."""
        return " ".join(["/threadlore", self.name, *(option.usage for option in self.options)])


class SlashCommands:
    """Carries out `/threadlore …` for those who may."""

    def __init__(self, subcommands: Sequence[Subcommand], admins: Collection[str] = ()) -> None:
        help_ = Subcommand("help", "list these commands and what they do", self._help, everybody=True)
        self.subcommands = (*subcommands, help_)
        self._admins = frozenset(admins)

    def is_admin(self, person: Person) -> bool:
        """Tell whether somebody may do what only admins may."""
        return person.admin or person.id in self._admins

    async def run(self, command: Command, responder: Responder) -> None:
        """Carry out one command line, or say why not."""
        said = words(command.text)
        found = self._find(said)
        is_admin = self.is_admin(command.person)
        call = Call((), command.person, command.where, command.scope, responder, is_admin)
        if not said:
            await self._help(call)
        elif found is None and not is_admin:
            await call.tell(ONLY_ADMINS)
        elif found is None:
            await call.tell(f"I don't know `{command.text.strip()}`. There is:\n{self.help_for(True)}")
        elif not (found.everybody or is_admin):
            await call.tell(ONLY_ADMINS)
        else:
            rest = said[len(found.name.split()) :]
            await found.run(Call(rest, call.person, call.where, call.scope, responder, is_admin))

    def _find(self, said: tuple[str, ...]) -> Subcommand | None:
        """Return the subcommand with the longest name that the words begin with."""
        for subcommand in sorted(self.subcommands, key=lambda s: -len(s.name.split())):
            name = tuple(subcommand.name.split())
            if tuple(word.lower() for word in said[: len(name)]) == name:
                return subcommand
        return None

    def help_for(self, is_admin: bool) -> str:
        """List what somebody may do, a line each."""
        return "\n".join(f"`{s.usage}` {s.help}" for s in self.subcommands if s.everybody or is_admin)

    async def _help(self, call: Call) -> None:
        await call.tell(self.help_for(call.is_admin))


def words(text: str) -> tuple[str, ...]:
    """Split a command line at spaces, quoted words whole; an open quote is a character like others."""
    plain = text.translate(_TYPED)
    try:
        return tuple(shlex.split(plain))
    except ValueError:
        return tuple(plain.split())
