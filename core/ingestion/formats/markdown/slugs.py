"""The anchors that each tool gives to a heading, as plain functions of its text; which one a page has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from core.domain import RawDocument
from core.ingestion.formats.rst.sphinx import conf_of
from core.ingestion.sites import Site

Slug = Callable[[str, dict[str, int], int], str]
"""Makes the anchor of a heading of a level; the dictionary counts what the page has had before."""
_MKDOCS = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+\w|^[ \t]*===[!+]?[ \t]+\"|^[ \t]*-+8<-+[ \t]+[\"']", re.M
)


def slug_of(raw: RawDocument, site: Site | None, text: str, myst: bool) -> Slug:
    """Choose how headings get their anchors: by the site's configuration, else by the page's own marks."""
    if site is not None:
        mkdocs = pymdownx if site.slugs else python_markdown
        return mkdocs if site.kind == "mkdocs" else docusaurus
    if myst or conf_of(raw).folder:
        return docutils
    return python_markdown if _MKDOCS.search(text) else github


def github(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return GitHub's anchor: punctuation goes, each space is a dash, `-1` for the second."""
    base = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    name = base
    while name in seen:
        seen[base] += 1
        name = f"{base}-{seen[base]}"
    seen[name] = 0
    return name


def docusaurus(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return GitHub's anchor, but none for a page's title, which has no id there."""
    anchor = github(heading, seen)
    return "" if level == 1 else anchor


def python_markdown(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return MkDocs' anchor: plain letters only, one dash for spaces and dashes, `_1` for the second."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
    return _counted(re.sub(r"[-\s]+", "-", plain), seen)


def pymdownx(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return the anchor of pymdownx's slugs in lower case: as GitHub's, but `_1` for the second."""
    plain = re.sub(r"[^\w\- ]", "", unicodedata.normalize("NFC", heading).strip().lower())
    return _counted(plain.replace(" ", "-"), seen)


def docutils(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return Sphinx's and MyST's anchor: letters, digits, single dashes; `id1` where it is taken or empty."""
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode("ascii")
    name = re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", plain))
    if name and name not in seen:
        seen[name] = 1
        return name
    seen["\0"] = seen.get("\0", 0) + 1
    return f"id{seen[chr(0)]}"


def jupyter(heading: str, seen: dict[str, int], level: int = 2) -> str:
    """Return Jupyter's anchor: the text with dashes for spaces; of two that are alike the first is linked."""
    return re.sub(r"\s+", "-", heading.strip())


def _counted(name: str, seen: dict[str, int]) -> str:
    while not name or name in seen:
        numbered = re.fullmatch(r"(.*)_(\d+)", name)
        name = f"{numbered[1]}_{int(numbered[2]) + 1}" if numbered else f"{name}_1"
    seen[name] = 0
    return name
