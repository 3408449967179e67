"""What a model writes around its answer or over and over, and an answer that says that it does not know."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.generation.citations import uncited
from core.text.markup import outside_code
from core.text.words import one_line, sentences

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
