"""Finds the commands: each is a `Command` at the top of a file in a folder in here."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

import bot.commands
from bot.commands.command import Command, Table

SLASH = "slash"
"""The folder that has no commands: what is typed in chat is read there."""


def commands_in(package: ModuleType) -> Iterable[Command]:
    """Yield the commands in the folders of a package."""
    for folder in pkgutil.iter_modules(package.__path__):
        if folder.ispkg and folder.name != SLASH:
            inner = import_module(f"{package.__name__}.{folder.name}")
            for module in pkgutil.iter_modules(inner.__path__):
                found = vars(import_module(f"{inner.__name__}.{module.name}")).values()
                yield from (value for value in found if isinstance(value, Command))


def table_of(*packages: ModuleType) -> Table:
    """Return the commands of packages, the smallest rank first. Raises ValueError where two have one name."""
    found = [command for package in packages for command in commands_in(package)]
    for place in ("terminal", "chat"):
        names = [
            c.in_chat or c.name if place == "chat" else c.name for c in found if c.where in (place, "both")
        ]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two commands are called {', '.join(sorted(twice))}")
    return Table(tuple(sorted(found, key=lambda command: (command.rank, command.name))))


@functools.cache
def table() -> Table:
    """Return the commands of this program."""
    return table_of(bot.commands)
