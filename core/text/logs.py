"""Lines of a log that people paste: when and by which process they were written is seldom what is asked."""

from __future__ import annotations

import re

_CLOCK = r"\d\d?:\d\d:\d\d(?:[.,]\d{1,9})?"
_WHEN = (
    rf"\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?"
    rf"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s{{1,2}}\d\d?\s{_CLOCK}"
    rf"|{_CLOCK}"
)
_STAMP = re.compile(rf"^([ \t>`]{{0,8}})[\[(]?(?:{_WHEN})[\])]?(?=[\s,:|-])[\s,:|-]{{0,4}}", re.MULTILINE)
_PROCESS = re.compile(
    r"[\[(](?:pid|process|thread|tid)[\s:=#]{0,2}\d{1,9}[\])]\s{0,2}|\b(?:pid|tid)[:=]\s?\d{1,9}\b\s{0,2}",
    re.IGNORECASE,
)
_BEGUN = re.compile(r"\A(?:[\[(]\d{1,9}[\])]\s{0,2}){1,2}")
_OF_PROGRAM = re.compile(r"\A((?:[\w.-]{1,60} )?[\w.-]{1,60})\[\d{1,9}\](?=:)")
"""Process and thread as the bare number that stands first, and behind the name of a program: `lid[312]:`."""


def without_stamps(text: str) -> str:
    """Take time and process out of lines of a log: "[2026-11-29 10:12:44] [1] [ERROR] Lid off (pid:7)".

    A line is one of a log where it begins with the time; what stands elsewhere may be what is asked about.
    """
    if not _STAMP.search(text):
        return text
    return "\n".join(_told(line) for line in text.split("\n"))


def _told(line: str) -> str:
    stamped = _STAMP.match(line)
    if stamped is None:
        return line
    rest = _OF_PROGRAM.sub(r"\1", _BEGUN.sub("", line[stamped.end() :]))
    rest = _PROCESS.sub("", rest).strip()
    return f"{stamped[1]}{rest}" if rest else line


_MESSAGE = re.compile(r"\b[\w.]{0,80}(?:Error|Exception|Warning):[ \t]{1,3}([^\n]{4,300})")
_OWN = re.compile(
    r"'[^'\n]{1,100}'|\"[^\"\n]{1,100}\"|`[^`\n]{1,100}`|<[^<>\n]{1,100}>|(?<!\S)(?=\S*?[/\\\d])\S++"
)


def message_in(question: str) -> str:
    """Return what a pasted error says ("OperationalError: database is locked"), without names in quotes,
    paths and numbers, which are the asker's own; "" where none is pasted."""
    found = _MESSAGE.search(question)
    return _OWN.sub(" ", found[1]) if found else ""
