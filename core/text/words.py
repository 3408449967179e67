"""Words, identifiers, sentences and windows: how every part of Threadlore cuts text.

A tokenizer that splits `3.1`, `SECRET_KEY`, `flask.g` or `--debug` loses what release questions
turn on, so those stay whole (and are also found by their parts).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from core.domain import ContextChunk, content_hash
from core.vocabulary import SOFTWARE, words_of, writing_systems
from core.vocabulary.writing_systems import SPACED, apart, asked_forms, forms

TERMS_VERSION = "4"
"""Raised when `index_terms` changes: word indexes of other versions are rebuilt."""

_WORDS = words_of(__package__)
STOP_WORDS = frozenset(_WORDS["stop"].split())
COMMON_WORDS = frozenset(_WORDS["common"].split())
"""Words of questions that say nothing about their subject."""

_TOKEN = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*"  # --debug, -p
    r"|v?\d+(?:\.\w+)+"  # 3.1, v2.0.x
    r"|[A-Za-z_]\w*(?:(?:\.|::|/)[A-Za-z_]\w*)+(?:\(\))?"  # flask.g, a::b, docs/api
    r"|[A-Za-z]\w*(?:-[A-Za-z]\w*)+"  # flask-login
    r"|\w+(?:['’]\w+)?"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_JOINT = re.compile(r"[.:/]+")
_DOTTED = re.compile(r"(?<!\w)[A-Za-z_]\w*+(?:(?:\.|::|/)[A-Za-z_]\w*+)+")
_VERSION = re.compile(r"v\d")
_CONTRACTED = re.compile(r"^(?:wo|sha)n['’]t$|(?:(?<!ca)n)?['’]t$|['’](?:d|ll|m|re|s|ve)$", re.IGNORECASE)
"""What a word is contracted with: `n't`, `'s`; all of what is left of none."""
_SUFFIXES = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "ly", "s")


RULED = 4_000
"""Characters of a text that rules look at, on every platform.

It is the longest message of Discord, for its subscribers; others may write 2,000. Slack takes 40,000, but
what follows is a log or a file, which the model alone reads.
"""
_LONGEST_WORD = 200


def ruled(text: str) -> str:
    """Return the beginning of a text that rules look at, without a word that is cut in two."""
    if len(text) <= RULED:
        return text
    begin, *rest = text[: RULED + 1].rsplit(None, 1)
    return begin if rest and RULED - len(begin) <= _LONGEST_WORD else text[:RULED]


def last_of(name: str) -> str:
    """Return the name that is called, without what it belongs to: `run` of `app.run()`."""
    return re.split(r"\.|::|->", name.removesuffix("()"))[-1]


def one_line(text: str) -> str:
    """Put a text on one line, with one space between words."""
    return " ".join(text.split())


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text on one line, `most` characters with the mark that more follows."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def cut_at_word(text: str, most: int) -> str:
    """Return at most so many characters of a text, cut between words, with the mark that more follows."""
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def storable(text: str) -> str:
    """Return a text without what JSON may hold but no database takes: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def words(text: str) -> list[str]:
    """Split text to lower-case tokens in order, identifiers, flags and versions whole."""
    return [token.lower() for token in _TOKEN.findall(text)]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut an English ending from a plain word, so that `configures` meets `configuring`.

    The name of a piece of software, a format or a protocol has no ending: `cors` is no plural of `core`.
    Accents are left out.
    """
    if not word.isascii():
        word = forms(word)[0]
    if len(word) < 4 or not word.isalpha():
        return word
    one = word.removesuffix("s")
    if word in SOFTWARE:
        return one if SOFTWARE.get(one) == SOFTWARE[word] else word
    if one in SOFTWARE:
        return one
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            root = word[: -len(suffix)]
            if suffix in ("ies", "ied"):
                return root + "i"
            if suffix in ("s", "es") and word.endswith("ss"):
                return word
            if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
                root = root[:-1]
            return root[:-1] if root.endswith("e") else root
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") else word


def index_terms(text: str) -> list[str]:
    """Return the terms under which text is found: stems, whole identifiers, and their parts."""
    return _terms(text, forms)


def _terms(text: str, of: Callable[[str], Iterable[str]]) -> list[str]:
    terms: list[str] = []
    for token in _TOKEN.findall(apart(text)):
        lower = token.lower().removesuffix("()")
        if token.isalpha():
            terms += _stems(lower, of)
            if token[1:] != token[1:].lower() and not token.isupper():  # CamelCase
                terms += [stem(part.lower()) for part in _PART.findall(token)]
            continue
        terms.append(lower)
        if lower[0].isdigit() or _VERSION.match(lower):
            continue
        names = _JOINT.split(lower)
        if len(names) > 1:  # config.from_file is found as from_file too
            terms += [name for name in names if "_" in name]
        terms += [stem(part.lower()) for part in _PART.findall(token) if len(part) > 1]
    return terms


def _stems(word: str, of: Callable[[str], Iterable[str]] = forms) -> tuple[str, ...]:
    return (stem(word),) if word.isascii() else tuple(map(stem, of(word)))


def parts_indexed(name: str) -> list[str]:
    """Return index terms of every text that has a name as a whole word, whatever it belongs to there.

    `flask.JSONEncoder` stands under json and encod, not under jsonencod. None for a name of single letters or
    digits (`k8s`), or one that has others than those of English. What nobody writes is left out: a name right
    behind a version's dot (`v2.api_key`), or with 's.
    """
    if not name.isascii():
        return []
    pieces = _JOINT.split(name.removesuffix("()"))
    whole = [piece.lower() for piece in pieces if "_" in piece.strip("_") and "-" not in piece]
    parts = (part for piece in pieces for part in _PART.findall(piece) if len(part) > 1)
    return list(dict.fromkeys([*whole, *(stem(part.lower()) for part in parts)]))


@lru_cache(maxsize=65_536)
def terms_inside(word: str) -> tuple[str, ...]:
    """Return the stems that stand in the index terms of every text with a word between other signs.

    A word with other signs than letters stands under itself, too, however it is capitalised.
    """
    found: list[str] = []
    for one in apart(word).split():
        found += _stems(one.lower()) if one.isalpha() else (one.casefold(),)
        found += [stem(part.lower()) for part in _PART.findall(one) if len(part) > 1 and part.isalpha()]
    return tuple(dict.fromkeys(found))


def unindexed(text: str) -> set[str]:
    """Return the pieces of dotted names in a text that no index term tells: `k8s` in `kettle.k8s`."""
    return {piece for name in set(_DOTTED.findall(text)) for piece in _untold(name)}


@lru_cache(maxsize=65_536)
def _untold(name: str) -> tuple[str, ...]:
    return tuple(piece for piece in _JOINT.split(name) if not parts_indexed(piece))


def query_terms(text: str) -> list[str]:
    """Return the index terms of a query without stop words, each once, in order.

    Of a contracted word the first one counts: `don't` and `what's` are stop words, `user's` is `user`.
    """
    quiet = not text.isupper()  # GET is a word of its own unless everything is shouted
    said = (_CONTRACTED.sub("", t) for t in _TOKEN.findall(writing_systems.asking_apart(text)))
    kept = [t for t in said if t and (t.lower() not in STOP_WORDS or (quiet and t.isupper() and len(t) > 1))]
    return list(dict.fromkeys(_terms(" ".join(kept), asked_forms)))


def closes_fence(line: str, mark: str, before: str = " \t") -> bool:
    """Return True if a line closes a fence that `mark` opened; signs of `before` may indent it."""
    marks = line.lstrip(before).rstrip()
    return len(marks) >= len(mark) and not marks.strip(mark[0])


@lru_cache(maxsize=4096)
def whole_word(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that is no part of a longer one, however it is capitalised."""
    return re.compile(rf"(?<!{SPACED}\w){re.escape(name)}(?!{SPACED}\w)", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """Split one paragraph of prose to sentences; nothing is lost but the space between them."""
    found: list[str] = []
    start = 0
    for match in writing_systems.SENTENCE_END.finditer(text):
        begin = max(start, match.start() - writing_systems.LONGEST)
        if writing_systems.ABBREVIATION.search(text, begin, match.start()):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    tail = text[start:].strip()
    if tail:
        found.append(tail)
    return found


_QUESTION = re.compile(
    r"(?:who|what|when|where|why|how|is|can|does|do|did|will|would|could|should|are|was|were|has|have|had|"
    r"which|whom|whose)\b",
    re.IGNORECASE,
)


def looks_like_question(text: str) -> bool:
    """Return True if a text asks: by its last mark, or by its first word (Hybrid CRAG 4.1)."""
    stripped = text.strip()
    return any(mark in stripped for mark in "?？؟") or bool(_QUESTION.match(stripped))


_CODE = re.compile(
    r"(?<![\w-])--?[A-Za-z](?:[\w-]*\w)?"  # --debug, -p
    r"|(?<!\w)(?:@?[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+(?:\(\))?"  # flask.g, a::b
    r"|@[A-Za-z_]\w+"  # @cached
    r"|[A-Za-z]\w*\(\)"  # url_for()
    r"|[^\W_]*_\w*"  # SECRET_KEY, __init__
    r"|[A-Za-z]+[a-z0-9][A-Z]\w*"  # CamelCase
    r"|\.[a-z]{2,6}\b)"  # .env
)
_ABBREVIATED = frozenset({"e.g", "i.e", "a.k.a", "p.s", "u.s", "a.m", "p.m", "etc.and"})
_BACKTICKS = re.compile(r"(?<!`)`++([^`\n]+)`+")
_QUANTITY = re.compile(r"(?<![\w.])v?(\d+(?:[.,]\d+)*(?:\.[xX])?)\s?([A-Za-z%$€°]+)?", re.IGNORECASE)


def identifiers(text: str) -> list[str]:
    """Return the code-like words of a text in order: names with `_`, dots, flags, CamelCase, `quoted`."""
    text = apart(text)
    found: list[tuple[int, str]] = [
        (m.start(), m[0])
        for m in _CODE.finditer(text)
        if m[0].lower() not in _ABBREVIATED and m[0].strip("_")
    ]
    for quoted in _BACKTICKS.finditer(text):
        found += [
            (quoted.start(1) + match.start(), match[0])
            for match in _TOKEN.finditer(quoted[1])
            if not match[0].isdigit() and len(match[0]) > 1
        ]
    ordered = sorted(found, key=lambda f: f[0])
    return list(dict.fromkeys(name.removesuffix("()").lstrip("@") for _, name in ordered))


def parts_of(identifier: str) -> list[str]:
    """Split an identifier to its lower-case words: `SECRET_KEY` to secret, key."""
    return [part.lower() for part in _PART.findall(identifier)]


def quantities(text: str) -> list[tuple[str, str]]:
    """Return each number of a text as (digits, the word right after it or ""), in order."""
    return [(m[1].replace(",", "").rstrip("."), (m[2] or "").lower()) for m in _QUANTITY.finditer(text)]


WINDOW_CHARACTERS = 220
"""Length at which a window is closed: a sentence or two, an item of a list, three lines of code."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_LINES = 4
"""Lines from which a paragraph is cut at its lines: code, a table, a list."""


def windows(page: str) -> list[str]:
    """Cut a page into windows in order; a page without text is one window."""
    found: list[str] = []
    for paragraph in filter(None, (block.strip() for block in _PARAGRAPH.split(page))):
        by_line = paragraph.startswith("```") or paragraph.count("\n") >= _LINES
        pieces = paragraph.split("\n") if by_line else sentences(paragraph)
        space = "\n" if by_line else " "
        current = ""
        for piece in pieces:
            if current and len(current) + len(piece) > WINDOW_CHARACTERS:
                found.append(current)
                current = piece
            else:
                current = f"{current}{space}{piece}" if current else piece
        if current.strip():
            found.append(current)
    return found or [page]


def embedded_windows(title: str, heading: str, page: str) -> list[str]:
    """Return the windows of a page as they are embedded, under the innermost heading."""
    above = heading.rpartition(" > ")[2] or title
    return [f"{above}\n{window}" for window in windows(page)]


def window_hashes(title: str, heading: str, page: str) -> list[str]:
    """Return the hashes under which the vectors of a page's windows are kept."""
    return [content_hash(text) for text in embedded_windows(title, heading, page)]


def window_texts(chunk: ContextChunk) -> dict[str, str]:
    """Return the windows of a context chunk as they are embedded, by hash."""
    texts = embedded_windows(chunk.title, chunk.heading, chunk.page)
    return {content_hash(text): text for text in texts}


def alike(texts: Mapping[str, str], size: int = 16) -> list[str]:
    """Return the keys of texts in groups of `size` whose lengths are alike, long and short groups mixed.

    So texts that are embedded together are hardly filled up, and the rate at the beginning holds to the end.
    """
    keys = sorted(texts, key=lambda key: (len(texts[key]), key))
    groups = sorted(keys[start : start + size] for start in range(0, len(keys), size))
    return [key for group in groups for key in group]
