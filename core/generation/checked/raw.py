"""What a model says that is no part of its answer: what it puts around it, and what it says over and over."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.markup import outside_code

# An answer may tell of the tag itself: then it stands in quotation marks or has its opening one.
_LEAKED = re.compile(r"\A(?:(?!<think>).)*(?<![`\"'“])</think>(?![`\"'”])", re.DOTALL)
_LABEL = re.compile(r"\A\s*(?:\*\*)?(?:answer|response|reply)\s*:\s*(?:\*\*)?\s*", re.IGNORECASE)
_TAGGED = re.compile(r"</?evidence\s+number=[\"']?(\d{1,2})[\"']?[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:evidence|question|answer|response|conversation|remembered|rejected|previous|wrong)\b[^<>]*>", re.I
)
_PLEASANTRY = re.compile(
    r"(?:(?:great|good|excellent|nice)\squestion|(?:sure|certainly|of\scourse|absolutely)(?:\sthing)?[!.]+$"
    r"|(?:i\s)?hope\s(?:this|that|it)\shelps|let\sme\sknow\s(?:if|whether)\b|feel\sfree\sto\s(?:ask|reach|let)\b"
    r"|(?:if\syou\s(?:have|need)\s(?:any|more|further|other)\b[^.!?\n]{0,60}(?:ask|know|help|reach)\b)"
    r"|(?:would\syou\slike|do\syou\s(?:want|need)|shall\si|should\si)\b|happy\scoding|good\sluck"
    r"|(?:gute|tolle)\sfrage|gerne[!.]+$|ich\shoffe,?\s(?:das|dies)\shilft|(?:lass|lassen\ssie)\s(?:es\s)?mich\swissen"
    r"|möchte(?:st\sdu|n\ssie)\b|buena\spregunta|espero\sque\s(?:esto\s)?(?:te\s|le\s)?(?:ayude|sirva)"
    r"|(?:好问题|希望(?:这|以上)[^。！\n]{0,12}帮助))",
    re.IGNORECASE,
)
"""What is said to be polite, or to go on talking, and tells nothing."""
TIMES = 4
"""How often something must stand behind itself to be a loop."""
LONGEST = 600
"""Characters of the longest loop."""
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


def plain(raw: str) -> str:
    """Take away thinking, labels and tags that are no part of an answer."""
    text = _LABEL.sub("", _LEAKED.sub("", raw)).strip()
    if "<" in text:
        text = _TAGS.sub("", _TAGGED.sub(r"[\1]", text)).strip()
    fenced = re.fullmatch(r"```(?:markdown|md)\n(.*?)\n?```", text, re.DOTALL)
    return fenced.group(1).strip() if fenced and "```" not in fenced.group(1) else text


def unrepeated(text: str) -> str:
    """Return a text up to the second round of a loop that it ends in; the text itself where it ends in none.

    Two rounds hold one that begins where its first sentence does; what is said twice goes later.
    """
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
