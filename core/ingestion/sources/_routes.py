"""Which files a source reads, and where a file's page is on its site: what `{page}` stands for in its `url`.

MkDocs and Docusaurus publish the folder of their pages, wherever the source begins; Docusaurus drops numbers
that order files, and takes `slug` and `id` from the front matter (its routing rules, versions 2 and 3).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from core.ingestion import front_matter
from core.ingestion.sites import Site, site_of

HEAD_BYTES = front_matter.MAX_CHARACTERS * 4
"""Bytes of a file that may be front matter."""
_PAGES = (".md", ".mdx", ".markdown")
_ORDER = re.compile(r"^(?P<number>\d+)\s*[-_.]+\s*(?P<rest>[^-_.\s].*)$")
_DATED = re.compile(r"^\d+[-_.]\d")  # a date or a version: `2021-01-02-news`, `7.0-notes`


def place_of(root: str, file: str, folder: str, head: bytes) -> tuple[str | None, str]:
    """Return the place of a file's page (`page_of`), and why it is no page of its own (`left_out`).

    `head` is the beginning of what the file holds. What others wrote is read for it: for a worker.
    """
    site = site_of(root, Path(file))
    return page_of(site, Path(file), Path(folder), head), left_out(site, Path(file))


def page_of(site: Site | None, file: Path, folder: Path, content: bytes) -> str | None:
    """Return the place of a file's page below the address of its source; None where its path says it all.

    `folder` is where the source begins.
    """
    if file.suffix.lower() not in _PAGES and not (site and file.suffix == ".ipynb"):
        return None
    text = content[:HEAD_BYTES].decode("utf-8-sig", "replace").replace("\r\n", "\n")
    front = front_matter.split(text)[0]
    place = site.place(file) if site else None
    if site is None or place is None:
        if not front.slug or not file.is_relative_to(folder):
            return None
        return _slugged(front.slug, file.relative_to(folder).parent.as_posix())
    docs, base = place
    # A source that begins at the pages or inside of them leaves their own address to its `url`.
    before = f"{base}/" if base and docs.is_relative_to(folder) and docs != folder else ""
    inner = file.relative_to(docs)
    left = 0 if docs.is_relative_to(folder) else len(folder.relative_to(docs).parts)
    if site.kind == "mkdocs":
        page = inner.with_suffix("").as_posix()
        page = re.sub(r"(?:^|(?<=/))README$", "index", page)
    else:
        page = _docusaurus(inner, front.slug, front.id)
    return (before + "/".join(page.split("/")[left:])).rstrip("/")


def left_out(site: Site | None, file: Path) -> str:
    """Say why a file is no page of its own, empty where it is one."""
    place = site.place(file) if site else None
    if (
        site
        and place
        and site.kind == "docusaurus"
        and any(part.startswith("_") for part in file.relative_to(place[0]).parts)
    ):
        return "a part that other pages include"
    return ""


def _docusaurus(inner: Path, slug: str, identity: str) -> str:
    folders = [_unnumbered(part) for part in inner.parent.parts]
    if slug:
        return _slugged(slug, "/".join(folders))
    # An index is its folder; so is a page that is called like its folder.
    if inner.stem.lower() in ("index", "readme", inner.parent.name.lower()):
        return "/".join(folders)
    return "/".join([*folders, identity or _unnumbered(inner.stem)])


def _unnumbered(name: str) -> str:
    found = _ORDER.match(name)
    return found["rest"] if found and not _DATED.match(name) else name


def _slugged(slug: str, folder: str) -> str:
    if slug.startswith("/"):
        return slug.strip("/")
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    for part in slug.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]{0,200}\]|\{[^{}/]*\}|.", re.DOTALL)


class Patterns:
    """Match paths below a folder, as `pathlib` globs do.

    `**/` stands for any number of folders, none included; `*`, `?`, `[…]` and `{a,b}` for parts of
    one name. A pattern that matches a folder takes everything in it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._written = tuple(patterns)
        self._expression = re.compile("|".join(map(_translated, patterns)) or r"(?!)", re.DOTALL)

    def match(self, path: str) -> bool:
        """Return True if the path, with `/` between its parts, or a folder it lies in, is meant."""
        return self._expression.fullmatch(path) is not None

    def names(self, folder: str) -> bool:
        """Return True if a pattern spells this folder's name out."""
        return any(folder in pattern.split("/") for pattern in self._written)


def _translated(pattern: str) -> str:
    pattern = pattern.removeprefix("./").strip("/")
    inside = "" if pattern.endswith("**") else "(?:/.*)?"
    return "".join(_piece(found[0]) for found in _PIECE.finditer(pattern)) + inside


def _piece(text: str) -> str:
    if text == "**/":
        return "(?:[^/]+/)*"
    if text == "**":
        return ".*"
    if text == "*":
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if text.startswith("[") and len(text) > 2:
        inside = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[{'^/' + inside[1:] if inside.startswith('!') else inside}]"
    if text.startswith("{") and len(text) > 1:
        alternatives = text[1:-1].split(",")
        return f"(?:{'|'.join(''.join(_piece(f[0]) for f in _PIECE.finditer(a)) for a in alternatives)})"
    return re.escape(text)
