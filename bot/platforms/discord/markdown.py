"""Writes Markdown the way Discord shows it: it has no tables, deep headings, images or rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from bot.rendering.harmless import harmless
from bot.rendering.splitting import split
from core.text.markup import code_spans, unlinked
from core.text.words import closes_fence

LIMIT = 2000
"""UTF-16 units of one message; the API counts characters, clients count units, and units are never fewer."""

_FENCE = re.compile(r"([ \t>]*)(`{3,}+|~{3,}+)([^`]*)")
_RULE = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?")
_DEEP = re.compile(r"^([ \t>]*+)#{4,6}[ \t]++(.[^ \t#\n]*+(?:[ \t#]++[^ \t#\n]++)*+)[ \t#]*$")
_LINE = re.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_IMAGE = re.compile(r"!\[([^\]]{0,300}+)\]\(")
_LINK = re.compile(r"(\]\()(https?://[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)(?=\)|\s)")
_BARE = re.compile(r"(?<![<(\w])https?://(?:(?!\]\()[^\s<>])++(?!\]\()")
_PROMPT = re.compile(r"^[ \t]*+(?=>>>(?:\s|\Z))")
"""Stands before three angle brackets: with a space after them, all that follows them is a quotation here."""
_ENDS = ".,;:!?]}'\"*_"
_FOOTER = re.compile(r"(?:\A|(?<=\n\n))\*(?![*\s])([^*\n]+)\*\s*\Z")
"""The line under an answer that says which release it speaks for."""
_MARKS = re.compile(r"(\\[!-/:-@\[-`{-~])|`|\*\*|\[([^\]]{1,300}+)\]\([^)]{0,1000}+\)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_GAP = "\u200b"
_ACTS = re.compile(
    r"<(?=(?:@[!&]?|#)\d|/[^:<>\n]{1,100}:\d|a?:\w{1,40}:\d|t:-?\d|id:\w|sound:)"
    r"|@(?=(?:everyone|here)\b)",
    re.IGNORECASE,
)
"""What begins a mention, an emoji of a server, a command, a time or a place; none of it is Markdown."""
_WIDEST = 100
"""Columns up to which a table is set as one; a phone shows fewer, but scrolls in code."""


def units(text: str) -> int:
    """Count a text's UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def messages(markdown: str, called: str = "") -> list[str]:
    """Turn Markdown into the messages that show it on Discord, which takes none that is blank.

    `called` are mentions that stand above it and call people.
    """
    shown = for_discord(harmless(markdown))
    return split("\n".join(part for part in (called, shown) if part.strip()) or "…", LIMIT, units)


def for_discord(markdown: str) -> str:
    """Rewrite what Discord does not render; code is left as it is.

    What an answer says of itself in its last line is shown in small print.
    """
    spoils = markdown.count("||") > 1
    lines = _FOOTER.sub(r"-# \1", markdown.replace("\r\n", "\n")).split("\n")
    out: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if fence := _FENCE.fullmatch(line):
            lead, mark, info = fence.groups()
            last = next(
                (n for n in range(at, len(lines)) if closes_fence(lines[n], mark, " \t>")), len(lines)
            )
            # three of them end a block here, whatever began it
            body = re.sub("``(?=`)", f"``{_GAP}", _kept_in("\n".join(lines[at:last])))
            out += [f"{lead}```{info}", *(body.split("\n") if at < last else ())]
            out += [f"{lead}```"] if last < len(lines) else []
            at = last + 1
        elif "|" in line and at < len(lines) and "|" in lines[at] and _RULE.fullmatch(lines[at]):
            rows = [line]
            at += 1
            while at < len(lines) and "|" in lines[at]:
                rows.append(lines[at])
                at += 1
            out += _table([_cells(row) for row in rows], spoils)
        elif _LINE.fullmatch(line) and (not out or not out[-1].strip()):
            continue
        else:
            line = _PROMPT.sub(r"\g<0>\\", _DEEP.sub(r"\1**\2**", line))
            out.append(_quiet(_IMAGE.sub(lambda m: f"[{m[1] or 'image'}](", line), spoils))
    return "\n".join(out)


def _quiet(line: str, spoils: bool) -> str:
    """Take apart what Discord reads beside Markdown: mentions, spoilers, backticks inside of code."""
    parts, done = [], 0
    for start, end in [*code_spans(line, alike=True)[0], (len(line), len(line))]:
        prose = _ACTS.sub(lambda found: found[0] + _GAP, line[done:start])
        span = line[start:end]
        parts += [prose.replace("||", "|\\|") if spoils else prose, _one_mark(span) if span else ""]
        done = end
    return "".join(parts)


def _one_mark(span: str) -> str:
    marks = len(span) - len(span.lstrip("`"))
    words = _kept_in(span[marks:-marks])
    return f"`{words}`" if marks == 1 else f"`{words.strip().replace('`', 'ˋ')}`"


def _kept_in(code: str) -> str:
    """Take apart what in code would close a bracket before it: here links are found before code is."""
    if "](" not in code:
        return code
    depth = 0
    kept = []
    for sign, following in zip(code, [*code[1:], ""], strict=True):
        closes = sign == "]" and depth == 0
        depth += (sign == "[") - (sign == "]" and depth > 0)
        kept.append(sign + _GAP if closes and following == "(" else sign)
    return "".join(kept)


def without_previews(markdown: str) -> str:
    """Put links into angle brackets, which keeps Discord from showing what is behind them."""
    parts = re.split(r"(```.*?(?:```|\Z)|`[^`\n]+`)", markdown, flags=re.DOTALL)
    for index in range(0, len(parts), 2):
        parts[index] = _BARE.sub(_bracketed, _LINK.sub(r"\1<\2>", parts[index]))
    return "".join(parts)


def _bracketed(found: re.Match[str]) -> str:
    """Put a bare address into angle brackets, without what ends the sentence; brackets of its own stay in."""
    link = found[0]
    while link[-1] in _ENDS or (link[-1] == ")" and link.count(")") > link.count("(")):
        link = link[:-1]
    return f"<{link}>{found[0][len(link) :]}"


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _table(rows: Sequence[Sequence[str]], spoils: bool) -> list[str]:
    """Set a table in a fixed-width block, or as a list where it is too wide for one.

    Each item of a list names the columns of its cells: a long list goes on in the next message.
    """
    escaped = [[_MARKS.sub(lambda mark: mark[1] or mark[2] or "", cell) for cell in row] for row in rows]
    plain = [[_ESCAPE.sub(r"\1", cell) for cell in row] for row in escaped]
    count = max(map(len, plain))
    plain = [[*row, *[""] * (count - len(row))] for row in plain]
    widths = [max(map(_columns, column)) for column in zip(*plain, strict=True)]
    linked = any("](" in cell for row in rows for cell in row)
    if linked or sum(widths) + 3 * count > _WIDEST:
        names = [unlinked(name) for name in escaped[0]]
        head = " · ".join(filter(None, names))
        shown = [*([f"**{head}**"] if head else []), *(_item(names, row) for row in rows[1:])]
        return [_quiet(line, spoils) for line in shown]
    set_rows = [
        " | ".join(c + " " * (w - _columns(c)) for c, w in zip(r, widths, strict=True)).rstrip()
        for r in plain
    ]
    above = [set_rows[0], "-+-".join("-" * w for w in widths)] if any(plain[0]) else []
    body = [*above, *set_rows[1:]]
    return ["```", *_kept_in("\n".join(body).replace("`", "ˋ")).split("\n"), "```"]


def _item(header: Sequence[str], row: Sequence[str]) -> str:
    pairs = zip(header[1:], row[1:], strict=False)
    named = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell]
    label = f"**{row[0]}**" if row[0] else ""
    return "- " + ("; " if any(header) else ": ").join(filter(None, [label, *named]))


def _columns(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
