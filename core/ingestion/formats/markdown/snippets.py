"""Other files of the source that a Markdown page includes, in the ways that documentation tools have for it.

`--8<--` (pymdownx), `{% include %}` and `{% include-markdown %}` (MkDocs' plugin), `{! file !}` and
`{* file *}` (mdx_include and its kin), `<!--@include: -->` and `<<< file` (VitePress), a fence with `file=`
(remark). What would leave the source's root, is missing or binary leaves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from core.domain import RawDocument
from core.ingestion import front_matter
from core.ingestion.formats._shared import fence, location, numbers, read_within
from core.ingestion.formats.markdown.masking import Masked
from core.ingestion.formats.rst.sphinx import ENDINGS
from core.ingestion.sites import Site

MAX_DEPTH = 5
"""Files that may include one another in a chain; ours."""
MAX_INCLUDES = 200
"""Files that one page may include in all; ours."""
MAX_CHARACTERS = 2_000_000
"""Characters that one page may include in all; ours."""

_PAGES = (".md", ".markdown", ".mdx")
_QUOTED = r"""["'](?P<path>[^"'\n]+)["']"""
_SNIPPET = re.compile(rf"^(?P<indent>[ \t]*)(?P<off>;?)-+8<-+[ \t]+{_QUOTED}[ \t]*$", re.M)
_SNIPPETS = re.compile(r"^(?P<indent>[ \t]*)-+8<-+[ \t]*\n(?P<paths>.*?)^[ \t]*-+8<-+[ \t]*$", re.M | re.S)
_LIQUID = re.compile(
    rf"^(?P<indent>[ \t]*)\{{%-?\s*include(?:-markdown)?\s+{_QUOTED}(?P<options>[^%]*?)-?%\}}", re.M
)
_BARE = re.compile(
    r"^(?P<indent>[ \t]*)\{%-?\s*include(?:_relative)?\s+(?P<path>[\w./-]++(?<=\.md))[^%]*+%\}[ \t]*$", re.M
)
_MARKED = re.compile(
    r"^(?P<indent>[ \t]*)\{(?P<mark>[!*])>?\s*+(?P<path>(?=[\w./@-]*\.\w)[\w./@-]++)"
    r"(?P<options>[^\n{}]*?)(?P=mark)\}",
    re.M,
)
_COMMENT = re.compile(
    r"^(?P<indent>[ \t]*)<!--\s*+@include:\s*+(?P<path>(?:[^\s{}#>-]++|-(?!->))++)"
    r"(?:\{(?P<lines>[^}]{0,200})\})?[^>]{0,1000}-->",
    re.M,
)
_ARROWS = re.compile(
    r"^(?P<indent>[ \t]*)<<<[ \t]+(?P<path>[^\s{}#]++)(?:#(?P<region>[\w-]++))?+[^\n]*$", re.M
)
_FENCED = re.compile(
    r"^(?P<indent>[ \t]*)(?P<mark>`{3,}+|~{3,}+)"
    r"(?P<info>(?>[^\n`]*?\bfile=)(?P<quote>[\"']?+)(?P<path>[^\s\"'#]++)"
    r"(?:#L(?P<from>\d++)(?:-L?(?P<to>\d++))?+)?+(?P=quote)[^\n`]*+)\n[ \t]*+(?P=mark)[ \t]*$",
    re.M,
)
_ANY = re.compile(r"8<-|\{%-?\s*include|\{[!*]>?\s*[\w./@-]+\.|@include:|^[^\S\n]*<<<|\bfile=", re.M)
_SECTION = re.compile(r"^.*-8<-++\s*+\[\s*+(?:start|end)\s*+:[^\]\n]{0,200}\].*\n?", re.M)
_REGION = re.compile(r"^.*#(?:end)?region\b.*\n?", re.M)
_OPTION = re.compile(r"""(start|end|start-after|end-before)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_LINES = re.compile(r"(?:ln|lines?)\s*[\[=:]\s*([\d,:-]+)")


class Includes:
    """Reads what one page includes, up to its limits; `files` are the ones that were read."""

    def __init__(self, raw: RawDocument, site: Site | None) -> None:
        self._root = raw.root
        self._site = site
        self._page = location(raw)
        self._open: list[Path] = []
        self._left = MAX_CHARACTERS
        self.files: list[Path] = []

    def expanded(self, text: str, file: Path | None = None) -> str:
        """Return a text of `file` (the page itself without one) with what it includes in its place."""
        base = (file or self._page or Path()).parent
        if not self._root:
            return self._each(text, lambda found: "")
        return self._each(text, lambda found: self._stand_in(found, base))

    def read(self, target: str, base: Path) -> tuple[Path, str] | None:
        """Read a file that is named in a page of the folder `base`; None where it may not or cannot be."""
        if len(self.files) >= MAX_INCLUDES or len(self._open) >= MAX_DEPTH or "://" in target:
            return None
        for folder, name in self._candidates(target, base):
            found = read_within(self._root, folder, name)
            if found is not None and found[0] not in self._open and len(found[1]) <= self._left:
                self.files.append(found[0])
                self._left -= len(found[1])
                return found
        return None

    def page(self, target: str, base: Path, change: Callable[[str, Path], str] | None = None) -> str:
        """Return an included page without its front matter, with what it includes itself."""
        found = self.read(target, base)
        if found is None:
            return ""
        file, text = found
        self._open.append(file)
        try:
            text = front_matter.split(text)[1] if file.suffix in _PAGES else text
            text = self.expanded(text, file) if file.suffix in (*_PAGES, ".txt", ".rst") else text
            return change(text, file) if change else text
        finally:
            self._open.pop()

    def _candidates(self, target: str, base: Path) -> list[tuple[Path, str]]:
        site = self._site
        if target.startswith("@"):  # `@site/docs/x.mdx`, `@/x.md`, `@docs/x.md`
            rest = target.split("/", 1)[1] if "/" in target else target
            folders = [site.folder] if site else []
            return [(folder, rest) for folder in (*folders, *self._above(base))]
        folders = [base]
        if site is not None:
            folders += [*site.snippets, *(docs for docs, _ in site.docs), site.folder]
        folders += [self._page.parent] if self._page else []
        return [(folder, target) for folder in dict.fromkeys((*folders, Path(self._root)))]

    def _above(self, base: Path) -> list[Path]:
        inside = Path(self._root).resolve()
        return [folder for folder in (base, *base.parents) if folder.resolve().is_relative_to(inside)]

    def _each(self, text: str, stand_in: Callable[[re.Match[str]], str]) -> str:
        if not _ANY.search(text):
            return text

        def inside(code: str) -> str:
            for pattern in (_FENCED, _SNIPPETS, _SNIPPET, _MARKED):
                code = pattern.sub(
                    lambda found: stand_in(found) if found.re is _FENCED else plain(found), code
                )
            return code

        def plain(found: re.Match[str]) -> str:
            # What is included into a fence is its code, not a fence of its own.
            return re.sub(r"\A[ \t]*```[^\n]*\n|\n[ \t]*```\Z", "", stand_in(found))

        hidden = Masked(text)
        hidden.change_code(inside)
        for pattern in (_SNIPPETS, _SNIPPET, _LIQUID, _BARE, _MARKED, _COMMENT, _ARROWS):
            hidden.text = pattern.sub(stand_in, hidden.text)
        return hidden.restored()

    def _stand_in(self, found: re.Match[str], base: Path) -> str:
        given = found.groupdict()
        indent = given["indent"]
        if given.get("off"):
            return found[0].replace(";", "", 1)
        if found.re is _SNIPPETS:
            wanted = (line.strip() for line in given["paths"].splitlines())
            parts = [self._snippet(line, base) for line in wanted if line and not line.startswith(";")]
            return _indented("\n\n".join(part for part in parts if part), indent)
        path = given["path"].strip()
        if found.re is _SNIPPET:
            return _indented(self._snippet(path, base), indent)
        if found.re is _LIQUID:
            return _indented(_between(self.page(path, base), given["options"]), indent)
        if found.re is _MARKED:
            return _indented(self._marked(path, given["options"], base), indent)
        if found.re is _ARROWS:
            return _indented(self._code(path, base, region=given["region"] or ""), indent)
        if found.re is _FENCED:
            span = f"{given['from']}-{given['to'] or given['from']}" if given["from"] else ""
            language = (given["info"].split() or [""])[0]
            return _indented(self._code(path, base, language=language, lines=span), indent)
        text = self.page(path, base)
        return _indented(_lines(text, given.get("lines") or ""), indent)

    def _snippet(self, said: str, base: Path) -> str:
        """Read `file`, `file:section`, `file:1:5` or `file:1:3,7:9`."""
        path, _, part = said.partition(":")
        text = self.page(path.strip().strip("\"'"), base)
        if part and not re.fullmatch(r"[\d:,\s-]*", part):
            text = _dedented(_between_lines(text, *section_ends(part.strip())))
        elif part:
            spans = [(a or "1", b) for a, _, b in (span.partition(":") for span in part.split(","))]
            text = _lines(text, ",".join(f"{a}-{b}" for a, b in spans))
        return _SECTION.sub("", text).strip("\n")

    def _marked(self, path: str, options: str, base: Path) -> str:
        span = _LINES.search(options)
        lines = re.sub(r"(?<=\d):(?=\d|$)", "-", span[1]) if span else ""
        if Path(path).suffix in _PAGES:
            return _lines(self.page(path, base), lines)
        return self._code(path, base, lines=lines, fenced=not path.endswith((".txt", ".html")))

    def _code(
        self,
        path: str,
        base: Path,
        *,
        language: str = "",
        lines: str = "",
        region: str = "",
        fenced: bool = True,
    ) -> str:
        found = self.read(path, base)
        if found is None:
            return ""
        file, text = found
        if region:
            text = _dedented(_between_lines(text, *region_ends(region)))
        text = _SECTION.sub("", _REGION.sub("", _lines(text, lines)))
        return fence(text, language or ENDINGS.get(file.suffix, "")) if fenced else text.strip("\n")


@lru_cache(maxsize=256)
def section_ends(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what opens and closes a section of pymdownx's snippets: `--8<-- [start:name]`."""
    mark = rf"-8<-++\s*+\[\s*+{{}}\s*+:\s*+{re.escape(name)}\s*+\]"
    return re.compile(mark.format("start")), re.compile(rf"^[^\n]*{mark.format('end')}", re.M)


@lru_cache(maxsize=256)
def region_ends(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what opens and closes a region of a file of code: `#region name`."""
    return re.compile(rf"#region\s++{re.escape(name)}\b"), re.compile(r"^[^\n]*#endregion", re.M)


def _between_lines(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> str:
    """Return what stands between two lines, empty where they are not there."""
    first = opening.search(text)
    begin = text.find("\n", first.end()) + 1 if first else 0
    last = closing.search(text, begin) if begin else None
    return text[begin : last.start()] if last else ""


def _between(text: str, options: str) -> str:
    """Cut a text to what stands between the marks that an include names."""
    given = {key: a or b for key, a, b in _OPTION.findall(options)}
    start, end = given.get("start", ""), given.get("end", "")
    if start and (at := text.find(start)) >= 0:
        text = text[at + len(start) :]
    if end and (at := text.find(end)) >= 0:
        text = text[:at]
    return text.strip("\n")


def _lines(text: str, span: str) -> str:
    if not span.strip():
        return text
    lines = text.splitlines()
    return "\n".join(lines[number - 1] for number in numbers(span, len(lines)))


def _indented(text: str, indent: str) -> str:
    if not indent:
        return text
    return "\n".join(indent + line if line.strip() else "" for line in text.split("\n"))


def _dedented(text: str) -> str:
    lines = [line for line in text.split("\n") if line.strip()]
    width = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return "\n".join(line[width:] for line in text.split("\n"))
