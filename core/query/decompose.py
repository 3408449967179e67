"""Split a composite question to parts that stand alone (after GraphContextGen's error analysis).

"How do I X, and also Y?" has two parts; "GET and POST", "install and run" have one: a split needs
a second question or a second thing to do that is set off as such.
"""

from __future__ import annotations

import re
from itertools import islice

from core.query.followups.anaphora import antecedent, phrases
from core.query.followups.pronouns import pronouns
from core.text.words import STOP_WORDS, identifiers, sentences, words
from core.vocabulary import words_of

_WORDS = words_of("core.query")["decompose"]

MOST = 4
"""Parts that are retrieved separately; more would share too little of the evidence."""
_MOST_CUTS = 20
"""Places of a sentence that are tried as the beginning of another part."""

_FRAME = (
    r"(?:how|what|where|when|why|which|who)(?:['’]s)?\s+(?:(?:to|do|does|did|can|could|should|is|are|was"
    r"|were|would|will|must)\b"
    r"|about\b|(?:\w+\s+){1,3}?(?:do|does|is|are|should|can|must|will|version|to)\b|happens\b"
    r"|(?<=who\s)(?:won|wrote|made|\w{3,}(?:s|ed))\b)"
    r"|(?:is|are)\s+(?:there|it|this|that)\b|(?:can|could|should|do|does|did|is|are|will|would)\s+(?:i|we"
    r"|you|it|they|one|the|a)\b"
)
_CUT = re.compile(
    rf"(?<!\s)(?:\s*+[,;:]\s++|\s++)(?:and|but|or(?!\s++(?:do|does|is|are|can|could|should|must|will|would)\b)|plus)(?:\s++(?:also|then|second(?:ly)?|lastly|finally"
    rf"|if so))?,?\s++(?=(?:{_FRAME}))"
    rf"|(?<!\s)\s*+[,;]\s*+(?:also\s++|then\s++)?(?=(?:{_FRAME}))",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r"(?<!\s)(?:\s*+[,;]\s++|\s++)(?:and\s++also|and\s++additionally|and\s++then\s++also"
    r"|additionally|and\s++on\s++top(?:\s++of\s++that)?|plus)\s++(?=[a-z]\w++\s)",
    re.IGNORECASE,
)
_FIRST_FRAME = re.compile(
    r"^(?P<frame>.*?\b(?:(?:how|where|when|why)\s+(?:do|can|should|would|could|must)\s+(?:i|we|you|one)"
    r"|how\s+to"
    r"|(?:can|could|should|may)\s+(?:i|we|you)|(?:is|are)\s+(?:it\s+possible|there\s+(?:a"
    r"|any)\s+ways?)\s+to|(?:i|we)\s+(?:want|need|have)"
    r"\s+to))\s+(?P<verb>[a-z]\w+)",
    re.IGNORECASE | re.DOTALL,
)
_WHOLE = re.compile(
    r"\s*(?:how|where|when|why)\s+(?:do|can|should|would|could|must)\s+(?:i|we|you)\s", re.IGNORECASE
)
"""A question of its own even where it has one word of its own: "how do I sign them?"."""
_SETS_IT = re.compile(
    r"(?:how\s+(?:to|(?:do|can|could|should|would)\s+(?:i|we|you|one))|(?:can|could|may)\s+(?:i|we|you|one))\s+"
    r"(?:adjust|avoid|change|check|configure|decrease|disable|edit|enable|find|fix|increase|lower|modify|override"
    r"|prevent|raise|see|set|show|solve|stop|switch|turn)\s+(?:off\s+|on\s+)?(?:it|that|this|them)(?:\s+\w+){0,5}\W*$",
    re.IGNORECASE,
)
"""A part that only asks how to set, see or mend what the one before it asks about: one page says both."""
_LEADS = re.compile(
    r"\b(?:know|tell me|explain|wonder(?:ing)?|understand|see|sure|explains?|shows?|ask(?:ing)?|idea|out"
    r"|me)\s*+(?:about\s*+)?$",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"\b(?:an?\s(?:extra|additional|separate)|anything\s(?:else|extra)|something\selse|another\s\w+)\b"
    r"(?!\s\w+\s(?:for|of|in|to|with)\b)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:adjust|avoid|change|disable|drop|enable|fix|get|increase|lift|lower|make|raise|reach|remove|see|set|skip|take|turn|use|with"
    r"|without|around|past|about|off|of|for|from|in|on|to)\s+(?:that|those|these)\s+"
    r"(?!(?:i|we|you|they|it|he|she|the|an?|is|are|was|were|has|have|can|will|would|should|do|does|did|in|on|at|to|of"
    r"|for|from|with|without|by|when|if|as|or|and|only|not)\b)[a-z]+\b(?=\W*$|\s)",
    re.IGNORECASE,
)
"""A thing that was named before: "can I take that limit away?"."""
_LEAST_OWN = 3
"""Words up to which a part that names something more does not say what it is more than."""
_SUBORDINATE = re.compile(r"(?<=.)\b(?:if|when|that|because|whether)\b", re.IGNORECASE)
_ASKS = re.compile(rf"\s*+(?:and\s+|also,?\s+)*(?:{_FRAME})", re.IGNORECASE)
_TO_DO = re.compile(rf"(?:{_FRAME})|\bto\s{{1,3}}[a-z]", re.IGNORECASE)
_FRAMED = re.compile(rf"(?:{_FRAME})|^how\b|^what\b", re.IGNORECASE)
_ANNOUNCES = re.compile(
    r"(?:(?:hi|hello|hey)\W{1,3})?(?:(?:i|we)\s+(?:have|had|got)\s+)?(?:(?:two|three|some|several|a\s+few|a\s+couple\s+of|\d)"
    r"\s+)(?:quick\s+|small\s+)?questions\b[^.?!]{0,40}[:.]?$",
    re.IGNORECASE,
)
"""Says that questions come: "I have two questions about Flask:"."""
_PRINTED = re.compile(
    r"\A\s*(?:(?:warning|error|fatal|critical)\s?:|(?:\w+\.)*\w*(?:Error|Exception|Warning):)\s"
    r"|[\[(][yY](?:es)?\s?/?\s?[nN]o?[\])]"
)
"""What a program printed."""
_PROMPT = re.compile(r"\?(?P<choice>\s?[\[(][yY](?:es)?\s?/?\s?[nN]o?[\])])")
"""A question that a program asks: "Do you want to continue? [yN]"."""
_JOINED = re.compile(r"\b(?:and|but|or|plus)\b", re.IGNORECASE)
"""Sets what is told off as something to do; before a mere comma stands why it is asked, if no question."""
_SUPPOSES = re.compile(
    r"(?:is|was|could|might)\s+(?:it|this|that)\s+(?:be\s+)?(?:because|due\s+to|related|caused|about|something)\b",
    re.IGNORECASE,
)
"""Guesses at the answer to what was asked before: "is it because of the name?"."""
_OF_ANOTHER = re.compile(
    r"\s*+(?:and\s+)?(?:can|could|does|did|is|was|will|would|are|do)\s+(?:it|they)\b", re.IGNORECASE
)
"""Asks about what nobody named, as the part behind it does: "does it replace X, can it do Y"."""
_FILLER = frozenset(_WORDS["filler"].split())


def parts(base: str) -> tuple[str, ...]:
    """Return the questions that a message holds, each standing alone; just the message where it is one."""
    if "```" in base or len(base) > 2000:
        return (base,)
    statements, asked = _asked(base)
    pieces = [piece for sentence in asked for piece in _split(sentence)]
    if len(pieces) < 2 or len(pieces) > MOST:
        return (base,)
    context = " ".join(statements)
    lead = f"{context} " if 0 < len(context) <= 200 else ""
    found = [_whole(piece, pieces[:place]) for place, piece in enumerate(pieces)]
    if any(leans(piece) for piece in found[1:]):
        return (base,)
    return tuple(dict.fromkeys(lead + piece for piece in found))


def leans(part: str) -> bool:
    """Return True if a part asks about what another one is about: "is it safe?", "is an extra needed?"."""
    if pronouns(part) or (_POINTS.search(part) and not identifiers(part)):
        return True
    return bool(_LEANS.search(part)) and not identifiers(part) and _weight(part) <= _LEAST_OWN


def _asked(base: str) -> tuple[list[str], list[str]]:
    """Separate a message's statements from its questions; a fragment joins the question before it."""
    statements: list[str] = []
    asked: list[str] = []
    for line in _PROMPT.sub(r"\g<choice>", base).splitlines():
        for sentence in sentences(re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line.strip())):
            if _ANNOUNCES.match(sentence):
                continue
            if _PRINTED.search(sentence) or not (sentence.endswith("?") or _ASKS.match(sentence)):
                statements.append(sentence)
            elif asked and _weight(sentence) < _least(sentence):
                asked[-1] += " " + sentence
            else:
                asked.append(sentence)
    return statements, asked


def _least(text: str) -> int:
    """Return the weight from which a sentence is a question of its own."""
    return 1 if _WHOLE.match(text) else 2


def _weight(text: str) -> int:
    content = [w for w in words(text) if w not in STOP_WORDS and w not in _FILLER]
    return len(content) + len(identifiers(text))


def _split(sentence: str) -> list[str]:
    for pattern in (_CUT, _ALSO):
        pieces: list[str] = []
        start = 0
        for match in islice(pattern.finditer(sentence), _MOST_CUTS):
            head, tail = sentence[start : match.start()], sentence[match.end() :]
            if (
                _weight(head) < _least(head)
                or _weight(tail) < 1
                or (pattern is _CUT and (_is_subordinate(head) or _SETS_IT.match(tail)))
            ):
                continue
            asks = _TO_DO if pattern is _ALSO or _JOINED.search(match.group()) else _FRAMED
            if not asks.search(head) or _SUPPOSES.match(tail):
                continue
            pieces.append(head)
            start = match.end()
        if pieces:
            return [*pieces, sentence[start:]]
    return [sentence]


def _is_subordinate(head: str) -> bool:
    """Return True if what follows a head belongs to it: "do you know", "it fails when X"."""
    clause = max(head.rfind(","), head.rfind(";")) + 1
    return bool(_LEADS.search(head) or _SUBORDINATE.search(head, clause))


def _whole(piece: str, earlier: list[str]) -> str:
    """Make a part a sentence of its own: frame, pronouns, capital and question mark."""
    text = re.sub(
        r"^\s*(?:and|also|but|plus|then|second(?:ly)?|finally)\b[\s,]*",
        "",
        piece.strip(),
        flags=re.IGNORECASE,
    )
    text = re.sub(r"^(?:also|then)\s+", "", text, flags=re.IGNORECASE)
    if earlier and not _FRAMED.search(text):
        frame = _FIRST_FRAME.match(earlier[0])
        if frame:
            text = f"{frame['frame']} {text}"
    told_of = [] if not earlier or _OF_ANOTHER.match(earlier[-1]) else pronouns(text)
    for match in reversed(told_of):
        phrase = antecedent(earlier[-1], match.lastgroup == "plural") if phrases(earlier[-1]) else None
        if phrase and match.lastgroup in ("single", "plural", "this", "poss"):
            named = phrase.text + ("'s" if match.lastgroup == "poss" else "")
            text = text[: match.start()] + named + text[match.end() :]
    text = text.strip().rstrip(",;.")
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(("?", "!")) else "?")
