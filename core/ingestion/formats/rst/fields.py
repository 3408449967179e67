"""Lists of fields, with which docstrings tell of parameters, results and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.ingestion.formats._shared import bullets, inline_code, labelled
from core.vocabulary import words_of

_WORDS = words_of(__package__)
_PARAMETERS = frozenset(_WORDS["parameter_fields"].split())
_RAISES = frozenset({"raises", "raise", "except", "exception"})
# Fields that say something to Sphinx or to an index, not to a reader.
_MUTE_FIELDS = frozenset({"orphan", "tocdepth", "nocomments", "nosearch", "meta", "no-index", "noindex"})


def written(node: Any, blocks: Callable[[Any], list[str]]) -> str:
    """Write a list of fields as what it tells: parameters, what is raised and returned, and other things.

    `blocks` writes what stands in a field.
    """
    parameters: dict[str, tuple[str, list[str]]] = {}
    types: dict[str, str] = {}
    raised: list[list[str]] = []
    others: list[str] = []
    named: list[list[str]] = []
    for entry in node.children:
        if entry.tagname != "field":
            continue
        kind, _, argument = entry.children[0].astext().strip().partition(" ")
        body = blocks(entry.children[1])
        kind, said = kind.lower(), " ".join(body)
        if kind in _PARAMETERS and argument:
            *annotation, name = argument.split()
            parameters[name] = (" ".join(annotation), body)
        elif kind in ("type", "vartype"):
            types[argument] = said
        elif kind in _RAISES:
            raised.append([labelled(f"{inline_code(argument)}:" if argument else "", body).strip()])
        elif kind in ("return", "returns", "yield", "yields"):
            others.append(labelled(f"{kind.rstrip('s').capitalize()}s:", body))
        elif kind in ("rtype", "rettype"):
            others.append(labelled("Return type:", body))
        elif kind not in _MUTE_FIELDS:
            name = entry.children[0].astext().strip()
            named.append([labelled(f"{name[:1].upper()}{name[1:]}:", body)])
    parts = []
    if parameters:
        lines = []
        for name, (annotation, body) in parameters.items():
            shown = types.get(name, annotation).replace("`", "")
            lines.append([labelled(f"`{name}`" + (f" ({shown}):" if shown else ":"), body)])
        parts.append("Parameters:\n\n" + bullets(lines))
    if raised:
        parts.append("Raises:\n\n" + bullets(raised))
    if named:  # a list, which stays whole
        parts.append(bullets(named) if len(named) > 1 else named[0][0])
    return "\n\n".join([*parts, *others])
