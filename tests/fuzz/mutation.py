"""Changes of what is valid, made by a random number generator: the same for the same seed."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "0",
    "null",
    "\x00",
    "\ud800",
    "\u202e",
    "a" * 10_000,
    "🫖" * 500,
    "{",
    "[]",
    "<!channel>",
    "@everyone",
    "../../etc/passwd",
    "1e999",
    "-0",
    "2026-99-99T99:99:99Z",
    "1700000000.000100",
    "U" * 300,
    "%s%n",
    "\r\n\r\n",
    "[" * 500,
    [],
    {},
    [[]],
    [None],
    [1, "a", {}],
    {"": None},
    {"type": "message"},
    {"id": []},
    {"user": {"id": None}},
)
"""Values that stand where others are expected."""
TOKENS = (
    b"\x00",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\r\n",
    b"\n",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"1e999",
    b"-",
    b":",
    b",",
    b"9" * 5000,
    b"[" * 2000,
    b"a" * 70_000,
    b"\x1f\x8b",
    b"data: ",
    b"[DONE]",
    b"=",
    b"'''",
    b"#",
    b"\xef\xbb\xbf",
)


def changed(value: Any, chance: Random, most: int = 4) -> Any:
    """Return a copy of a JSON value with up to `most` places changed."""
    made = copy.deepcopy(value)
    for _ in range(chance.randint(1, most)):
        made = _once(made, chance)
    return made


def _once(value: Any, chance: Random) -> Any:
    """Change one place: go down at random, then replace, remove, double or add."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.08:
        return copy.deepcopy(chance.choice(HOSTILE))
    key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
    what = chance.random()
    if what < 0.12:
        del value[key]
    elif what < 0.2 and isinstance(value, list):
        value.extend(copy.deepcopy(value[: 50 if chance.random() < 0.1 else 1]))
    elif what < 0.2 and isinstance(value, dict):
        value[str(chance.choice(HOSTILE))[:50]] = copy.deepcopy(chance.choice(HOSTILE))
    elif what < 0.55 or not isinstance(value[key], dict | list):
        value[key] = copy.deepcopy(chance.choice(HOSTILE))
    else:
        value[key] = _once(value[key], chance)
    return value


def reworded(value: Any, chance: Random) -> Any:
    """Return a copy of a JSON value of the same shape, with some of its texts replaced by hostile ones."""
    if isinstance(value, dict):
        return {key: reworded(inner, chance) for key, inner in value.items()}
    if isinstance(value, list):
        return [reworded(inner, chance) for inner in value]
    if isinstance(value, str) and chance.random() < 0.3:
        return str(chance.choice([one for one in HOSTILE if isinstance(one, str)]))
    return value


def spoiled(raw: bytes, chance: Random, most: int = 4) -> bytes:
    """Return bytes with up to `most` places cut, doubled, swapped or overwritten."""
    for _ in range(chance.randint(1, most)):
        at, to = sorted((chance.randrange(len(raw) + 1), chance.randrange(len(raw) + 1)))
        what = chance.randrange(6)
        if what == 0:
            raw = raw[:at] + raw[to:]
        elif what == 1:
            raw = raw[:at]
        elif what == 2:
            raw = raw[:to] + raw[at:to] * chance.choice((1, 2, 20)) + raw[to:]
        elif what == 3 and raw:
            raw = raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
        else:
            raw = raw[:at] + chance.choice(TOKENS) + raw[at:]
        raw = raw[:200_000]
    return raw


def as_json(value: Any) -> bytes:
    """Write a value as a sender would that keeps to nothing: lone surrogates and NaN stay."""
    return json.dumps(value).encode()
