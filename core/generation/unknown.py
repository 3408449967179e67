"""Recognise an answer that says it does not know, in whatever words a model chooses."""

from __future__ import annotations

import re

from core.generation.citations import uncited
from core.text.words import one_line, sentences

_PHRASE = re.compile(
    r"(?:(?:i am|i'm)\s+sorry,?\s+(?:but\s+)?|sorry,?\s+(?:but\s+)?|unfortunately,?\s+|answer:\s*)*"
    r"(?:i\s+(?:do\s+not|don't)\s+know"
    r"|ich\s+wei(?:ß|ss)\s+(?:es\s+)?nicht|das\s+wei(?:ß|ss)\s+ich\s+nicht|je\s+ne\s+sais\s+pas|no\s+lo\s+sé|no\s+sé"
    r"|(?:eu\s+)?não\s+sei|non\s+lo\s+so|ik\s+weet\s+het\s+niet|я\s+не\s+знаю|我不知道|わかりません|分かりません|모르겠습니다)"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_BARE_END = re.compile(
    r"\s*+(?:the answer(?: to (?:this|that|your question))?\s*+)?[.!。]*+\s*+", re.IGNORECASE
)
_REASON = re.compile(r"\s*[,;:(–—-]+\s*(?:as|because|since|based|from|the|there|given)\b", re.IGNORECASE)

_MATERIAL = (
    r"(?:the |this |that |any of the |none of the |provided |given |available |numbered |supplied )*"
    r"(?:evidence|documentation|docs|context|sources?|passages?|information|material|text|excerpts?)"
    r"(?:\s+(?:provided|given|available|supplied|above|here))?"
)
_LACKS = (
    r"(?:mention|contain|provide|include|cover|address|say|state|specify|describe|explain|discuss|answer|give|tell"
    r"|have|hold|indicate|refer|offer)"
)
_LACK = re.compile(
    rf"(?:(?:(?:i am|i'm)\s+)?sorry,?\s+(?:but\s+)?|i\s+apologi[sz]e,?\s+(?:but\s+)?"
    rf"|unfortunately,?\s+|however,?\s+|based on {_MATERIAL},?\s+|therefore,?\s+)*(?:"
    rf"{_MATERIAL}\s+(?:does\s+not|doesn't|do\s+not|don't)\s+(?:\w+ly\s+)?{_LACKS}\b"
    rf"|none of {_MATERIAL}\s+{_LACKS}s?\b"
    rf"|there\s+(?:is|are)\s+(?:no|not\s+enough|insufficient)\s+(?:\w+\s+){{0,3}}(?:information|mention|evidence|details?)\b"
    rf"|no\s+(?:\w+\s+){{0,3}}(?:information|mention|evidence)\s+(?:is|was|are|about|on|regarding|in)\b"
    rf"|i\s+(?:cannot|can't|could\s+not|couldn't|am\s+unable\s+to|was\s+unable\s+to)\s+(?:find|answer|determine|tell)\b"
    rf"|i\s+(?:do\s+not|don't)\s+have\s+(?:\w+\s+){{0,2}}(?:information|evidence|details?)\b"
    rf"|it\s+is\s+not\s+(?:mentioned|covered|stated|specified|described)\b"
    rf"|please\s+(?:consult|check|refer|see|provide|ask)\b"
    rf"|(?:for\s+more\s+\w+,?\s+)?you\s+(?:may|might|should|could)\s+(?:want\s+to\s+)?(?:consult|check|refer|ask|look)\b"
    rf")",
    re.IGNORECASE,
)
_ADVICE = re.compile(r"(?:please|for\s+more|you)\b", re.IGNORECASE)
_TURN = re.compile(r"\b(?:but|however|although|though|instead|yet)\b", re.IGNORECASE)
_MOST_SENTENCES = 4


def is_unknown(text: str) -> bool:
    """Return True if an answer only says that it does not know.

    It does when it opens with the phrase itself, or when each of its few sentences says that the
    evidence holds nothing. One statement of substance, a code block or a list makes it an answer.
    """
    plain = re.sub(r"[*_>#\"“”]", "", uncited(text)).replace("’", "'").strip()
    if not plain:
        return False
    paragraph = one_line(plain)
    if match := _PHRASE.match(paragraph):
        rest = match.group("rest")
        first = sentences(rest.strip())[0] if rest.strip() else ""
        return bool(not rest or rest[0] in ".!。" or _BARE_END.fullmatch(first) or _REASON.match(rest))
    if "```" in text or re.search(r"^[^\S\n]*(?:[-*+]|\d+[.)])\s", text, re.MULTILINE):
        return False
    told = sentences(paragraph)
    return len(told) <= _MOST_SENTENCES and all(map(_is_lack, told)) and not _only_advises(told)


def says_lack(sentence: str) -> bool:
    """Return True if a sentence says that nothing is known, whatever follows it."""
    plain = re.sub(r"[*_>#\"“”]", "", uncited(sentence)).replace("’", "'").strip()
    return bool(_PHRASE.match(plain) or (_LACK.match(plain) and not _ADVICE.match(plain)))


def _is_lack(sentence: str) -> bool:
    lack = _LACK.match(sentence) or _PHRASE.match(sentence)
    # "…, but you can …" goes on to an answer.
    return lack is not None and not _TURN.search(sentence, lack.end())


def _only_advises(told: list[str]) -> bool:
    """Return True if nothing but advice stands there: "You should check the log." is an answer."""
    return all(_ADVICE.match(sentence) for sentence in told)
