"""Logs on standard error: a line an event, as text or as JSON, without what people write and without secrets.

What people write must not be in a log above DEBUG. Our own lines never hold it. Libraries' lines and the
messages of their errors may, so of these only what cannot hold it is written: who logged it and where, the
words of a template with its numbers, the kind of an error and where it was raised.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from itertools import chain
from logging.handlers import TimedRotatingFileHandler
from pathlib import Path
from typing import Any, Literal, TextIO
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.ports import platforms
from core.domain import content_hash
from core.errors import ThreadloreError, UsageError
from core.settings import Settings
from core.system.private_files import private, private_folder

OURS = ("bot", "core", "storage", "__main__")
FOLDER = "logs"
"""Folder of the home that holds log files where they are kept."""
LEAST_SECRET = 6
"""Characters from which a configured secret is looked for in lines."""
_HIDDEN = "…"
_NOISY = (
    "httpx",
    "chromadb",
    "alembic",
    "apscheduler",
    "aiohttp.access",
    "sentence_transformers",
)
_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_TOKENS = re.compile(
    r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"  # a password in an address
    r"|(?<=[?&]token=)[^&\s\"']+|(?i:(?<=bearer )[\w.~+/-]+)"
)
_OPEN = (b" DEBUG ", b'"level": "DEBUG"')
"""What only stands in a file in which lines of DEBUG are."""
_about: ContextVar[Mapping[str, str]] = ContextVar("about", default={})  # noqa: B039 - never changed in place


def about(key: str = "", **fields: str) -> None:
    """Say what the rest of this task is about: its lines carry these fields.

    `key` is the platform's own id of a message or an event. Its hash is the `request` of all lines
    that belong to it, also after a restart.
    """
    request = {"request": content_hash("request", key)[:12]} if key else {}
    _about.set(request | {name: value for name, value in fields.items() if value})


class Fields(logging.Filter):
    """Gives each record the fields of the task that wrote it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        record.about = dict(_about.get())
        return True


class Lines(logging.Formatter):
    """Writes a record as a line of text or of JSON; `open_` writes also what people wrote (DEBUG)."""

    def __init__(
        self, shape: Literal["text", "json"], secrets: Iterable[str] = (), open_: bool = False
    ) -> None:
        super().__init__()
        self._shape = shape
        self._open = open_
        known = sorted({s for s in secrets if len(s) >= LEAST_SECRET}, key=len, reverse=True)
        self._tokens = (_TOKENS, *platforms.saying("SECRETS").values())
        self._secrets = re.compile("|".join(map(re.escape, known))) if known else None

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; a traceback follows it as text, or stands in `trace`."""
        event = self._event(record)
        fields = {**getattr(record, "about", {}), **_extra(record)}
        trace = self._trace(record)
        if self._shape == "text":
            at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))
            more = "".join(f" {name}={value}" for name, value in fields.items())
            line = f"{at} {record.levelname} {record.name}: {event}{more}"
            return self.without_secrets("\n".join(part for part in (line, trace) if part))
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        whole = {"at": at, "level": record.levelname, "logger": record.name, "event": event, **fields}
        if trace:
            whole |= {"error": _kind(record), "trace": trace}
        return self.without_secrets(json.dumps(whole, ensure_ascii=False, default=str))

    def without_secrets(self, line: str) -> str:
        """Return a line in which tokens and configured secrets are hidden."""
        if self._secrets is not None:
            line = self._secrets.sub(_HIDDEN, line)
        for tokens in self._tokens:
            line = tokens.sub(_HIDDEN, line)
        return line

    def _event(self, record: logging.LogRecord) -> str:
        if self._open:
            return record.getMessage()
        if record.name.split(".")[0] in OURS:
            return _said(record, _plain)
        where = f"{record.filename}:{record.lineno} {record.funcName}"
        if not record.args or not isinstance(record.msg, str):
            return f"said something in {where} (LOG_LEVEL=DEBUG shows it)"
        return f"{_said(record, _number)} ({where})"

    def _trace(self, record: logging.LogRecord) -> str:
        if not record.exc_info or record.exc_info[1] is None:
            return ""
        if self._open:
            return "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
        return _closed(record.exc_info[1])


def is_watched(settings: Settings) -> bool:
    """Return True if somebody watches the bot serve at a terminal, and said nothing about what it logs.

    They see warnings there, each once; everything is in the files below the home.
    """
    chosen = {"log_level", "log_format"} & settings.model_fields_set
    return sys.stderr.isatty() and not chosen and settings.retention_logs_days > 0


class _AtTerminal(logging.StreamHandler[TextIO]):
    """Writes warnings, each template of words once, over a line that is being rewritten."""

    terminator = "\n"

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.setLevel("WARNING")
        self._told: set[tuple[str, str]] = set()

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as it is logged elsewhere, in place of what the line says."""
        return f"\r\x1b[2K{super().format(record)}"

    def filter(self, record: logging.LogRecord) -> bool:
        """Let errors pass, and warnings that were not told before."""
        key = (record.name, str(record.msg))
        is_new = record.levelno > logging.WARNING or key not in self._told
        self._told.add(key)
        return is_new and bool(super().filter(record))


def set_up(settings: Settings, level: str, in_home: bool = False) -> None:
    """Write logs of that level to standard error, with `in_home` also by day below the home.

    What people write is in no file of the home: there nothing stands that is said at DEBUG alone.
    """
    days = settings.retention_logs_days
    shown: logging.Handler = stream_handler(settings, level, sys.stderr)
    if in_home and is_watched(settings):
        shown = _dressed(_AtTerminal(sys.stderr), settings, level)
    handlers = [shown]
    if in_home and days:
        with contextlib.suppress(OSError):  # a home that cannot be written is told by who opens it
            handlers.append(in_files(settings, days, level))
    root = logging.getLogger()
    root.handlers[:] = handlers
    root.setLevel(level)
    for noisy in chain(_NOISY, *platforms.saying("LIBRARIES").values()):
        logging.getLogger(noisy).setLevel(level if level == "DEBUG" else max(logging.WARNING, root.level))
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a line that cannot be written would be printed with all it holds
    threading.excepthook = _of_thread


def in_files(settings: Settings, days: int, level: str) -> logging.Handler:
    """Return a handler that writes lines without what people wrote, a file a day below the home."""
    handler = _dressed(_by_day(settings.home / FOLDER, days), settings, "INFO")
    handler.setLevel("INFO" if level == "DEBUG" else level)
    return handler


def drop_open_files(home: Path) -> None:
    """Empty the log files of a home that an older version wrote at DEBUG, with what people wrote."""
    for path in (home / FOLDER).glob("threadlore.log*"):
        if any(mark in path.read_bytes() for mark in _OPEN):
            os.truncate(path, 0)  # one that is being written goes on from there


def stream_handler(settings: Settings, level: str, stream: TextIO) -> logging.Handler:
    """Return a handler that writes such lines to a stream."""
    return _dressed(logging.StreamHandler(stream), settings, level)


def _dressed(handler: logging.Handler, settings: Settings, level: str) -> logging.Handler:
    handler.setFormatter(Lines(settings.log_format, secrets_of(settings), open_=level == "DEBUG"))
    handler.addFilter(Fields())
    return handler


def secrets_of(settings: Settings) -> list[str]:
    """Return every configured secret, and the passwords inside of addresses."""
    found = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr) and (secret := value.get_secret_value().strip()):
            password = urlsplit(secret).password if "://" in secret else None
            found += [secret, *([password] if password else [])]
    return found


class _ByDay(TimedRotatingFileHandler):
    """A file a day that nobody else on the machine reads."""

    def _open(self) -> Any:
        return open(self.baseFilename, self.mode, encoding=self.encoding, opener=private)


def _by_day(folder: Path, days: int) -> logging.Handler:
    return _ByDay(
        private_folder(folder) / "threadlore.log",
        when="midnight",
        backupCount=max(1, days - 1),
        encoding="utf-8",
        utc=True,
    )


def _of_thread(given: threading.ExceptHookArgs) -> None:
    error = given.exc_value
    if error is not None and not isinstance(error, SystemExit):
        log = logging.getLogger(__name__)
        log.error("a thread ended with an error", exc_info=(type(error), error, error.__traceback__))


def _said(record: logging.LogRecord, shown: Callable[[object], object]) -> str:
    args = record.args or ()
    kept: object
    if isinstance(args, Mapping):
        kept = {key: shown(value) for key, value in args.items()}
    else:
        kept = tuple(map(shown, args))
    try:
        return str(record.msg) % kept if kept else str(record.msg)
    except (TypeError, ValueError):  # a template that wants a number and is given none
        return str(record.msg)


def _plain(value: object) -> object:
    """Return what our own lines may hold: all but the messages of libraries' errors and of wrong use.

    Who uses a command wrongly is told what they typed; the log is not.
    """
    ours = isinstance(value, ThreadloreError) and not isinstance(value, UsageError)
    return value if ours or not isinstance(value, BaseException) else type(value).__name__


def _number(value: object) -> object:
    return value if isinstance(value, (int, float)) else _HIDDEN


def _extra(record: logging.LogRecord) -> dict[str, object]:
    if record.name.split(".")[0] not in OURS:
        return {}
    return {k: v for k, v in vars(record).items() if k not in _USUAL and k != "about" and v not in ("", None)}


def _kind(record: logging.LogRecord) -> str:
    return record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""


def _closed(error: BaseException) -> str:
    """Return a traceback with the kinds of its errors, and the messages of our own alone."""
    parts: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        said = f": {current}" if _plain(current) is current else ""
        frames = "".join(traceback.format_tb(current.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{frames}{type(current).__qualname__}{said}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\nwhich came of:\n".join(parts)
