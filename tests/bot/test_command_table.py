"""One table of commands: what is in it, what is made of it, and how one is added."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.cli.arguments import command_line, parsed
from bot.commands import document
from bot.commands.admin.pause import MODES as MODES_OFFERED
from bot.commands.command import GROUPS, Command, Given, Option, Result, Table
from bot.commands.command_line import handle
from bot.commands.look.gaps import DAYS as DAYS_OFFERED
from bot.commands.registry import table, table_of
from bot.commands.slash.derived import subcommands
from bot.commands.slash.table import SlashCommands
from bot.operations.application import Application
from bot.ports.chat import Command as Said
from bot.ports.chat import Person, Press, Reply
from core.community.overrides import DEFAULT, MODES
from core.domain import MessageRef, Scope
from core.errors import UsageError
from core.insights.gaps import DAYS
from tests.fake_channels import FakeAudit

ROOT = Path(__file__).parents[2]
BOSS = Person("slack:U3", admin=True)
ADDED = '''
"""A command that a test adds."""

from bot.commands.command import Command, Option, Result


async def run(app, given):
    return Result({"kettles": int(given["number"]), "hot": bool(given.get("hot"))})


def text(result):
    return [f"{result.data['kettles']} kettles{', hot' if result.data['hot'] else ''}."]


COMMAND = Command(
    "boil", "look", "boil kettles", run, text, (Option("number", "How many", required=True, kind="number"),
    Option("hot", "Until they are hot", kind="flag")), changes=True, audit=lambda given: [given["number"]],
)
'''


class Heard:
    """Keeps what a command says, at the terminal and in chat."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.replies: list[Reply] = []

    async def send(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def reply(self, reply: Reply) -> None:
        self.replies.append(reply)

    async def progress(self, reply: Reply) -> None:
        self.replies.append(reply)


def app() -> Application:
    return cast(Application, SimpleNamespace(audit=FakeAudit()))


async def in_chat(commands: Table, heard: Heard, line: str) -> SlashCommands:
    slash = SlashCommands(subcommands(app(), commands))
    where = MessageRef("slack", "C1", "")
    await slash.run(Said("threadlore", line, BOSS, where, Scope()), heard)
    return slash


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """The table with a command that is one file of another package."""
    (tmp_path / "house_commands" / "look").mkdir(parents=True)
    for folder in ("house_commands", "house_commands/look"):
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "house_commands" / "look" / "boil.py").write_text(ADDED)
    monkeypatch.syspath_prepend(tmp_path)
    import bot.commands

    yield table_of(bot.commands, import_module("house_commands"))
    for name in [name for name in sys.modules if name.startswith("house_commands")]:
        del sys.modules[name]


async def test_a_command_is_added_by_one_file(added: Table) -> None:
    given = parsed(["boil", "3", "--hot", "--json"], added)
    heard, application = Heard(), app()
    await handle(application, given.request, heard.send, added)
    assert json.loads(heard.messages[0]["line"]) == {"kettles": 3, "hot": True}
    await handle(application, parsed(["boil", "2"], added).request, heard.send, added)
    assert heard.messages[2:] == [{"line": "2 kettles."}, {"code": 0}]
    acts = await application.audit.acts()
    assert [act.what for act in acts] == ["boil 2", "boil 3"], "what changes something is written down"
    slash = await in_chat(added, heard, "boil 4 --hot")
    assert heard.replies[-1].markdown == "4 kettles, hot."
    assert "`/threadlore boil NUMBER [--hot]` boil kettles" in slash.help_for(BOSS)
    await in_chat(added, heard, "boil many")
    assert "must be a whole number" in heard.replies[-1].markdown
    assert "| `threadlore boil NUMBER [--hot] [--json]` | boil kettles |" in document.terminal_lines(added)
    assert "| `/threadlore boil NUMBER [--hot]` | admins | boil kettles |" in document.chat_lines(added)


def test_two_commands_of_one_name_are_refused(added: Table, tmp_path: Path) -> None:
    (tmp_path / "house_commands" / "look" / "brew.py").write_text(ADDED)
    with pytest.raises(ValueError, match="two commands are called boil"):
        table_of(import_module("house_commands"))


def test_the_table_is_whole() -> None:
    for command in table().commands:
        assert command.group in GROUPS and command.help[:1].islower() and not command.help.endswith(".")
        assert command.run or command.here or command.program or command.dialogue, command.name
        assert (command.who == "owner") == (command.where == "terminal"), command.name
        assert bool(command.asks) == bool(command.sure), command.name
        if command.is_in("chat"):
            assert command.run or command.dialogue, command.name
    assert (*MODES, DEFAULT) == MODES_OFFERED and DAYS == DAYS_OFFERED


def test_every_file_of_commands_holds_one() -> None:
    others = ("slash", "__pycache__")
    folders = [p for p in (ROOT / "bot" / "commands").iterdir() if p.is_dir() and p.name not in others]
    files = [p for folder in folders for p in folder.glob("*.py") if p.stem != "__init__"]
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    assert files
    assert not [n for n in names if not any(isinstance(v, Command) for v in vars(import_module(n)).values())]


def test_the_documentation_is_made_of_the_table() -> None:
    said = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert document.documented(said, table()) == said, "run `python -m bot.commands.document`"


def test_the_document_command_checks_and_mends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / document.FILE
    file.parent.mkdir()
    file.write_text("# Commands\n<!-- chat -->\nteapots\n<!-- end of chat -->\nkept\n")
    with pytest.raises(ValueError, match="lacks the marks of command line"):
        document.main([])
    file.write_text(file.read_text() + "<!-- command line -->\n<!-- end of command line -->\n")
    assert document.main(["--check"]) == 1
    assert document.main([]) == 0 and document.main(["--check"]) == 0
    text = file.read_text()
    assert all(word in text for word in ("`/threadlore status`", "`threadlore ask ", "kept"))
    assert "teapots" not in text


# --- the command line that is made of it --------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        parsed(arguments)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    return err


def test_a_word_that_is_not_known_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean 'status'?" in refused(capsys, "stats")
    assert "Did you mean 'retire'?" in refused(capsys, "memory", "retier", "p1")
    assert "Did you mean '--release'?" in refused(capsys, "index", "--relaese", "2.0")
    assert "up" in refused(capsys, "vote", "a1", "sideways")
    assert "ANSWER_ID" in refused(capsys, "why")
    assert "memory" in refused(capsys, "memory") and "status" in refused(capsys)


def test_help_lists_commands_by_what_people_do(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--help", "-h"):
        with pytest.raises(SystemExit) as ended:
            parsed([flag])
        assert not ended.value.code
        out = capsys.readouterr().out
        places = [out.index(f"{title}:") for title in GROUPS.values()]
        assert places == sorted(places)
        assert places[0] < out.index("  ask ") < places[1] < out.index("  status ") < places[2]
        assert places[2] < out.index("  memory ") < places[3] < out.index("  tune ") < places[4]
    with pytest.raises(SystemExit):
        parsed(["memory", "list", "-h"])
    assert "--store" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [("--home", "/h", "--debug", "status"), ("status", "--home", "/h", "--debug")]
)
def test_what_holds_for_all_stands_before_or_after(arguments: Sequence[str]) -> None:
    given = parsed(arguments)
    assert (given.home, given.config, given.debug) == (Path("/h"), None, True)
    assert given.request == {"command": "status", "json": False}


def test_what_is_later_counts_for_a_home_in_a_group() -> None:
    assert parsed(["--home", "/a", "memory", "--home", "/b", "verify"]).home == Path("/b")
    assert parsed(["--home", "/a", "memory", "verify", "--home", "/c"]).home == Path("/c")


def test_an_option_of_many_values_takes_them_up_to_the_next_option() -> None:
    values = parsed(["evaluate", "--followups", "a", "b", "--report", "r", "--only", "x"]).values
    assert values["followups"] == (Path("a"), Path("b")) and values["only"] == ("x",)
    request = parsed(["evaluate", "--unasked", "a", "--unasked", "b"]).request
    assert request["unasked"] == [str(Path("a").absolute()), str(Path("b").absolute())]
    assert parsed(["init", "--docs", "1=a", "--docs", "2=b", "here"]).values["docs"] == ("1=a", "2=b")


def test_a_page_of_gaps_goes_to_the_terminal_or_to_a_file() -> None:
    assert parsed(["gaps"]).request["markdown"] is None
    assert parsed(["gaps", "--markdown"]).request["markdown"] == "-"
    assert parsed(["gaps", "--markdown", "page.md"]).request["markdown"] == str(Path("page.md").absolute())


def test_a_question_may_begin_with_dashes() -> None:
    assert parsed(["ask", "--", "--what is this?"]).request["question"] == "--what is this?"
    assert parsed(["pause", "30", "moving", "house", "--channel", "slack:C1"]).request["words"] == [
        *("30", "moving", "house")
    ]


def test_shells_complete_commands_and_choices() -> None:
    def completed(words: str) -> list[str]:
        variables = {"_THREADLORE_COMPLETE": "bash_complete", "COMP_WORDS": words}
        variables |= {"COMP_CWORD": str(len(words.split(" ")) - 1), "PYTHONPATH": str(ROOT), "PATH": ""}
        script = [sys.executable, "-m", "bot"]
        ended = subprocess.run(script, capture_output=True, text=True, env=variables, cwd=ROOT)
        return [line.rpartition(",")[2] for line in ended.stdout.split()]

    assert {"servers", "status", "sources"} == set(completed("threadlore s")) - {"serve", "simulate"}
    assert completed("threadlore memory list --store h") == ["high"]


def test_every_command_has_its_own_name_at_the_terminal() -> None:
    root = command_line(table())
    names = {c.name.split(" ")[0] for c in table().commands if c.is_in("terminal")}
    assert set(root.commands) == names


# --- results --------------------------------------------------------------------------------------


async def test_a_list_is_a_row_a_line_and_pages_in_chat() -> None:
    async def run(app: Application, given: Given) -> Result:
        return Result([{"n": n} for n in range(30)], ("That is all.",))

    def text(result: Result) -> list[str]:
        return [f"row {row['n']}" for row in result.data]

    commands = Table((Command("rows", "look", "rows", run, text, is_list=True),))
    heard = Heard()
    await handle(app(), {"command": "rows", "json": True}, heard.send, commands)
    assert [json.loads(m["line"])["n"] for m in heard.messages[:-2]] == list(range(30))
    assert heard.messages[-2:] == [{"note": "That is all."}, {"code": 0}]
    await in_chat(commands, heard, "rows --page 3")
    assert heard.replies[-1].markdown.splitlines()[0] == "- row 24"
    assert heard.replies[-1].markdown.endswith("Page 3 of 3.")


async def test_a_problem_is_raised_once_the_rest_is_told() -> None:
    async def run(app: Application, given: Given) -> Result:
        return Result("Half of it.", problem=UsageError("The rest failed."))

    commands = Table((Command("half", "admin", "half", run, changes=True),))
    heard, application = Heard(), app()
    with pytest.raises(UsageError, match="The rest failed"):
        await handle(application, {"command": "half"}, heard.send, commands)
    assert heard.messages == [{"line": "Half of it."}]
    assert [act.outcome for act in await application.audit.acts()] == ["failed: The rest failed."]


async def test_what_asks_is_done_once_it_is_confirmed() -> None:
    done: list[str] = []

    async def run(app: Application, given: Given) -> Result:
        done.append(str(given["id"]))
        return Result(f"Took {given['id']} out.")

    async def asks(app: Application, given: Given) -> str:
        return f"This takes {given['id']} out."

    options = (Option("id", "Which", required=True),)
    commands = Table(
        (Command("take", "admin", "take", run, options=options, changes=True, asks=asks, sure="Yes"),)
    )
    heard = Heard()
    slash = await in_chat(commands, heard, "take p1")
    assert heard.replies[-1].markdown.startswith("This takes p1 out.") and done == []
    (button,) = heard.replies[-1].controls
    assert button.label == "Yes"
    await slash.pressed(Press(button.name, button.value, MessageRef("slack", "C1", ""), BOSS, Scope()), heard)
    assert done == ["p1"] and heard.replies[-1].markdown == "Took p1 out."
    await handle(app(), {"command": "take", "id": "p2"}, heard.send, commands)
    assert done == ["p1", "p2"], "whoever has the machine is not asked"
