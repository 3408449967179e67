"""Signatures of Python functions, and comments on attributes, as documentation shows them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

MAX_SIGNATURE = 120
"""Characters of a signature above which its annotations are left out; ours."""


def signature(function: Any, *, bound: bool) -> str:
    """Write a griffe function's parameters, without `self` where bound, annotated where that stays short."""
    annotated = _parameters(function, bound=bound, annotations=True)
    return (
        annotated
        if len(annotated) <= MAX_SIGNATURE
        else _parameters(function, bound=bound, annotations=False)
    )


def _parameters(function: Any, *, bound: bool, annotations: bool) -> str:
    parameters = list(function.parameters)
    if (
        bound
        and parameters
        and "staticmethod" not in function.labels
        and parameters[0].name in ("self", "cls")
    ):
        parameters = parameters[1:]
    written: list[str] = []
    starred = False
    for position, parameter in enumerate(parameters):
        kind = parameter.kind.value if parameter.kind is not None else ""
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        if kind == "keyword-only" and not starred:
            written.append("*")
        starred = starred or kind in ("keyword-only", "variadic positional")
        text = stars + parameter.name
        if annotations and parameter.annotation is not None:
            text += f": {parameter.annotation}"
        if parameter.default is not None and not stars:
            text += f" = {parameter.default}" if ": " in text else f"={parameter.default}"
        written.append(text)
        following = parameters[position + 1] if position + 1 < len(parameters) else None
        if kind == "positional-only" and (
            following is None or following.kind is None or following.kind.value != "positional-only"
        ):
            written.append("/")
    returns = f" -> {function.returns}" if annotations and function.returns is not None else ""
    return f"({', '.join(written)}){returns}"


def comment(attribute: Any) -> str:
    """Read the `#:` comment above or beside an attribute, which autodoc takes for its docstring."""
    lines, first = _source(str(attribute.filepath)), attribute.lineno
    if not first or first > len(lines):
        return ""
    _, mark, beside = lines[first - 1].partition("#:")
    if mark:
        return str(beside.strip())
    above: list[str] = []
    for line in reversed(lines[: first - 1]):
        stripped = line.strip()
        if not stripped.startswith("#:"):
            break
        above.append(stripped[2:].removeprefix(" "))
    return "\n".join(reversed(above))


@lru_cache(maxsize=32)
def _source(path: str) -> tuple[str, ...]:
    try:
        return tuple(Path(path).read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()
