"""Read JSON that a model wrote, and check it against the schema that was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft4Validator

_SAID = {
    "type": "is not of type {}",
    "minItems": "has fewer than {} entries",
    "maxItems": "has more than {} entries",
    "minimum": "is below {}",
    "maximum": "is above {}",
}


def read_json(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Read an object that a model wrote; the second value says what is wrong, or is empty.

    A Markdown fence around it is taken off.
    """
    text = text.strip()
    if text.startswith("```"):
        text = text.removeprefix("```").removeprefix("json").removesuffix("```")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, f"it is no JSON ({error})"
    if not isinstance(value, dict):
        return {}, "it is no object"
    return value, misfit(value, schema)


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
