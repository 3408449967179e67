"""Tell which release a spelling stands for: aliases, prefixes, zero padding, patch versions, families."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.domain import Product, Release
from core.text.version_order import version_key
from core.vocabulary import words_of

NUMBER = re.compile(
    r"(?<![\w.])(?P<prefix>(?:version|ver|v|release|rel|r)\.?\s?(?=\d))?(?P<number>\d+(?:\.\d+)*)"
    r"(?P<any>(?:\.[xX*])+)?(?P<pre>\.?(?:dev|post|rc|a|b|alpha|beta)\d*|-(?:rc|alpha|beta|pre)[.\d]*)?"
    r"(?P<plus>\+)?(?![\w%°]|\.\d)",
    re.IGNORECASE,
)
"""A version as people write it, with what they put before and after it."""

_NOUN_BEFORE = re.compile(
    r"(?<![A-Za-zÀ-ɏЀ-ӿ])(?:versión|vers[ãa]o|versione|versie|wersj[aieę]|верси[яиюей]|sürüm"
    r"|版本|バージョン|버전|(?:ال)?إصدار)(?=\s?v?\d)",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(r"(?<=\d)\s?(?:版本?|バージョン|버전|s[üu]r[üu]m[^\W\d_]*)", re.IGNORECASE)
SAID_AFTER = "\x02"
"""What stands behind a number for "version": `2.3版本`."""
_LATEST_TRANSLATED = (
    r"\b(?:aktuell|neu|neuest|letzt)e[nrs]?\s+version\b|\b(?:última|nueva)\s+versión\b"
    r"|\bversión\s+(?:actual|más\s+reciente)\b|\b(?:dernière|nouvelle)\s+version\b|\bversion\s+actuelle\b"
    r"|\bпоследн(?:яя|ей|юю)\s+верси[яиюей]|最新(?:的)?(?:版本?|バージョン)|최신\s?버전"
)
_PREVIOUS_TRANSLATED = re.compile(
    r"\bvor(?:her)?ige[nrs]?\s+version\b|\bvorgängerversion\b|\bversión\s+(?:anterior|previa)\b"
    r"|\bversion\s+précédente\b|\bпредыдущ(?:ая|ей|ую)\s+верси[яиюей]|上(?:一?个|一)版本?|前の?バージョン|이전\s?버전",
    re.IGNORECASE,
)

_NAME = re.compile(r"(?P<prefix>[A-Za-z]*)[.\s-]*(?P<number>\d+(?:\.\d+)*)(?P<any>(?:\.[xX*])+)?")
_LIMIT = re.compile(r"(?P<sign>[<>!~=]=?=?)\s?v?(?P<number>\d+(?:\.\d+)*)(?P<any>\.\*)?")
LIMITS = re.compile(
    r"(?:\[[\w, -]{0,60}\])?\s?(?:[<>!~]=?|===?)\s?(?P<first>v?\d[\w.*]{0,20})"
    r"(?:\s?,\s?(?:[<>!~]=?|===?)\s?v?\d[\w.*]{0,20}){0,6}+"
)
"""What stands behind a package's name in a list of requirements: `[async]>=2.0,<3`."""
_WORDS = words_of("core.query")["spellings"]
RELATIVE_WORDS = tuple(_WORDS["relative"].split())
VERSIONS_IN_OTHER_LANGUAGES = tuple(_WORDS["versions_in_other_languages"].split())
LATEST_WORDS = tuple(_WORDS["latest"])
BRANCH_WORDS = tuple(_WORDS["branches"].split())
_AHEAD = r"(?=\s*(?:[?.,;:!)]|$)|\s+(?:and|or|vs|is|does|do|can|how|what|where|please|branch|docs)\b)"
_NOUN = r"(?:(?:stable|official|public|available|supported)\s+)?(?:versions?|releases?)\b"


@dataclass(frozen=True)
class Spellings:
    """The spellings of one product's releases, prepared once."""

    releases: tuple[Release, ...]
    product: re.Pattern[str]
    """The product's names, whole; `Flask-Login` and `pytest-flask` are none."""
    called: re.Pattern[str]
    """The product's names anywhere, as in a link."""
    glued: re.Pattern[str]
    """The product's names with a version right after: `flask2.3`."""
    literal: re.Pattern[str] | None
    """Names that are no numbers, such as code names."""
    literals: dict[str, str]
    relative: re.Pattern[str]
    """"The latest version", "current LTS", "previous release"."""
    relative_cues: re.Pattern[str]
    """What every match of `relative` holds, in lower case: much faster to look for."""
    words: dict[str, str]
    numbers: tuple[tuple[tuple[int, ...], int, str], ...]
    """Parsed numbers, the least length from which a longer one is a patch of it, and the release."""
    whole: bool
    """Releases are whole numbers of two digits or more, as in PostgreSQL 16."""
    major: bool
    """Releases are whole numbers, as in v1 and v2."""
    majors: dict[str, str]
    """Numbers with which exactly one release begins that has more of them: 7 for 7.4."""
    tens: bool
    """Minors are written as decimals (17.10, 17.20), so that 17.2 is 17.20."""
    lettered: bool
    """Releases carry a letter of their own, as in R17.2."""

    def numbered(self, number: str) -> str:
        """Return the release that a number such as `2.3.1` or `17.20` stands for, or ""."""
        for wanted in self._variants(number.split(".")):
            if exact := [name for n, _, name in self.numbers if n == wanted]:
                return exact[-1]
            patched = [
                (len(n), name) for n, least, name in self.numbers if least <= len(n) and wanted[: len(n)] == n
            ]
            if patched:
                return max(patched)[1]
            if begun := {name for n, _, name in self.numbers if n[: len(wanted)] == wanted}:
                return self.newest(begun)
        return ""

    def _variants(self, parts: list[str]) -> Iterator[tuple[int, ...]]:
        value = tuple(map(int, parts))
        yield value
        if len(parts) != 2:
            return
        if self.tens and len(parts[1]) == 1:
            yield value[0], value[1] * 10
        # R17.20 is how telecoms write R17.2; in plain numbers 3.10 comes after 3.9 and is not 3.1
        if self.lettered and len(parts[1]) == 2 and parts[1].endswith("0"):
            yield value[0], value[1] // 10

    def limited(self, limits: str) -> str:
        """Return the release that a requirement names as the least, else the newest within its limits.

        "" where no release is within them, or the newest of all is.
        """
        found = list(_LIMIT.finditer(limits))
        parsed = [_limit(one) for one in found]
        within = {r.name for r in self.releases if (key := version_key(r.name)[0]) and _within(key, parsed)}
        least = next((self.numbered(one["number"]) for one in found if one["sign"] in (">=", "~=")), "")
        if least in within:
            return least
        newest = self.newest(within)
        return "" if newest == self.newest({r.name for r in self.releases}) else newest

    def newest(self, names: set[str]) -> str:
        """Return the newest of some releases."""
        return next((r.name for r in reversed(self.releases) if r.name in names), "")

    def neighbour(self, name: str, step: int) -> str:
        """Return the release so many steps newer (or older, below 0), or "" beyond the ends."""
        order = [r.name for r in self.releases]
        place = order.index(name) + step
        return order[place] if 0 <= place < len(order) else ""

    def relatives(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of `relative` in a text."""
        if self.relative_cues.search(text.lower()):
            yield from self.relative.finditer(text)

    def relation(self, text: str, base: str, latest: str) -> str:
        """Return the release that a match of `relative` stands for, counted from `base`."""
        lower = text.lower()
        if re.search(r"\blts\b", lower):
            return self.newest({r.name for r in self.releases if r.lts})
        if re.search(r"\b(?:previous|prior|preceding)\b", lower) or _PREVIOUS_TRANSLATED.fullmatch(lower):
            return self.neighbour(base, -1)
        if re.search(r"\b(?:oldest|earliest|first)\b", lower):
            return self.releases[0].name
        return next((self.words[w] for w in sorted(self.words, key=len, reverse=True) if w in lower), latest)


_Limit = tuple[str, tuple[int, ...]]


def _limit(found: re.Match[str]) -> _Limit:
    sign = f"{found['sign']}*" if found["any"] else found["sign"]
    return sign, tuple(map(int, found["number"].split(".")))


def _within(key: tuple[int, ...], limits: list[_Limit]) -> bool:
    """Return True if a release, with all of its patch versions, has one that keeps to all limits."""
    for sign, number in limits:
        begins = number[: max(len(key), 1)]  # a patch version of the release may be the one that is meant
        series = number[:-1] if sign == "~=" else number
        fits = {
            "<": key < number,
            "<=": key <= number,
            ">": key >= begins if len(number) > len(key) else key > number,
            ">=": key >= begins,
            "~=": key >= begins and key[: len(series)] == series[: len(key)],
            "==*": key[: len(number)] == number[: len(key)],
            "!=*": key[: len(number)] != number[: len(key)],
            "!=": key != number,
        }
        if not fits.get(sign, key == begins):
            return False
    return True


def spellings(product: Product) -> Spellings:
    """Return the prepared spellings of a product."""
    return _prepare(product.name, product.aliases, product.releases)


@lru_cache(maxsize=16)
def _prepare(name: str, aliases: tuple[str, ...], releases: tuple[Release, ...]) -> Spellings:
    numbers: list[tuple[tuple[int, ...], int, str]] = []
    literals: dict[str, str] = {}
    latest = next((r.name for r in releases if r.latest), releases[-1].name if releases else "")
    words = dict.fromkeys(LATEST_WORDS, latest)
    minors: list[str] = []
    lettered = False
    for release in releases:
        own = _NAME.fullmatch(release.name)
        least = len(own["number"].split(".")) if own else 1
        for text in (release.name, *release.aliases):
            if parsed := _NAME.fullmatch(text.strip()):
                parts = parsed["number"].split(".")
                numbers.append((tuple(map(int, parts)), least, release.name))
                lettered |= parsed["prefix"].lower() not in ("", "v", "version")
                if text == release.name and len(parts) == 2 and parts[1] != "0":
                    minors.append(parts[1])
            elif text.lower() in LATEST_WORDS + BRANCH_WORDS:
                words[text.lower()] = release.name
            elif len(text) > 1:
                literals[plain(text)] = release.name
    names = sorted(dict.fromkeys((name, *aliases)), key=len, reverse=True)
    called = "|".join(_flexible(n) for n in names if n) or r"\0"
    whole = [n[0] for n, least, _ in numbers if len(n) == 1 and least == 1]
    return Spellings(
        releases=releases,
        product=re.compile(rf"(?<![\w-])(?<!\w\.)(?:{called})(?:['’]s)?(?![\w-]|\.[A-Za-z])", re.IGNORECASE),
        called=re.compile(rf"\b(?:{called})\b", re.IGNORECASE),
        glued=re.compile(rf"(?<![\w-])(?:{called})(?=v?\d)", re.IGNORECASE),
        literal=_any(literals),
        literals=literals,
        relative=_relative(words, rf"(?:{called})(?:['’]s)?"),
        relative_cues=re.compile(
            "|".join(map(re.escape, [*words, *RELATIVE_WORDS, *VERSIONS_IN_OTHER_LANGUAGES]))
        ),
        words=words,
        numbers=tuple(numbers),
        whole=any(n >= 10 for n in whole),
        major=bool(whole),
        majors=_majors(numbers),
        tens=bool(minors) and all(len(m) > 1 and m.endswith("0") for m in minors),
        lettered=lettered,
    )


def _majors(numbers: list[tuple[tuple[int, ...], int, str]]) -> dict[str, str]:
    """Return the release by its first number, where no other release begins with that."""
    names: dict[int, set[str]] = {}
    for number, _least, name in numbers:
        names.setdefault(number[0], set()).add(name)
    return {str(major): min(some) for major, some in names.items() if len(some) == 1}


def in_english(text: str) -> str:
    """Say "version" in English where another language says it beside a number; the text keeps its length."""
    text = _NOUN_BEFORE.sub(_told, text)
    return text if text.isascii() else _NOUN_AFTER.sub(lambda m: SAID_AFTER.ljust(len(m[0])), text)


def _told(noun: re.Match[str]) -> str:
    room, glued = len(noun[0]), not noun.string[noun.end()].isspace()
    return ("v" if glued or room < 3 else "ver" if room < 7 else "version").rjust(room)


def plain(text: str) -> str:
    """Put a literal name in the form under which it is looked up."""
    return re.sub(r"[\s_-]+", " ", text.strip().lower())


def _flexible(text: str) -> str:
    return r"[\s_-]".join(re.escape(part) for part in re.split(r"[\s_-]+", text.strip()))


def _any(literals: dict[str, str]) -> re.Pattern[str] | None:
    if not literals:
        return None
    choice = "|".join(_flexible(text) for text in sorted(literals, key=len, reverse=True))
    return re.compile(rf"(?<![\w./-])(?:{choice})(?![\w/-]|\.\w)", re.IGNORECASE)


def _relative(words: dict[str, str], called: str) -> re.Pattern[str]:
    latest = "|".join(re.escape(w) for w in words)
    bare = "|".join(re.escape(w) for w in words if w not in ("last", "current"))
    between = rf"(?:{called}\s+)?"
    return re.compile(
        rf"(?:\bthe\s+)?(?:\b(?:very\s+)?(?:{latest})\s+{between}{_NOUN}"
        rf"|\b(?:{bare})\s+{called}(?![\w-])"
        rf"|(?:(?<=\bin\s)|(?<=\bon\s)|(?<=\bto\s)|(?<=\bof\s)|(?<=\bvs\s)|(?<=\bfor\s)|(?<=\bthe\s)"
        rf"|(?<=\bwith\s)"
        rf"|(?<=\bfrom\s)|(?<=\bthan\s)|(?<=\busing\s)|(?<=\bunder\s))(?:{bare}){_AHEAD}"
        rf"|\b(?:previous|prior|preceding)\s+{between}(?:version\b|release\b|one{_AHEAD})"
        rf"|\b(?:oldest|earliest|first)\s+{between}{_NOUN}"
        rf"|\b(?:(?:current|latest|newest|last)\s+)?LTS\b(?:\s+{_NOUN})?"
        rf"|{_LATEST_TRANSLATED}|{_PREVIOUS_TRANSLATED.pattern})",
        re.IGNORECASE,
    )
