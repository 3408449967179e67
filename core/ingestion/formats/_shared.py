"""What formats share: files that a document includes, and Markdown as every format writes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from core.domain import RawDocument
from core.text.tables import Cell, over_all, spread
from core.text.words import one_line

MAX_INCLUDED_BYTES = 1_000_000
"""Size of one included file above which it is passed over; ours, a changelog of 20 years has 400 kB."""

_FOR_TOOLS = re.compile(
    r"(?P<pip>(?:(?:dev|tests?|docs?|build|lint|ci)[-_])?(?:requirements|constraints)(?:[-_][\w-]{1,40})?\.txt)"
    r"|(?P<robots>robots\.txt)|CMakeLists\.txt"
)
_OF_PIP = re.compile(
    r"(?:[\w.-]{1,100}+[ \t]*+(?:\[[^\]]{0,200}+\][ \t]*+)?(?:[<>=!~;@#\\].*)?"
    r"|[\w+.-]{0,20}+:?/.*|[-#\\].*)?"
)
"""A line of what pip installs from: a package, an address or path, an option, a comment."""
_OF_ROBOTS = re.compile(r"^user-agent[ \t]*+:", re.I | re.M)
LEAST_BETWEEN = 500
"""Bytes of a text for each NUL in it below which it is binary; ours."""
_KEPT_FROM_READERS = frozenset(
    {".git", ".hg", ".svn", ".ssh", ".aws", ".netrc", ".npmrc", ".pypirc", ".git-credentials"}
)


def is_secret(root: Path, file: Path) -> bool:
    """Return True if a file below the root is where tools keep addresses with passwords, or keys.

    Links and includes of a document may lead to it, though it lies inside the source.
    """
    parts = file.relative_to(root).parts
    return any(part in _KEPT_FROM_READERS or part.startswith(".env") for part in parts)


def is_for_tools(path: str, head: bytes) -> bool:
    """Return True for a text that tells tools what to install or to build, and readers nothing.

    `head` is what it begins with: a manual may have a page that is called requirements.txt, too.
    """
    *folders, name = path.split("/")
    if any(folder.endswith((".egg-info", ".dist-info")) for folder in folders):
        return True
    if not (found := _FOR_TOOLS.fullmatch(name)):
        return False
    said = head.decode("utf-8-sig", "replace")
    if found["robots"]:
        return _OF_ROBOTS.search(said) is not None
    return not found["pip"] or all(_OF_PIP.fullmatch(line.strip()) for line in said.splitlines())


def without_nul(content: bytes) -> bytes | None:
    """Return a text without the odd NUL that a tool copied into it; None where it is no text but binary."""
    count = content.count(b"\0")
    if not count:
        return content
    said = content.replace(b"\0", b"")
    try:
        said.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return said if count * LEAST_BETWEEN <= len(content) else None


def location(raw: RawDocument) -> Path | None:
    """Return where the document lies on disk, None where it came from elsewhere.

    `file` may be absolute, relative to the root, or relative to where the process runs.
    """
    if not raw.root:
        return None
    file = Path(raw.file or raw.path)
    inside = Path(raw.root) / file
    return file if not inside.exists() and file.exists() else inside


def read_within(root: str, base: Path, target: str) -> tuple[Path, str] | None:
    """Read `target` as seen from the folder `base`, None unless it is a text file inside `root`.

    A leading slash means the nearest folder above `base` (not above `root`) that has the file, as
    Sphinx's source folder does. Symbolic links are followed before the check, so none leads out.
    """
    if not root or not target or "\0" in target:
        return None
    try:
        inside = Path(root).resolve(strict=True)
        if target.startswith("/"):
            folders = [f for f in (base, *base.parents) if f.resolve().is_relative_to(inside)]
            candidates = [folder / target.lstrip("/") for folder in folders]
        else:
            candidates = [base / target]
        for candidate in candidates:
            file = candidate.resolve()
            if not file.is_relative_to(inside) or is_secret(inside, file):
                continue
            if file.is_file() and file.stat().st_size <= MAX_INCLUDED_BYTES:
                content = file.read_bytes()
                return None if b"\0" in content else (file, content.decode("utf-8-sig", "replace"))
    except (OSError, RuntimeError, ValueError):
        return None
    return None


def numbers(said: str, count: int) -> list[int]:
    """Read `1,3-5,8-` as line numbers that exist."""
    chosen: list[int] = []
    for part in said.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if first.isdigit() or (dash and last.isdigit()):
            low = int(first) if first.isdigit() else 1
            high = int(last) if last.isdigit() else count if dash else low
            chosen += range(max(low, 1), min(high, count) + 1)
    return chosen


def sliced(text: str, options: Mapping[str, str]) -> str:
    """Cut a file to what an include's options ask for."""
    if options.get("start-after") and (at := text.find(options["start-after"])) >= 0:
        text = text[at + len(options["start-after"]) :]
    if options.get("end-before") and (at := text.find(options["end-before"])) >= 0:
        text = text[:at]
    lines = text.splitlines()
    chosen: Iterable[str] = lines
    if options.get("pyobject"):
        chosen = _python_object(lines, options["pyobject"])
    elif options.get("lines"):
        chosen = [lines[i - 1] for i in numbers(options["lines"], len(lines))]
    elif "start-line" in options or "end-line" in options:
        try:
            chosen = lines[int(options.get("start-line") or 0) : int(options.get("end-line") or len(lines))]
        except ValueError:
            chosen = lines
    return "\n".join(chosen)


@lru_cache(maxsize=256)
def definition_of(name: str) -> re.Pattern[str]:
    """Return the pattern of the line that defines a function or class."""
    return re.compile(rf"^(\s*)(?:async\s+def|def|class)\s+{re.escape(name)}\b")


def _python_object(lines: list[str], name: str) -> list[str]:
    pattern = definition_of(name.rsplit(".", 1)[-1])
    for first, line in enumerate(lines):
        if found := pattern.match(line):
            depth = len(found.group(1))
            last = first + 1
            while last < len(lines) and (
                not lines[last].strip() or len(lines[last]) - len(lines[last].lstrip()) > depth
            ):
                last += 1
            return lines[first:last]
    return lines


TAB_CHARACTERS = 600
"""Characters above which a tab is a section, so that each passage of it says whose it is; ours."""

DRAWN = frozenset({"mermaid"})
"""Languages of code that readers of Markdown and HTML see as a drawing."""
_PLAIN_LANGUAGES = frozenset({"", "none", "text", "plain", "plaintext", "default", "guess", "literal", "txt"})
# HTML themes and MkDocs put a permalink sign into headings.
_PERMALINK = re.compile(r"(?<![\s\u200b¶§\uf0c1])[\s\u200b]*+[¶§\uf0c1][\s\u200b¶§\uf0c1]*+$")
_CODE = re.compile(r"(`+[^`]*`+)")
_EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*(?![\w*])")


def heading_text(text: str) -> str:
    """Clean a heading: one line, no emphasis, code marks or permalink sign."""
    parts = _CODE.split(_PERMALINK.sub("", text))
    parts[::2] = [_EMPHASIS.sub(r"\1", part.replace("**", "")) for part in parts[::2]]
    return one_line("".join(parts).replace("`", "").replace("**", ""))


_FOLDS = re.compile(r"\{(?:execsql|printsql|opensql)\}")
_FOLD = re.compile(r"\{(?:execsql|printsql|opensql|sql|stop)\}")


def unfolded(code: str, language: str) -> tuple[str, str]:
    """Return code and its language without the marks that fold SQL on SQLAlchemy's pages: `{printsql}`."""
    if not language.endswith("+sql") and _FOLDS.search(code) is None:
        return code, language
    return _FOLD.sub("", code), language.removesuffix("+sql")


def fence(code: str, language: str = "") -> str:
    """Wrap code into a fence that no line of it can close; empty for empty code."""
    code = code.strip("\n").rstrip()
    if not code.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    language = language.strip().lower()
    return f"{mark}{'' if language in _PLAIN_LANGUAGES else language}\n{code}\n{mark}"


def session(text: str) -> str:
    """Return the language of what somebody typed at a prompt ("$ pip list"), "" for any other text."""
    first = text.lstrip()
    if first.startswith((">>> ", "In [1]: ")):
        return "pycon"
    return "console" if re.match(r"(?:\$|[A-Z]:\\[^\s>]*>) ?\S", first) else ""


def inline_code(text: str) -> str:
    """Mark text as code, however many backticks it holds."""
    text = one_line(text)
    if text.count("`") == 1 and len(text) > 1 and "`" in (text[0], text[-1]):
        text = text.strip("`")  # one too many was written
    if "`" in text:
        mark = "`" * (max(map(len, re.findall("`+", text))) + 1)
        return f"{mark} {text} {mark}"
    return f"`{text}`" if text else ""


def listed(rows: Sequence[Sequence[Cell]]) -> str:
    """Write a table without a header as lists under its rows over all columns; empty without such rows.

    That is how a program's options are told: a group, and under it an option and its meaning in a row. It is
    empty, too, where other rows have more than two cells that say something.
    """
    width = max((sum(max(across, 1) for _, _, across in row) for row in rows), default=0)
    if not any(over_all(row, width) and row[0][0] for row in rows):
        return ""
    groups: list[tuple[str, list[list[str]]]] = [("", [])]
    for row, cells in zip(rows, spread(rows), strict=True):
        said = [cell for cell in cells if cell]
        if len(said) > 2:
            return ""
        if said and over_all(row, width):
            groups.append((said[0], []))
        elif said:
            groups[-1][1].append([": ".join(said)])
    return "\n\n".join(part for group in groups for part in _group(*group) if part)


def _group(head: str, entries: Sequence[Sequence[str]]) -> tuple[str, str]:
    leads = entries and head.rstrip("*_`")[-1:].isalnum()
    return f"{head}:" if leads else head, bullets(entries)


def item(blocks: Sequence[str], marker: str) -> str:
    """Write blocks as one list item, the second and following ones indented under the first."""
    pad = " " * len(marker)
    text = "\n\n".join(block for block in blocks if block.strip())
    # An item's nested list hangs directly under its first line; anything else needs the blank line.
    text = re.sub(r"\A([^\n]+)\n\n(?=(?:[-*+]|\d+[.)]) )", r"\1\n", text)
    lines = text.split("\n")
    return "\n".join([marker + lines[0], *((pad + line) if line else "" for line in lines[1:])])


def bullets(items: Sequence[Sequence[str]], start: int | None = None) -> str:
    """Write a list, numbered from `start` where that is given; an item that begins with one is no item."""
    told = [said for entry in items if (said := [block for block in entry if block.strip()])]
    written = [
        _raised(blocks)
        if start is None and blocks[0].startswith("- ")
        else item(blocks, "- " if start is None else f"{start + position}. ")
        for position, blocks in enumerate(told)
    ]
    loose = any("\n\n" in entry for entry in written)
    return ("\n\n" if loose else "\n").join(written)


def _raised(blocks: Sequence[str]) -> str:
    """Write the list that an item begins with in its place; what follows goes with the last item of it."""
    below = ("\n".join(f"  {line}" if line else "" for line in block.split("\n")) for block in blocks[1:])
    return "\n\n".join([blocks[0], *below])


def labelled(label: str, blocks: Sequence[str]) -> str:
    """Put a label before a body: on its first line where that is prose, above it otherwise."""
    body = "\n\n".join(block for block in blocks if block.strip())
    if not body:
        return label
    first = body.split("\n", 1)[0]
    prose = not re.match(r"\s*(```|\||[-*+] |\d+[.)] )", first)
    return f"{label} {body}" if prose else f"{label}\n\n{body}"


_ALONE, _ENDS = r"(?<![\w*`\\/<>{}$.)\]#-])", r"(?![\w*`/<>{}-])"
"""What stands beside a name that is no part of a path, a pattern or a longer name."""
# a word with a capital is a note under a table or a print that was not closed: "*Only with a lid"
_STARRED = re.compile(rf"{_ALONE}\*{{1,2}}(?=[A-Za-z_])(?![A-Z][a-z]{{2}})\w++(?!\.\w){_ENDS}")
_UNDERSCORED = re.compile(
    rf"{_ALONE}(?:[A-Za-z]\w{{0,60}}+\.){{0,6}}+(_{{1,2}})(?=[A-Za-z])\w{{1,60}}(?<=[A-Za-z\d])\1"
    rf"(?:\.\w{{1,60}}){{0,6}}(?:\(\))?{_ENDS}"
)
_STRESSED = re.compile(rf"{_ALONE}_([A-Za-z]{{2,40}})_(?!\.\w){_ENDS}")
"""A word between underscores: no markup in reStructuredText, but what somebody took for it."""


def starred(text: str) -> str:
    """Write names of arguments as code: *args, **options."""
    return _STARRED.sub(r"`\g<0>`", text) if "*" in text else text


def as_code(text: str) -> str:
    """Write names of arguments, and names between underscores, as code; the text has no markup of its own.

    One word between two underscores is emphasis.
    """
    text = starred(text)
    return _UNDERSCORED.sub(r"`\g<0>`", _STRESSED.sub(r"*\1*", text)) if "_" in text else text
