"""Writes the tables of docs/commands.md from the table of commands: `python -m bot.commands.document`.

What stands between two marks of a kind is made, the rest of the file is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from bot.commands.command import GROUPS, Command, Option, Table
from bot.commands.registry import table

FILE = Path("docs/commands.md")
BY_HAND = (
    ("`/ask QUESTION`", "everybody", "ask for yourself alone, with a button that shares the answer"),
    ("`/threadlore help`", "everybody", "list these commands and what they do"),
)
"""Rows of what stands in no table."""


def documented(text: str, commands: Table) -> str:
    """Return the text of docs/commands.md with fresh tables. Raises ValueError for a missing mark."""
    for mark, lines in (("chat", chat_lines(commands)), ("command line", terminal_lines(commands))):
        begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"docs/commands.md lacks the marks of {mark}")
        text = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + after
    return text


def chat_lines(commands: Table) -> list[str]:
    """Return the table of what is given in chat."""
    rows = [_row(*row) for row in BY_HAND]
    for command in commands.in_chat():
        name = command.in_chat or command.name
        options = (o.usage for o in command.options_in("chat") if not o.hidden and o.name != "confirm")
        pages = ["[--page …]"] if command.is_list else []
        usage = " ".join(["/threadlore", name, *options, *pages])
        is_confirmed = command.asks is not None or any(o.name == "confirm" for o in command.options)
        told = f"{command.help_in_chat or command.help}{' (confirmed)' if is_confirmed else ''}"
        rows.append(_row(f"`{usage}`", command.who, "; ".join(filter(None, (told, command.further)))))
    return ["| command | for | what it does |", "|---|---|---|", *rows]


def terminal_lines(commands: Table) -> list[str]:
    """Return what the command line takes, a table for each group."""
    lines: list[str] = []
    for group, title in GROUPS.items():
        members = [c for c in commands.commands if c.group == group and c.is_in("terminal")]
        if members:
            rows = [_row(f"`{_usage(command)}`", command.help) for command in members]
            lines += ["", f"**{title}**", "", "| command | what it does |", "|---|---|", *rows]
    return lines[1:]


def _usage(command: Command) -> str:
    json = ["[--json]"] if command.run is not None and command.has_json else []
    return " ".join(["threadlore", command.name, *map(_written, command.options_in("terminal")), *json])


def _written(option: Option) -> str:
    value = option.metavar or "|".join(option.choices) or option.name.upper()
    if option.kind == "flag":
        written = f"--{option.name}"
    elif option.named or option.dashed:
        written = f"--{option.name} {value}"
    else:
        written = value.strip("[]")
    return written if option.required else f"[{written}]"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def main(arguments: Iterable[str]) -> int:
    """Write the file; with `--check` only say whether it is as it should be. Return the exit status."""
    text = FILE.read_text(encoding="utf-8")
    made = documented(text, table())
    if "--check" in arguments:
        return 0 if made == text else 1
    FILE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
