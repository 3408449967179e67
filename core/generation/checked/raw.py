"""What a model writes around its answer or over and over, and an answer that says that it does not know."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from core.generation.citations import around_code, uncited
from core.models.filters import turns
from core.text.markup import GAP, outside_code
from core.text.words import one_line, query_terms, sentences
from core.vocabulary import words_of

_WORDS = words_of(__package__)
EXTREMES = frozenset(query_terms(" ".join(_WORDS["extremes"])))
"""Terms that say which of several is asked for: a page that names only one of them does not have them."""
_STRONG = re.compile(r"\*{1,3}|(?<!\w)__|__(?!\w)")
_LABELLED = re.compile(
    r"^[\W\d]{0,12}\*\*[^*\n]{1,80}(?::\*\*|\*\*:)\s*|^[\W\d]{0,12}\*\*[^*\n]{1,80}\*\*\W{0,8}$", re.MULTILINE
)
"""A label in bold, "**Important Notes:**": it names what comes, and nothing of the product."""
_LEADS = re.compile(r"^[\s>#|+•–—-]*+(?:\d{1,3}[.)]\s)?")
_PARTED = re.compile(r"\s?[|]\s?|\s[–—]\s")


def _pattern(text: str) -> re.Pattern[str]:
    for name in ("material", "lacks", "stoff"):
        text = text.replace(f"<{name}>", _WORDS[name])
    return re.compile(text, re.IGNORECASE)


# An answer may tell of the tag itself: then it stands in quotation marks or has its opening one.
_LEAKED = re.compile(r"\A(?:(?!<think>).)*(?<![`\"'“])</think>(?![`\"'”])", re.DOTALL)
_LABEL = re.compile(r"\A\s*(?:\*\*)?(?:answer|response|reply)\s*:\s*(?:\*\*)?\s*", re.IGNORECASE)
_WRAPPED = re.compile(
    r"\A(?:[^\n{`\[]{0,60}:\s*)?(?:```(?:json)?\s*)?(?=\{\s*\"(?:reasoning|answer|response|reply)\"\s*:)",
    re.IGNORECASE,
)
_TAGGED = re.compile(r"</?evidence\s+number=[\"']?(\d{1,2})[\"']?(?![^<>]*\stitle=)[^<>]*>", re.IGNORECASE)
"""A citation as a tag; one with a title is the beginning of a page, said again."""
_RECITED = re.compile(r"<evidence\b[^<>]{0,40}\stitle=", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:evidence|question|answer|response|conversation|remembered|rejected|previous|answered|wrong)\b"
    r"[^<>]*>",
    re.I,
)
_PLEASANTRY = re.compile("|".join(_WORDS["pleasantries"]), re.IGNORECASE)
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
_PHRASE = re.compile(
    r"(?:(?:i am|i'm)\s+sorry,?\s+(?:but\s+)?|sorry,?\s+(?:but\s+)?|unfortunately,?\s+|answer:\s*)*"
    r"(?:i\s+(?:do\s+not|don't)\s+know"
    r"|ich\s+wei(?:ß|ss)\s+(?:es\s+)?nicht|das\s+wei(?:ß|ss)\s+ich\s+nicht|je\s+ne\s+sais\s+pas|no\s+lo\s+sé|no\s+sé"
    r"|(?:eu\s+)?não\s+sei|non\s+lo\s+so|ik\s+weet\s+het\s+niet|я\s+не\s+знаю|我不知道|わかりません|分かりません|모르겠습니다)"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_BARE_END = re.compile(
    r"\s*+(?:the answer(?: to (?:this|that|your question))?\s*+)?"
    r"(?:(?:,\s*)?(?:based on|from|given|according to) [^.]{1,80})?[.!。]*+\s*+",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s*[,;:(–—-]+\s*(?:as|because|since|based|from|the|there|given)\b", re.IGNORECASE)
_LACK = _pattern(f"{_WORDS['before_a_lack']}(?:{'|'.join((*_WORDS['lack'], *_WORDS['lack_elsewhere']))})")
_LACKING = _pattern(
    r"(?:\b(?:is|are|was)\s{1,2}(?:not|nowhere)|n't)\s{1,2}(?:covered|mentioned|addressed|documented|specified|described|stated)"
    r"\s{1,2}(?:by|in|within)\s{1,2}<material>"
    r"|^<material>\s{1,2}says\s(?:this|it|so)\s(?:only\s)?(?:for|of)\s[^,;]{1,60}\s(?:and|but)\snot\s"
    r"(?:for|of)\s[^,;]{0,20}\d"
    r"|^the\s(?:documentation|docs|evidence)\s(?:i\sfound\s)?(?:only\s)?"
    r"(?:says?|shows?|mentions?|describes?|gives?|tells?|names?|lists?|has|have)\s[^;:]{1,160}"
    r"\s(?:and|but)\s(?:it\s)?(?:does\snot|do\snot|doesn't|don't)\s(?:\w{1,20}ly\s)?<lacks>\b",
)
_ADVICE = re.compile(r"(?:please|for\s+more|you)\b", re.IGNORECASE)
_TURN = re.compile(r"\b(?:but|however|although|though|instead|yet)\b", re.IGNORECASE)
_MOST_SENTENCES = 4
_ADMITTED = re.compile(r"\bi (?:do not|don['’]t) know\b", re.IGNORECASE)

_NUMBERS = r"\d{1,2}(?:\s?(?:,\s(?:and|und)|,|&|and|und)\s?(?:(?:evidence|evidenz)\s)?\d{1,2}){0,4}"
_THAT = (
    r"(?:says|say|states|state|shows|show|indicates|indicate|confirms|confirm|notes|explains|mentions)\sthat"
)
_VERB = (
    r"(?:also\s|only\s)?(?:says?|states?|shows?|mentions?|describes?|explains?|lists?|adds?|gives?|tells?"
    r"|recommends?|suggests?|defines?|provides?|contains?|covers?|has|have)\b"
)
_BEGIN = r"(?P<lead>(?:\A|(?<=\n)|(?<=[.!?:]\s))(?:[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+)?)"
_LED = re.compile(
    rf"{_BEGIN}(?:(?:according\sto|based\son|as\sper|per|as\s(?:stated|described|shown|mentioned|noted)\sin)\s"
    rf"(?:evidence|source)\s(?P<by>{_NUMBERS})\b,?\s"
    rf"|(?:evidence|source)\s(?P<that>{_NUMBERS})\s{_THAT}\s"
    rf"|(?:(?:evidence|source)\s(?P<said>{_NUMBERS})|\[(?P<mark>\d{{1,2}})\])(?=\s(?-i:{_VERB}))"
    rf"|(?P<laut>laut|gemäß)\s(?:evidenz|quelle)\s(?P<german>{_NUMBERS})\b)",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"\A(\s(?:also\s|only\s)?)(\w+(?<!s))(?=\s|\Z)", re.IGNORECASE)
"""A verb of several pieces of evidence: "2 and 3 list it"."""
_ANOTHER = re.compile(r"\b(?:evidence|source|evidenz|quelle)\s\d", re.IGNORECASE)
_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bz\.B)[.!?](?=\s++[^\Wa-z]|\s++[\ue000*_\"(\[]|[ \t]*+(?:\n|\Z))|:?(?=\n|\Z)"
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


def cited_at_the_end(text: str) -> str:
    """Return prose whose sentences cite by [number] at their end what they named at their beginning."""
    for found in reversed(list(_LED.finditer(text))):
        named = next(filter(None, (found[name] for name in ("by", "that", "said", "mark", "german"))))
        if (end := _SENTENCE_END.search(text, found.end())) is None:
            continue
        rest = text[found.end() : end.start()].rstrip()
        if _ANOTHER.search(rest):  # which says the other part of the sentence
            continue
        marks = "".join(f"[{n}]" for n in re.findall(r"\d+", named) if f"[{n}]" not in rest)
        if found["german"]:
            rest = f"{found['laut']} der gefundenen Dokumentation{rest}"
        elif found["said"] or found["mark"]:
            rest = f"The documentation I found{_PLURAL.sub(_singular, rest)}"
        rest = rest[:1].upper() + rest[1:]
        text = f"{text[: found.start()]}{found['lead']}{rest}{' ' * bool(marks)}{marks}{text[end.start() :]}"
    return text


def _singular(verb: re.Match[str]) -> str:
    return f"{verb[1]}{'has' if verb[2] == 'have' else verb[2] + 's'}"


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
    text = _LABEL.sub("", _LEAKED.sub("", raw)).replace(GAP, "").strip()
    if wrapped := _WRAPPED.match(text):
        text = _unwrapped(text, wrapped.end())
    if "<" in text:
        text = _TAGS.sub("", _TAGGED.sub(r"[\1]", text)).strip()
    fenced = re.fullmatch(r"```(?:markdown|md)\n(.*?)\n?```", text, re.DOTALL)
    text = fenced.group(1).strip() if fenced and "```" not in fenced.group(1) else text
    return around_code(text, lambda prose: cited_at_the_end(turns().sub("", prose)))


def _unwrapped(text: str, at: int) -> str:
    """Return the answer in an object that a model put around it; empty while the object has no end.

    One that cites nothing, and that more follows, is an example: the text is left as it is.
    """
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
    except (ValueError, RecursionError):
        goes_on = "```" in text[:at] and text[at:].partition("\n```")[2].strip()
        return text if goes_on else ""
    named = (value.get(name) for name in ("answer", "response", "reply"))
    said = next((said.strip() for said in named if isinstance(said, str)), "")
    return text if text[end:].strip("`\n ") and not _MARKS.search(said) else said


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


def is_unknown(text: str) -> bool:
    """Return True if an answer only says that it does not know.

    It does when it opens with the phrase itself, or when each of its few sentences says that the
    evidence holds nothing. One statement of substance, a code block or a list makes it an answer.
    """
    plain = _plain(text)
    if not plain:
        return False
    paragraph = one_line(plain)
    if match := _PHRASE.match(paragraph):
        rest = match.group("rest")
        first = sentences(rest.strip())[0] if rest.strip() else ""
        if not rest or rest[0] in ".!。" or _BARE_END.fullmatch(first) or _REASON.match(rest):
            return True
    if "```" in text or re.search(r"^[^\S\n]*(?:[-*+]|\d+[.)])\s", text, re.MULTILINE):
        return False
    told = [part for one in sentences(paragraph) for part in re.findall(r"[^。！？]+[。！？]?", one)]
    return len(told) <= _MOST_SENTENCES and all(map(_is_lack, told)) and not _only_advises(told)


def says_lack(sentence: str) -> bool:
    """Return True if a sentence says that nothing is known, whatever follows it."""
    said = (_plain(sentence), _plain(_LABELLED.sub("", sentence, count=1)))
    return any(
        _LACKING.search(plain) or _PHRASE.match(plain) or (_LACK.match(plain) and not _ADVICE.match(plain))
        for plain in said
    )


def _plain(text: str) -> str:
    return re.sub(r"[*_>#\"“”]", "", uncited(text)).replace("’", "'").strip()


def _is_lack(sentence: str) -> bool:
    # "However, you could look at …" gives nothing either.
    sentence = re.sub(r"^(?:however|but|jedoch|allerdings),?\s+", "", sentence, flags=re.IGNORECASE)
    lack = _LACK.match(sentence) or _PHRASE.match(sentence)
    if lack is not None and "rest" in lack.re.groupindex and _TURN.search(sentence):
        return False
    # "…, but you can …" goes on to an answer.
    return lack is not None and not _TURN.search(sentence, lack.end())


def _only_advises(told: list[str]) -> bool:
    """Return True if nothing but advice stands there: "You should check the log." is an answer."""
    return all(_ADVICE.match(sentence) for sentence in told)


def says_unknown(text: str) -> bool:
    """Return True if a text says anywhere that its writer does not know (Hybrid CRAG, section 4.7)."""
    return _ADMITTED.search(text) is not None


def unmarked(prose: str) -> str:
    """Return prose in which lines, cells and labels begin like sentences: a capital there names nothing."""
    lines = (_LEADS.sub("", line) for line in _STRONG.sub("", _LABELLED.sub("", prose)).split("\n"))
    return ". ".join(_PARTED.sub(". ", line).strip() for line in lines)
