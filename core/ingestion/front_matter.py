"""What stands above a page: YAML between `---`, or TOML between `+++` (Hugo); YAML without its traps."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from core.text.words import one_line

MAX_NODES = 100_000
"""Values that a text stands for with its references written out; ours: a configuration has some hundreds."""


class NotPlain(ValueError):
    """Report YAML that is broken, or that unfolds to too much."""


def load(text: str, loader: type[yaml.SafeLoader] = yaml.SafeLoader) -> Any:
    """Return what a text says; raises NotPlain."""
    reading = loader(text)
    try:
        node = reading.get_single_node()
        if node is None:
            return None
        _unfolded(node, {}, set())
        return reading.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotPlain(str(error)) from None
    finally:
        reading.dispose()


def _unfolded(node: yaml.Node, known: dict[int, int], open_: set[int]) -> int:
    """Return how many values a node stands for; raises NotPlain for too many, and where it holds itself."""
    if not isinstance(node, yaml.CollectionNode):
        return 1
    if id(node) in known:
        return known[id(node)]
    if id(node) in open_:
        raise NotPlain("it holds itself")
    open_.add(id(node))
    count = 1
    for entry in node.value:
        for inner in entry if isinstance(entry, tuple) else (entry,):
            count += _unfolded(inner, known, open_)
            if count > MAX_NODES:
                raise NotPlain(f"it unfolds to more than {MAX_NODES:,} values")
    open_.discard(id(node))
    known[id(node)] = count
    return count


MAX_CHARACTERS = 20_000
"""Characters above which what looks like front matter is text; ours."""

_YAML = re.compile(r"\A\s*---[ \t]*\n(?P<inner>.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_TOML = re.compile(r"\A\s*\+\+\+[ \t]*\n(?P<inner>.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.S)
_LINE = re.compile(r"^([\w-]++)[ \t]*+:[ \t]*+(\S.*)$", re.M)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The values that matter to a reader, to the links, and to whether the page is published."""

    title: str = ""
    description: str = ""
    slug: str = ""
    id: str = ""
    substitutions: Mapping[str, str] = field(default_factory=dict)
    """MyST's, which stand in the text as `{{ name }}`."""
    hidden: str = ""
    """Why the page is not on the site: `a draft`, `unlisted`; empty where it is."""


def split(text: str) -> tuple[FrontMatter, str]:
    """Return the front matter and the text below it; broken YAML is read line by line."""
    for pattern in (_YAML, _TOML):
        found = pattern.match(text)
        if found and len(found["inner"]) <= MAX_CHARACTERS:
            given = _toml(found["inner"]) if pattern is _TOML else _yaml(found["inner"])
            if given is not None:
                return _read(given), text[found.end() :]
    return FrontMatter(), text


def _yaml(inner: str) -> Mapping[str, Any] | None:
    if not inner.strip():
        return {}
    try:
        given = load(inner)
    except NotPlain:
        given = {key: value.rstrip(" \t").strip("\"'") for key, value in _LINE.findall(inner)}
    # A rule of dashes above text and another below it is no front matter.
    return given if isinstance(given, dict) and given else None


def _toml(inner: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(inner)
    except (ValueError, RecursionError):  # a TOMLDecodeError, or a number with too many digits
        return None


def _read(given: Mapping[str, Any]) -> FrontMatter:
    hidden = ""
    if _said(given.get("draft")):
        hidden = "a draft"
    elif _said(given.get("unlisted")):
        hidden = "unlisted"
    elif str(given.get("published", "")).lower() == "false":
        hidden = "not published"
    return FrontMatter(
        _text(given.get("title")),
        _text(given.get("description")),
        _text(given.get("slug")),
        _text(given.get("id")),
        _substitutions(given),
        hidden,
    )


def _substitutions(given: Mapping[str, Any]) -> dict[str, str]:
    myst = given.get("myst")
    own = myst.get("substitutions") if isinstance(myst, dict) else given.get("substitutions")
    # A picture says nothing where only its words are read.
    return {
        str(name): "" if "{image}" in str(value) or "{figure}" in str(value) else str(value)
        for name, value in (own.items() if isinstance(own, dict) else ())
        if isinstance(value, str | int | float)
    }


def _said(value: object) -> bool:
    return value is True or str(value).lower() in ("true", "yes")


def _text(value: object) -> str:
    return one_line(str(value)) if isinstance(value, str | int | float) and value is not True else ""
