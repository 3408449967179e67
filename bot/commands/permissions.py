"""Who may give which command: `[permissions]` of `corpora.toml`, else admins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches

from bot.ports.chat import Person
from core.catalogue import Grant
from core.errors import ConfigurationError

ADMINS = ("admins",)
"""Who may do what nobody is named for."""


class Permissions:
    """Says who may give a command.

    `granted` is what `corpora.toml` says, by command or by the first word of some; `helps` tells a helper
    by account.
    """

    def __init__(
        self,
        admins: Collection[str] = (),
        granted: Mapping[str, Grant] | None = None,
        helps: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._admins = frozenset(admins)
        self._granted = granted or {}
        self._helps = helps

    def check(self, names: Collection[str]) -> None:
        """Raise ConfigurationError where the file names a command that there is not."""
        allowed = sorted({*names, *(name.split(" ")[0] for name in names)})
        for name, grant in self._granted.items():
            if name not in allowed:
                near = get_close_matches(name, allowed, n=1)
                guess = f' (did you mean "{near[0]}"?)' if near else ""
                raise ConfigurationError(
                    f'{grant.where}: there is no command "{name}" for [permissions]{guess}; allowed here: '
                    f"{', '.join(allowed)}."
                )

    def is_admin(self, person: Person) -> bool:
        """Return True if somebody is an admin, by their platform or by THREADLORE_ADMINS."""
        return person.admin or person.id in self._admins

    def may(self, person: Person, name: str) -> bool:
        """Return True if somebody may give a command; what is said of it alone counts before its group."""
        grant = self._granted.get(name) or self._granted.get(name.split(" ")[0])
        return any(self._is(person, who) for who in (grant.who if grant else ADMINS))

    def _is(self, person: Person, who: str) -> bool:
        match who:
            case "everybody":
                return True
            case "admins":
                return self.is_admin(person)
            case "helpers":
                return person.helper or self._helps(person.id)
        return who == person.id or who in person.roles
