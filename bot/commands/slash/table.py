"""The table of slash commands: the same words on every platform, and who may give them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from bot.commands.permissions import Permissions
from bot.commands.slash.confirmations import Confirmations
from bot.commands.slash.texts import HELP
from bot.commands.slash.words import Option, parsed, words
from bot.escalation.texts import named
from bot.operations.audit import ASKED, DONE, REFUSED, Audit
from bot.ports.chat import Chat, Command, Person, Press, Reply, Responder
from bot.privacy.my_data import PRIVACY
from bot.privacy.visibility import Beyond, stay_within
from core.domain import MessageRef, Scope
from core.errors import ThreadloreError, UsageError
from core.languages import DEFAULT, N_, _, speaking
from core.ports.about import FORGOTTEN

_CODE = re.compile(r"(?P<fence>```.*?(?:```|\Z))|`(?P<span>[^`\n]+)`", re.DOTALL)
_COMMAND = re.compile(r"/?threadlore\b")
__all__ = ["ONLY_ADMINS", "Call", "Option", "SlashCommands", "Subcommand", "words"]
ONLY_ADMINS = N_(
    "Only admins may do that. An admin can add you with THREADLORE_ADMINS in `.env`, or allow it with "
    "`[permissions]` in `corpora.toml`."
)
CONFIRM = "confirm"
"""The word that does at once what cannot be undone."""
YES = N_("Yes, delete it")


def account_on(platform: str) -> re.Pattern[str]:
    """Return what finds a platform's accounts and channels in a text."""
    return re.compile(rf"(?<![\w:/.-]){re.escape(platform)}:(\w+)(?!\w|:\w)")


async def with_names(text: str, chat: Chat) -> str:
    """Return Markdown with the platform's accounts and channels (`slack:U1`) by their names.

    What to type keeps its ids, and so does what the platform does not name to everybody.
    """
    account = account_on(chat.name)
    ids = sorted({found for part in _parts(text) for found in account.findall(part)})
    known = await asyncio.gather(*(chat.name_of(one) for one in ids))
    names = {one: _shown(name) for one, name in zip(ids, known, strict=True) if name}
    if not names:
        return text

    def told(found: re.Match[str]) -> str:
        return names.get(found[1], found[0])

    def code(found: re.Match[str]) -> str:
        span = found["span"] or ""
        if not _is_told(found):
            return found[0]
        whole = account.fullmatch(span)
        return names.get(whole[1], found[0]) if whole else f"`{account.sub(told, span)}`"

    written, done = [], 0
    for found in _CODE.finditer(text):
        written += [account.sub(told, text[done : found.start()]), code(found)]
        done = found.end()
    return "".join([*written, account.sub(told, text[done:])])


def _parts(text: str) -> list[str]:
    """Return what is told by names: prose, and code that nobody is to type."""
    parts, done = [], 0
    for found in _CODE.finditer(text):
        parts += [text[done : found.start()], found["span"] if _is_told(found) else ""]
        done = found.end()
    return [*parts, text[done:]]


def _is_told(found: re.Match[str]) -> bool:
    return bool(found["span"]) and not _COMMAND.match(found["span"])


def _shown(name: str) -> str:
    return f"#{named(name[1:])}" if name.startswith("#") else named(name)


@dataclass(frozen=True, slots=True)
class Call:
    """One command somebody gave.

    `words` is what stands after its name, `given` the same by option. `is_admin` says whether the caller may
    do all of this command, not only what everybody may.
    """

    words: tuple[str, ...]
    person: Person
    where: MessageRef
    scope: Scope
    responder: Responder
    is_admin: bool = False
    given: Mapping[str, str] = field(default_factory=dict)
    chat: Chat | None = None
    name: str = ""
    confirmations: Confirmations | None = None
    audit: Audit | None = None
    is_logged: bool = False
    is_secret: bool = False

    @property
    def confirmed(self) -> bool:
        """Return True if what cannot be undone was confirmed by the word."""
        return any(word.lstrip("-").lower() == CONFIRM for word in self.words)

    @property
    def line(self) -> str:
        """Return the command as the audit log has it, without the word that confirms."""
        kept = () if self.is_secret else (w for w in self.words if w.lstrip("-").lower() != CONFIRM)
        return " ".join([self.name, *kept])

    async def tell(self, text: str) -> None:
        """Answer the caller, with people and channels by name and times in the caller's zone."""
        await self.reply(Reply(text))

    async def reply(self, reply: Reply) -> None:
        """Do the same with what hangs under it."""
        said = await self._with_names(reply.markdown)
        await self.responder.reply(replace(reply, markdown=said, has_times=True))

    async def _with_names(self, text: str) -> str:
        return await with_names(text, self.chat) if self.chat else text

    async def note(self, outcome: str) -> None:
        """Write down what came of it; `FORGOTTEN` is done by somebody whom nobody knows any more."""
        if self.audit is not None and self.is_logged:
            gone = outcome == FORGOTTEN
            who, outcome = (FORGOTTEN, DONE) if gone else (self.person.id, outcome)
            await self.audit.note(who, self.where.channel_key, self.line, outcome)

    async def confirm(
        self, told: str, act: Callable[[], Awaitable[str]], label: str = YES, outcome: str = DONE
    ) -> str:
        """Do what cannot be undone once it is confirmed, by the word or by a button; return the outcome.

        `told` says what it does, `act` does it and returns what to say.
        """
        if self.confirmed or self.confirmations is None:
            await self.tell(await act())
            return outcome

        async def pressed() -> str:
            try:
                said = await act()
            except ThreadloreError as error:
                await self.note(f"failed: {error}")
                raise
            await self.note(outcome)
            return await self._with_names(said)

        button = self.confirmations.button(self.person.id, _(label), pressed)
        again = " ".join(["/threadlore", self.name, *self.words, CONFIRM])
        further = _("Press the button within ten minutes to go on, or write `{command}`.")
        said = f"{told} {further.format(command=again)}"
        await self.reply(Reply(said, controls=(button,)))
        return ASKED


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One line of the table: `/threadlore NAME OPTIONS`.

    Without `everybody` it is for admins and whom `[permissions]` names; with it, `Call.is_admin` tells those
    apart. `run` may return what came of it, for the audit log; None is done. What everybody may do is only
    `logged` where it says so, and the words of what is `secret` are left out there.
    """

    name: str
    help: str
    run: Callable[[Call], Awaitable[str | None]]
    options: tuple[Option, ...] = ()
    everybody: bool = False
    logged: bool | None = None
    secret: bool = False

    @property
    def usage(self) -> str:
        """Return how it is written."""
        shown = (option.usage for option in self.options if not option.hidden)
        return " ".join(["/threadlore", self.name, *shown])


class SlashCommands:
    """Carries out `/threadlore …` for those who may, and writes down what was done."""

    def __init__(
        self,
        subcommands: Sequence[Subcommand],
        permissions: Permissions | None = None,
        audit: Audit | None = None,
    ) -> None:
        help_ = Subcommand("help", HELP, self._help, everybody=True)
        self.subcommands = (*subcommands, help_)
        self._permissions = permissions or Permissions()
        self._permissions.check([subcommand.name for subcommand in self.subcommands])
        self._audit = audit
        self._confirmations = Confirmations()

    def is_admin(self, person: Person) -> bool:
        """Return True if somebody may do what only admins may."""
        return self._permissions.is_admin(person)

    async def run(self, command: Command, responder: Responder, chat: Chat | None = None) -> None:
        """Carry out one command line, or say why not. Raises ThreadloreError."""
        said = words(command.text)
        found = self._find(said)
        call = Call((), command.person, command.where, command.scope, responder, chat=chat)
        if not said:
            await self._help(call)
        elif found is None:
            await call.tell(self._unknown(call.person, said))
        else:
            await self._run(found, replace(call, words=said[len(found.name.split()) :]))

    async def pressed(self, press: Press, responder: Responder) -> None:
        """Do what a confirmation was asked for."""
        await self._confirmations.carry_out(press, responder)

    async def note(self, person: Person, where: MessageRef, what: str) -> None:
        """Write down what an admin did by other means than a command."""
        if self._audit is not None:
            await self._audit.note(person.id, where.channel_key, what)

    async def _run(self, found: Subcommand, call: Call) -> None:
        may = self._permissions.may(call.person, found.name)
        call = replace(
            call,
            is_admin=may,
            name=found.name,
            confirmations=self._confirmations,
            audit=self._audit,
            is_logged=not found.everybody if found.logged is None else found.logged,
            is_secret=found.secret,
        )
        if not (found.everybody or may):
            await call.tell(_(ONLY_ADMINS))
            await replace(call, is_secret=call.is_secret or not _is_given(found, call.words)).note(REFUSED)
            return
        try:
            call = replace(call, given=parsed(found.options, call.words))
        except UsageError as error:
            await call.tell(f"`{call.name}`: {error}. It is written `{found.usage}`.")
            return
        places = [o.name for o in found.options if o.kind in ("person", "channel")]
        try:
            # what only admins may do speaks English, so that all of them can read on
            with speaking("" if found.everybody else DEFAULT):
                if may:
                    stay_within(call.person.id, [call.given[name] for name in places if name in call.given])
                outcome = await found.run(call) or DONE
        except UsageError as error:
            await call.tell(str(error))
            outcome = REFUSED if isinstance(error, Beyond) else f"failed: {error}"
        except ThreadloreError as error:
            await call.note(f"failed: {error}")
            raise
        await call.note(outcome)

    def _find(self, said: tuple[str, ...]) -> Subcommand | None:
        """Return the subcommand with the longest name that the words begin with."""
        for subcommand in sorted(self.subcommands, key=lambda s: -len(s.name.split())):
            name = tuple(subcommand.name.split())
            if tuple(word.lower() for word in said[: len(name)]) == name:
                return subcommand
        return None

    def _unknown(self, person: Person, said: tuple[str, ...]) -> str:
        """Say that there is no such command, and which one was perhaps meant."""
        names = {s.name for s in self.allowed(person)}
        groups = {name.split(" ")[0] for name in names}
        first = said[0].lower()
        if first in groups:  # `memory` without an action, or with one that there is not
            members = [name.removeprefix(f"{first} ") for name in names if name.startswith(f"{first} ")]
            near = get_close_matches(said[1].lower(), sorted(members), n=1) if len(said) > 1 else []
            guess = f" Did you mean `/threadlore {first} {near[0]}`?" if near else ""
            told = f"There is no `{first} {said[1]}`." if len(said) > 1 else f"`{first}` wants one more word."
            return f"{told}{guess} There is:\n{self.help_for(person, first)}"
        near = get_close_matches(first, sorted(names | groups), n=1)
        answer = [_("I don't know `{command}`.").format(command=said[0])]
        if near:
            answer.append(_("Did you mean `{command}`?").format(command=f"/threadlore {near[0]}"))
        elif len(said) > 2:
            answer.append(_("To ask something, use `/ask`."))
        answer.append(_("There is:"))
        return f"{' '.join(answer)}\n{self.help_for(person)}"

    def allowed(self, person: Person) -> list[Subcommand]:
        """Return what somebody may do."""
        return [s for s in self.subcommands if s.everybody or self._permissions.may(person, s.name)]

    def help_for(self, person: Person, group: str = "") -> str:
        """List what somebody may do, a line each; of one group where it is named.

        What is for everybody is told in the language of the moment.
        """
        allowed = (s for s in self.allowed(person) if not group or s.name.split(" ")[0] == group)
        return "\n".join(f"`{s.usage}` {_(s.help) if s.everybody else s.help}" for s in allowed)

    async def _help(self, call: Call) -> None:
        await call.tell(f"{self.help_for(call.person)}\n\n{_(PRIVACY)}")


def _is_given(found: Subcommand, said: Sequence[str]) -> bool:
    """Return True if words are what a command takes, and not a question that was typed after its name."""
    try:
        parsed(found.options, said)
    except UsageError:
        return False
    return True
