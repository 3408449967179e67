"""The names of Sphinx's directives (and common extensions'), by what they mean for a reader."""

from __future__ import annotations

import re


def for_html(condition: str) -> bool:
    """Return True if what stands under `only` is on the pages, and not for print or manual pages alone."""
    words = re.findall(r"\w+", condition.lower())
    wanted = {word for before, word in zip(["", *words], words, strict=False) if before != "not"}
    refused = {word for before, word in zip(["", *words], words, strict=False) if before == "not"}
    return "html" not in refused and ("html" in wanted or not wanted & _PRINTED)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


DOCUTILS = _names("csv-table list-table table replace unicode math line-block")
"""Directives that docutils itself reads well, without their files."""

DROPPED = _names("""
    toctree contents index meta raw raw-html highlight highlightlang default-domain default-role role sectnum
    section-numbering tabularcolumns rst-class cssclass sectionauthor moduleauthor codeauthor
    inheritance-diagram autoclasstree video youtube vimeo target-notes title date
    autosummary testsetup testcleanup header footer bibliography todolist program-output command-output exec
    git_changelog changelog_imports
    doxygenindex sidebar-links image-grid btn button-link button-ref ethicalads carousel-item
    restructuredtext-test-directive
""")

CODE: dict[str, str | None] = {
    **dict.fromkeys(_names("code-block sourcecode code prompt code-cell code-tab code-example snippet"), ""),
    **dict.fromkeys(
        _names("ipython jupyter-execute doctest testcode exec-code plot click:example click:run"), "python"
    ),
    **dict.fromkeys(_names("terminal console runblock"), "console"),
    "mermaid": "mermaid",
    **dict.fromkeys(_names("graphviz digraph graph"), "dot"),
    **dict.fromkeys(_names("uml plantuml"), "plantuml"),
    **dict.fromkeys(_names("parsed-literal productionlist testoutput literal"), None),
}
"""Directives that hold code, with its language; None where the first line is text and not an argument."""
DIAGRAMS = frozenset({"mermaid", "dot", "plantuml"})
"""Languages of drawings, whose words are worth finding."""

ADMONITIONS = _names("""
    attention caution danger error hint important note tip warning seealso todo question
""")
LABELS = {"seealso": "See also", "todo": "To do"}
"""What an admonition is called where its name will not do."""
TITLED = _names("""
    admonition topic sidebar tab group-tab tab-item dropdown details collapse card grid-item-card step
""")
"""Directives whose argument is the title of their text."""

VERSIONS = {
    "versionadded": "Added in version {}",
    "version-added": "Added in version {}",
    "versionchanged": "Changed in version {}",
    "version-changed": "Changed in version {}",
    "deprecated": "Deprecated since version {}",
    "version-deprecated": "Deprecated since version {}",
    "deprecated-removed": "Deprecated since version {}",
    "versionremoved": "Removed in version {}",
    "version-removed": "Removed in version {}",
}
"""Sphinx's wording, because the version is what people ask for."""

CALLABLE = _names("""
    function method classmethod staticmethod decorator decoratormethod macro coroutinefunction coroutinemethod
    abstractmethod
""")
OBJECTS = CALLABLE | _names("""
    data exception class attribute property type struct union enum enum-class enum-struct enumerator member
    var concept option cmdoption envvar confval describe object directive role interface
""")
DOMAINS = _names("py c cpp js std rst http ruby php go java conf")
AUTODOC = _names("""
    function class module data exception method attribute property decorator type staticmethod classmethod
""")
ENDINGS = {
    f".{ending}": language
    for language, endings in {
        "python": "py pyi",
        "bash": "sh bash",
        "javascript": "js mjs cjs",
        "jsx": "jsx",
        "typescript": "ts mts",
        "tsx": "tsx",
        "java": "java",
        "kotlin": "kt",
        "ruby": "rb",
        "php": "php",
        "powershell": "ps1",
        "markdown": "md mdx",
        "rst": "rst",
        "html": "html vue svelte",
        "json": "json",
        "toml": "toml",
        "yaml": "yaml yml",
        "c": "c h",
        "cpp": "cpp hpp",
        "rust": "rs",
        "go": "go",
        "sql": "sql",
        "ini": "ini cfg",
        "css": "css",
        "xml": "xml",
    }.items()
    for ending in endings.split()
}
"""The language of an included file's code, by its ending."""
_PRINTED = _names("latex pdf man text texinfo epub gettext xml latexpdf")
