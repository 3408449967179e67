"""Markdown to Slack's own notation and back.

Slack's `text` is neither Markdown nor HTML: three characters are escaped, links stand in angle
brackets, emphasis works at word boundaries only. Whatever looks like a mention in an answer is
taken apart, so that nothing the bot says can notify anybody.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from core.text.markup import code_spans
from core.text.words import closes_fence

GAP = "\u200b"
"""Zero-width space: breaks a mention, or gives emphasis the boundary that Slack wants."""

_FENCE = re.compile(r"^(?P<indent>\s*)(?P<mark>`{3,}+|~{3,}+)[^`]*$")
_RULE = re.compile(r"^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]++(?P<text>(?:[^ \t\n]++|[ \t]++(?!#*[ \t]*$))*+)")
_BULLET = re.compile(r"^(?P<indent>\s*)[-*+][ \t]+(?:\[(?P<task>[ xX])\][ \t]+)?(?P<text>.*)$")
_QUOTE = re.compile(r"^\s{0,3}>(?:[ \t]*>)*[ \t]?(?P<text>.*)$")
_TABLE_RULE = re.compile(r"^\s*+(?:\|\s*+)?:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+(?:\|\s*+)?$")
_CELL = re.compile(r"(?<!\\)\|")
_LABEL = r"(?:[^\[\]\\`]++|\\.|`[^`]*`|\[[^\[\]]*\]){0,100}+"


def _run(mark: str) -> str:
    """Return what stands between two marks of emphasis: code whole, and few of the same marks."""
    return rf"(?:[^`{mark}]++|`[^`]*`|{re.escape(mark)}){{1,100}}?"


_INLINE = re.compile(
    r"\\(?P<literal>[!-/:-@\[-`{-~])"
    r"|(?:(?<!`)|(?<=\\`))(?P<ticks>`++)(?P<code>.{1,1000}?)(?<!`)(?P=ticks)(?!`)"
    rf"|!?\[(?P<label>{_LABEL})\]\([ \t]*+"
    r"(?:<(?P<angled>[^<>]*)>|(?P<target>(?:\([^\s()]*\)|[^\s()]++)*+))"
    r"(?:[ \t]++(?:\"[^\"]*\"|'[^']*'))?[ \t]*+\)"
    r"|<(?P<auto>(?:https?://|mailto:)[^\s<>|]+)>"
    r"|(?P<url>https?://(?:\([^\s()<>]*\)|[^\s()<>`*|])*[^\s()<>`*|.,;:!?'\"\]_~])"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});)"
    rf"|\*\*\*(?=\S)(?P<both>{_run('*')})(?<=\S)\*\*\*"
    rf"|\*\*(?=\S)(?P<bold>{_run('*')})(?<=\S)\*\*(?!\*)"
    rf"|(?<!\w)__(?=\S)(?!\w+__)(?P<strong>{_run('_')})(?<=\S)__(?!\w)"
    rf"|(?<![\w*])\*(?=[^\s*])(?P<italic>{_run('*')})(?<=[^\s*])\*(?![\w*])"
    rf"|(?<!\w)_(?=[^\s_])(?P<slanted>{_run('_')})(?<=[^\s_])_(?!\w)"
    rf"|~~(?=\S)(?P<strike>{_run('~')})(?<=\S)~~"
)
_PING = re.compile(
    r"(<|&lt;?|&#0*60;?|&#[xX]0*3[cC];?)(?=!(?:here|channel|everyone|group|subteam)|[@#][A-Z0-9])"
    r"|(?:@|&(?:#0*64|#[xX]0*40|commat);)(?=(?:here|channel|everyone)\b)",
    re.IGNORECASE,
)


_HOLDS = re.compile("[\ue000\ue001]")
_HELD = re.compile("\ue000(\\d+)\ue001")
_CALL = re.compile(r"<[^<>]*>|@(?=(?:here|channel|everyone)\b)", re.IGNORECASE)
"""A link, or what would call everybody once an escape or an entity before it is read."""


def escape(text: str) -> str:
    """Escape the three characters that Slack reads as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def defuse(markdown: str) -> str:
    """Take mentions apart with a zero-width space; for texts that Slack reads as Markdown."""
    return _PING.sub(lambda found: found[0] + GAP, markdown)


def to_mrkdwn(markdown: str) -> str:
    """Turn Markdown into Slack's mrkdwn; angle brackets are left around links only."""
    lines = _HOLDS.sub("", markdown.replace("\r\n", "\n")).split("\n")
    written: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if fence := _FENCE.match(line):
            block, at = _fenced(lines, at + 1, fence["mark"], len(fence["indent"]))
            written += ["```", *block, "```"]
        elif (
            "|" in line and at + 1 < len(lines) and "|" in lines[at + 1] and _TABLE_RULE.match(lines[at + 1])
        ):
            end = at + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            written += ["```", *_table([line, *lines[at + 2 : end]]), "```"]
            at = end
        else:
            written.append(_around_code(line))
            at += 1
    return "\n".join(written)


def _fenced(lines: list[str], at: int, mark: str, indent: int) -> tuple[list[str], int]:
    block = []
    while at < len(lines) and not closes_fence(lines[at], mark):
        line = lines[at]
        line = line[min(indent, len(line) - len(line.lstrip())) :]
        block.append(_quiet(escape(re.sub("``(?=`)", f"``{GAP}", line))))
        at += 1
    return block, at + 1


def _table(rows: list[str]) -> list[str]:
    cells = [[_plain(cell.strip()) for cell in _CELL.split(row.strip().strip("|"))] for row in rows]
    columns = max(len(row) for row in cells)
    widths = [max((len(row[i]) for row in cells if i < len(row)), default=0) for i in range(columns)]
    drawn = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)).rstrip() for row in cells]
    drawn.insert(1, "  ".join("─" * width for width in widths))
    return [_quiet(escape(line)) for line in drawn]


def _around_code(line: str) -> str:
    """Write a line with its code put aside: no mark of emphasis begins or ends inside of it."""
    held: list[str] = []
    parts, done = [], 0
    for start, end in code_spans(line, alike=True)[0]:
        parts += [line[done:start], f"\ue000{len(held)}\ue001"]
        words = _quiet(escape(line[start:end].strip("`").strip(" ").replace("`", "ˋ") or " "))
        held.append(words)
        done = end
    said = _line("".join([*parts, line[done:]]))
    said = _CALL.sub(lambda link: _HELD.sub(lambda at: held[int(at[1])].replace("|", "¦"), link[0]), said)
    return _HELD.sub(lambda at: f"`{held[int(at[1])]}`", said) if held else said


def _line(line: str) -> str:
    if _RULE.match(line):
        return "─" * 12
    if heading := _HEADING.match(line):
        text = _inline(heading["text"], bold=True)
        return f"*{text}*" if text.strip() else ""
    if bullet := _BULLET.match(line):
        sign = {None: "•", " ": "☐"}.get(bullet["task"], "☑")
        return f"{bullet['indent']}{sign} {_inline(bullet['text'])}"
    if quote := _QUOTE.match(line):
        return f"> {_inline(quote['text'])}"
    return _inline(line)


def _quiet(text: str) -> str:
    return re.sub(r"@(?=(?:here|channel|everyone)\b)", "@" + GAP, text, flags=re.IGNORECASE)


def _inline(text: str, bold: bool = False) -> str:
    written: list[str] = []
    start = 0
    for found in _INLINE.finditer(text):
        written.append(_quiet(escape(text[start : found.start()])))
        start = found.end()
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        written.append(_token(found, before, after, bold))
    written.append(_quiet(escape(text[start:])))
    return _CALL.sub(lambda found: found[0] + (GAP if found[0] == "@" else ""), "".join(written))


def _token(found: re.Match[str], before: str, after: str, bold: bool) -> str:
    kind, inner = found.lastgroup or "", found[found.lastgroup or 0]
    match kind:
        case "literal":
            return escape(inner)
        case "entity":
            return _quiet(escape(html.unescape(inner)))
        case "code":
            return "`" + _quiet(escape(inner.strip(" ").replace("`", "ˋ") or " ")) + "`"
        case "label" | "angled" | "target":
            return _link(found["angled"] if found["angled"] is not None else found["target"], found["label"])
        case "auto" | "url":
            return _link(inner, "")
    marks = {"both": "*_", "bold": "*", "strong": "*", "italic": "_", "slanted": "_", "strike": "~"}[kind]
    if bold:
        marks = marks.replace("*", "")
    text = _inline(inner, bold or "*" in marks)
    if not marks:
        return text
    left = GAP if before and (before.isalnum() or before == "_") else ""
    right = GAP if after and (after.isalnum() or after == "_") else ""
    return f"{left}{marks}{text}{marks[::-1]}{right}"


def _link(url: str, label: str) -> str:
    name = _quiet(escape(_plain(label))).replace("|", "¦")
    if not re.match(r"https?://|mailto:", url, re.IGNORECASE):
        return name or _quiet(escape(url))
    target = escape(re.sub(r"[\s|<>]", lambda c: f"%{ord(c[0]):02X}", html.unescape(url)))
    return f"<{target}|{name}>" if name and name != target else f"<{target}>"


def _plain(text: str) -> str:
    """Strip inline marks from Markdown, keeping what is read."""

    def words(found: re.Match[str]) -> str:
        if found["label"] is not None:
            return _plain(found["label"])
        if found["entity"]:
            return html.unescape(found["entity"])
        inner = found[found.lastgroup or 0]
        return inner if found.lastgroup in ("literal", "code", "auto", "url") else _plain(inner)

    return _INLINE.sub(words, text)


# --- from Slack -------------------------------------------------------------------------------

_CODE = re.compile(r"```(?P<block>.*?)```|`(?P<span>[^`\n]+)`", re.DOTALL)
_ENTITY = re.compile(r"<(?P<inside>[^<>\n]+)>")
_BOLD = re.compile(r"(?<![\w*])\*(?=[^\s*])(?P<text>[^*\n]+?)(?<=[^\s*])\*(?![\w*])")
_STRIKE = re.compile(r"(?<![\w~])~(?=[^\s~])(?P<text>[^~\n]+?)(?<=[^\s~])~(?![\w~])")
_DOT = re.compile(r"^([^\S\n]*)[•◦▪] ", re.MULTILINE)


def from_slack(text: str) -> str:
    """Turn the text of a Slack message into Markdown; mentions become `@name` or `@U1`."""
    written: list[str] = []
    start = 0
    text = text.replace("\r\n", "\n").replace(GAP, "")
    for code in _CODE.finditer(text):
        written.append(_prose(text[start : code.start()]))
        if code["block"] is not None:
            lead = "" if not "".join(written).strip(" ") or written[-1].endswith("\n") else "\n"
            tail = "" if text[code.end() : code.end() + 1] in ("", "\n") else "\n"
            written.append(f"{lead}```\n{_entities(code['block'], _bare).strip(chr(10))}\n```{tail}")
        else:
            written.append(f"`{_entities(code['span'], _bare)}`")
        start = code.end()
    written.append(_prose(text[start:]))
    return "".join(written).strip()


def _prose(text: str) -> str:
    text = _DOT.sub(r"\1- ", text)
    text = _STRIKE.sub(r"~~\g<text>~~", _BOLD.sub(r"**\g<text>**", text))
    return _entities(text, _markdown_link)


def _entities(text: str, link: Callable[[str, str], str]) -> str:
    return unescaped(_ENTITY.sub(lambda found: _entity(found["inside"], link), text))


def _entity(inside: str, link: Callable[[str, str], str]) -> str:
    target, _, label = inside.partition("|")
    if not target:
        return label
    match target[0], target[1:]:
        case "@", user:
            return "@" + (label or user).removeprefix("@")
        case "#", channel:
            return "#" + (label or channel).removeprefix("#")
        case "!", special:
            name = special.partition("^")[0]
            return label or ("@" + name if name in ("here", "channel", "everyone") else "@" + special)
    return link(target, label)


def _bare(target: str, label: str) -> str:
    return label or target.removeprefix("mailto:")


def _markdown_link(target: str, label: str) -> str:
    address = re.sub(r"^(?:https?://|mailto:|tel:)", "", target)
    if not label:
        return target if "://" in target else address
    # Slack links what looks like a domain on its own: `app.run` must stay what was typed
    return label if label.rstrip("/") in (address.rstrip("/"), target.rstrip("/")) else f"[{label}]({target})"


def unescaped(text: str) -> str:
    """Take back what Slack escapes, and leave its angle brackets as they are."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
