"""Which fate a clause of release notes tells of a name: as what was removed, not as what removes (*ours*).

"Remove `X`", "the removal of `X`", "`X` is deprecated" tell of `X`; "`X` removes a file", "the text in `X`
was removed" and "fix `X`, which would not remove a file" do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Fate = Literal["deprecated", "renamed", "replaced", "removed"]

_VERBS: tuple[tuple[Fate, str, str], ...] = (
    ("renamed", r"renam(?:e|es|ed|ing)|mov(?:e|es|ed|ing)", "renamed|moved"),
    ("replaced", r"replac(?:e|es|ed|ing)", "replaced"),
    ("removed", r"remov(?:e|es|ed|ing)|drop(?:s|ped|ping)?|delet(?:e|es|ed|ing)", "removed|dropped|deleted"),
    ("deprecated", r"deprecat(?:e|es|ed|ing)", "deprecated"),
)
_NOUNS: tuple[tuple[Fate, str], ...] = (("removed", "removal"), ("deprecated", "deprecation"))
_NAME, _CODE, _PART = "\x01", "\x02", "\x03"
"""What stands for the name, for other code, and for code of which the name is only a part."""
_KIND = (
    r"(?:functions?|methods?|class(?:es)?|(?:sub)?modules?|packages?|arguments?|args?|parameters?|params?|options?"
    r"|flags?|switch(?:es)?|settings?|configs?|configuration|(?:sub-?)?commands?|command-line|cli|decorators?|attributes?"
    r"|attrs?|propert(?:y|ies)|hooks?|fixtures?|exceptions?|errors?|warnings?|constants?|alias(?:es)?|helpers?"
    r"|keywords?|keys?|kwargs?|variables?|vars?|values?|environment|env|plugins?|markers?|marks?|filters?|tags?|ini"
    r"|names?|signals?|types?|globals?|apis?|objects?|backends?|extensions?|formats?|imports?|shims?|support"
    r"|usages?|prefix|files?|sections?|syntax|line|collectors?|mixins?|headers?|handlers?|only)\b"
)
_STOP = (
    r"(?:of|from|in|on|with|without|by|to|for|when|if|that|which|where|as|because|so|while|is|are|was|were|has"
    r"|have|had|be|been|no|not|than|then|whose|who|its|their|it|they|at|into|after|before|via|inside|during"
    r"|(?!existing|remaining|warning|importing|using)\w+ing)\b"
)
_WORD = rf"(?!{_STOP})[\w'’/-]++"
_GAP = rf"(?:(?>(?:(?:support|use|usage)\s(?:for|of)\b|{_WORD}|[{_NAME}{_CODE}])\s*+(?:[,/&]\s*+)?+)){{0,10}}"
"""What stands between a verb and the last of its objects."""
_AFTER = (
    rf"(?:\s+{_KIND})*(?=\s*(?:$|[^\w\s'’({_PART}]|\([^)]*\))"
    r"|\s+(?:from|in|on|of|to|with|by|for|since|as|and|or|which|that|because|due|is|are|was|were|has|have|will"
    r"|now|use|instead|completely|entirely|after|before|at|it|they|via|altogether|again|too|also|both|where|when"
    r"|if|replac\w+|-)\b)"
)
"""What follows a name that is not itself followed by a part of it: "the `x` option", not "`x` output"."""
_HINDRANCE = re.compile(
    r"\b(?:that|which|where|when|if|because|would|will|should|can|could|may|might|must|not|never|to|fix\w*"
    r"|bug\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What stands before a verb that tells how something behaves."""
_GOES_ON = re.compile(r"(?:,|;|\band|\bthen|\bnow|\balso)\s*$", re.IGNORECASE)
_BETWEEN = (
    r"(?>,?\s(?:which|that)\b[^,]{0,80},|\s++|[,/&]|\([^)]{0,80}\)"
    rf"|{_KIND}|[{_NAME}{_CODE}]|\b(?:from|in|of|on|for)\s(?:the\s|an?\s)?(?:{_CODE}|\w(?:[\w.]*+\b)?)"
    rf"|\b(?:and|or)\s(?:the\s|an?\s)?(?!{_STOP})\w++|\b(?:\w+ing)\s(?:{_CODE}|\w+)"
    r"|\b(?:and|or|the|corresponding|related|internal|old|now|also|finally|both|all|itself|since|then|long|is|are|was|were|be|been|being|has|have"
    r"|had|marked\sas|gets?|got|remains?|stays?|will|to|soon|already|\w+ly)\b)"
)
"""What stands between a name and "removed"."""
_BE = re.compile(r"\b(?:is|are|was|were|be|been|being|gets?|got|remains?|stays?)\b", re.IGNORECASE)
_NO_OBJECT = re.compile(
    rf"\s*(?:$|[^\w\s{_NAME}{_CODE}{_PART}])|\s+(?:{_STOP}|(?:and|or|since|completely)\b)", re.IGNORECASE
)
_FURTHER = re.compile(
    r"\s*(?:,\sand|,|and)\s(?:\w+ly\s|is\s|was\s|now\s){0,3}(renamed|replaced|moved)\b", re.IGNORECASE
)
_ANY = re.compile(f"[{_NAME}{_CODE}{_PART}]")
_IN_ITS_PLACE = re.compile(rf"{_CODE}\s?(?:now\s)?$", re.IGNORECASE)
_WITHIN = re.compile(
    rf"\b(?:(?!that|which|as|is|are|was|were)(?:{_STOP}))\s(?:the\s)?(?:deprecated\s)?(?:{_CODE}(?:,|\sand|\sor){{0,2}}\s){{0,8}}$",
    re.IGNORECASE,
)
"""What stands before a name of which only a part is told: "the text in `X` was removed"."""
_DONE = {
    fate: re.compile(rf"(?<![\w-])(?:{verbs})\s+(?={_GAP}{_NAME}{_AFTER})", re.IGNORECASE)
    for fate, verbs, _ends in _VERBS
}
_UNDERGONE = {
    fate: re.compile(rf"{_NAME}(?!{_NAME})(?P<between>{_BETWEEN}{{0,32}}?)\b(?:{ends})\b", re.IGNORECASE)
    for fate, _verbs, ends in _VERBS
}
_EXPLAINED = re.compile(
    rf"(?<=\s)(?P<thing>integration|apis?|{_KIND})\s\((?P<name>{_NAME}(?:\s{_KIND})?)(?:\s(?:in|of|from)\s(?:{_CODE}|[\w.]+))?\)",
    re.IGNORECASE,
)
"""A kind of thing with its name in brackets: "remove the timer integration (`timer_hook`)"."""
_AS_NOUN = {
    fate: re.compile(
        rf"\b{noun}s?\sof\s{_GAP}{_NAME}{_AFTER}|{_NAME}(?:\s{_KIND}){{0,4}}\s{noun}\b", re.IGNORECASE
    )
    for fate, noun in _NOUNS
}
_ADDED = re.compile(
    rf"(?<![\w-])(?:add(?:s|ed|ing)?|introduc(?:e|es|ed|ing)|new|implement(?:s|ed)?|provid(?:e|es|ed))\s+"
    rf"(?={_GAP}{_NAME}{_AFTER})",
    re.IGNORECASE,
)
_WAS_ADDED = re.compile(
    rf"{_NAME}(?!{_NAME}){_BETWEEN}{{0,32}}?\b(?:is|are|was|were|been)\s(?:\w+ly\s|now\s)?(?:added|introduced|new)\b",
    re.IGNORECASE,
)
_IN_FAVOUR = re.compile(
    rf"[^\w{_NAME}{_CODE}{_PART}]*+{_GAP}{_NAME}(?:\s{_KIND}){{0,4}}\sin favou?r of\b", re.IGNORECASE
)
_ALONE = re.compile(rf"[^\w{_NAME}{_CODE}{_PART}]*+{_GAP}{_NAME}{_AFTER}", re.IGNORECASE)
LITERAL = re.compile(r"\b(?:None|True|False|\d+)\b|['\"=]")
"""What a name is called with where only one use of it is told."""
_ITS_PARTS = re.compile(
    rf"(?<![{_CODE}{_NAME}],\s)(?<![{_CODE}{_NAME}]\sand\s)(?<![{_CODE}{_NAME}]\sor\s)(?<![{_CODE}{_NAME}]/)"
    rf"{_NAME}(?=\s(?:arguments|args|attributes|flags|hooks|imports|keywords|kwargs|methods|names|options"
    r"|param(?:eter)?s|settings|values)\b)"
)
"""One name before a plural: "`X` arguments" are no `X`."""
_AROUND = re.compile(
    rf"\b(?:(?:the|a|an|using|use|of|deprecated|class|def|async)\b|{_KIND})|->.*|→.*|[^\w{_NAME}]",
    re.IGNORECASE,
)
"""What stands around a name in a heading."""
_UNSAID = re.compile(r"(?<!\w)\w++\s?(?::[^,=]{1,80}+)?=[^,)]*")
"""A parameter with what it is unless told, in the signature of a heading."""


def verdict(known: re.Pattern[str], clause: str) -> Fate | None:
    """Return what a clause says became of the name that `known` finds; None where it says that of another."""
    text = _plain(known, clause)
    if _NAME not in text:
        return None
    return next((fate for said in (_object, _subject, _noun) for fate in said(text)), None)


def is_added(known: re.Pattern[str], clause: str) -> bool:
    """Return True if a clause says that the name that `known` finds was added, and not something to it."""
    text = _plain(known, clause)
    added = _ADDED.search(text)
    if added and not _ANY.search(text[: added.start()]) and not _HINDRANCE.search(text[: added.start()]):
        return True
    undergone = _WAS_ADDED.search(text)
    return undergone is not None and not _WITHIN.search(text[: undergone.start()])


def stands_alone(known: re.Pattern[str], entry: str) -> bool:
    """Return True if an entry of a list is the name, with at most its kind, or begins with it."""
    return _ALONE.match(_plain(known, entry)) is not None


def _plain(known: re.Pattern[str], clause: str) -> str:
    """Put one sign for the name, and one for all other code."""

    def sign(span: re.Match[str]) -> str:
        found = known.search(span[0])
        if found is None:
            return _CODE
        after = span[0][found.end() :].strip("`")
        before = span[0][: found.start()].strip("`")
        behind = re.sub(r"^\([^()]*\)", "", after)
        is_itself = not found["of"] and not re.search(r"\s\S", behind) and not re.match(r"[.\[]\w", behind)
        literal = LITERAL.search(after)
        own = re.fullmatch(r"(?:[\w.@:]*[.:@])?|.*[\s/]", before)
        if not (is_itself and not literal and own):
            return _PART
        return f"{_CODE}/{_NAME}" if "/" in behind or before.endswith("/") else _NAME  # `--on/--off`

    text = re.sub(r"`[^`]*`", sign, " ".join(clause.split()))
    text = known.sub(lambda found: _PART if found["of"] else _NAME, text)
    return _ITS_PARTS.sub(_PART, text)


def _object(text: str) -> Iterator[Fate]:
    """Yield what was done to the name: "remove `X`", "`Y` replaces `X`"."""
    text = _EXPLAINED.sub(r"\g<thing> \g<name>", text, count=1)
    for fate, pattern in _DONE.items():
        for verb in pattern.finditer(text):
            before = text[: verb.start()]
            begins = not _ANY.search(before) or _GOES_ON.search(before)
            takes_over = fate == "replaced" and _IN_ITS_PLACE.search(before)
            if takes_over or (begins and not _HINDRANCE.search(before)):
                yield fate


def _subject(text: str) -> Iterator[Fate]:
    """Yield what the name went through: "`X` is deprecated", "`X` removed"."""
    for fate, pattern in _UNDERGONE.items():
        for told in pattern.finditer(text):
            is_said = _BE.search(told["between"]) or _NO_OBJECT.match(text, told.end())
            if not is_said or _WITHIN.search(text[: told.start()]):
                continue
            if fate == "deprecated" and (further := _FURTHER.match(text, told.end())):
                yield "replaced" if further[1].lower() == "replaced" else "renamed"
            yield fate


def _noun(text: str) -> Iterator[Fate]:
    """Yield what is said in a noun: "the removal of `X`", "`X` removal", "`X` in favour of `Y`"."""
    yield from (fate for fate, pattern in _AS_NOUN.items() if pattern.search(text))
    if _IN_FAVOUR.match(text):
        yield "deprecated"


def names_only(name: str, heading: str) -> bool:
    """Return True if a heading is a name, with at most its kind and how it is called."""
    found = _called(last_of(name)).search(heading)
    if found is None or (found["given"] and LITERAL.search(_UNSAID.sub("", found["given"]))):
        return False
    rest = f"{heading[: found.start()]}{_NAME}{heading[found.end() :]}"
    return _AROUND.sub(" ", rest).split() == [_NAME]


def last_of(name: str) -> str:
    """Return the last part of a name with dots, with what it is called with where that is told."""
    bare, bracket, given = name.removesuffix("()").partition("(")
    return f"{bare.rpartition('.')[2]}{bracket}{given}"


def _called(last: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.-])\.?@?(?:[\w]+\.){{0,4}}{re.escape(last)}(?P<given>\([^()]{{0,200}}\))?(?![\w.-])"
    )
