"""Markdown that every reader takes alike: where code is, and what outside of it could become a link.

Platforms read Markdown each in their own way, and a text that is cut may read otherwise in its parts. So a
stretch counts as code only where nobody can take it for anything else; whatever stands elsewhere and looks
like the target of a link, a definition of one, or an address in angle brackets, is escaped.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html.entities import html5

GAP = "[…]"
"""What stands for text that was left out; a bare ellipsis is often part of what a page says."""
Span = tuple[int, int]
FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
"""Blocks of code in what people type, where an open fence goes on to the end."""

_OPENER = re.compile(
    r"(?P<quote>(?: {0,3}>[ \t]?)*+)(?P<lead>[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+)"
    r"(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$"
)
_QUOTED = re.compile(r"(?: {0,3}>[ \t]?)++")
_ITEM = re.compile(r"( *+)(?:[-*+]|\d{1,9}[.)])(?:( ++)(?=\S)| *$)")
_LANGUAGE = re.compile(r"\s*([\w+#./:-]{1,30})(?=\s|$)")
_SIGN = re.compile(r"\\(?P<escaped>.)|(?P<run>`+)", re.DOTALL)

_TARGET = re.compile(r"\](?=\()")
_DEFINITION = re.compile(
    r"^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*+(\[(?:[^\[\]\\]|\\.)++\])(?=:)", re.DOTALL | re.MULTILINE
)
"""What begins a line and may define where a link leads; within a line ("see [1]:") nothing does."""
_ADDRESS = re.compile(
    r"(?<!\\)((?:\\\\)*+)<"
    r"(?=(?!https?:|mailto:)[a-z][a-z0-9+.-]{1,31}:[^\s<>]{0,2000}>|(?:https?:|mailto:)[^\s<>|]{0,2000}\|)",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"(?<!\\)((?:\\\\)*+)(&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|([A-Za-z]\w{1,30}));)", re.ASCII)
_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{}~\n]|\Z)")
"""A backslash that would escape something; before a bar it is the writer's own, in a table."""
_UNSAFE = re.compile(
    r"\([^\s()]*\)|[\s()\[\]<>\"'`\\|^{}\x00-\x1f]|@(?=(?:here|channel|everyone)\b)", re.IGNORECASE
)
_ROW = re.compile(r"[\s>]*\|")
_BEGINS = re.compile(r"\s*$| {0,3}(?:[-*+][ \t]+\S|#{1,6}[ \t])")
"""A line that goes on with no paragraph before it."""
_BORDER = re.compile(r"((?<!\\)\|)")


def literal(markdown: str) -> str:
    """Escape what in a document's text is no markup of ours, but would be read as some.

    The writers of formats mark code, emphasis, lists and tables, and write links as their text. So whatever
    else looks like a link, an entity or an escape outside of code is text that says just that.
    """
    return inert(_without_stray_fences(outside_code(markdown, _spelled_out)))


def inert(markdown: str) -> str:
    """Escape what outside of code could become a link; again, it changes nothing."""
    return outside_code(markdown, unlinked)


def unlinked(prose: str) -> str:
    """Escape what could become a link in a stretch of Markdown that holds no code."""
    prose = _DEFINITION.sub(r"\g<0>\\", _TARGET.sub(r"]\\", prose))
    return _ADDRESS.sub(r"\1\\<", prose)


def _spelled_out(prose: str) -> str:
    return _ENTITY.sub(_entity, _BACKSLASH.sub(r"\\\\", prose))


def _entity(found: re.Match[str]) -> str:
    known = not found[3] or f"{found[3]};" in html5
    return f"{found[1]}\\{found[2]}" if known else found[0]


def link(title: str, url: str) -> str:
    """Write a link whose text is a document's title; the title alone where there is no address."""
    plain = title.replace("]\\(", "](").replace("[", "(").replace("]", ")")
    plain = _BACKSLASH.sub(r"\\\\", plain).replace("`", "").replace("<", "\\<")
    return f"[{plain}]({address(url)})" if url else plain


def address(url: str) -> str:
    """Return an address that ends no link it stands in and calls nobody; a pair of parentheses may stay."""
    return _UNSAFE.sub(lambda found: found[0] if len(found[0]) > 1 else f"%{ord(found[0]):02X}", url)


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Change each stretch of Markdown that is no code."""
    parts, done, lead = [], 0, ""
    for start, end in code(markdown):
        parts += [change(lead + markdown[done:start])[len(lead) :], markdown[start:end]]
        done, lead = end, "\ue000"  # what follows code begins no line
    return "".join([*parts, change(lead + markdown[done:])[len(lead) :]])


def code(markdown: str, alike: bool = False) -> list[Span]:
    """Return what is code to every reader, in order: blocks of it, and spans within a line.

    `alike` says that all readers take the text alike already, as what `bot.rendering.harmless` wrote.
    """
    lines = markdown.split("\n")
    blocks = {fence.first: fence.last for fence in fences(lines)}
    found: list[Span] = []
    number = place = 0
    doubtful = False
    while number < len(lines):
        line = lines[number]
        if number in blocks:
            whole = "\n".join(lines[number : blocks[number]])
            found.append((place, place + len(whole)))
            number, doubtful = blocks[number], False
            place += len(whole) + 1
            continue
        # what is open at the end of a line may go on in the next one of its paragraph
        if alike:
            found += [(place + start, place + end) for start, end in code_spans(line, alike)[0]]
        elif not doubtful or _BEGINS.match(line):
            spans, doubtful = _spans_of(line)
            found += [(place + start, place + end) for start, end in spans]
        number += 1
        place += len(line) + 1
    return found


def _spans_of(line: str) -> tuple[list[Span], bool]:
    """Return the code of a line, and whether readers may differ on where the last of it ends."""
    # a table is cut into its cells before anybody looks for code
    found: list[Span] = []
    start = 0
    for cell in _BORDER.split(line) if _ROW.match(line) else [line]:
        spans, doubtful = code_spans(cell)
        found += [(start + first, start + last) for first, last in spans]
        if doubtful is not None:
            return found, True
        start += len(cell)
    return found, False


def code_spans(line: str, alike: bool = False) -> tuple[list[Span], int | None]:
    """Return the spans of a line that are code to every reader, and from where on readers may differ.

    They differ on what follows a run of backticks that nothing closes, or that stands in an address, and on
    a span that the border of a table's cell may cut.
    """
    found: list[Span] = []
    runs: dict[int, list[int]] = {}
    for run in re.finditer("`+", line):
        runs.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while opening := _SIGN.search(line, at):
        start, inner = opening.span()
        if opening["escaped"]:
            if opening["escaped"] == "`" and line[inner : inner + 1] == "`":
                return found, start
            at = inner
            continue
        closers = runs.get(inner - start, [])
        place = bisect_left(closers, inner)
        if place == len(closers) or (not alike and _in_address(line, at, start)):
            return found, start
        if not alike and _BORDER.search(line, inner, closers[place]):
            return found, start
        at = closers[place] + inner - start
        found.append((start, at))
    return found, None


def _in_address(line: str, after: int, place: int) -> bool:
    word = line[max(line.rfind(" ", after, place) + 1, after) : place]
    return "<" in word and ">" not in word[word.rfind("<") :]


# --- fences -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of code: its opening line, the line after its body, and whether a line closes it there."""

    first: int
    end: int
    closed: bool
    opening: re.Match[str]

    @property
    def last(self) -> int:
        """Return the line after the whole of it."""
        return self.end + self.closed


def fences(lines: Sequence[str]) -> Iterator[Fence]:
    """Find the blocks of code in lines; one that is never closed runs to the end.

    One that opens in a quote ends with the quote.
    """
    at = 0
    while at < len(lines):
        if opening := _OPENER.match(lines[at]):
            quoted, mark = bool(opening["quote"]), opening["mark"]
            end = at + 1
            while end < len(lines) and not closes(lines[end], mark, quoted):
                if quoted and not _QUOTED.match(lines[end]):
                    break
                end += 1
            closed = end < len(lines) and closes(lines[end], mark, quoted)
            yield (fence := Fence(at, end, closed, opening))
            at = fence.last
        else:
            at += 1


def _without_stray_fences(markdown: str) -> str:
    """Escape the marks of blocks of code that no writer wrote: theirs are closed, and full."""
    lines = markdown.split("\n")
    at = 0
    while at < len(lines):
        opening = _OPENER.match(lines[at])
        last = _written_until(lines, at, opening) if opening else at + 1
        if opening and not last:
            start, end = opening.span("mark")
            lines[at] = lines[at][:start] + "".join(f"\\{sign}" for sign in opening["mark"]) + lines[at][end:]
        at = last or at + 1
    return "\n".join(lines)


def _written_until(lines: Sequence[str], first: int, opening: re.Match[str]) -> int:
    """Return the line after a block of code as `fence` writes it, 0 where it is none."""
    mark = opening["mark"]
    for at in range(first + 1, len(lines)):
        if closes(lines[at], mark, False):
            full = any(line.strip() for line in lines[first + 1 : at])
            return at + 1 if full and " " not in opening["info"].strip() else 0
        inner = _OPENER.match(lines[at])
        if inner and inner["mark"].startswith(mark):
            return 0
    return 0


def closes(line: str, mark: str, quoted: bool = False) -> bool:
    """Return True if a line ends the block of code that a mark opened, also where that is `quoted`."""
    bare = line.strip(" \t>" if quoted else " \t")
    return len(bare) >= len(mark) and not bare.strip(mark[0])


def settled(markdown: str) -> str:
    """Return Markdown whose blocks of code stand on lines of their own, indented as every reader wants it.

    Those in quotes come out of them, and empty ones go; nothing inside of one can be taken for its end.
    """
    lines = markdown.replace("\r\n", "\n").split("\n")
    found = list(fences(lines))
    written: list[str] = []
    margins = _Margins()
    done = 0
    for fence in found:
        for line in lines[done : fence.first]:
            margins.see(line)
            written.append(line)
        written += _rewritten(fence, lines[fence.first + 1 : fence.end], margins, written[-1:])
        done = fence.last
    return "\n".join([*written, *lines[done:]]) if found else "\n".join(lines)


def _rewritten(fence: Fence, body: Sequence[str], margins: _Margins, before: Sequence[str]) -> Iterator[str]:
    opening = fence.opening
    lead, mark = opening["lead"].expandtabs(4), opening["mark"]
    width = len(lead)
    if marker := lead.rstrip():
        if before and before[0].strip():
            yield ""  # an item without words would underline what stands above it
        margins.see(f"{lead}x")
        yield marker
    if opening["quote"]:
        body = [_QUOTED.sub("", line, count=1) for line in body]
    if not any(line.strip() for line in body):
        return  # Discord reads on for the next mark, and takes what follows for the code
    margin = margins.of(width)
    for line in body:
        bare = line.strip(" \t>")
        if bare and not bare.strip(mark[0]) and len(bare) >= len(mark):
            mark = mark[0] * (len(bare) + 1)
    language = _LANGUAGE.match(opening["info"])
    yield f"{' ' * margin}{mark}{language[1] if language else ''}"
    for line in body:
        kept = line[min(len(line) - len(line.lstrip(" ")), width) :]
        yield f"{' ' * margin}{kept}" if kept.strip() else kept.strip(" ")
    if fence.closed or opening["quote"]:
        yield f"{' ' * margin}{mark}"


class _Margins:
    """Knows how far the text of the lists that are open is indented."""

    def __init__(self) -> None:
        self._open: list[int] = []
        self._blank = False

    def see(self, line: str) -> None:
        """Take note of a line outside of code."""
        line = line.expandtabs(4)
        if not line.strip():
            self._blank = True
            return
        if self._blank:
            self._close(len(line) - len(line.lstrip()))
        at = 0
        while item := _ITEM.match(line, at):
            self._close(item.end(1))
            fits = item[2] and len(item[2]) <= 4
            self._open.append(item.end() if fits else len(item[0].rstrip()) + item.start() + 1)
            at = item.end()
        self._blank = False

    def of(self, width: int) -> int:
        """Return how far a block of code that is indented so far may be, to be one for every reader."""
        self._close(width)
        self._blank = False
        base = self._open[-1] if self._open else 0
        return width if width - base <= 3 else base

    def _close(self, width: int) -> None:
        while self._open and self._open[-1] > width:
            self._open.pop()
