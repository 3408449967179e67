"""Tell whose a version is: the product's, another software's, or no version at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from core.query.releases.spellings import Spellings
from core.vocabulary import BEFORE_VERSIONS, SOFTWARE, UNITS, word_list, words_of

_WORDS = words_of("core.query")["version_attribution"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
Owner = Literal["ours", "foreign", "amount", "cue", "plain"]
"""Who a number belongs to; `cue` where it stands as releases do, `plain` where nothing tells."""
_LOOKED_AT = 80
"""Characters before a version that are looked at."""

_WORD = re.compile(r"[A-Za-z_][\w.+#'’]*(?:-[A-Za-z_][\w.+#'’]*)*|\d[\w.]*|[^\w\s]")
_VERSION_WORDS = frozenset(word_list("version versions ver ver. release releases rel rel. v series"))
_BRANCH = re.compile(r"(?<![\w/])(?:releases?|versions?|rel|hotfix|feature|support)/$", re.IGNORECASE)
"""What begins the name of somebody's branch: `release/7` is no version of the product."""
_SKIPPED = frozenset(word_list("""= == === >= <= ~= != > < ~ ^ : @ ( [ ` * ** - _ / | " ' is are"""))
_CUES = frozenset(_WORDS["cues"].split())
_NEUTRAL = frozenset(
    word_list("docs documentation product framework release the a this our new notes latest")
)
_AMOUNT_NOUNS = frozenset(_WORDS["amount_nouns"].split())
_AMOUNT_BEFORE = re.compile(
    r"\b(?:set|sets|setting|increas\w+|decreas\w+|rais\w+|lower\w*|reduc\w+|scal\w+|round\w*|multipl\w+"
    r"|limit\w*"
    r"|timeout|time-out|delay|interval|ratio|threshold|factor|weight|size|width|height|rate|score|value|zoom"
    r"|opacity|price|cost|temperature|equal|grew|rose|fell)\b(?:\W+\w+){0,4}\W+(?:from|to|of|by|at)\W*$",
    re.IGNORECASE,
)
_MEASURES = frozenset(word for word, unit in UNITS.items() if unit in _WORDS["measures"].split())
_MOVER = re.compile(
    r"(?<![A-Za-z])([A-Za-z][\w.+#-]{0,100}+)\s+(?:(?:version|is|was|are)\s+){0,3}(?:still\s+)?(?:from\s+v?\d\S*\s+)?(?:to|from"
    r"|at|on)$",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(r"\b(?:we|i|you|they|people|to|will|can|should|must)\s+$", re.IGNORECASE)
OF = re.compile(r"\s+(?:(?:release|version)\s+)?of\s+(?:the\s+|our\s+|my\s+)?(?!course\b)([\w.+#-]+)", re.I)


def owner_of(text: str, start: int, known: Spellings) -> tuple[Owner, bool]:
    """Tell who stands before a version, and whether a word such as "version" leads to it."""
    if start and text[start - 1] == "(" and start > 1 and re.match(r"\w", text[start - 2]):
        return "amount", False  # a call: sleep(2.0)
    if _BRANCH.search(text[max(0, start - _LOOKED_AT) : start]):
        return "foreign", False
    lead = _lead(text[max(0, start - _LOOKED_AT) : start])
    unclear: Owner = "cue" if lead.version else "plain"
    if lead.words and lead.words[-1][0].lower() == "make" and text[start] in "vV":
        return unclear, lead.version  # "make v4 log it": nobody writes GNU make's so
    owner = _by_word(lead, known, unclear) if lead.words else unclear
    return owner, lead.version


@dataclass(slots=True)
class _Lead:
    """What leads to a version: the words `before` it, and what stands between the last of them and it.

    `version` tells of a word such as "version", `assigned` of "=" or "is", `bracketed` of a bracket, `listed`
    of a colon.
    """

    before: str
    words: list[re.Match[str]]
    version: bool = False
    assigned: bool = False
    bracketed: bool = False
    listed: bool = False


def _lead(before: str) -> _Lead:
    lead = _Lead(before, list(_WORD.finditer(before)))
    while lead.words:
        word = lead.words[-1][0].lower()
        if word in _VERSION_WORDS:
            lead.version = True
        elif word in _SKIPPED:
            lead.assigned |= word in ("=", "is", "are")
            lead.bracketed |= word in "(["
            lead.listed |= word == ":"
        elif word not in ("'s", "’s"):
            break
        lead.words.pop()
    return lead


def _by_word(lead: _Lead, known: Spellings, unclear: Owner) -> Owner:
    """Tell the owner by the last word before the version; `unclear` where it tells nothing."""
    last = lead.words[-1]
    head, word = lead.before[: last.end()], last[0].lower().rstrip(".")
    if _ends_in_product(head, known):
        return "ours"
    if _stands_alone(lead, last, word):
        return "cue"
    if last[0][0].isdigit():
        return unclear
    if last[0].endswith("\0") or word in _AMOUNT_NOUNS or _AMOUNT_BEFORE.search(lead.before):
        return "amount"
    is_flag = lead.before[: last.start()].endswith("-")
    is_variable = last[0].isupper() and "_" in word
    if not lead.assigned and (is_flag or is_variable):
        return "plain"
    bare = re.sub(r"['’]s$", "", word)
    if bare in BEFORE_VERSIONS or _compound(bare, known) or re.search(r"[a-z]\d", bare):
        return "foreign"
    if word in _CUES:
        return _moved(head, known) or "cue"
    if lead.version:
        return "foreign" if _named(last, lead.before, lead.words) else "cue"
    if lead.assigned:
        return "amount"
    return "foreign" if _capitalised(last, lead.before) else "plain"


def _ends_in_product(head: str, known: Spellings) -> bool:
    """Return True if a text ends in the product's name."""
    product = next(iter(reversed(list(known.product.finditer(head)))), None)
    return product is not None and head[product.end() :].strip("'’s ") == ""


def _stands_alone(lead: _Lead, last: re.Match[str], word: str) -> bool:
    """Return True if a version stands in brackets of its own, or behind a colon in the middle of a line."""
    if lead.bracketed and word not in SOFTWARE:
        return True
    begins_line = not lead.before[: last.start()].rstrip(" *•-").endswith(tuple(_LETTERS))
    return lead.listed and not lead.version and not begins_line


def _moved(head: str, known: Spellings) -> Owner | None:
    """Tell who is moved in "upgrade Werkzeug from 2.3 to 3.1" or "Flask to 2.3"."""
    mover = _MOVER.search(head)
    if not mover:
        return None
    if known.product.fullmatch(mover[1]):
        return "ours"
    is_verb = _SOMEBODY.search(head, 0, mover.start(1))  # "we go from 2.3": no language
    return "foreign" if mover[1].lower() in BEFORE_VERSIONS and not is_verb else None


def _compound(word: str, known: Spellings) -> bool:
    """Return True if a word looks like a package: `flask_cors`, `socket.io`; not `mix_stderr`."""
    if "_" in word:
        return bool(
            known.product.match(re.split("_", word)[0]) or known.product.match(re.split("_", word)[-1])
        )
    return bool(re.search(r"\w-\w|\.(?:js|io|net|py)$", word)) and not word.startswith("pre-")


def _capitalised(word: re.Match[str], before: str) -> bool:
    """Return True if a word looks like a name: a capital inside it, or one that begins no sentence."""
    if re.search(r"[a-z][A-Z]", word[0]):
        return True
    lead = before[: word.start()].rstrip()
    if word[0].isupper() and len(word[0]) > 1 and word[0].isalpha():
        return any(letter.islower() for letter in before) or not lead
    return word[0][0].isupper() and bool(lead) and lead[-1] not in ".!?:;\n-*•("


def _named(word: re.Match[str], before: str, words: list[re.Match[str]]) -> bool:
    """Return True if "X version 2" speaks of some X; verbs and small words are none."""
    lower = word[0].lower()
    if lower in _NEUTRAL or not word[0][0].isalpha():
        return False
    if _capitalised(word, before):
        return True
    earlier = words[-2][0].lower() if len(words) > 1 else ""
    return earlier in ("my", "our", "your", "their", "its", "app", "api", "schema", "protocol", "model")


def foreign_after(text: str, end: int, known: Spellings) -> bool:
    """Return True if what follows claims the version: "2.3 of Werkzeug", "2.0 license"."""
    of = OF.match(text, end)
    if of and not known.product.match(text, of.start(1)) and of[1].lower() not in _NEUTRAL:
        return True
    following = re.match(r"[\s-]+([A-Za-z]\w+)", text[end : end + 40])
    return bool(
        following
        and following[1].lower()
        in ("license", "licence", "interpreter", "protocol", "schema", "spec", "slim", "alpine")
    )


def measured(text: str, match: re.Match[str]) -> bool:
    """Return True if a unit follows the number."""
    following = re.match(r"\s?-?([^\W\d_]+|[%$€])", text[match.end() : match.end() + 20])
    return bool(following and following[1].lower() in _MEASURES and not match["prefix"])
