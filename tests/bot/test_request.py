"""What comes over the control socket is looked at before a command uses it."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import _sent
from bot.cli.request import carry_out, print_line
from bot.commands.command import Command, Option, Sent
from bot.commands.request import LARGEST, checked
from bot.home import control_socket
from bot.home.control_socket import NO_REQUEST, SOCKET, Control
from core.errors import UsageError
from core.settings import load_settings

COMMAND = Command(
    "look",
    "look",
    "look",
    options=(
        Option("user", "", required=True),
        Option("days", "", kind="number"),
        Option("all", "", kind="flag"),
        Option("names", "", many=True),
    ),
)


@pytest.mark.parametrize(
    "request_",
    [
        {"command": "look", "user": "slack:U1", "days": 7, "all": True, "names": ["a", "b"], "json": True},
        {"command": "look", "user": "slack:U1", "days": None, "text": "of a file", "lines": ["1", "2"]},
    ],
)
def test_a_request_of_the_right_kinds_goes_on_as_it_is(request_: dict[str, Any]) -> None:
    assert checked(request_, COMMAND) == request_


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("user", None),
        ("user", 5),
        ("user", ["a"]),
        ("days", "7"),
        ("days", float("nan")),
        ("days", 10**400),
        ("days", LARGEST + 1),
        ("days", True),
        ("all", "yes"),
        ("names", [1]),
        ("text", {}),
        ("text", True),
        ("lines", [None]),
    ],
)
def test_a_value_of_another_kind_is_a_usage_error_that_names_it(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"'{name}'"):
        checked({"command": "look", "user": "slack:U1", name: value}, COMMAND)


def test_what_a_request_lacks_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no 'answer_id'"):
        checked({"command": "again", "answer_id": None})["answer_id"]


@pytest.mark.parametrize(
    "sent", [b"garbage\n", b"[1]\n", b"\xff\xfe\n", b'{"command": "st', b"x" * 5000 + b"\n"]
)
async def test_garbage_and_what_was_cut_off_is_one_line_in_the_log(
    sent: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def unwanted(request: dict[str, Any], send: Any) -> None:
        raise AssertionError("that is no request")

    monkeypatch.setattr(control_socket, "LINE_BYTES", 1000)
    control = Control(tmp_path, unwanted)
    await control.start()
    reader, writer = await asyncio.open_unix_connection(tmp_path / SOCKET)
    writer.write(sent)
    writer.write_eof()
    assert json.loads(await reader.read()) == {"error": NO_REQUEST, "code": 2}
    writer.close()
    await control.stop()
    [record] = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert "no request" in record.getMessage() and not record.exc_info


async def test_a_command_whose_output_is_closed_is_carried_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    async def call(home: Path, request: dict[str, Any]) -> Any:
        asked.append(request)
        yield {"line": "first"}

    class Closed:
        def write(self, text: str) -> None:
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(control_socket, "call", call)
    with pytest.raises(BrokenPipeError):
        await carry_out(load_settings(None, home=tmp_path), {"command": "memory", "action": "list"}, Closed())
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("request_", "changes"),
    [
        ({"command": "status"}, True),
        ({"command": "memory", "action": "export"}, False),
        ({"command": "batch"}, False),
        ({"command": "ask"}, False),
    ],
)
def test_times_that_people_and_pages_wrote_are_left_alone(
    request_: dict[str, Any], changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        out = io.StringIO()
        print_line("It starts at 2024-03-01 00:30 UTC.", request_, out)
        assert ("00:30 UTC" not in out.getvalue()) is changes
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("code", "lines", "kept"), [(1, [], "old\n"), (0, ["new"], "new\n"), (1, ["new"], "new\n"), (0, [], "")]
)
def test_a_command_that_fails_at_once_leaves_its_file_as_it_was(
    code: int, lines: list[str], kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def done(settings: object, request: object, out: Any) -> int:
        out.writelines(f"{line}\n" for line in lines)
        return code

    monkeypatch.setattr("bot.cli.request.carry_out", done)
    file = tmp_path / "pairs.jsonl"
    file.write_text("old\n")
    assert _sent(load_settings(None, home=tmp_path), Sent({"command": "memory"}, file)) == code
    assert file.read_text() == kept and [one.name for one in tmp_path.iterdir()] == [file.name]
