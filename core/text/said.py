"""What a text says, sentence by sentence and line by line, so that two releases can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.text.words import one_line, sentences

_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})")
_MARK = re.compile(r"^(?:[ \t]*(?:>|[-*+](?=\s)|\d{1,3}[.)](?=\s)|#{1,6}(?=\s)))*[ \t]*")
_STARTS = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,3}[.)]|#{1,6}|\|)\s")
_CITED = re.compile(r"\s?\[\d{1,2}\](?!\()")
_TARGET = re.compile(r"\]\\?\([^()\s]{0,500}\)")
_UNTOLD = re.compile(r"[`*\[\]\\|]")
_ENDS = re.compile(r"^[\s.,:;!?…=~_-]+|[\s.,:;!?…=~_-]+$")
_PACKAGE = re.compile(r"(?<![\w.-])[A-Za-z][\w.]{0,40}-\d[\w.]*")
_FIGURE = re.compile(r"\d[\d.]*")
_WORD = re.compile(r"\w")


def statements(text: str, product: str = "") -> list[str]:
    """Return the sentences of a Markdown text's prose and the lines of its code, without markup and case.

    A version right behind the name of the `product` is left out, and in what a program printed (below a
    prompt) every figure: those are different in each release.
    """
    own = version_of(product) if product else None
    found = (_plain(piece, own) for piece in _pieces(text))
    return [told for told in dict.fromkeys(found) if _WORD.search(told)]


@lru_cache(maxsize=16)
def version_of(product: str) -> re.Pattern[str]:
    """Return the pattern of a version right behind the name of a product."""
    return re.compile(rf"(?<!\w)({re.escape(product.lower())})[\s=~<>/v-]{{0,4}}\d[\w.]*")


def _pieces(text: str) -> Iterator[str]:
    prose: list[str] = []
    code: list[str] | None = None
    mark = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if code is not None:
            if fence and fence[1].startswith(mark) and not line.strip(" >`~"):
                yield from _printed(code)
                code = None
            else:
                code.append(line)
        elif fence:
            yield from _told(prose)
            prose, code, mark = [], [], fence[1]
        elif not line.strip(" >") or _STARTS.match(line):
            yield from _told(prose)
            prose = [line]
        else:
            prose.append(line)
    yield from _told(prose)
    yield from _printed(code or ())


def _told(lines: Iterable[str]) -> Iterator[str]:
    yield from sentences(one_line(_CITED.sub("", " ".join(_MARK.sub("", line) for line in lines))))


def _printed(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines of code; of what somebody typed at a prompt and got, what got printed without figures."""
    lines = list(lines)
    typed = any(line.lstrip().startswith("$ ") for line in lines)
    for line in lines:
        is_output = typed and not line.lstrip().startswith("$ ")
        yield _FIGURE.sub("", _PACKAGE.sub("", line)) if is_output else line


def _plain(piece: str, own: re.Pattern[str] | None) -> str:
    told = one_line(_UNTOLD.sub("", _TARGET.sub("", piece))).lower()
    return _ENDS.sub("", own.sub(r"\1", told) if own else told)


@dataclass(frozen=True, slots=True)
class Said:
    """All that a release says: a number for each statement, for as long as the process lives."""

    numbers: NDArray[np.int64]

    @classmethod
    def nothing(cls) -> Said:
        """Return what says nothing."""
        return cls(np.zeros(0, np.int64))

    @classmethod
    def of(cls, texts: Iterable[str], product: str = "") -> Said:
        """Note what texts say."""
        told = (hash(one) for text in texts for one in statements(text, product))
        return cls(np.unique(np.fromiter(told, np.int64)))

    def lacking(self, told: Iterable[str]) -> list[str]:
        """Return which of these statements are not there, in their order."""
        told = list(told)
        if not len(self.numbers):
            return told
        wanted = np.array([hash(one) for one in told], np.int64)
        at = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
        return [one for one, there in zip(told, self.numbers[at] == wanted, strict=True) if not there]
