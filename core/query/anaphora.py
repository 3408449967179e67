"""Noun phrases and pronouns, without a parser: what a question is about and what "it" stands for.

Phrases are found as runs of words between small words; the question's frame ("how do I") tells
whether a verb comes first. It is enough for questions as people type them in a chat.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.text import STOP_WORDS, identifiers
from core.vocabulary import word_list

_SUBJECT = r"(?:i|you|we|one|they|people|someone|anyone|users?)"
_VERB_FRAME = re.compile(
    rf"\b(?:(?:how|where|when|why|what|which \w+)\s+(?:do|does|did|can|could|should|would|will|must"
    rf"|shall)\s+{_SUBJECT}\s+"
    rf"(?:(?:best|properly|correctly|actually|even|also|not|have to|need to|want to)\s+)*"
    rf"|(?:can|could|should|may|must|do|did|would)\s+{_SUBJECT}\s+(?:(?:also|still|even|just|have to"
    rf"|need to)\s+)*"
    rf"|(?:how|where|when|what|possible|way|ways|best|need|needs|want|wants|trying|try|like|able|going"
    rf"|supposed|have"
    rf"|safe|ok|okay|better|recommended|necessary)\s+to\s+(?:(?:not|best|properly|also)\s+)*"
    rf"|(?:{_SUBJECT}|me)\s+(?:can|could|should|want to|need to|have to|must)\s+)",
    re.IGNORECASE,
)
_NOUN_FRAME = re.compile(
    r"\b(?:what|who|where|which|when|why)(?:['’]s|['’]re|\s+(?:is|are|was|were))\s+|\b(?:tell me|talk"
    r"|know|hear|information"
    r"|explain|describe)\s+(?:more\s+)?(?:about\s+)?|\b(?:is|are)\s+there\s+",
    re.IGNORECASE,
)
_DOES_FRAME = re.compile(
    r"\b(?:do|does|did|can|could|will|would|should|has|have|is|are|was|were)(?:n['’]t)?\s+(?!(?:i|you|we"
    r"|there|it)\b)",
    re.I,
)
_BREAKS = STOP_WORDS | frozenset(
    word_list(
        """above according across against along among around between behind below beneath beside besides
        beyond despite during except inside instead like near onto outside per since though through
        throughout till toward towards underneath unless unlike upon via vs versus whether within
        without yet however therefore because again ever never always often sometimes usually currently
        correctly properly actually really still even else well good bad best better new old different
        really automatically work works working happen happens mean means called named located
        considered use uses using used many long far often soon old big common main go goes gets comes"""
    )
)
_VAGUE = frozenset(
    word_list(
        """role cost costs importance difference differences purpose meaning reason reasons cause causes
        effect effects impact type types kind kinds example examples default defaults syntax alternative
        alternatives advantage advantages drawback drawbacks step steps process rest result results
        order number amount part parts list value issue problem trouble sense time name names idea point
        support history background details information pros cons benefits benefit"""
    )
)
"""Nouns that are about something else: in "the role of X" it is X that a later "it" means."""
_WORD = re.compile(r"(?<!\w)\.(?=[a-z])[\w.]*\w|[A-Za-z0-9_@][\w.+#/'’-]*[\w+#)]|[A-Za-z0-9]|[^\w\s]")
_TITLE = re.compile(r"\s*([a-z]+)\s+(?:a|an|the|my|any|our)\s", re.IGNORECASE)
"""A verb and its object without more: "repeat an option"."""
_VERB_NEXT = re.compile(
    r"\s+(?:works?|working|happens?|mean|means|really|actually|still|even|ever|always|never|use|uses)\b", re.I
)
_DETERMINER = re.compile(r"(?:\b(?:a|an|the|my|our|your|any|some|each|every|all|other)\s+)+$", re.IGNORECASE)

_CLAUSE = re.compile(
    r"[,.;:!?\n]|\b(?:and|but|or|so|then|when|if|because|after|before|while|which|unless|until|since"
    r"|whether)\b",
    re.I,
)
_EXPLETIVE = re.compile(
    r"\b(?:(?:is|was|would|will|be|isn['’]t)\s+it|it(?:['’]s|\s+(?:is|was|would be|seems|looks"
    r"|turns out)))\s+"
    r"(?:(?:also|even|still|really|not|like|always|ever|generally|usually)\s+)*[\w-]*\s*(?:idea|practice"
    r"|way)?\s*"
    r"(?:to|that|for|if|like|when|how|why)\b|\b(?:does|will|did|would)\s+it\s+(?:take|cost|make sense"
    r"|matter|mean)\b"
    r"(?:\s+\w+)?\s+(?:to|if|that|for|when)\b|\bmakes?\s+it\s+\w+\s+to\b",
    re.IGNORECASE,
)
_AFTER_THAT = (
    r"(?=\s*(?:[?.!,;:]|$)|\s+(?:\w{2,}er\b|better|safe|ok|enough|required|needed|supported|allowed|available|deprecated|removed|gone|stored|set|called"
    r"|cached|kept|sent|is|was|are|were|isn|also|still|only|too|not|in|with|for|on|from|to|by"
    r"|without|at|into|inside"
    r"|work\w*|mean\w*|happen\w*|appl\w+|chang\w+|affect\w*|support\w*|look\w*|caus\w+|have|has|had|be|do"
    r"|does|did|go|goes"
    r"|need\w*|take\w*|return\w*|possible|safe|instead|off|up|down|out|over|again|as|and|or|when|if|the"
    r"|get|break\w*|requir\w+"
    r"|depend\w*|compar\w+|differ\w*|relat\w+|come|comes|cost\w*|help\w*|run\w*|start\w*|stop\w*|use\w*"
    r"|make\w*)\b)"
)
_PRONOUN = re.compile(
    rf"\b(?P<do>do(?:ing)?\s+(?:this|that|it|so))\b(?!\s+\w+(?:ing|ed)\b)"
    rf"|\b(?P<poss>its|their)\b(?=\s+[a-z])"
    rf"|\b(?P<plural>they|them|these|those){_AFTER_THAT.replace('|the|', '|the|all|both|')}"
    rf"|\b(?P<single>it)\b(?!['’]s\s+(?:a|an)\b)"
    rf"|\b(?P<this>this|that){_AFTER_THAT}"
    rf"|\b(?P<one>one|ones){_AFTER_THAT.replace('|the|', '|')}",
    re.IGNORECASE,
)
_POINTED = re.compile(
    r"\b(?P<det>this|that|these|those|the same|such an?|said)\s+(?P<noun>settings?|options?|flags?"
    r"|commands?|functions?|methods?"
    r"|classe?s?|decorators?|variables?|parameters?|arguments?|errors?|exceptions?|messages?|features?"
    r"|files?|keys?|values?"
    r"|env(?:ironment)? var(?:iable)?s?|attributes?|fields?|endpoints?|routes?|views?|callbacks?"
    r"|prompts?|warnings?|plugins?|tools?|packages?|modules?|extensions?|hooks?|handlers?|objects?|things?|approach|way|part|stuff)\b",
    re.IGNORECASE,
)
_BEFORE_THAT = frozenset(
    word_list(
        """does do did is are was were can could will would should how why what where when about with for
        like than of in on from to into by and or but has have had if isn doesn don at as without using
        after before not"""
    )
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase with its place in the text; `end` is exclusive, determiners included."""

    start: int
    end: int
    text: str

    @property
    def plural(self) -> bool:
        """Tell whether the phrase looks like a plural."""
        return phrase_is_plural(self.text)


def phrase_is_plural(text: str) -> bool:
    """Tell whether a phrase ends in what looks like a plural."""
    last = text.split()[-1].lower() if text.split() else ""
    return (
        last.endswith("s")
        and not last.endswith(("ss", "us", "is", "'s"))
        and last.isalpha()
        and len(last) > 3
    )


def gerund(action: str) -> str:
    """Put an action in its -ing form: "set cookies" to "setting cookies"."""
    verb, space, rest = action.partition(" ")
    if verb.endswith("ie"):
        verb = verb[:-2] + "y"
    elif verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        verb = verb[:-1]
    elif re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb):
        verb += verb[-1]
    return f"{verb}ing{space}{rest}"


def predicate(text: str) -> str:
    """Return what is to be done, from the verb to the end ("register error handlers"), or ""."""
    match = _VERB_FRAME.search(text)
    return text[match.end() :].strip().rstrip("?!. ") if match else ""


def phrases(text: str) -> list[Phrase]:
    """Return the noun phrases of a question, the one it is about first."""
    begin, skip_first, skip_last = 0, False, False
    frame, noun = _VERB_FRAME.search(text), _NOUN_FRAME.search(text)
    does = _DOES_FRAME.search(text)
    if frame and not (noun and noun.start() < frame.start() and noun.end() >= len(text) // 2):
        begin, skip_first = frame.end(), True
    elif noun:
        begin = noun.end()
    elif does:
        begin, skip_last = does.end(), True
    elif title := _TITLE.match(text):
        begin, skip_first = title.start(1), True
    code = set(identifiers(text))
    found: list[Phrase] = []
    run: list[re.Match[str]] = []
    tokens = list(_WORD.finditer(text, begin))
    for place, token in enumerate([*tokens, None]):
        word = token[0].lower() if token else ""
        verb = place == 0 and skip_first and token is not None and token[0] not in code
        if token is None or verb or word in _BREAKS or (not word[0].isalnum() and word[0] not in "_@-"):
            if run:
                found.append(_phrase(text, run))
            run = []
            continue
        if run and text[run[-1].end() : token.start()].strip():
            found.append(_phrase(text, run))
            run = []
        run.append(token)
    if skip_last and found and _VERB_NEXT.match(text, found[0].end):
        skip_last = False
    if skip_last and found and len(found[0].text.split()) > 1 and not code:
        last = found[0].text.rsplit(None, 1)[0]
        found[0] = Phrase(
            found[0].start, found[0].start + text[found[0].start :].index(last) + len(last), last
        )
    found = [p for p in found if p.text.lower() not in _VAGUE] or found
    named = [p for p in found if any(c in p.text for c in code)]
    if named and skip_last:
        exact = next(c for c in identifiers(text) if c in named[0].text)
        start = text.index(exact)
        return [Phrase(start, start + len(exact), exact), *[p for p in found if p is not named[0]]]
    return found


def _phrase(text: str, run: list[re.Match[str]]) -> Phrase:
    while len(run) > 1 and re.search(r"[a-z]{2}ed$", run[-1][0]):  # "where is X stored"
        run = run[:-1]
    start, end = run[0].start(), run[-1].end()
    lead = _DETERMINER.search(text[:start])
    return Phrase(lead.start() if lead else start, end, text[start:end])


def pronouns(text: str) -> list[re.Match[str]]:
    """Return the pronouns that nothing in the text itself explains."""
    open_ones: list[re.Match[str]] = []
    masked = _EXPLETIVE.sub(lambda m: "\0" * len(m[0]), text)
    for match in _PRONOUN.finditer(masked):
        kind = match.lastgroup
        before = re.findall(r"[\w'’-]+", masked[: match.start()])
        last = before[-1].lower() if before else ""
        if kind == "this" and last and last not in _BEFORE_THAT:
            after = masked[match.end() :].lstrip()
            relative = after and not re.match(
                r"[?.!,;:]|(?:in|with|for|on|from|by|without|instead|off|too|again|and|or|at|into)\b",
                after,
                re.I,
            )
            if relative:
                continue  # "the error that happens"
        if kind == "one" and last in (
            "",
            "no",
            "any",
            "every",
            "some",
            "each",
            "which",
            "only",
            "than",
            "just",
            "at",
        ):
            continue
        if not _explained(masked, match.start()):
            open_ones.append(match)
    return open_ones


def pointed(text: str) -> re.Match[str] | None:
    """Return the first "that setting", "this error" that nothing in the text itself explains."""
    match = _POINTED.search(text)
    return match if match and not _explained(text, match.start()) else None


def _explained(text: str, position: int) -> bool:
    """Tell whether an earlier clause of the text has a noun; in one clause a pronoun points outside."""
    clauses = [m.end() for m in _CLAUSE.finditer(text, 0, position)]
    earlier = text[: clauses[-1]] if clauses else ""
    if not earlier:
        return False
    return bool(phrases(earlier)) or bool(identifiers(earlier))


def antecedent(question: str, plural: bool) -> Phrase | None:
    """Return the noun phrase of a question that a pronoun of that number most likely stands for."""
    found = phrases(question)
    return next((p for p in found if p.plural == plural), found[0] if found else None)
