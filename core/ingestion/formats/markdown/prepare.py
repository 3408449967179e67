"""A Markdown page made ready for the parser: what it includes, and the marks of the tools of its site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from core.domain import RawDocument
from core.ingestion import front_matter
from core.ingestion.formats._files import location
from core.ingestion.formats.markdown import extensions as _extensions
from core.ingestion.formats.markdown import mdx as _mdx
from core.ingestion.formats.markdown import slugs as _slugs
from core.ingestion.formats.markdown.masking import Masked
from core.ingestion.formats.markdown.slugs import Slug
from core.ingestion.formats.markdown.snippets import Includes
from core.ingestion.formats.rst.sphinx import conf_of
from core.ingestion.sites import Site

MAX_PASSES = 5
"""Imported pages that may import one another in a chain; ours."""

_MYST = re.compile(r"^[^\S\n]*(?:`{3,}|~{3,}|:{3,})\{|\{[\w:+-]+\}`|^\([\w.:-]+\)=[^\S\n]*$", re.M)
_MKDOCS = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+\w|^[ \t]*===[!+]?[ \t]+\"|^[ \t]*-+8<-+[ \t]+[\"']", re.M
)
_MDX = re.compile(r"^import\s[^\n]*\bfrom\s*['\"](?:@|\.{1,2}/)", re.M)


def is_myst(text: str) -> bool:
    """Return True if a page is written in MyST, by its directives, roles and targets."""
    return bool(_MYST.search(text))


def prepared(
    text: str, raw: RawDocument, site: Site | None, variables: Mapping[str, str], *, myst: bool = False
) -> str:
    """Return a page's text with what it includes, and without what only its tools understand."""
    includes = Includes(raw, site)
    here = location(raw)

    def ready(text: str, file: Path | None, depth: int) -> str:
        text = includes.expanded(text, file)
        is_mdx = (file or Path(raw.path)).suffix == ".mdx" or (site and site.kind == "docusaurus")
        if is_mdx or (not myst and _MDX.search(text) and _MDX.search(Masked(text).text)):
            base = (file or here or Path()).parent

            def change(text: str, file: Path) -> str:
                return ready(front_matter.split(text)[1], file, depth + 1) if depth < MAX_PASSES else ""

            text = _mdx.plain(text, lambda target: includes.read(target, base), change)
        return text

    return _extensions.plain(ready(text, here, 0), variables, myst=myst)


def slug_of(raw: RawDocument, site: Site | None, text: str, myst: bool) -> Slug:
    """Choose how headings get their anchors: by the site's configuration, else by the page's own marks."""
    if site is not None:
        mkdocs = _slugs.pymdownx if site.slugs else _slugs.python_markdown
        return mkdocs if site.kind == "mkdocs" else _slugs.docusaurus
    if myst or conf_of(raw).folder:
        return _slugs.docutils
    return _slugs.python_markdown if _MKDOCS.search(text) else _slugs.github
