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
    r"\s*+(?:the answer(?: to (?:this|that|your question))?\s*+)?"
    r"(?:(?:,\s*)?(?:based on|from|given|according to) [^.]{1,80})?[.!。]*+\s*+",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s*[,;:(–—-]+\s*(?:as|because|since|based|from|the|there|given)\b", re.IGNORECASE)

_MATERIAL = (
    r"(?:the |this |that |any of the |none of the |provided |given |available |numbered |supplied )*"
    r"(?:evidence|documentation|docs|context|sources?|passages?|information|material|text|excerpts?)"
    r"(?:\s+(?:provided|given|available|supplied|above|here|i\s+found))?(?:\s+(?:for|of|on)\s+(?:\w+\s+)?v?\d[\w.]*)?"
)
_LACKS = (
    r"(?:mention|contain|provide|include|cover|address|say|state|specify|describe|explain|discuss|answer|give|tell"
    r"|have|hold|indicate|refer|offer|show|list|name|define|document|tell)"
)
_STOFF = (
    r"(?:(?:die|den|der|dem|das|diese[nrms]?|angegebenen?|bereitgestellten?|vorliegenden?|vorhandenen?|genannten?|gegebenen?|gefundenen?)\s){0,3}"
    r"(?:dokumentation|doku|belege?n?|quellen?|ausz[uü]ge?n?|informationen|kontext|material|evidenz|nachweise?n?)"
)
_LACK_ELSEWHERE = (
    # German
    rf"(?:leider,?\s+)?(?:in\s+)?{_STOFF}\s+(?:sagt|sagen|enth[aä]lt|enthalten|erw[aä]hnt|erw[aä]hnen|beschreibt|beschreiben"
    rf"|nennt|nennen|beantwortet|erkl[aä]rt|gibt|geben|steht|findet|finden|wird|werden|ist|sind|liefert|liefern)\b[^.]{{0,80}}?"
    r"\b(?:nicht|nichts|keine[nrms]?|kein)\b"
    rf"|(?:das|dies|dazu|dar[uü]ber|hierzu)\s+(?:steht|ist|wird|gibt|finde|findet|sagt|enth[aä]lt|geht)\b[^.]{{0,60}}?"
    rf"\b(?:nicht|nichts|keine[nrms]?)\b[^.]{{0,60}}?{_STOFF}"
    rf"|(?:leider\s+)?(?:es\s+gibt|dazu\s+gibt\s+es|es\s+finden\s+sich)\s+[^.]{{0,30}}?\bkeine[nrms]?\s+(?:informationen|angaben|hinweise)"
    rf"|(?:leider\s+)?(?:kann\s+ich|ich\s+kann)\s+[^.]{{0,60}}?\bnicht\s+(?:beantworten|sagen|finden)"
    rf"|(?:tut\s+mir\s+leid|leider\s+wei(?:ß|ss)\s+ich)\b"
    # Spanish, French
    r"|(?:lo\s+siento|lamentablemente)\b|(?:la|los)\s+(?:documentación|fuentes|pruebas|evidencias?)\s+(?:no\s+(?:\w+\s+)?(?:mencion|contien|inclu|dice|"
    r"especific|describ|indic|explic)|proporcionad\w+\s+no\b)|no\s+(?:hay|encuentro|se\s+menciona)\s+(?:ninguna?\s+)?(?:información|mención|nada|en\s+la)"
    r"|(?:je\s+(?:suis\s+)?désolé\w*)\b|la\s+documentation\s+(?:fournie\s+)?ne\s+\w+\s+pas\b"
    # Chinese, Japanese
    r"|(?:很?抱歉|对不起|根据[^。，,]{0,20}[，,])*+(?:我)?(?:所?提供的)?(?:文档|证据|资料|信息|文件|上述)[^。]{0,12}?(?:没有|未|并未|无法|不包含)[^。]{0,40}"
    r"|(?:很?抱歉|对不起)[，,]?(?:我)?(?:无法|不能|没有|不知道)|我(?:无法|不能)(?:从[^。]{0,20})?(?:回答|找到|确定)|(?:根据[^。，,]{0,20}[，,])?没有(?:相关|足够)的?信息"
    r"|申し訳|(?:ドキュメント|証拠|資料|情報)[^。]{0,20}(?:ありません|記載されていません|ません)"
)
_LACK = re.compile(
    rf"(?:(?:(?:i am|i'm)\s+)?sorry,?\s+(?:but\s+)?|i\s+apologi[sz]e,?\s+(?:but\s+)?"
    rf"|unfortunately,?\s+|however,?\s+|based on {_MATERIAL},?\s+|therefore,?\s+)*+(?:"
    rf"{_MATERIAL}\s+(?:does\s+not|doesn't|do\s+not|don't)\s+(?:\w+ly\s+)?{_LACKS}\b"
    rf"|none of {_MATERIAL}\s+{_LACKS}s?\b"
    rf"|there\s+(?:is|are)\s+(?:no|not\s+enough|insufficient)\s+(?:\w+\s+){{0,3}}(?:information|mention|evidence|details?)\b"
    rf"|no\s+(?:\w+\s+){{0,3}}(?:information|mention|evidence)\s+(?:is|was|are|about|on|regarding|in)\b"
    rf"|i\s+(?:cannot|can't|could\s+not|couldn't|am\s+unable\s+to|was\s+unable\s+to)\s+(?:find|answer|determine|tell)\b"
    rf"|i\s+(?:do\s+not|don't)\s+have\s+(?:\w+\s+){{0,2}}(?:information|evidence|details?)\b"
    rf"|(?:(?:this|that|it|the\s(?:answer|question)|how\b[^.]{{0,80}}|what\b[^.]{{0,80}})\s)?(?:is\s|are\s)?not\s"
    rf"(?:\w+ly\s+)?(?:covered|mentioned|addressed|documented|specified|described|stated|answered|provided|found|available|included)"
    rf"\s+(?:by|in|within|from)\s+{_MATERIAL}"
    rf"|nothing\s+(?:in|from)\s+{_MATERIAL}|{_MATERIAL}\s+(?:has|have|says?|contains?|provides?|gives?|offers?|holds?)\s+"
    rf"(?:no\b|nothing\b)|{_MATERIAL}\s+(?:is|are)\s+(?:silent|not\s+(?:clear|sufficient|enough))\b"
    rf"|it\s+is\s+(?:not\s+clear|unclear)\s+from\s+{_MATERIAL}"
    rf"|i\s+(?:have|found|find|see)\s+(?:no|nothing)\b|i\s+am\s+not\s+(?:sure|certain|able)\b"
    rf"|{_LACK_ELSEWHERE}"
    rf"|it\s+is\s+not\s+(?:mentioned|covered|stated|specified|described)\b"
    rf"|please\s+(?:consult|check|refer|see|provide|ask)\b"
    rf"|(?:for\s+more\s+\w+,?\s+)?you\s+(?:may|might|should|could)\s+(?:want\s+to\s+)?(?:consult|check|refer|ask|look)\b"
    rf")",
    re.IGNORECASE,
)
_LACKING = re.compile(
    rf"(?:\b(?:is|are|was)\s{{1,2}}(?:not|nowhere)|n't)\s{{1,2}}(?:covered|mentioned|addressed|documented|specified|described|stated)"
    rf"\s{{1,2}}(?:by|in|within)\s{{1,2}}{_MATERIAL}",
    re.IGNORECASE,
)
_ADVICE = re.compile(r"(?:please|for\s+more|you)\b", re.IGNORECASE)
_TURN = re.compile(r"\b(?:but|however|although|though|instead|yet)\b", re.IGNORECASE)
_MOST_SENTENCES = 4
_ADMITTED = re.compile(r"\bi (?:do not|don['’]t) know\b", re.IGNORECASE)


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
    plain = _plain(sentence)
    if _LACKING.search(plain):
        return True
    return bool(_PHRASE.match(plain) or (_LACK.match(plain) and not _ADVICE.match(plain)))


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
