"""The names of Sphinx's directives (and common extensions'), by what they mean for a reader."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.vocabulary import words_of

_WORDS = words_of(__package__)


def _names(key: str) -> frozenset[str]:
    return frozenset(_WORDS[key].split())


def _each(groups: Mapping[str, str]) -> dict[str, str]:
    """Return the group of each of its words."""
    return {word: group for group, words in groups.items() for word in words.split()}


DOCUTILS = _names("docutils")
"""Directives that docutils itself reads well, without their files."""
DROPPED = _names("dropped")
CODE: dict[str, str | None] = {
    **_each(_WORDS["code"]),
    **dict.fromkeys(("parsed-literal", "productionlist", "testoutput", "literal"), None),
}
"""Directives that hold code, with its language; None where the first line is text and not an argument."""
DIAGRAMS = frozenset({"mermaid", "dot", "plantuml"})
"""Languages of drawings, whose words are worth finding."""
ADMONITIONS = _names("admonitions")
LABELS = {"seealso": "See also", "todo": "To do"}
"""What an admonition is called where its name will not do."""
TITLED = _names("titled")
"""Directives whose argument is the title of their text."""
VERSIONS = _each(_WORDS["versions"])
"""What stands above a note on a version, by its directive."""
CALLABLE = _names("callable")
OBJECTS = CALLABLE | _names("objects")
DOMAINS = _names("domains")
AUTODOC = _names("autodoc")
ENDINGS = {f".{ending}": language for ending, language in _each(_WORDS["endings"]).items()}
"""The language of an included file's code, by its ending."""
_PRINTED = _names("printed")


def for_html(condition: str) -> bool:
    """Return True if what stands under `only` is on the pages, and not for print or manual pages alone."""
    words = re.findall(r"\w+", condition.lower())
    wanted = {word for before, word in zip(["", *words], words, strict=False) if before != "not"}
    refused = {word for before, word in zip(["", *words], words, strict=False) if before == "not"}
    return "html" not in refused and ("html" in wanted or not wanted & _PRINTED)
