"""`.env` as people save it, also on Windows: what it sets, and the lines that set nothing."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic_core import ErrorDetails

from core.errors import ConfigurationError

log = logging.getLogger(__name__)

ENCODING = "utf-8-sig"
"""UTF-8, also behind the mark that editors of Windows put before it."""
_told: set[tuple[str, int]] = set()
_PLAIN = {
    "bool_parsing": "write true or false",
    "int_parsing": "write a whole number",
    "float_parsing": "write a number",
}
"""What to write, by the kind of a mistake."""
_FORMS = {
    "GAPS_DIGEST": "write a day and a time, such as mon 09:00, or off",
    "WIKIDATA_URL": "write an address that begins with https://",
    "THREADLORE_LANGUAGE": "write a language's code, such as en or de",
}
"""What to write, by the variable, where it has a form of its own."""


def entries(file: str | Path) -> Mapping[str, str | None]:
    """Return what a file such as `.env` sets. Of a line that sets nothing a warning is logged once.

    Raises ConfigurationError where the file is no text of UTF-8.
    """
    path = Path(file)
    if not path.is_file():
        return {}
    try:
        text = path.read_bytes().decode(ENCODING)
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not UTF-8; save it as text in UTF-8.") from None
    logging.getLogger("dotenv.main").setLevel(logging.ERROR)  # says it each time, of no file
    for line in _idle(text):
        if (str(path.absolute()), line) not in _told:
            _told.add((str(path.absolute()), line))
            log.warning("%s, line %d sets nothing: write it as NAME=value.", path, line)
    return dotenv_values(stream=io.StringIO(text))


def variable(name: str, env_file: str = ".env") -> str:
    """Return a variable that no setting is for, of the environment or `.env`; empty where it is not set."""
    return os.environ.get(name) or entries(env_file).get(name) or ""


def mistaken(mistake: ErrorDetails, secrets: Collection[str]) -> ConfigurationError:
    """Return the error that says what is wrong with a variable, and what it holds, unless it is a secret."""
    name = str(next(iter(mistake["loc"]), "?"))
    said = _PLAIN.get(mistake["type"], mistake["msg"])
    if mistake["type"] == "string_pattern_mismatch":
        said = _FORMS.get(name, said)
    said = said.removeprefix("Value error, ").replace("Input should be", "it has to be")
    got = "" if name in secrets else f" (got {mistake['input']!r})"
    return ConfigurationError(f"{name} is not valid: {said}{got}. Correct it in .env or in the environment.")


def _idle(text: str) -> list[int]:
    """Return the numbers of lines that are neither `NAME=value` nor a remark."""
    found = []
    for binding in parse_stream(io.StringIO(text)):
        if binding.error or (binding.key and binding.value is None):
            written = binding.original.string
            found.append(binding.original.line + len(written) - len(written.lstrip("\r\n")))
    return found
