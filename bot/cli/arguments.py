"""The command line, built from the table of commands; nothing heavy is imported for it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import click

from bot.commands.command import FAMILIES, GROUPS, Command, Option, Table
from bot.commands.registry import table

WRONG_USE = 2
PROGRAM = "threadlore"
_ABOUT = "Answers a community's questions from its documentation, for the release they use."
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_KINDS: Mapping[str, Any] = {"number": click.INT, "share": click.FLOAT, "path": click.Path(path_type=Path)}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command line that was understood: the command, its values by key, and what holds for all commands."""

    command: Command
    values: Mapping[str, Any]
    home: Path | None = None
    config: Path | None = None
    debug: bool = False

    @property
    def options(self) -> Namespace:
        """Return everything as one namespace."""
        return Namespace(**self.values, home=self.home, config=self.config, debug=self.debug)

    @property
    def request(self) -> dict[str, Any]:
        """Return it as it travels to the process that carries it out."""
        name, _, action = self.command.name.partition(" ")
        plain = {key: _plain(value) for key, value in self.values.items()}
        return {"command": name, **({"action": action} if action else {}), **plain}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Path):
        return str(value if str(value) == "-" else value.absolute())
    return value


def parsed(arguments: Sequence[str] | None = None, commands: Table | None = None) -> Parsed:
    """Read a command line; ends the process for help (0), for shell completion and for wrong use (2)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        found = command_line(commands or table()).main(given, PROGRAM, standalone_mode=False)
    except click.ClickException as error:
        _refuse(error)
    except click.Abort:
        sys.exit(1)
    if isinstance(found, Parsed):
        return found
    sys.exit(found)


def _refuse(error: click.ClickException) -> NoReturn:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        sys.exit(WRONG_USE)
    context = getattr(error, "ctx", None)
    if context is not None:
        print(context.get_usage(), file=sys.stderr)
    path = context.command_path if context is not None else PROGRAM
    near = getattr(error, "possibilities", None)
    told = f"{error.message} Did you mean '{near[0]}'?" if near else error.format_message()
    print(f"{PROGRAM}: {told} (see `{path} --help`)", file=sys.stderr)
    sys.exit(WRONG_USE)


def command_line(commands: Table) -> click.Group:
    """Return the command line that Click parses and completes."""
    root = _Root(commands)
    for command in commands.commands:
        if not command.is_in("terminal"):
            continue
        first, _, second = command.name.partition(" ")
        if not second:
            root.add_command(_leaf(command, first))
            continue
        family = root.commands.get(first)
        if not isinstance(family, click.Group):
            about = sentence(FAMILIES.get(first, first))
            family = click.Group(first, help=about, short_help=about, params=_common())
            root.add_command(family)
        family.add_command(_leaf(command, second))
    return root


def sentence(phrase: str) -> str:
    """Return a phrase as a sentence."""
    return f"{phrase[:1].upper()}{phrase[1:]}."


class _Root(click.Group):
    """Lists commands by what people do with them."""

    def __init__(self, commands: Table) -> None:
        super().__init__(PROGRAM, help=_ABOUT, params=_common(), context_settings=_HELP)
        self._groups = {c.name.partition(" ")[0]: c.group for c in reversed(commands.commands)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        for group, title in GROUPS.items():
            names = [name for name in self.commands if self._groups.get(name) == group]
            if names:
                with formatter.section(title):
                    formatter.write_dl([(n, self.commands[n].get_short_help_str(200)) for n in names])


class _Leaf(click.Command):
    """A command whose options of many values take all words up to the next option."""

    def __init__(self, many: frozenset[str], **given: Any) -> None:
        super().__init__(**given)
        self._many = many

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Write `--only a b` as `--only a --only b`, then parse."""
        return super().parse_args(ctx, _spread(args, self._many))


def _spread(arguments: Sequence[str], many: frozenset[str]) -> list[str]:
    said: list[str] = []
    current = ""
    is_first = False
    for place, word in enumerate(arguments):
        if word == "--":
            return [*said, *arguments[place:]]
        if word.startswith("-") and word != "-":
            current, is_first = (word, True) if word in many else ("", False)
            said.append(word)
        elif current and not is_first:
            said += [current, word]
        else:
            is_first = False
            said.append(word)
    return said


def _leaf(command: Command, name: str) -> click.Command:
    options = command.options_in("terminal")
    params: list[click.Parameter] = [_parameter(option) for option in options]
    if command.run is not None and command.has_json:
        params.append(click.Option(["--json"], is_flag=True, help="Print the data as JSON."))

    def call(**values: Any) -> Parsed:
        own = {key: value for key, value in values.items() if key not in ("home", "config", "debug")}
        return Parsed(command, own, **_merged(click.get_current_context()))

    return _Leaf(
        frozenset(f"--{option.name}" for option in options if option.many),
        name=name,
        help=sentence(command.help),
        short_help=sentence(command.help),
        params=[*params, *_common()],
        callback=call,
    )


def _merged(context: click.Context | None) -> dict[str, Any]:
    """Return what holds for all commands, said before or after the command's name; what is later counts."""
    found: dict[str, Any] = {"home": None, "config": None, "debug": False}
    while context is not None:
        for key, value in found.items():
            found[key] = value or context.params.get(key)
        context = context.parent
    return found | {"debug": bool(found["debug"])}


def _common() -> list[click.Parameter]:
    path = click.Path(path_type=Path)
    return [
        click.Option(
            ["--home"], type=path, metavar="DIR", help="Home folder (THREADLORE_HOME, ~/.threadlore)."
        ),
        click.Option(
            ["--config"], type=path, metavar="FILE", help="The corpora.toml to use (THREADLORE_CONFIG)."
        ),
        click.Option(["--debug"], is_flag=True, help="Show tracebacks and debug messages."),
    ]


def _parameter(option: Option) -> click.Parameter:
    kind = click.Choice(option.choices) if option.choices else _KINDS.get(option.kind, click.STRING)
    given: dict[str, Any] = {"type": kind}
    if option.metavar:
        given["metavar"] = option.metavar
    if not (option.named or option.dashed or option.kind == "flag"):
        default = {} if option.default is None else {"default": option.default}
        if option.many:
            return click.Argument([option.key], nargs=-1, required=option.required, **given, **default)
        return click.Argument([option.key], required=option.required, **given, **default)
    about = sentence(option.help) if option.help else ""
    if option.kind == "flag":
        return click.Option([f"--{option.name}", option.key], is_flag=True, help=about)
    if option.alone:
        given |= {"is_flag": False, "flag_value": option.alone}
    if option.many or option.repeated:
        given["multiple"] = True
    if option.default is not None:
        given["default"] = option.default
    return click.Option([f"--{option.name}", option.key], required=option.required, help=about, **given)
