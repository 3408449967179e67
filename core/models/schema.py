"""Ask for JSON by a schema, read what a model wrote, and check it against the schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jsonschema import Draft4Validator

from core.ports import Prompt

_WANTED = "Reply with JSON only: one object that fits this JSON Schema, and nothing else:\n{schema}"
_BRACE = re.compile(r"\{")
_TRIES = 20
"""Braces from which an object is tried to be read: prose and code have some, too."""
_DECODER = json.JSONDecoder(strict=False)
_SAID = {
    "type": "is not of type {}",
    "minItems": "has fewer than {} entries",
    "maxItems": "has more than {} entries",
    "minimum": "is below {}",
    "maximum": "is above {}",
}


def in_words(prompts: Sequence[Prompt], schema: Mapping[str, Any]) -> tuple[Prompt, ...]:
    """Return prompts that ask for JSON by a schema in their last message."""
    *before, last = prompts
    wanted = _WANTED.format(schema=json.dumps(schema, ensure_ascii=False))
    return (*before, replace(last, content=f"{last.content}\n\n{wanted}"))


def read_json(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Read the first object in what a model wrote; the second value says what is wrong, or is empty.

    Whatever stands around it, a fence or a sentence, is passed over.
    """
    problem = "it is no JSON (no object is in it)"
    for at in list(_BRACE.finditer(text))[:_TRIES]:
        try:
            value, _end = _DECODER.raw_decode(text, at.start())
        except (ValueError, RecursionError) as error:
            problem = f"it is no JSON ({error})"
            continue
        return value, misfit(value, schema)
    return {}, problem


def misfit(value: Any, schema: Mapping[str, Any]) -> str:
    """Say where a value does not fit a schema, or return the empty string; the value's words are left out.

    `maxLength` is passed over: a reason that is told at length is still a reason.
    """
    # In draft 4 no 2.0 is an integer; in later ones it is, and indexes no list.
    errors = Draft4Validator(schema).iter_errors(value)
    error = next((error for error in errors if error.validator != "maxLength"), None)
    if error is None:
        return ""
    where = error.json_path.removeprefix("$").removeprefix(".")
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{where}.{missing} is missing".removeprefix(".")
    said = _SAID.get(error.validator, f"does not fit {error.validator} {{}}")
    return f"{where or 'the output'} {said.format(error.validator_value)}"
