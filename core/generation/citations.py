"""Keep only true citations in an answer, and only the evidence's own links."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag

from core.domain import Citation, Evidence, numbered
from core.generation.quotes.titles import headings_of
from core.text.invisible import visible
from core.text.markup import code, unlinked
from core.text.markup import settled as settled_code
from core.vocabulary import words_of

_LISTS = words_of("core.generation.checked")
_CALLED, _ZH = _LISTS["evidence"], _LISTS["evidence_zh"]
_WORDS = (
    rf"(?:(?:{_CALLED}|{_ZH}|refs?|references?|citations?|docs?|documents?|passages?|no\.|number|#)[\s:#]*)?"
)
_LIST = r"\d{1,2}(?:\s*(?:,|;|&|and|-|–|—)\s*(?:and\s+)?\^?" + _WORDS + r"\d{1,2})*"
# [1] [1, 3] [1-3] [^1] [[1]] \[1\] 【1】 【1†source】 [Source 1] (Source 1), and [1](where it would link to).
_ONE = (
    rf"(?:\\?\[{{1,2}}\s*\^?{_WORDS}{_LIST}\s*\\?\]{{1,2}}(?:\([^()\s]*\))?"
    rf"|【\s*{_WORDS}{_LIST}\s*(?:[†:][^】]{{0,300}}+)?】"
    rf"|\((?:sources?|evidence|references?|refs?)[\s:#]*\[?{_LIST}\]?\))"
)
# "(1)" at the end of a clause, "evidence 3", "Source: Evidence 1": citations of models that were told of [1].
_SAID = re.compile(
    r"(?<=[\w`\"'”*)\ue001])[ \t]?\((?P<bare>\d{1,2}(?:\s?[,;]\s?\d{1,2}){0,8})\)(?=[ \t]*(?:[.:;!?]|\n|\Z))"
    r"|\(?\b(?:(?:see|from|according\s{1,3}+to|as\s{1,3}+per|per|sources?\s{0,3}+:)\s{1,3}+){0,2}"
    rf"\b(?:{_CALLED})\s{{0,3}}+(?:no\.|number|#|:)?\s{{0,3}}+"
    r"(?P<said>\d{1,2}(?:\s{0,3}+(?:,|&|and|und|y|et)\s{0,3}+(?:evidence\s{1,3}+)?\d{1,2}){0,8})\b\)?,?"
    rf"|[ \t]?(?<!\[)[（(]?(?:{_ZH})\s{{0,3}}+(?P<named>\d{{1,2}}(?:\s?[、，,]\s?\d{{1,2}}){{0,8}})[）)]?",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"[ \t]?\((\d{1,2})\)(?=\[\d{1,2}\])|(?<=\d\])[ \t]?\((\d{1,2})\)(?=[ \t]*(?:[.:;!?\[]|\n|\Z))"
)
"""A citation beside one in the form that was asked for, which counts."""
# Names that nearly always hold several things, so that what stands in brackets behind them is a place.
_HOLDERS = frozenset(_LISTS["holders"].split())
_VALUES = re.compile(r"\[\d{1,2}(?:,\s?\d{1,2})+\]")
_BEFORE_VALUES = re.compile(
    rf"(?:[=\[{{+]|\w\(|\w\([^()\n]{{0,60}},|^,|\b(?:{_LISTS['before_values']}))\s?:?$", re.IGNORECASE
)
"""A bracket or comma of a call or a list (`f([1, 2])`); "it is on ([1, 2])" and "on, [1, 2]" cite."""
# Begins at the first of several blanks only, or long runs of them would take quadratic time.
_CITED = re.compile(
    rf"(?<![ \t\u00a0])(?P<space>[ \t\u00a0]*){_ONE}(?:[ \t]*(?:,[ \t]*)?{_ONE})*", re.IGNORECASE
)
_NUMBER = re.compile(r"(\d{1,2})(?:\s*[-–—]\s*\^?(\d{1,2}))?")
_TARGET = re.compile(r"\]\([^()\s]*\)")
_DEFINITION = re.compile(r"^[ \t]{0,3}\[\^?[^\]\n]{1,60}\]:[ \t]*\S.*(?:\n|\Z)", re.MULTILINE)
_SOURCES = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+)?[*_]{0,2}"
    r"(?:sources?|references?|citations?|links?|further reading|see also|quellen|fuentes)"
    r"[*_]{0,2}:?[*_]{0,2}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SOURCE_LINE = re.compile(
    r"^[ \t]*\*{0,2}(?:sources?|references?|citations?|quellen|fuentes)\*{0,2}:?\*{0,2}"
    r"(?:[ \t]{1,3}+(?:\[\d{1,2}\][ \t]{0,3}+)?\[[^\]\n]{1,200}+\]\([^()\s]{0,400}+\)[,;]?){1,20}[ \t]*\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""The list that stands under an answer in the thread, as a model says it again: with links, in one line."""
_ENTRY = re.compile(r"[ \t]*(?:[-*+]|\d+[.)]|\\?\[|【|https?:|$)")
_MARKDOWN_LINK = re.compile(
    r"!?\[((?:[^\[\]]++|\[[^\[\]]*\])*+)\]"
    r"\(\s*+<?([^\s()<>]*+(?:\([^\s()]*+\)[^\s()<>]*+)*+)>?[^()\n]*+\)"
)
_REFERENCE_LINK = re.compile(r"!?\[([^\[\]\n]{2,}?)\]\[[^\[\]\n]*\]")
_ANGLE = re.compile(
    r"<((?:https?|ftp|mailto|file|javascript|data|slack|discord)[:][^<>\s|]*)(?:\|([^<>]*))?>", re.IGNORECASE
)
_TAG_LINK = re.compile(r"</?a\b[^>]{0,1000}+>", re.IGNORECASE)
_BARE = re.compile(r"(?:(?:https?|ftp)://|(?<![\w@/])www\.)[^\s<>\"'`\])}|]+", re.IGNORECASE)
# Slack links what looks like a host without any scheme. Names of code have dots, too: so only under domains
# that hosts are usually in, or with a path behind.
_HOST = re.compile(
    r"(?<![\w@/.`\\-])(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}"
    r"(?:(?:com|net|org|edu|gov|info|biz|io|co|me|ru|cn|uk|de|eu|xyz|top|site|online|shop|link|live|example)"
    r"(?![\w(-]|\.\w)(?:/[^\s<>()\[\]`\ue000-\ue004]*)?|[^\W\d_]{2,24}/[^\s<>()\[\]`\ue000-\ue004]+)",
    re.IGNORECASE,
)
_KEPT = re.compile("\ue003(\\d+)\ue004")
_GONE = "\ue002"
_HOLE = re.compile(
    rf"^{_GONE}[ \t]*"
    rf"|(?<![ \t])[ \t]*\((?:see|at|via|from)?[ \t:,]*{_GONE}[ \t]*\)"
    rf"|(?<![ \t])[ \t]*(?:\b(?:at|via|from|on|or)[ \t]+)?{_GONE}",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """An answer whose every citation and link is the evidence's own; citations in order of first use."""

    text: str
    citations: tuple[Citation, ...] = ()
    repeats: bool = False
    """Whether the model wrote nothing but what people found wrong before."""


def citation(evidence: Evidence, number: int) -> Citation:
    """Return the citation of a piece of evidence under a number."""
    chunk = evidence.chunk
    title = headings_of(chunk)
    # what people said is no page, and cannot change under an answer
    return Citation(number, title, chunk.url, chunk.release, chunk.path, chunk.hash if chunk.path else "")


def clean(text: str, evidence: Sequence[Evidence]) -> Cleaned:
    """Keep the citations and links that are the evidence's; renumber them; leave code alone.

    `[1, 3]`, `[1][3]`, `[1-3]`, `[^1]`, `【1】`, `[Source 1]` become `[1]` or `[1][2]`; pieces of one section
    have one number. Links that are not the evidence's own lose their target; a bare address that the evidence
    itself writes becomes code.
    """
    known = {item.number: item for item in evidence}
    links, names = _Links(evidence), _indexed(evidence)
    order: dict[int, Citation] = {}
    text = settled_code(_without_sources(visible(text).strip()))

    def renumbered(match: re.Match[str]) -> str:
        numbers = [n for n in _numbers(match.group()) if n in known]
        for n in numbers:
            if n not in order:
                order[n] = numbered([citation(known[n], 0)], order.values())[0]
        marks = "".join(f"[{number}]" for number in dict.fromkeys(order[n].number for n in numbers))
        return (match.group("space") + marks) if marks else ""

    def prose(part: str) -> str:
        return links.clean(_changed(_in_brackets(_DEFINITION.sub("", part), known), renumbered, names))

    cleaned = around_code(text, prose).strip()
    return Cleaned(cleaned, tuple(order.values()))


def uncited(text: str) -> str:
    """Remove every citation mark, as for a text that is read apart from its evidence."""
    return around_code(text, lambda part: _changed(part, lambda match: "", _HOLDERS)).strip()


def following(
    text: str, citations: Sequence[Citation], before: Sequence[Citation]
) -> tuple[str, tuple[Citation, ...]]:
    """Number a cleaned text's citations after those of what stands before it; return it with all of them."""
    anew = numbered(citations, before)
    numbers = {was.number: [now.number] for was, now in zip(citations, anew, strict=True)}
    return remarked(text, numbers), (*before, *(one for one in anew if one not in before))


def remarked(text: str, numbers: Mapping[int, Sequence[int]]) -> str:
    """Return a cleaned text with the marks of other numbers, of one or several for each; others are left."""

    def other(match: re.Match[str]) -> str:
        told = [own for number in _numbers(match.group()) for own in numbers.get(number, [number])]
        return match.group("space") + "".join(f"[{number}]" for number in dict.fromkeys(told))

    return around_code(text, lambda part: _changed(part, other, _HOLDERS))


def bracketed(text: str, evidence: Sequence[Evidence]) -> str:
    """Put citations in words or parentheses into brackets, as `clean` does, and leave the rest as it is."""
    known = {item.number: item for item in evidence}
    return around_code(text, lambda part: _in_brackets(part, known))


def _in_brackets(text: str, known: Mapping[int, Evidence]) -> str:
    """Put citations in words or parentheses into brackets.

    Where a text has citations in brackets, those in parentheses count only if there are several.
    """
    text = _BESIDE.sub(lambda one: "" if int(one[1] or one[2]) in known else one[0], text)
    others = list(_SAID.finditer(text))
    is_bracketed = _CITED.search(text) is not None and len(others) < 2

    def written(match: re.Match[str]) -> str:
        numbers = [n for n in _numbers(match["bare"] or match["said"] or match["named"]) if n in known]
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.end()]
        if match["bare"] and (is_bracketed or not numbers or _CITED.search(line)):
            return match.group()
        lead = " " if match["bare"] or match["named"] else ""
        return lead + "".join(f"[{n}]" for n in numbers) if numbers else _GONE

    changed = _SAID.sub(written, text)
    if changed == text:
        return text
    changed = re.sub(rf"(?<![ \t])[ \t]*{_GONE}", "", changed)
    # what only led to a source is left without it
    return re.sub(r"(?im)^[ \t]*(?:\*\*)?sources?(?:\*\*)?\s?:[ \t]*(?=\[|$)", "", changed)


def _indexed(evidence: Iterable[Evidence]) -> frozenset[str]:
    """Return the names that the evidence itself writes with brackets behind them."""
    text = "\n".join(item.chunk.text for item in evidence)
    return _HOLDERS | frozenset(re.findall(r"\b([A-Za-z_]\w*)\[", text))


def _changed(text: str, change: Callable[[re.Match[str]], str], names: Collection[str]) -> str:
    """Change citations, but for brackets that are none: a place (`items[0]`), a list that is a value."""

    def changed(match: re.Match[str]) -> str:
        value = _is_value(match)
        if not value and not _is_place(match, names):
            return change(match)
        place = match[0].index("]") + 1
        rest = match[0][place:]
        return match[0][:place] + (rest if rest[:1] == "[" and not value else _CITED.sub(changed, rest))

    return _CITED.sub(changed, text)


def _is_value(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 80) : match.start()].rstrip()
    value = _VALUES.match(match[0].lstrip())
    return value is not None and bool(_BEFORE_VALUES.search(before) or 0 in _numbers(value[0]))


def _is_place(match: re.Match[str], names: Collection[str]) -> bool:
    """Return True if brackets stand right behind a name, as in `items[0]`: a place in it, no citation."""
    if match["space"] or not match.group().startswith("["):
        return False
    before = match.string[max(0, match.start() - 80) : match.start()]
    name = re.search(r"(?<![\w.@:/-])[A-Za-z_][\w.]*$", before)
    if name is None or name[0].endswith(".") or _HOST.fullmatch(name[0]):
        return False
    last = name[0].rpartition(".")[2]
    like_code = "." in name[0] or "_" in last or re.search(r"\d|[a-z][A-Z]", last)
    return bool(like_code) or last in names or 0 in _numbers(match.group())


def _without_sources(text: str) -> str:
    """Leave out a list of sources at the end: the reader gets a true one."""
    text = _SOURCE_LINE.sub("", text).rstrip()
    for match in reversed(list(_SOURCES.finditer(text))):
        if all(_ENTRY.match(line) for line in text[match.end() :].strip("\n").split("\n")):
            return text[: match.start()].rstrip()
        break
    return text


def _numbers(text: str) -> list[int]:
    found: list[int] = []
    for first, last in _NUMBER.findall(_TARGET.sub("]", re.sub(r"[†:][^】\]]{0,300}+(?=】)", "", text))):
        start, end = int(first), int(last or first)
        found += range(start, end + 1) if start <= end <= start + 20 else [start, end]
    return found


def around_code(text: str, change: Callable[[str], str]) -> str:
    """Change a text as one, with a sign in place of each code: `outside_code` changes part by part."""
    text = re.sub("[\ue000-\ue004]", "", text)
    held, parts, done = list[str](), list[str](), 0
    for start, end in code(text):
        parts += [text[done:start], f"\ue000{len(held)}\ue001"]
        held.append(text[start:end])
        done = end
    return re.sub("\ue000(\\d+)\ue001", lambda m: held[int(m[1])], change("".join([*parts, text[done:]])))


class _Links:
    """Which addresses are the evidence's own: its pages, and what its text says."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self._pages: set[str] = set()
        self._said: list[str] = []
        self._kept: list[str] = []
        for item in evidence:
            if item.chunk.url:
                self._pages |= {_plain(item.chunk.url), _plain(urldefrag(item.chunk.url).url)}
            self._said.append(item.chunk.text)

    def clean(self, text: str) -> str:
        if "](" in text:
            text = _MARKDOWN_LINK.sub(self._markdown, text)
        if "][" in text:
            text = _REFERENCE_LINK.sub(lambda m: m.group() if m.group(1).isdigit() else m.group(1), text)
        # whatever form of a link is not known here is none afterwards
        return _KEPT.sub(lambda m: self._kept[int(m.group(1))], unlinked(self._addresses(text)))

    def _addresses(self, text: str) -> str:
        if "<" in text:
            text = _TAG_LINK.sub("", _ANGLE.sub(self._angle, text))
        if "://" in text or "www." in text.lower():
            text = _BARE.sub(self._bare, text)
        text = _HOLE.sub("", text) if _GONE in text else text
        return _HOST.sub(self._host, text)

    def _own(self, url: str) -> bool:
        return bool(url) and _plain(url) in self._pages

    def _markdown(self, match: re.Match[str]) -> str:
        text, url = match.groups()
        if not self._own(url) or match.group().startswith("!"):
            return text
        label = unlinked(self._addresses(text))
        self._kept.append(f"[{label}]({url})" if label.strip() else f"<{url}>")
        return f"\ue003{len(self._kept) - 1}\ue004"

    def _angle(self, match: re.Match[str]) -> str:
        url, text = match.groups()
        return f"<{url}>" if self._own(url) else (text or self._said_or_nothing(url))

    def _host(self, match: re.Match[str]) -> str:
        """Show a host that the documentation does not name as code, so that no platform links it."""
        name = match.group().rstrip(".,;:!?*_")
        if any(name.lower() in text.lower() for text in (*self._said, *self._pages)):
            return match.group()
        return f"`{name}`{match.group()[len(name) :]}"

    def _bare(self, match: re.Match[str]) -> str:
        url = match.group()
        rest = url[len(url.rstrip(".,;:!?*_")) :]
        url = url[: len(url) - len(rest)]
        before = match.string[max(0, match.start() - 2) : match.start()]
        if self._own(url) and (before.endswith(("(", "<", "[")) or not before.endswith("`")):
            return match.group()
        return self._said_or_nothing(url) + rest

    def _said_or_nothing(self, url: str) -> str:
        """Keep an address that the documentation itself writes, but as code, which nobody can click."""
        return f"`{url}`" if len(url) > 10 and any(url in text for text in self._said) else _GONE


def _plain(url: str) -> str:
    return url.strip().removesuffix("/").lower().replace("http://", "https://", 1)
