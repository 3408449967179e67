"""The site that a page belongs to, as the configuration beside it says: MkDocs, Docusaurus, or Sphinx.

Its configuration is read, never run: YAML with its tags left alone, JavaScript by its literals.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from time import monotonic
from typing import Any, Literal

import yaml

from core.ingestion import front_matter
from core.ingestion.formats import DOCUSAURUS, MKDOCS

MAX_BYTES = 500_000
"""Size above which a configuration is not read; ours: Material's own has 20 kB."""

CACHE_SECONDS = 60
"""How long it is remembered that a folder looks like one of Docusaurus."""

_STATEMENT = re.compile(rb"^[ \t]*+\{%", re.MULTILINE)
_PAGE = re.compile(rb"\A---\r?\n|<(?:html|body|!doctype|pre)\b", re.IGNORECASE)
"""What pages have and templates do not: front matter, an outer element, examples of code."""
_REMARK = re.compile(rb"#[^\n]*+")
_SPHINX = re.compile(
    rb"^(?:extensions|html_theme|master_doc|root_doc|source_suffix)[ \t]*+(?::[^=\n]{0,100}+)?\+?=",
    re.MULTILINE,
)
_TEXT_PAGES = re.compile(rb"source_suffix\b.{0,300}?\.txt\b", re.DOTALL)
"""By these words of its `conf.py` Sphinx publishes files that end in .txt."""
_LINE_COMMENT = re.compile(r"(?<![:'\"`])//[^\n]*")
_COMMENT = re.compile(rf"/\*|{_LINE_COMMENT.pattern}")
_BRACED = re.compile(r"\{[^{}]*\}")
_NUMBERED = re.compile(r"^\d{1,3}[-_. ]+(?=\D)")
_ROUTE = re.compile(r"!?/")
"""How what stands behind a hash begins where it names a page of a site that is one program."""
_LITERAL = re.compile(r"""\b(path|routeBasePath)\s*:\s*(?:'([^'\n]*)'|"([^"\n]*)"|`([^`$\n]*)`)""")


@dataclass(frozen=True, slots=True)
class Site:
    """What a page's site is made with, and where its pages are."""

    kind: Literal["mkdocs", "docusaurus"]
    folder: Path
    """Where the configuration stands."""
    docs: tuple[tuple[Path, str], ...]
    """Folders of pages, each with where it is published below the site's address (`docs`, or nothing)."""
    snippets: tuple[Path, ...] = ()
    """Folders that `--8<--` reads from."""
    slugs: str = ""
    """`pymdownx` where that makes the anchors."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """`extra` of mkdocs.yml where its macros are on."""
    menu: Mapping[str, str] = field(default_factory=dict)
    """What `nav` of mkdocs.yml calls pages, by their paths below the folder of pages."""

    def place(self, file: Path) -> tuple[Path, str] | None:
        """Return the innermost folder of pages that holds a file, None where none does."""
        holding = [(folder, base) for folder, base in self.docs if file.is_relative_to(folder)]
        return max(holding, key=lambda entry: len(entry[0].parts), default=None)

    def name_of(self, file: Path) -> str:
        """Return what the menu calls a page, empty where it does not."""
        for docs, _ in self.docs if self.menu else ():
            if (file := file.resolve()).is_relative_to(inside := docs.resolve()):
                return self.menu.get(file.relative_to(inside).as_posix(), "")
        return ""


def name_of(path: str) -> str:
    """Return what a page without a title is called by its file: `test_client.md` is "Test client".

    Empty for an index at the top, which has no name of its own.
    """
    place = PurePosixPath(path)
    stem = place.parent.name if place.stem.lower() in ("index", "readme") else place.stem
    words = re.sub(r"[-_\s]+", " ", _NUMBERED.sub("", stem)).strip()
    return words[:1].upper() + words[1:]


def site_of(root: str, file: Path | None) -> Site | None:
    """Return the site of the nearest configuration above a file, inside of `root`; None without one."""
    if not root or file is None:
        return None
    inside = Path(root).resolve()
    for folder in file.resolve().parents:
        if not folder.is_relative_to(inside):
            # Docusaurus keeps a file in each folder of pages that it names in the menu.
            category = file.suffix in (".md", ".mdx") and _has_category(
                inside, int(monotonic() // CACHE_SECONDS)
            )
            return Site("docusaurus", inside, ((inside, ""),)) if category else None
        for name in (*MKDOCS, *DOCUSAURUS):
            config = folder / name
            try:
                status = config.stat()
                if config.is_file() and config.resolve().is_relative_to(inside):
                    return _read(str(config), status.st_mtime_ns, status.st_size)
            except OSError:
                continue
    return None


def left_out(site: Site | None, root: str, file: Path, head: bytes = b"") -> str:
    """Say why a file is no page of its own, empty where it is one; `head` is what it begins with."""
    ending = file.suffix.lower()
    if ending in (".html", ".htm") and _is_template(head):
        return "a template, of which a tool makes pages"
    if ending == ".txt" and site is None and _is_beside_sphinx(root, file):
        return "a part that other pages include, for Sphinx publishes no .txt here"
    place = site.place(file) if site else None
    if (
        site
        and place
        and site.kind == "docusaurus"
        and any(part.startswith("_") for part in file.relative_to(place[0]).parts)
    ):
        return "a part that other pages include"
    return ""


def page_of(url: str) -> str:
    """Return the address of a page without its section; a hash that names the page (`#/guide`) stays."""
    page, _, section = url.partition("#")
    return url.partition("?id=")[0] if _ROUTE.match(section) else page


def anchored(url: str, anchor: str) -> str:
    """Return the address of a section, as Docsify writes it where the hash already names the page."""
    page = page_of(url)
    return f"{page}?id={anchor}" if "#" in page else f"{page}#{anchor}"


def _is_template(head: bytes) -> bool:
    """Return True if Jinja or Django makes pages of HTML: it begins so, or is a part with statements."""
    if head.lstrip().startswith((b"{%", b"{#")):
        return True
    return _PAGE.search(head) is None and _STATEMENT.search(head) is not None


def _is_beside_sphinx(root: str, file: Path) -> bool:
    """Return True if the nearest `conf.py` above a text, inside of `root`, is one of Sphinx without texts."""
    inside = Path(root).resolve()
    for folder in file.resolve().parents:
        if not folder.is_relative_to(inside):
            break
        with suppress(OSError):
            if (folder / "conf.py").is_file():
                said = _REMARK.sub(b"", (folder / "conf.py").read_bytes()[:MAX_BYTES])
                return _SPHINX.search(said) is not None and _TEXT_PAGES.search(said) is None
    return False


@lru_cache(maxsize=64)
def _has_category(root: Path, _period: int) -> bool:
    return any(next(root.glob(f"{place}_category_.*"), None) for place in ("", "*/", "*/*/"))


@lru_cache(maxsize=64)
def _read(path: str, _modified: int, size: int) -> Site | None:
    file = Path(path)
    try:
        text = file.read_text("utf-8", "replace") if size <= MAX_BYTES else ""
    except OSError:
        return None
    if file.name.startswith("docusaurus"):
        return Site("docusaurus", file.parent, _routes(file.parent, text))
    try:
        given = tomllib.loads(text) if file.suffix == ".toml" else front_matter.load(text, _Loader)
    except (ValueError, RecursionError):
        given = {}
    if file.suffix == ".toml" and isinstance(given, dict):
        given = given.get("project", {})
    return _mkdocs(file.parent, given if isinstance(given, dict) else {})


# --- MkDocs -----------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads what is plain YAML; `!ENV`, `!!python/name:…` and the like become their own text."""


def _as_text(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:
    value: Any = ""
    if isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    return f"{suffix} {value}"


_Loader.add_multi_constructor("!", _as_text)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _as_text)


def _mkdocs(folder: Path, given: Mapping[str, Any]) -> Site:
    docs = given.get("docs_dir")
    extensions = _named(given.get("markdown_extensions"))
    bases = extensions.get("pymdownx.snippets", {}).get("base_path", ".")
    bases = bases if isinstance(bases, list) else [bases]
    slugify = str(extensions.get("toc", {}).get("slugify", ""))
    extra = given.get("extra")
    macros = "macros" in _named(given.get("plugins")) and isinstance(extra, dict)
    return Site(
        "mkdocs",
        folder,
        ((folder / (docs if isinstance(docs, str) else "docs"), ""),),
        tuple(folder / base for base in bases if isinstance(base, str)),
        "pymdownx" if "pymdownx" in slugify else "",
        dict(_flat(extra)) if macros and isinstance(extra, dict) else {},
        dict(_menu(given.get("nav"))),
    )


def _menu(given: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield pages with what the menu calls them; a page that it lists without a name is left out."""
    entries = given if isinstance(given, list) and depth < 10 else ()
    for entry in entries:
        for name, inner in entry.items() if isinstance(entry, dict) else ():
            if isinstance(inner, str):
                yield inner.removeprefix("./"), str(name)
            else:
                yield from _menu(inner, depth + 1)


def _named(given: object) -> dict[str, dict[str, Any]]:
    """Read a list of names, some of them with options, as MkDocs writes extensions and plugins."""
    found: dict[str, dict[str, Any]] = {}
    entries = [given] if isinstance(given, dict) else given if isinstance(given, list) else []
    for entry in entries:
        for name, options in entry.items() if isinstance(entry, dict) else ((entry, {}),):
            found[str(name)] = options if isinstance(options, dict) else {}
    return found


def _flat(given: Mapping[Any, Any], before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in given.items():
        if isinstance(value, dict) and before.count(".") < 5:
            found += _flat(value, f"{before}{key}.")
        elif isinstance(value, str | int | float):
            found.append((f"{before}{key}", str(value)))
    return found


# --- Docusaurus -------------------------------------------------------------------------------------------


def _routes(folder: Path, text: str) -> tuple[tuple[Path, str], ...]:
    """Return the folders of pages with their routes: `docs` at `docs` unless the configuration moves it."""
    text = _uncommented(text)
    found: dict[Path, str] = {}
    # An object that has either key is taken with both; what is nested in it is another one.
    for inner in _BRACED.finditer(_hollow(text)):
        given = {key: a or b or c for key, a, b, c in _LITERAL.findall(text[inner.start() : inner.end()])}
        is_blog = "blog" in given.get("path", given.get("routeBasePath", ""))
        if given and not is_blog:
            path = given.get("path", "docs").removeprefix("./").strip("/")
            found[folder / path] = given.get("routeBasePath", "docs").strip("/")
    if not any((folder / "docs") == place for place in found):
        found[folder / "docs"] = "docs"
    return tuple(found.items())


def _uncommented(text: str) -> str:
    """Take comments out of JavaScript; `/*` that nothing closes is none, as in a pattern of paths."""
    out: list[str] = []
    position = 0
    while found := _COMMENT.search(text, position):
        end = text.find("*/", found.end()) + 2 if found[0] == "/*" else found.end()
        out.append(text[position : found.start()])
        if end < 2:
            return "".join([*out, found[0], _LINE_COMMENT.sub("", text[found.end() :])])
        position = end
    return "".join([*out, text[position:]])


def _hollow(text: str) -> str:
    """Blank out the objects inside of objects that have a path of their own, so that braces pair up."""
    for _ in range(8):
        hollowed = _BRACED.sub(_blanked, text)
        if hollowed == text:
            break
        text = hollowed
    return text


def _blanked(found: re.Match[str]) -> str:
    return found[0] if _LITERAL.search(found[0]) else " " * len(found[0])
