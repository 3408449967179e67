"""What a model says that is no part of its answer: what it puts around it, and what it says over and over."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.markup import outside_code

# An answer may tell of the tag itself: then it stands in quotation marks or has its opening one.
_LEAKED = re.compile(r"\A(?:(?!<think>).)*(?<![`\"'“])</think>(?![`\"'”])", re.DOTALL)
_LABEL = re.compile(r"\A\s*(?:\*\*)?(?:answer|response|reply)\s*:\s*(?:\*\*)?\s*", re.IGNORECASE)
_TAGGED = re.compile(r"</?evidence\s+number=[\"']?(\d{1,2})[\"']?(?![^<>]*\stitle=)[^<>]*>", re.IGNORECASE)
"""A citation as a tag; one with a title is the beginning of a page, said again."""
_RECITED = re.compile(r"<evidence\b[^<>]{0,40}\stitle=", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:evidence|question|answer|response|conversation|remembered|rejected|previous|wrong)\b[^<>]*>", re.I
)
_PLEASANTRY = re.compile(
    r"(?:(?:great|good|excellent|nice)\squestion|(?:sure|certainly|of\scourse|absolutely)(?:\sthing)?[!.]+$"
    r"|(?:i\s)?hope\s(?:this|that|it)\shelps|let\sme\sknow\s(?:if|whether)\b|feel\sfree\sto\s(?:ask|reach|let)\b"
    r"|(?:if\syou\s(?:have|need)\s(?:any|more|further|other)\b[^.!?\n]{0,60}(?:ask|know|help|reach)\b)"
    r"|(?:would\syou\slike|do\syou\s(?:want|need)|shall\si|should\si)\b|happy\scoding|good\sluck"
    r"|i(?:['’]m|\sam)\s(?:ready|happy|glad|here)\sto\b|you\sasked\b"
    r"|(?:so\s|now,?\s)?(?:the|this|that|your)\s(?:\w+\s)?(?:question|answer)\s(?:(?:is|was)\sabout|asks?|asked|is:"
    r"|explain(?:s|ed)|cover(?:s|ed)|describe[sd]|to\s(?:the|this|that|your)\squestion\b)"
    r"|(?:gute|tolle)\sfrage|gerne[!.]+$|ich\shoffe,?\s(?:das|dies)\shilft|(?:lass|lassen\ssie)\s(?:es\s)?mich\swissen"
    r"|möchte(?:st\sdu|n\ssie)\b|buena\spregunta|espero\sque\s(?:esto\s)?(?:te\s|le\s)?(?:ayude|sirva)"
    r"|(?:好问题|希望(?:这|以上)[^。！\n]{0,12}帮助))",
    re.IGNORECASE,
)
"""What is said to be polite, to go on talking, or of the answer itself, and tells nothing."""
_MARKS = re.compile(r"\[\d{1,2}\]")
_ECHO = 3
"""Spaces between words from which a sentence is no answer in the words of the question, as `Yes` is."""
TIMES = 4
"""How often something must stand behind itself to be a loop."""
LONGEST = 600
"""Characters of the longest loop."""
_COUNTED = re.compile(
    r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+([^\n]{3,200})(?:\n\s*(?:[-*+]|\d{1,3}[.)])[ \t]+\1[ \t]*(?=\n)){5}",
    re.MULTILINE,
)
"""Six items of a list with the same words."""
LEAST = 90
"""Characters that all rounds of a loop must have together: `very, very, very` is none."""

_EVIDENCE = re.compile(
    r"\bthe\s+(?:(?:provided|given|available|supplied|numbered)\s+)*evidence\b(?!\s*\d)"
    r"(?:\s+(?:provided|given|available|supplied|above)\b)?",
    re.IGNORECASE,
)
_EVIDENZ = re.compile(
    r"\b(die|der)\s+(?:(?:angegebene|bereitgestellte|vorliegende|gegebene)n?\s+)*Evidenz\b", re.IGNORECASE
)


def worded(text: str, pages: Sequence[str]) -> str:
    """Call the evidence what it is to readers, who see none: the documentation that was found.

    Where a page speaks of evidence itself, nothing is changed.
    """
    if "eviden" not in text.lower() or any("eviden" in page.lower() for page in pages):
        return text

    def found(match: re.Match[str]) -> str:
        return f"{match[0][:3]} documentation I found"

    def gefunden(match: re.Match[str]) -> str:
        return f"{match[1]} gefundene{'n' if match[1].lower() == 'der' else ''} Dokumentation"

    return outside_code(text, lambda prose: _EVIDENZ.sub(gefunden, _EVIDENCE.sub(found, prose)))


def polite(sentence: str) -> bool:
    """Return True if a sentence only greets, praises, takes leave or offers to go on."""
    return bool(_PLEASANTRY.match(sentence.strip("*_ "))) and not re.search(r"[`\[]", sentence)


def asks(sentence: str) -> bool:
    """Return True if a sentence is a question, which answers nothing; a heading may be one."""
    said = _MARKS.sub("", sentence).rstrip(" .*_\"')”").rstrip()
    return said.endswith(("?", "？")) and not said.lstrip().startswith("#")


def echoes(sentence: str, asked: Sequence[str]) -> bool:
    """Return True if a sentence only says what was asked, as a pasted error; a few words may be both."""
    said = _flat(_MARKS.sub("", sentence))
    return said.count(" ") >= _ECHO and any(said in _flat(text) for text in asked)


def recites(raw: str) -> bool:
    """Return True if a model says its material again, tags and all, instead of answering from it."""
    return _RECITED.search(raw) is not None


def _flat(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def plain(raw: str) -> str:
    """Take away thinking, labels and tags that are no part of an answer."""
    text = _LABEL.sub("", _LEAKED.sub("", raw)).strip()
    if "<" in text:
        text = _TAGS.sub("", _TAGGED.sub(r"[\1]", text)).strip()
    fenced = re.fullmatch(r"```(?:markdown|md)\n(.*?)\n?```", text, re.DOTALL)
    return fenced.group(1).strip() if fenced and "```" not in fenced.group(1) else text


def unrepeated(text: str) -> str:
    """Return a text up to the second round of a loop that it ends in; the text itself where it ends in none.

    Two rounds hold one that begins where its first sentence does; what is said twice goes later. A list that
    only goes on counting is a loop, too.
    """
    if counted := _COUNTED.search(text):
        return text[: counted.start()].rstrip()
    for length in range(2, min(LONGEST, len(text) // TIMES) + 1):
        if text[-length:] != text[-2 * length : -length]:
            continue
        loop = text[-length:]
        rounds = 2
        while text.endswith(loop * (rounds + 1)):
            rounds += 1
        if rounds >= TIMES and rounds * length >= LEAST and re.search(r"[^\W_]", loop):
            return text[: len(text) - (rounds - 2) * length]
    return text
