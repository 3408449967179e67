"""The language of a block of code that names none, by how its lines look, and code that has no fences."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence

from core.text.markup import fences

LONGEST = 4_000
"""Characters of a block that are looked at."""
_PROMPT = re.compile(r"(?:\([\w.-]+\) )?(?:\$|%|PS [A-Z]:\\[^>]*>|[A-Z]:\\[^>]*>|>) ?\S")
_SHELL = re.compile(
    r"(?:sudo|pip3?|pipx|python3?|py|flask|uv|poetry|tox|git|cd|mkdir|export|set|source|curl|wget|docker|npm|npx"
    r"|yarn|apt(?:-get)?|brew|make|cargo|go|gunicorn|uwsgi|celery|pytest|conda|\.)\s+[\w./~-][^=(]*(?:=\S*)?"
)
_STRONG = re.compile(
    r"\s*(?:from [\w.]+ import \S|import [\w.]+(?:, ?[\w.]+)*(?: as \w+)?\s*$"
    r"|(?:async )?def \w+\(|class \w+[(:]|@[A-Za-z_][\w.]*(?:\(|\s*$)"
    r"|(?:if|elif|for|while|with|except|async for|async with)\b.*:\s*(?:#.*)?$"
    r"|(?:try|else|finally):\s*$|raise \w+|assert \w|yield\b|await \w|return\b(?!.*;\s*$)|print\()"
)
_WEAK = re.compile(
    r"\s*(?:[A-Za-z_][\w.]*(?:\[[^\]]*\])?(?:: ?[\w\[\], .|]+)? ?[-+]?= ?(?:[A-Za-z_][\w.]*\(|[\[({'\"rbf]"
    r"|True\b|False\b|None\b|\d|[A-Z_]\w*\b|[a-z_]\w*\.)|[A-Za-z_][\w.]*\(|[\])}]|['\"]|pass\s*$|\.\.\.\s*$|#)"
)
_TAG = re.compile(r"\s*<(?:!doctype|/?[a-z][\w-]*(?:\s[^<>]*)?/?>|!--)", re.IGNORECASE)
_JINJA = re.compile(r"\{%-?\s|\{\{\s*\w")
_JS = re.compile(r"\s*(?:const|let|var) \w+ =|\s*function\s*\w*\(|.*=>\s*[{(]|.*\);\s*$")
_SQL = re.compile(r"\s*(?:create table|select .+ from|insert into|drop table|alter table)\b", re.IGNORECASE)
_SECTION = re.compile(r"\[[\w.:\"' -]+\]\s*$")
_SETTING = re.compile(r"[\w.-]+\s*=\s*\S")
_KEY = re.compile(r"\s*(?:- )?[\w.-]+:(?:\s|$)")


def language_of(code: str) -> str:
    """Return the language that a block looks like, such as `python`; empty where none is clear."""
    lines = [line for line in code[:LONGEST].split("\n") if line.strip()]
    if not lines:
        return ""
    if lines[0].startswith("Traceback (most recent call last)"):
        return "pytb"
    if any(line.startswith(">>> ") for line in lines):
        return "pycon"
    first = next((line for line in lines if not line.startswith("#")), "")
    if _PROMPT.match(first) and not first.startswith("> <"):
        return "console"
    found = ((name, looks(lines)) for name, looks in _LOOKS)
    return next((name for name, is_like in found if is_like), "")


def labelled(markdown: str) -> str:
    """Return Markdown whose blocks of code say their language, where they name none and one is clear."""
    lines = markdown.split("\n")
    for fence in fences(lines):
        opening = lines[fence.first]
        if opening.rstrip().endswith(fence.opening["mark"]):
            body = "\n".join(lines[fence.first + 1 : fence.end])
            lines[fence.first] = opening.rstrip() + language_of(re.sub(r"(?m)^ {0,3}> ?", "", body))
    return "\n".join(lines)


def _is_diff(lines: list[str]) -> bool:
    return lines[0].startswith(("--- ", "diff ", "@@ ")) and any(line.startswith("+") for line in lines)


def _is_page(lines: list[str]) -> bool:
    return sum(bool(_TAG.match(line)) for line in lines) * 2 >= len(lines)


def _is_template(lines: list[str]) -> bool:
    return any(_JINJA.search(line) for line in lines) and not any(_STRONG.match(line) for line in lines)


def _is_json(lines: list[str]) -> bool:
    quoted = sum(bool(re.match(r'\s*"[^"]*"\s*:', line)) for line in lines)
    return lines[0].lstrip()[:1] in "{[" and lines[-1].rstrip()[-1:] in "}]" and quoted > 0


def _is_python(lines: list[str]) -> bool:
    strong = sum(bool(_STRONG.match(line)) for line in lines)
    alike = sum(bool(_STRONG.match(line) or _WEAK.match(line)) for line in lines)
    ends = sum(line.rstrip().endswith((";", "{")) and not _WEAK.match(line) for line in lines)
    calls = any("(" in line for line in lines)
    return not ends and (strong > 0 or (calls and alike * 2 > len(lines))) and alike * 3 >= len(lines)


def _is_shell(lines: list[str]) -> bool:
    said = [line for line in lines if not line.lstrip().startswith("#")]
    return bool(said) and all(_SHELL.match(line) for line in said)


def _is_settings(lines: list[str]) -> bool:
    said = [line for line in lines if not line.lstrip().startswith(("#", ";"))]
    sections = sum(bool(_SECTION.match(line)) for line in said)
    return sections > 0 and sections + sum(bool(_SETTING.match(line)) for line in said) == len(said)


def _is_yaml(lines: list[str]) -> bool:
    keys = sum(bool(_KEY.match(line)) for line in lines)
    return len(lines) > 1 and keys * 3 >= 2 * len(lines)


_LOOKS = (
    ("diff", _is_diff),
    ("sql", lambda lines: bool(_SQL.match(lines[0]))),
    ("jinja", lambda lines: _is_template(lines) and not _is_page(lines)),
    ("html", _is_page),
    ("json", _is_json),
    ("ini", _is_settings),
    ("bash", _is_shell),
    ("python", _is_python),
    ("javascript", lambda lines: any(_JS.match(line) for line in lines)),
    ("yaml", _is_yaml),
)
"""Languages in the order in which they are tried."""


# --- code without fences -----------------------------------------------------------------------

_BEGINS = re.compile(
    r"(?:from [\w.]+ import |import \w|(?:async )?(?:def|with|for) |class \w|@\w|await "
    r"|[\w.]{2,60} ?= ?\S|[\w.]{2,60}\()"
)
"""How the first line of code begins; what else is said of code begins otherwise."""
_MARKED = re.compile(r"(?<!\s)\s*+((?:\[\d{1,2}\]){1,9})[.:]?\s*+$")
_PARAGRAPHS = 12
"""Paragraphs that one piece of code goes over at most; ours."""
_TELLS = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.With, ast.AsyncWith,
    ast.For, ast.AsyncFor, ast.Assign, ast.Call, ast.Await,
)  # fmt: skip
"""What words that happen to be read as Python never are."""


def fenced(text: str) -> str:
    """Put fences around the lines of a text that only Python has, where there are two or more of them."""
    lines = text.split("\n")
    if not any(map(_BEGINS.match, lines)):
        return text
    within = {at for fence in fences(lines) for at in range(fence.first, fence.last)}
    runs = list(_runs(lines, within))
    written: list[str] = []
    done = 0
    for at, (first, last) in enumerate(runs):
        further = [end for _, end in _further(runs[at : at + _PARAGRAPHS], within)]
        for start in (n for n in range(first, last) if _BEGINS.match(lines[n])):
            ends = [*reversed(further), *range(last - 1, start + 1, -1)]
            end = next((end for end in ends if _is_whole(_unmarked(lines[start:end]))), 0)
            if start < done or not end:
                continue
            mark, code = _MARKED.search(lines[end - 1]), _unmarked(lines[start:end])
            written += [*lines[done:start], "", "```" + language_of("\n".join(code)), *code, "```", ""]
            written += [mark[1], ""] if mark else []
            done = end
    return "\n".join([*written, *lines[done:]]) if done else text


def _runs(lines: Sequence[str], within: set[int]) -> Iterator[tuple[int, int]]:
    """Yield where paragraphs outside of fences begin and end."""
    start = None
    for at, line in enumerate([*lines, ""]):
        is_inside = line.strip() and at not in within
        if is_inside and start is None:
            start = at
        elif not is_inside and start is not None:
            yield start, at
            start = None


def _further(runs: Sequence[tuple[int, int]], within: set[int]) -> Iterator[tuple[int, int]]:
    """Yield paragraphs as long as no block of code stands between them."""
    last = runs[0][0]
    for start, end in runs:
        if any(at in within for at in range(last, start)):
            return
        last = end
        yield start, end


def _unmarked(lines: Sequence[str]) -> list[str]:
    """Return lines of code without what cites behind the last, and without their common margin."""
    *before, last = textwrap.dedent("\n".join(lines)).split("\n")
    return [*before, _MARKED.sub("", last)]


def _is_whole(lines: Sequence[str]) -> bool:
    if sum(bool(line.strip()) for line in lines) < 2:
        return False
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(node, _TELLS) for node in ast.walk(tree))
