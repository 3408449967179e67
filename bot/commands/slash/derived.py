"""The commands of chat, made from the table of commands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.commands.command import Command, Given, Option, Result, Table
from bot.commands.permissions import Permissions
from bot.commands.registry import table
from bot.commands.slash.table import CONFIRM, Call, SlashCommands, Subcommand
from bot.commands.slash.words import whole_number
from bot.operations.application import Application
from bot.operations.audit import Audit

PAGE = 12
"""Lines of a list that are shown at once."""
_PAGE = Option("page", "Which page of the list", named=True)
_SURE = Option(CONFIRM, "Really do it; without this you are told what it does", kind="flag", where="chat")


def subcommands(app: Application, commands: Table) -> tuple[Subcommand, ...]:
    """Return what is given in chat, as the table there has it."""
    return tuple(_subcommand(app, command) for command in commands.in_chat())


def _subcommand(app: Application, command: Command) -> Subcommand:
    options = command.options_in("chat")

    async def run(call: Call) -> str | None:
        if command.dialogue is not None:
            return await command.dialogue(app, call)
        return await _run(app, command, _given(call, options), call)

    return Subcommand(
        command.in_chat or command.name,
        command.help_in_chat or command.help,
        run,
        (
            *(_as_words(option) for option in options),
            *([_PAGE] if command.is_list else []),
            *([_SURE] if command.asks and not any(o.name == CONFIRM for o in options) else []),
        ),
        everybody=command.who == "everybody",
        logged=command.logged,
        secret=command.secret,
    )


def _as_words(option: Option) -> Option:
    """Return an option whose value is typed, or filled in, as words."""
    return option if option.kind in ("person", "channel", "flag") else replace(option, kind="text")


def _given(call: Call, options: tuple[Option, ...]) -> Given:
    """Return what was given by key; raises UsageError for a number that is none."""
    values: dict[str, Any] = {}
    for option in options:
        if option.name not in call.given:
            continue
        value = call.given[option.name]
        if option.kind == "number":
            called = option.called or f"`--{option.name}`"
            values[option.key] = whole_number(value, called, most=option.most)
        else:
            values[option.key] = True if option.kind == "flag" else value
    return Given(values, call.person.id, call.scope.key, call.where.channel_key)


async def _run(app: Application, command: Command, given: Given, call: Call) -> str | None:
    assert command.run is not None
    run = command.run
    if command.asks is not None:
        told = await command.asks(app, given)

        async def act() -> str:
            return _words(command, await run(app, given))

        return await call.confirm(told, act, command.sure)
    result = await run(app, given)
    lines = [] if result.data is None else list(command.text(result))
    if command.is_list and lines:
        await call.tell(_paged([f"- {line}" for line in lines], call))
    else:
        await call.tell(_words(command, result))
    return result.outcome or (None if command.changes else "shown")


def _words(command: Command, result: Result) -> str:
    lines = () if result.data is None else command.text(result)
    return "\n".join([*lines, *result.notes])


def _paged(lines: list[str], call: Call) -> str:
    pages = -(-len(lines) // PAGE)
    page = whole_number(call.given.get("page", "1"), "The page", most=max(pages, 1))
    shown = lines[(page - 1) * PAGE : page * PAGE]
    if pages > 1:
        more = f"; `--page {page + 1}` shows the next" if page < pages else ""
        shown.append(f"Page {page} of {pages}{more}.")
    return "\n".join(shown)


def subcommands_of(app: Application) -> tuple[Subcommand, ...]:
    """Return every line of the table but help."""
    return subcommands(app, table())


def slash_commands(app: Application) -> SlashCommands:
    """Return the commands of chat for a running application."""
    permissions = Permissions(app.settings.admins, app.catalogue.permissions, app.engine.helps)
    return SlashCommands(subcommands_of(app), permissions, Audit(app.audit))
