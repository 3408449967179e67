"""Check a value against the part of JSON Schema that our own schemas use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
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


def misfit(value: Any, schema: Mapping[str, Any], at: str = "") -> str:
    """Say where a value does not fit a schema, or return the empty string.

    Understands type, enum, properties, required, additionalProperties: false, items, minItems,
    maxItems, minimum, maximum and anyOf; other keywords are passed over, as the server does.
    """
    where = at or "the output"
    if "anyOf" in schema and all(misfit(value, option, at) for option in schema["anyOf"]):
        return f"{where} fits none of the allowed forms"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {', '.join(map(str, schema['enum']))}"
    if "type" in schema and not _is_any(value, schema["type"]):
        return f"{where} is not of type {schema['type']}"
    if isinstance(value, dict):
        return _object_misfit(value, schema, at)
    if isinstance(value, list):
        return _array_misfit(value, schema, at)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            return f"{where} is below {schema['minimum']}"
        if value > schema.get("maximum", value):
            return f"{where} is above {schema['maximum']}"
    return ""


def _is_any(value: Any, names: str | list[str]) -> bool:
    for name in [names] if isinstance(names, str) else names:
        if isinstance(value, bool) and name in ("integer", "number"):
            continue
        if isinstance(value, _TYPES.get(name, (object,))):
            return True
    return False


def _object_misfit(value: dict[str, Any], schema: Mapping[str, Any], at: str) -> str:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{_under(at, name)} is missing"
    for name, item in value.items():
        if name in properties:
            if problem := misfit(item, properties[name], _under(at, name)):
                return problem
        elif schema.get("additionalProperties") is False:
            return f"{_under(at, name)} is not expected"
    return ""


def _array_misfit(value: list[Any], schema: Mapping[str, Any], at: str) -> str:
    where = at or "the output"
    if len(value) < schema.get("minItems", 0):
        return f"{where} has fewer than {schema['minItems']} entries"
    if len(value) > schema.get("maxItems", len(value)):
        return f"{where} has more than {schema['maxItems']} entries"
    for index, item in enumerate(value):
        if problem := misfit(item, schema.get("items", {}), f"{at}[{index}]"):
            return problem
    return ""


def _under(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
