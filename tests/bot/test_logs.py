"""What stands in a line of the log, and what never does."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.home import logs
from bot.rendering.progress import Bars
from core.errors import PlatformError, UsageError
from core.settings import Settings, load_settings

SECRETS = {
    "slack_bot_token": "xoxb-1-secretsecret",
    "slack_app_token": "xapp-1-A1-secretsecret",
    "discord_token": "MTA0NTY3ODkwMTIzNDU2Nzg5.GabcdE.secretsecretsecretsecretsecret",
    "dashboard_token": "open-sesame",
    "database_url": "postgresql://thread:lorelore@db/threadlore",
}


def settings(tmp_path: Path, **given: object) -> Settings:
    return load_settings(None, home=tmp_path, **{"log_format": "json", **SECRETS, **given})


WORD = "marmalade"
"""What people wrote; source lines of tracebacks may hold no more than its name."""


class Log:
    """What a process with these settings would have written."""

    def __init__(self, given: Settings, level: str = "INFO") -> None:
        self.stream = io.StringIO()
        self.handler = logs.stream_handler(given, level, self.stream)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    yield from logging_to(Log(settings(tmp_path)))


def logging_to(written: Log) -> Iterator[Log]:
    root = logging.getLogger()
    before = root.level
    root.addHandler(written.handler)
    root.setLevel(logging.DEBUG if written.handler.formatter._open else logging.INFO)  # type: ignore[union-attr]
    yield written
    root.setLevel(before)
    root.removeHandler(written.handler)


def test_a_line_is_an_event_with_its_fields(log: Log) -> None:
    logs.about("slack:C1/17.1", platform="slack", kind="public", control="")
    logging.getLogger("core.engine").info("answered", extra={"route": "quote", "ms": 41.5, "release": ""})
    logging.getLogger("bot.x").warning("%d of %s", 3, "five")
    logs.about()
    first, second = log.lines
    assert first["event"] == "answered" and first["level"] == "INFO" and first["logger"] == "core.engine"
    assert (first["platform"], first["kind"], first["route"], first["ms"]) == (
        "slack",
        "public",
        "quote",
        41.5,
    )
    assert "release" not in first and "control" not in first and str(first["at"]).endswith("Z")
    assert second["event"] == "3 of five" and second["request"] == first["request"]


def test_the_same_message_is_the_same_request_also_after_a_restart(log: Log) -> None:
    for key in ("slack:C1/17.1", "slack:C1/17.2", "slack:C1/17.1"):
        logs.about(key)
        logging.getLogger("bot.x").info("taken")
    logs.about()
    one, two, again = (line["request"] for line in log.lines)
    assert one == again != two


async def test_what_runs_at_once_is_told_apart(log: Log) -> None:
    async def work(key: str) -> None:
        logs.about(key, platform=key)
        await asyncio.sleep(0)
        logging.getLogger("bot.x").info("done")

    await asyncio.gather(*(asyncio.create_task(work(key)) for key in ("slack", "discord")))
    assert {line["platform"] for line in log.lines} == {"slack", "discord"}


def test_text_is_for_people(tmp_path: Path) -> None:
    for log in logging_to(Log(settings(tmp_path, log_format="text"))):
        logging.getLogger("core.engine").info("answered", extra={"route": "reuse", "ms": 3})
        assert log.text.endswith(" INFO core.engine: answered route=reuse ms=3\n")


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except Exception as found:
        return found


def test_what_a_librarys_error_says_is_not_written(log: Log) -> None:
    error = raised(ValueError(WORD), raised(KeyError(WORD)))
    logging.getLogger("bot.x").error("it failed: %s", error, exc_info=error)
    (line,) = log.lines
    assert line["event"] == "it failed: ValueError" and line["error"] == "ValueError"
    assert "in raised" in str(line["trace"]) and "which came of" in str(line["trace"])
    assert "KeyError" in str(line["trace"]) and WORD not in log.text


def test_our_own_errors_say_what_to_do_but_not_what_somebody_typed(log: Log) -> None:
    own = raised(PlatformError("Slack refuses the token."), raised(ValueError(WORD)))
    logging.getLogger("bot.x").error("a: %s", own, exc_info=own)
    logging.getLogger("bot.x").error("b: %s", UsageError(f"There is no command '{WORD}'."))
    assert log.lines[0]["event"] == "a: Slack refuses the token."
    assert "PlatformError: Slack refuses the token." in str(log.lines[0]["trace"])
    assert log.lines[1]["event"] == "b: UsageError" and WORD not in log.text


def test_of_a_librarys_line_only_template_and_numbers_are_written(log: Log) -> None:
    other = logging.getLogger("slack_bolt.AsyncApp")
    other.warning(f"Unhandled request ({{'text': '{WORD}'}})")
    other.warning("%s answered with %d", f"https://x.example/{WORD}", 429)
    other.error("failed %s", raised(ValueError(WORD)), exc_info=raised(ValueError(WORD)))
    wrong = {"name": "slack_bolt", "msg": "%d of it", "args": (WORD,), "levelno": 30, "filename": "x.py"}
    log.handler.handle(logging.makeLogRecord(wrong))
    assert WORD not in log.text
    assert "said something in test_logs.py:" in str(log.lines[0]["event"])
    assert str(log.lines[1]["event"]).startswith("… answered with 429 (test_logs.py:")


async def test_a_task_that_nobody_waited_for_tells_its_kind_alone(log: Log) -> None:
    async def fails() -> None:
        raise ValueError(WORD)

    task = asyncio.create_task(fails())
    await asyncio.sleep(0.01)
    del task
    (line,) = log.lines
    assert line["logger"] == "asyncio" and line["error"] == "ValueError" and WORD not in log.text


def test_a_thread_that_dies_tells_its_kind_alone(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        raise ValueError(WORD)

    before, threading.excepthook = threading.excepthook, logs._of_thread
    try:
        thread = threading.Thread(target=fails)
        thread.start()
        thread.join()
    finally:
        threading.excepthook = before
    assert log.lines[0]["error"] == "ValueError" and WORD not in log.text + capsys.readouterr().err


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_secrets_are_in_no_line_whatever_the_level(tmp_path: Path, level: str) -> None:
    strange = [
        "xoxb-99-somebody-elses",
        "xapp-1-A99-other",
        "https://hooks.slack.com/commands/T1/99/abcdefgh",
        "https://discord.com/api/v10/webhooks/9001/aTokenOfAnInteraction-1",
        "postgresql://me:hunter22@db/x",
        "GET /dashboard?token=hunter22 HTTP/1.1",
        "Authorization: Bearer hunter22",
    ]
    for log in logging_to(Log(settings(tmp_path), level)):
        for said in (*SECRETS.values(), *strange):
            logging.getLogger("bot.x").warning("it says %s", said)
            logging.getLogger("slack_sdk").debug("it sends %s", said)
            logging.getLogger("bot.x").error("x", exc_info=raised(ValueError(said)))
        hidden = ("secretsecret", "open-sesame", "lorelore", "99-", "99/abc", "aTokenOf", "hunter22", "A99")
        assert not [secret for secret in hidden if secret in log.text], log.text
        assert ("it sends" in log.text) == (level == "DEBUG")


def test_debug_shows_everything_else(tmp_path: Path) -> None:
    for log in logging_to(Log(settings(tmp_path), "DEBUG")):
        logging.getLogger("slack_sdk").debug("payload: %s", "marmalade 1")
        logging.getLogger("bot.x").error("x", exc_info=raised(ValueError("marmalade 2")))
        assert "marmalade 1" in log.text and "marmalade 2" in log.text


def test_logs_kept_in_the_home_are_one_file_a_day(tmp_path: Path) -> None:
    handler = logs._by_day(tmp_path / "logs", 14)
    handler.emit(logging.makeLogRecord({"msg": "taken", "name": "bot"}))
    handler.close()
    assert (tmp_path / "logs" / "threadlore.log").read_text() == "taken\n"
    assert handler.backupCount == 13 and handler.when == "MIDNIGHT"  # type: ignore[attr-defined]


def test_at_debug_no_file_of_the_home_holds_what_people_write(tmp_path: Path) -> None:
    handler = logs.in_files(settings(tmp_path), 3, "DEBUG")
    root = logging.getLogger()
    before, root.level = root.level, logging.DEBUG
    root.addHandler(handler)
    try:
        logging.getLogger("bot.x").debug("a pair is dropped: marmalade")
        logging.getLogger("slack_sdk").info("payload: %s", "marmalade")
        logging.getLogger("bot.x").error("x failed", exc_info=raised(ValueError("marmalade")))
    finally:
        root.removeHandler(handler)
        root.level = before
        handler.close()
    (file,) = (settings(tmp_path).home / "logs").iterdir()
    assert "marmalade" not in file.read_text() and "x failed" in file.read_text()


def test_files_of_a_version_that_wrote_what_people_write_are_emptied(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    told = {
        "threadlore.log": "2026-01-01 00:00:00 INFO bot: said something (LOG_LEVEL=DEBUG shows it)\n",
        "threadlore.log.2026-01-01": "2026-01-01 00:00:00 DEBUG slack_sdk: marmalade\nand more\n",
        "threadlore.log.2026-01-02": '{"at": "x", "level": "DEBUG", "event": "marmalade"}\n',
    }
    for name, text in told.items():
        (folder / name).write_text(text)
    logs.drop_open_files(tmp_path)
    assert {path.name: path.read_text() for path in folder.iterdir()} == dict.fromkeys(told, "") | {
        "threadlore.log": told["threadlore.log"]
    }
    logs.drop_open_files(tmp_path / "nowhere")


async def test_progress_without_a_terminal_is_a_line_of_the_log(
    log: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = {"release": "2.0", "stage": "embedding", "done": 3, "total": 3, "rate": 9.0, "eta_s": None}
    with Bars(logging.getLogger("bot.app.serve")) as bars:
        bars.show(progress)
    (line,) = log.lines
    assert (line["event"], line["release"], line["done"]) == ("indexing", "2.0", 3)
    assert capsys.readouterr().err == "", "or a line of JSON would have neighbours that are none"
