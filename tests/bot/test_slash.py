"""The table of commands: who may give which, what is said to the others, confirmations, the audit log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bot.commands import command as commands
from bot.commands import registry
from bot.commands.command_line import handle
from bot.commands.permissions import Permissions
from bot.commands.slash.confirmations import NOT_YOURS, SECONDS, TOO_LATE, Confirmations
from bot.commands.slash.derived import subcommands
from bot.commands.slash.table import Call, Option, SlashCommands, Subcommand
from bot.commands.slash.texts import EVERYBODYS, HELP
from bot.operations.application import Application
from bot.operations.audit import Audit, audit_text
from bot.ports.chat import Command, Person, Press, Reply
from core.catalogue import Grant, load_catalogue
from core.domain import MessageRef, Scope
from core.errors import ConfigurationError, SourceError, UsageError
from core.ingestion.sources import Kinds
from core.languages import _, speaking
from core.ports.about import FORGOTTEN
from tests.fake_channels import FakeAudit

ANN, HAL, BOSS = Person("slack:U1"), Person("slack:U2", helper=True), Person("slack:U3", admin=True)
ROLE = Person("discord:4", roles=("discord:role:5",))
WHERE = MessageRef("slack", "C1", "")


class Told:
    """Keeps what a command answers."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []

    async def reply(self, reply: Reply) -> None:
        self.replies.append(reply)

    @property
    def text(self) -> str:
        return self.replies[-1].markdown if self.replies else ""


class Table:
    """A small table of commands, and everything that came of them."""

    def __init__(self, **granted: tuple[str, ...]) -> None:
        self.done: list[str] = []
        grants = {name.replace("_", " "): Grant(who, "corpora.toml, line 9") for name, who in granted.items()}
        self.audit = FakeAudit()
        self.slash = SlashCommands(
            (
                Subcommand("status", "how all is", self._show),
                Subcommand("reindex", "read anew", self._do, (Option("release", ""),)),
                Subcommand("memory show", "one pair", self._show, (Option("id", "", required=True),)),
                Subcommand("memory retire", "take it out", self._ask, (Option("id", ""),)),
                Subcommand("forget", "forget", self._forget, everybody=True, logged=True, secret=True,
                           options=(Option("who", ""),)),
                Subcommand("fail", "fails", self._fail),
                Subcommand("wrong", "is used wrongly", self._wrong),
            ),
            Permissions(("slack:U9",), grants, lambda account: account == "slack:U8"),
            Audit(self.audit, lambda: 1.0),
        )  # fmt: skip

    async def _show(self, call: Call) -> str:
        await call.tell("shown")
        return "shown"

    async def _do(self, call: Call) -> None:
        self.done.append(call.line)
        await call.tell("done")

    async def _ask(self, call: Call) -> str:
        async def act() -> str:
            self.done.append("retired")
            return "Retired."

        return await call.confirm("This takes it out.", act, "Yes, retire it")

    async def _forget(self, call: Call) -> str:
        await call.tell("forgotten")
        return FORGOTTEN

    async def _fail(self, call: Call) -> None:
        raise SourceError("The disk is away.")

    async def _wrong(self, call: Call) -> None:
        raise UsageError("There is no such pair.")

    async def say(self, person: Person, text: str) -> Told:
        told = Told()
        command = Command("threadlore", text, person, WHERE, Scope())
        await self.slash.run(command, told)  # type: ignore[arg-type]
        return told

    async def press(self, person: Person, told: Told) -> Told:
        [button] = told.replies[-1].controls
        answer = Told()
        press = Press(button.name, button.value, WHERE, person, Scope())
        await self.slash.pressed(press, answer)  # type: ignore[arg-type]
        return answer

    async def log(self) -> list[tuple[str, str, str]]:
        return [(act.who, act.what, act.outcome) for act in reversed(await self.audit.acts())]


async def test_admins_alone_may_do_what_nobody_is_named_for() -> None:
    table = Table()
    for person in (BOSS, replace(ANN, id="slack:U9")):
        assert (await table.say(person, "status")).text == "shown"
    for person in (ANN, HAL, ROLE):
        assert "Only admins" in (await table.say(person, "status")).text
    assert (await table.log())[-1] == ("discord:4", "status", "refused")


async def test_a_command_is_allowed_to_groups_accounts_and_roles() -> None:
    table = Table(reindex=("helpers", "slack:U1", "discord:role:5"), memory=("everybody",), status=())
    for person in (ANN, HAL, ROLE, replace(ANN, id="slack:U8")):
        assert (await table.say(person, "reindex 2.0")).text == "done"
    assert "Only admins" in (await table.say(replace(ANN, id="slack:U7"), "reindex")).text
    assert "Only admins" in (await table.say(BOSS, "reindex")).text, "the list is the whole list"
    assert "Only admins" in (await table.say(BOSS, "status")).text, "an empty list is nobody"
    assert (await table.say(replace(ANN, id="slack:U7"), "memory show p1")).text == "shown"
    table = Table(memory=("everybody",), memory_retire=("admins",))
    assert "Only admins" in (await table.say(ANN, "memory retire p1")).text, "the longer name counts"


async def test_help_shows_what_one_may_do() -> None:
    table = Table(reindex=("helpers",))
    for words in ("help", ""):
        told = (await table.say(HAL, words)).text
        assert "reindex" in told and "forget" in told and "status" not in told
    told = (await table.say(ANN, "help")).text
    assert "reindex" not in told and "`/threadlore forget [who]`" in told


@pytest.mark.parametrize(
    ("person", "text", "part"),
    [
        (BOSS, "statsu", "Did you mean `/threadlore status`?"),
        (ANN, "statsu", "I don't know `statsu`. There is:"),
        (BOSS, "memory shwo p1", "Did you mean `/threadlore memory show`?"),
        (BOSS, "memory", "`memory` wants one more word"),
        (BOSS, "memory dance", "There is no `memory dance`. There is:\n`/threadlore memory show ID`"),
        (BOSS, "How do I stream a response", "To ask something, use `/ask`."),
        (BOSS, "memory show", "ID is missing. It is written `/threadlore memory show ID`."),
        (BOSS, "reindex 2.0 now", "`now` is too much"),
        (BOSS, "wrong", "There is no such pair."),
    ],
)
async def test_a_mistake_is_answered_with_what_there_is(person: Person, text: str, part: str) -> None:
    assert part in (await Table().say(person, text)).text


async def test_the_file_may_name_only_commands_that_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r'line 9: there is no command "reindx".*mean "reindex"'):
        Table(reindx=("admins",))
    Table(memory=("admins",), memory_show=("admins",))


def test_whom_the_file_names_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "corpora.toml"
    file.write_text(
        '[product]\nname = "K"\n[[release]]\nname = "1"\n[permissions]\n'
        'reindex = ["helpers", "discord:role:5"]\n"memory show" = ["slack:U1"]\n'
    )
    granted = load_catalogue(file, Kinds()).permissions
    assert granted["reindex"] == Grant(("helpers", "discord:role:5"), f"{file}, line 6")
    assert granted["memory show"].who == ("slack:U1",)
    file.write_text(file.read_text().replace("slack:U1", "somebody"))
    with pytest.raises(ConfigurationError, match=r'line 7.*"somebody".*"admins", "helpers", "everybody"'):
        load_catalogue(file, Kinds())


async def test_what_cannot_be_undone_waits_for_one_press_of_who_asked() -> None:
    table = Table()
    told = await table.say(BOSS, "memory retire p1")
    assert not table.done and "/threadlore memory retire p1 confirm" in told.text
    assert (await table.press(ANN, told)).text == NOT_YOURS and not table.done
    assert (await table.press(BOSS, told)).text == "Retired." and table.done == ["retired"]
    assert (await table.press(BOSS, told)).text == TOO_LATE and table.done == ["retired"]
    assert await table.log() == [
        ("slack:U3", "memory retire p1", "asked"),
        ("slack:U3", "memory retire p1", "done"),
    ]
    assert (await table.say(BOSS, "memory retire p2 confirm")).text != TOO_LATE


async def test_the_word_confirms_where_a_flag_is_declared() -> None:
    done: list[int] = []

    async def run(call: Call) -> str:
        async def act() -> str:
            done.append(1)
            return "gone"

        return await call.confirm("It goes.", act)

    sure = Option("confirm", "", kind="flag")
    slash = SlashCommands((Subcommand("drop", "drops", run, (sure,), everybody=True),))
    for text in ("drop confirm", "drop --confirm", "drop —confirm"):
        told = Told()
        await slash.run(Command("threadlore", text, ANN, WHERE, Scope()), told)  # type: ignore[arg-type]
        assert told.text == "gone"
    assert len(done) == 3


async def test_a_button_is_too_late_after_ten_minutes() -> None:
    now = [0.0]
    confirmations = Confirmations(lambda: now[0])
    done: list[str] = []

    async def act() -> str:
        done.append("done")
        return "done"

    for wait, expected in ((SECONDS - 1, "done"), (SECONDS, TOO_LATE)):
        button = confirmations.button("slack:U1", "Yes", act)
        now[0] += wait
        told = Told()
        await confirmations.carry_out(Press("confirm", button.value, WHERE, ANN, Scope()), told)  # type: ignore[arg-type]
        assert told.text == expected
    assert done == ["done"] and len(button.name + button.value) <= 90


async def test_what_was_done_is_written_down_and_what_was_only_looked_up_by_everybody_is_not() -> None:
    table = Table()
    await table.say(BOSS, "reindex 2.0")
    await table.say(BOSS, "forget slack:U7")
    await table.say(BOSS, "wrong")
    await table.say(BOSS, "help")
    await table.say(BOSS, "Where is the key to the cellar?")
    with pytest.raises(SourceError):
        await table.say(BOSS, "fail")
    assert await table.log() == [
        ("slack:U3", "reindex 2.0", "done"),
        (FORGOTTEN, "forget", "done"),
        ("slack:U3", "wrong", "failed: There is no such pair."),
        ("slack:U3", "fail", "failed: The disk is away."),
    ]
    told = audit_text(await table.audit.acts())
    assert "1970-01-01 00:00 UTC, `slack:U3` in `slack:C1`: `reindex 2.0`, done" in told
    assert audit_text(()) == "Nothing is written down yet."


async def test_of_a_refused_command_a_question_behind_its_name_is_not_written_down() -> None:
    table = Table()
    await table.say(ANN, "reindex 2.0")
    await table.say(ANN, "reindex how do I make marmalade?")
    assert await table.log() == [("slack:U1", "reindex 2.0", "refused"), ("slack:U1", "reindex", "refused")]


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"command": "index", "release": "2.0", "rebuild": True}, "index 2.0 --rebuild"),
        ({"command": "index", "dry_run": True}, ""),
        ({"command": "memory", "action": "retire", "id": "p1"}, "memory retire p1"),
        ({"command": "memory", "action": "show", "id": "p1"}, ""),
        ({"command": "memory", "action": "import", "text": "secret words"}, "memory import"),
        ({"command": "forget", "user": "slack:U1"}, "forget"),
        ({"command": "ask", "question": "secret words"}, ""),
        ({"command": "pause", "words": ["30", "moving"]}, "pause 30 moving"),
        ({"command": "mode", "channel": "slack:C1", "mode": "off"}, "mode slack:C1 off"),
        ({"command": "mode"}, ""),
        ({"command": "vote", "answer_id": "a1", "vote": "up", "user": "slack:U1"}, "vote a1 up"),
    ],
)
async def test_the_command_lines_changes_are_written_down(request_: dict[str, object], line: str) -> None:
    store = FakeAudit()
    app = cast(Application, SimpleNamespace(audit=store))
    found = registry.table().named(str(request_["command"]), str(request_.get("action") or ""))
    assert found is not None

    async def work(app: Application, given: commands.Given) -> commands.Result:
        return commands.Result()

    async def break_down(app: Application, given: commands.Given) -> commands.Result:
        raise UsageError("No.")

    working, breaking = (commands.Table((replace(found, run=run),)) for run in (work, break_down))
    await handle(app, {**request_, "caller": "cli:root"}, unheard, working)
    with pytest.raises(UsageError):
        await handle(app, dict(request_), unheard, breaking)
    expected = [("cli", line, "failed: No."), ("cli:root", line, "done")] if line else []
    assert [(act.who, act.what, act.outcome) for act in await store.acts()] == expected


async def unheard(message: dict[str, object]) -> None:
    """Hear nothing of what a command says."""


async def test_no_password_in_an_address_is_written_down() -> None:
    kept = FakeAudit()
    said = "sources add https://bob:s3cret@git.example.org/x.git"
    await Audit(kept, lambda: 1.0).note("cli:bob", "", said, "done")
    [act] = await kept.acts()
    assert act.what == "sources add https://git.example.org/x.git"


def test_what_asks_first_takes_the_word_that_it_tells_people_to_write() -> None:
    found = {one.name: one for one in subcommands(cast(Application, SimpleNamespace()), registry.table())}
    for name in ("memory retire", "memory public", "memory rebuild", "forget", "opt-out"):
        assert [option.name for option in found[name].options].count("confirm") == 1, name
    assert "confirm" not in [option.name for option in found["memory restore"].options]


@pytest.mark.parametrize("language", ["de", "es", "zh"])
async def test_what_everybody_may_do_is_told_in_each_language(language: str) -> None:
    everybodys = [command for command in registry.table().commands if command.who == "everybody"]
    helps = {command.help_in_chat or command.help for command in everybodys if command.rank}
    assert helps <= set(EVERYBODYS), "mark these in bot/commands/slash/texts.py"
    table = Table()
    with speaking(language):
        told = (await table.say(ANN, "helq")).text
        assert _(HELP) in told and HELP not in told and "There is" not in told
        assert all(_(said) != said for said in EVERYBODYS)
