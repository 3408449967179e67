"""What Sphinx adds to reStructuredText and MyST: roles, ids, conf.py, and what its directives mean."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import Any

from core.domain import RawDocument
from core.ingestion.formats._shared import location
from core.ingestion.formats.rst.registered import Registered, registered
from core.text.words import one_line
from core.vocabulary import words_of

_WORDS = words_of(__package__)
LABELS = {"seealso": "See also", "todo": "To do"}
"""What an admonition is called where its name will not do."""
_TITLED = re.compile(r"^(.*)(?<!\\)<([^<>]*)>$", re.S)
_CALLED = frozenset({"func", "function", "meth", "method", "deco", "macro"})
_NUMBERED = {
    **dict.fromkeys(("issue", "pr", "pull", "gh", "ghissue", "ghpull", "ticket", "bug"), "#"),
    **dict.fromkeys(("user", "ghuser"), "@"),
    "pep": "PEP ",
    "rfc": "RFC ",
    "bpo": "bpo-",
    "cve": "CVE-",
    "cwe": "CWE-",
    "commit": "",
}
_GLUED = re.compile(r"[a-z]{8,30}")


def _names(key: str) -> frozenset[str]:
    return frozenset(_WORDS[key].split())


def _each(groups: Mapping[str, str]) -> dict[str, str]:
    """Return the group of each of its words."""
    return {word: group for group, words in groups.items() for word in words.split()}


DOCUTILS = _names("docutils")
"""Directives that docutils itself reads well, without their files."""
DROPPED = _names("dropped")
DRAWINGS = _names("drawings")
"""Directives whose text nobody sees: it says how to draw."""
CODE: dict[str, str | None] = {
    **_each(_WORDS["code"]),
    **dict.fromkeys(("parsed-literal", "productionlist", "testoutput", "literal"), None),
}
"""Directives that hold code, with its language; None where the first line is text and not an argument."""
ADMONITIONS = _names("admonitions")
TITLED = _names("titled")
"""Directives whose argument is the title of their text."""
VERSIONS = _each(_WORDS["versions"])
"""What stands above a note on a version, by its directive."""
CALLABLE = _names("callable")
OBJECTS = CALLABLE | _names("objects")
DOMAINS = _names("domains")
HAVE_CLASSES = _names("domains_with_classes")
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


_AS_WRITTEN = _names("literal_roles")
_CODE = _CALLED | _AS_WRITTEN | _names("code_roles")
_PLOTS = {**dict.fromkeys(_names("plots"), False), **dict.fromkeys(_names("shown_plots"), True)}
"""Directives of plots, and whether their code is shown where nobody says so."""
_LINKING = frozenset({"ref", "doc", "numref", "term", "download"})


@dataclass(frozen=True, slots=True)
class Inline:
    """What a role says: its text, whether it is code, and the label or document it takes its text from."""

    text: str
    code: bool = False
    label: str = ""
    document: str = ""


def is_known(name: str, captions: Mapping[str, str]) -> bool:
    """Return True if there is a role of that name, with or without a domain."""
    local = name.rpartition(":")[2]
    return local in _CODE or local in _NUMBERED or local in captions or local in _LINKING


def role(
    name: str, content: str, captions: Mapping[str, str] | None = None, own: Collection[str] = ()
) -> Inline:
    """Read one role as Sphinx displays it; an unknown one gives its text without the target.

    `captions` are the patterns of `extlinks`, by role: `{"issue": "#%s"}`; the project's `own` roles are
    names of objects.
    """
    name = name.lower().rsplit(":", 1)[-1] if name.lower() != "py" else "py"
    content = content.removesuffix("\\ ").strip()  # a space that is escaped is none
    titled = _TITLED.match(content)
    title, target = (titled.group(1).strip(), titled.group(2).strip()) if titled else ("", content)
    if captions and name in captions:
        caption = captions[name]
        # as Sphinx had it before 4.0, a caption without a place for the text stands before it
        return Inline(title or (caption.replace("%s", target) if "%s" in caption else caption + target))
    if name in _NUMBERED:
        prefix = _NUMBERED[name]
        bare = target.lstrip("#@")
        return Inline(
            title or (bare if bare.upper().startswith(prefix.strip().upper() or "\0") else prefix + bare)
        )
    if name in ("ref", "numref", "any-ref"):
        return Inline(title) if title else Inline(unslug(target), label=target.lower())
    if name == "doc":
        return Inline(
            title or unslug(target.rstrip("/").rsplit("/", 1)[-1]), document="" if title else target
        )
    if name == "download":
        return Inline(title or target.rsplit("/", 1)[-1], code=not title)
    if name in ("menuselection", "guilabel"):
        return Inline(content.replace("-->", ">").replace("&", ""))
    if name in ("badge", "link-badge"):
        said = content.split(",", 1)[1] if name == "link-badge" and "," in content else content
        return Inline(_CLASSES.sub("", said).strip(' "'))
    if name in ("samp", "file"):
        return Inline(content.replace("{", "").replace("}", ""), code=True)
    if name in _AS_WRITTEN:
        return Inline(content, code=True)
    if name in _CODE or name in own:
        if title:
            return Inline(title, code=True)
        shown = content.lstrip("!")  # with no title before it, `<name>` is the text
        if shown.startswith("~"):
            shown = shown[1:].rsplit(".", 1)[-1]
        shown = shown.lstrip(".")
        return Inline(shown + "()" if name in _CALLED and not shown.endswith(")") else shown, code=True)
    return Inline(title or content)


def unslug(label: str) -> str:
    """Make words of a label that has no title here: `notes-on-proxies` → `notes on proxies`."""
    return re.sub(r"[-_]+", " ", label.rsplit(":", 1)[-1]).strip() or label


def parted(name: str, texts: Iterable[str]) -> str:
    """Write `floatingpoint` as the texts around it do: `floating-point`; unchanged where they never do."""
    if not _GLUED.fullmatch(name):
        return name
    found = (two_words(name).search(text) for text in texts)
    return next((one[0].lower() for one in found if one), name)


def two_words(name: str) -> re.Pattern[str]:
    """Return the pattern of a glued name as two words."""
    ways = "|".join(f"{name[:at]}[- ]{name[at:]}" for at in range(3, len(name) - 2))
    return re.compile(rf"\b(?:{ways})", re.IGNORECASE)


_CLASSES = re.compile(r",(?:cls|tooltip)=.*", re.S)
"""How a badge of sphinx-panels looks."""
_UNREAD = re.compile(r"<(script|style|svg|iframe)\b[^<>]*>.{0,2000}?</\1>", re.S | re.I)
_BREAK = re.compile(r"<br\b[^<>]*>", re.I)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!--[^<>]*-->", re.I)


def text_of(html: str) -> str:
    """Return what a piece of raw HTML in running text says: a space where that is nothing."""
    return unescape(_TAG.sub("", _BREAK.sub(" ", _UNREAD.sub("", html)))).strip("\n") or " "


def object_id(name: str) -> str:
    """Return the anchor that Sphinx gives to a documented object (`sphinx.util.nodes.make_id`)."""
    text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    text = re.sub(r"[^a-zA-Z0-9._]+", "-", one_line(text))
    return re.sub(r"^[-0-9._]+|-+$", "", text)


@dataclass(frozen=True, slots=True)
class Conf:
    """What a project's `conf.py` says in literals; it is read, never run."""

    default_role: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)
    prolog: str = ""
    epilog: str = ""
    substitutions: Mapping[str, str] = field(default_factory=dict)
    autodoc_options: Mapping[str, Any] = field(default_factory=dict)
    own: Registered = field(default_factory=Registered)
    shows_todos: bool = False
    """Its readers see what its authors still have to do."""
    hidden_plots: frozenset[str] = frozenset()
    """Directives of plots whose code its readers do not see where they do not say whether they do."""
    folder: str = ""
    """Where it stands, the root of the documentation."""
    templates: tuple[str, ...] = ()
    """Folders below it that hold templates and no pages."""
    domain: str = "py"
    """Of which objects are those that a directive describes without a domain; empty for none."""


def conf_of(raw: RawDocument) -> Conf:
    """Read the nearest `conf.py` above the document, inside the source's root."""
    file = location(raw)
    if file is None:
        return Conf()
    root = Path(raw.root).resolve()
    for folder in file.resolve().parents:
        if not folder.is_relative_to(root):
            break
        for candidate in (folder / "conf.py", folder / "source" / "conf.py"):
            try:
                if candidate.is_file() and candidate.resolve().is_relative_to(root):
                    return _read_conf(str(candidate), candidate.stat().st_mtime_ns, str(root))
            except OSError:
                continue
    return Conf()


@lru_cache(maxsize=16)
def _read_conf(path: str, _modified: int, root: str) -> Conf:
    try:
        tree = ast.parse(Path(path).read_text("utf-8", "replace"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return Conf()
    given: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.value is not None:
            try:
                value = ast.literal_eval(node.value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
            given.update({target.id: value for target in node.targets if isinstance(target, ast.Name)})
    release = _text(given.get("release")) or _text(given.get("version")) or _packaged_version(root)
    version = _text(given.get("version")) or ".".join(release.split(".")[:2])
    links = given.get("extlinks")
    return Conf(
        default_role=_text(given.get("default_role")),
        captions={
            name: _text(value[1]) if len(value) > 1 else ""
            for name, value in (links.items() if isinstance(links, dict) else ())
            if isinstance(name, str) and isinstance(value, (tuple, list))
        },
        prolog=_text(given.get("rst_prolog")),
        epilog=_text(given.get("rst_epilog")),
        substitutions={
            "release": release,
            "version": version,
            "today": "",
            "project": _text(given.get("project")),
            "translation progress": "",
        },
        autodoc_options={
            "class-doc-from": _text(given.get("autoclass_content")),
            **_dictionary(given.get("autodoc_default_options")),
        },
        own=registered(Path(path), tree, Path(root)),
        shows_todos=given.get("todo_include_todos") is True,
        hidden_plots=frozenset(
            name
            for name, shown in _PLOTS.items()
            if not given.get(f"{name.replace('-', '_')}_include_source", shown)
        ),
        folder=str(Path(path).parent),
        templates=tuple(map(_text, _listed(given.get("templates_path")))),
        domain=_text(given.get("primary_domain", "py")),
    )


def _packaged_version(root: str) -> str:
    """Take the version from a source distribution's metadata, which `conf.py` usually computes."""
    for name in ("PKG-INFO", "pyproject.toml"):
        try:
            with (Path(root) / name).open(encoding="utf-8", errors="replace") as file:
                head = file.read(20_000)
        except OSError:
            continue
        found = re.search(r"""^version\s*[:=]\s*["']?([\w.+!-]+)""", head, re.I | re.M)
        if found:
            return found.group(1)
    return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else ()


def _dictionary(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
