"""Markdown as it may be said: links that lead where they seem to, and nothing that platforms read apart.

What the bot says holds words of documents, of models and of people. Before a platform rewrites it into its
own notation, it is brought into a form that every reader of Markdown takes alike: links lead to pages or
mailboxes, one whose text is another address shows where it leads, pictures are links to themselves, code is
where it seems to be, and whatever merely looks like a link is text.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from core.text.invisible import visible
from core.text.markup import address, fences, settled, unlinked
from core.text.words import one_line

LONGEST_CODE = 300
"""Characters of code within a line that stay in one piece: a message is cut between pieces only."""

_SIGN = re.compile(
    r"\\[!-/:-@\[-`{-~]|(?P<ticks>`+)|<(?:https?://|mailto:)[^\s<>|]+>|(?P<image>!)?(?P<opens>\[)|(?P<closes>\])"
    r"|(?P<angle><)"
)
_TARGET = re.compile(
    r"\(\s{0,99}(?:<(?P<angled>(?:\\.|[^<>\\\n])*+)>"
    r"|(?P<bare>(?:\\.|\((?:\\.|[^\s()\\])*+\)|[^\s()<\\])(?:\\.|\((?:\\.|[^\s()\\])*+\)|[^\s()\\])*+)?)"
    r"(?:\s{1,99}(?:\"(?:\\.|[^\"\\])*+\"|'(?:\\.|[^'\\])*+'|\((?:\\.|[^()\\])*+\)))?\s{0,99}\)"
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SAFE = re.compile(r"https?://[^\s/]|mailto:[^\s]", re.IGNORECASE)
_SCHEME = re.compile(
    r"<(?!https?:|mailto:)(?:[a-z][a-z0-9+.-]{1,31}:[^\s<>]{0,2000}>|[^\s:<>]{1,200}:/)|<(?:https?:|mailto:)",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_ADDRESS = re.compile(r"(?:https?://|\bwww\.|[\w+-]@(?=[\w-]+\.))([^\s/?#<>()\[\]`\\]+)", re.IGNORECASE)
_HOST = re.compile(
    r"((?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?:com|net|org|edu|gov|info|biz|example))(?::\d+)?(?:[/?#]\S*)?",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s")
_MARKS = re.compile(r"[\s>*+.)\d-]*")
_QUOTED = re.compile(r"(?: {0,3}>[ \t]?)+")
_STARTS = re.compile(r"\s*(?:$|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|\||(?:[-*_][ \t]*){3,}$)")
_RULE = re.compile(r"[\s>]*+(?:\|\s*+)?:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+(?:\|\s*+)?$")
_BORDER = re.compile(r"((?<!\\)\|)")


def harmless(markdown: str) -> str:
    """Return Markdown that all platforms read alike, and in which no link hides where it leads."""
    lines = settled(visible(markdown)).split("\n")
    written: list[str] = []
    done = 0
    for fence in fences(lines):
        written += _prose(lines[done : fence.first])
        written += lines[fence.first : fence.last]
        done = fence.last
    return "\n".join([*written, *_prose(lines[done:])])


def _prose(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if "|" in lines[at] and at + 1 < len(lines) and "|" in lines[at + 1] and _RULE.match(lines[at + 1]):
            while at < len(lines) and "|" in lines[at]:
                yield "".join(
                    part if number % 2 else _written(part)
                    for number, part in enumerate(_BORDER.split(lines[at]))
                )
                at += 1
            continue
        end = at + 1
        if lines[at].strip() and not _QUOTED.match(lines[at]):
            while end < len(lines) and not _STARTS.match(lines[end]) and not _is_head(lines, end):
                end += 1
        yield _written("\n".join(lines[at:end]))
        at = end


def _is_head(lines: Sequence[str], at: int) -> bool:
    return "|" in lines[at] and at + 1 < len(lines) and bool(_RULE.match(lines[at + 1]))


def _written(text: str) -> str:
    """Rewrite a stretch of prose: a paragraph, a line, a cell."""
    out: list[str] = []
    opened: list[_Bracket] = []
    runs: defaultdict[int, deque[int]] = defaultdict(deque)
    for run in re.finditer("`+", text):
        runs[len(run[0])].append(run.start())
    at = coded = 0
    while found := _SIGN.search(text, at):
        out.append(text[at : found.start()])
        at = found.end()
        if ticks := found["ticks"]:
            closers = runs[len(ticks)]
            while closers and closers[0] < at:
                closers.popleft()
            if closers:
                # Discord takes code or an escape that follows an address at once for a part of it
                out.append(" " if "://" in _last_word(out, coded) else "")
                out.append(_code(text[at : closers[0]]))
                coded = len(out)
                at = closers[0] + len(ticks)
            else:
                out.append("\\`" * len(ticks))
        elif found["opens"]:
            opened.append(_Bracket(len(out), found.start(), bool(found["image"])))
            out.append(found[0])
        elif found["closes"]:
            at = _closed(text, at, out, opened)
        elif found["angle"] or found[0] == "\\<":
            escaped = found[0] == "\\<" or _SCHEME.match(text, found.start())
            parted = escaped and "://" in _last_word(out, coded)
            out.append(" \\<" if parted else "\\<" if escaped else "<")
        else:
            out.append(found[0].replace("`", "%60") if found[0][0] == "<" else found[0])
    for bracket in opened:  # what opens and is never closed could be closed by code, on Discord
        out[bracket.written] = "!\\[" if bracket.image else "\\["
    return "".join([*out, text[at:]])


def _last_word(out: Sequence[str], since: int) -> str:
    word = ""
    for at in range(len(out) - 1, since - 1, -1):
        word = out[at] + word
        if len(word) > 2048 or _SPACE.search(out[at]):
            break
    return _SPACE.split(word)[-1]


def _code(words: str) -> str:
    words = words.replace("\n", " ")
    if words.strip() and words[0] == words[-1] == " ":
        words = words[1:-1]
    pieces = [words[at : at + LONGEST_CODE] for at in range(0, len(words), LONGEST_CODE)] or [words]
    return " ".join(_span(piece) for piece in pieces)


def _span(words: str) -> str:
    if "`" not in words:
        return f"`{words}`"
    mark = "`" * (max(map(len, re.findall("`+", words))) + 1)
    return f"{mark} {words} {mark}"


# --- links ------------------------------------------------------------------------------------------


class _Bracket(NamedTuple):
    """An opening bracket: its place in what is written and in the text, what it opens, and whether it may."""

    written: int
    read: int
    image: bool
    holds_link: bool = False


def _closed(text: str, at: int, out: list[str], opened: list[_Bracket]) -> int:
    """Write what a closing bracket before `at` ends, and return where the text goes on."""
    following = text[at : at + 1]
    bracket = opened.pop() if opened else None
    may = bracket and following == "(" and not bracket.holds_link
    target = _TARGET.match(text, at) if may else None
    if bracket is None or target is None:
        defines = (
            bracket
            and following == ":"
            and _MARKS.fullmatch(text, text.rfind("\n", 0, bracket.read) + 1, bracket.read)
        )
        out.append("]\\" if following == "(" or defines else "]")
        return at
    label = one_line("".join(out[bracket.written + 1 :]))
    del out[bracket.written :]
    raw = target["bare"] if target["angled"] is None else target["angled"]
    url = _ENTITY.sub(lambda found: html.unescape(found[0]), _ESCAPED.sub(r"\1", raw or "")).strip()
    if bracket.image and any(not outer.image for outer in opened):
        out.append(label)
    elif not _SAFE.match(url):
        out.append(label or unlinked(url))
    else:
        if bracket.image and out and out[-1].endswith("!") and not out[-1].endswith("\\!"):
            out[-1] = f"{out[-1][:-1]}\\!"  # before a link it would make a picture of it
        said = label or ("image" if bracket.image else "")
        out.append(_link(said, url, target["angled"] is not None))
        opened[:] = [outer._replace(holds_link=True) for outer in opened]
    return target.end()


def _link(label: str, url: str, angled: bool) -> str:
    if not label or _misleads(label, url):
        return f"<{address(url)}>"
    label = re.sub(r"(?<!\\)<", r" \\<" if "://" in label else r"\\<", label)
    return f"[{label}](<{address(url)}>)" if angled else f"[{label}]({address(url)})"


def _misleads(label: str, url: str) -> bool:
    """Return True if a link's text is, or holds, another address than it leads to, or it leads nowhere."""
    try:
        parts = urlsplit(url)
    except ValueError:  # it is no address: https://[x]
        return True
    real = (parts.hostname or parts.path.rpartition("@")[2]).lower()
    said = [found[1].lower() for found in _ADDRESS.finditer(label)]
    plain = _ESCAPED.sub(r"\1", label).strip("*_~` ")
    if (alone := _HOST.fullmatch(plain)) and not said:
        said = [alone[1].lower()]
    return any(
        real != host and real != host.removeprefix("www.") and not real.endswith(f".{host}") for host in said
    )
