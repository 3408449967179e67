"""Noun phrases and names, without a parser: what a question is about.

Phrases are found as runs of words between small words; the question's frame ("how do I") tells
whether a verb comes first. It is enough for questions as people type them in a chat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.text.words import STOP_WORDS, identifiers
from core.vocabulary import word_list, words_of

_WORDS = words_of("core.query")["anaphora"]

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
_BREAKS = STOP_WORDS | frozenset(_WORDS["breaks"].split())
_PRONOMINAL = frozenset(
    word_list("that it he she they we you i this there here what who how where when why let")
)
"""Small words that stand before an apostrophe: "that's"."""
_VAGUE = frozenset(_WORDS["vague"].split())
"""Nouns that are about something else: in "the role of X" it is X that a later "it" means."""
_WORD = re.compile(r"(?<!\w)\.(?=[a-z])[\w.]*\w|[A-Za-z0-9_@][\w.+#/'’-]*[\w+#)]|[A-Za-z0-9]|[^\w\s]")
_CHOICE = re.compile(
    r"\s*(?:which|what)\s+((?:(?!is\b|are\b|do\b|does\b|kind\b|about\b)[\w.+-]+\s+){1,3}?)"
    r"(?:(?:is|are|was|were)\b|(?:do|does|did|should|can|could|will|would|must)\s+(?:i|we|you|one)\b)",
    re.IGNORECASE,
)
"""What is to be chosen or named: "which WSGI server should I use"."""
_TITLE = re.compile(r"\s*([a-z]+)\s+(?:a|an|the|my|any|our)\s", re.IGNORECASE)
"""A verb and its object without more: "repeat an option"."""
_VERB_NEXT = re.compile(
    r"\s+(?:works?|working|happens?|mean|means|really|actually|still|even|ever|always|never|use|uses|using|used"
    r"|go|goes|come|comes|get|gets|have|known|considered|called)\b",
    re.I,
)
_NAMED = re.compile(r"[A-Z][\w.-]{1,60} [A-Z][\w.-]{1,60}$")
"""A name of two words, of which the last is no verb."""
_DETERMINER = re.compile(
    r"(?:\b(?:a|an|the|my|our|your|any|some|each|every|all|other)\s++){1,4}$", re.IGNORECASE
)

_LEANING = re.compile(
    rf"\s(?:and|but|or)\s+(?:(?:how|where|when)\s+)?(?:can|could|should|do|must)\s+{_SUBJECT}\s+\w+\s+(?:it|that|this|them)\b",
    re.IGNORECASE,
)
"""A second clause about what the first one names: "… and can I change it per user"."""
_DONE = re.compile(r"[a-z]{2}ed$")
_BARE_VERB = re.compile(r"[a-z]+[^\We]ed")
_MOST_NAMES = 50
"""Identifiers of a text that are looked for in its phrases."""
_NEAR = 60
"""Characters before a phrase in which the words that determine it stand."""
_NAME = re.compile(r"\b[A-Z][\w.'’-]*(?:\s+(?:(?:of|the|de|da|von|van|la)\s+)*[A-Z][\w.'’-]*)*\b")
_OPENERS = frozenset(
    word_list("tell let give explain describe okay yes hello sorry thanks please maybe use see")
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase with its place in the text; `end` is exclusive, determiners included."""

    start: int
    end: int
    text: str

    @property
    def plural(self) -> bool:
        """Return True if the phrase looks like a plural."""
        return phrase_is_plural(self.text)


def phrase_is_plural(text: str) -> bool:
    """Return True if a phrase ends in what looks like a plural."""
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
    clause = _LEANING.search(text)
    if clause and (own := phrases(text[: clause.start()])):
        return own
    begin, verb_first, verb_last = _frame(text)
    code = identifiers(text)[:_MOST_NAMES]
    found = _runs(text, begin, verb_first, code)
    if verb_last and found and (_VERB_NEXT.match(text, found[0].end) or _NAMED.search(found[0].text)):
        verb_last = False
    if verb_last and found and len(found[0].text.split()) > 1 and not code:
        found[0] = _without_last_word(text, found[0])
    found = [phrase for phrase in found if not _is_vague(text, phrase)] or found
    if (chosen := _CHOICE.match(text)) and chosen[1].strip().lower() not in _VAGUE | _BREAKS:
        choice, start = chosen[1].rstrip(), chosen.start(1)
        found = [Phrase(start, start + len(choice), choice), *found]
    named = next((phrase for phrase in found if any(name in phrase.text for name in code)), None)
    if named and verb_last:
        exact = next(name for name in code if name in named.text)
        start = text.index(exact)
        return [Phrase(start, start + len(exact), exact), *(p for p in found if p is not named)]
    return found


def _is_vague(text: str, phrase: Phrase) -> bool:
    """Return True for a noun that is about something else, or a verb: "what changed with X"."""
    is_bare = text[phrase.start : phrase.end] == phrase.text
    return phrase.text.lower() in _VAGUE or (is_bare and _BARE_VERB.fullmatch(phrase.text) is not None)


def _frame(text: str) -> tuple[int, bool, bool]:
    """Return where a question's own words begin, and whether a verb is the first or the last of a phrase."""
    frame, noun = _VERB_FRAME.search(text), _NOUN_FRAME.search(text)
    if frame and not (noun and noun.start() < frame.start() and noun.end() >= len(text) // 2):
        return frame.end(), True, False
    if noun:
        return noun.end(), False, False
    if does := _DOES_FRAME.search(text):
        return does.end(), False, True
    title = _TITLE.match(text)
    return (title.start(1), True, False) if title else (0, False, False)


def _runs(text: str, begin: int, verb_first: bool, code: Sequence[str]) -> list[Phrase]:
    """Return the runs of words between small words and signs, from `begin` on."""
    found: list[Phrase] = []
    run: list[re.Match[str]] = []
    for place, token in enumerate(_WORD.finditer(text, begin)):
        word = token[0].lower()
        is_verb = place == 0 and verb_first and token[0] not in code
        ends = is_verb or _breaks(word) or (not word[0].isalnum() and word[0] not in "_@-")
        if run and (ends or text[run[-1].end() : token.start()].strip()):
            found.append(_phrase(text, run))
            run = []
        if not ends:
            run.append(token)
    return [*found, _phrase(text, run)] if run else found


def _without_last_word(text: str, phrase: Phrase) -> Phrase:
    left = phrase.text.rsplit(None, 1)[0]
    return Phrase(phrase.start, phrase.start + text[phrase.start :].index(left) + len(left), left)


def _breaks(word: str) -> bool:
    return word in _BREAKS or re.split("['’]", word)[0] in _PRONOMINAL


def _phrase(text: str, run: list[re.Match[str]]) -> Phrase:
    last = len(run) - 1
    while last and _DONE.search(run[last][0]):  # "where is X stored"
        last -= 1
    start, end = run[0].start(), run[last].end()
    lead = _DETERMINER.search(text, max(0, start - _NEAR), start)
    return Phrase(lead.start() if lead else start, end, text[start:end])


def names(text: str) -> list[str]:
    """Return the names in a text in order: words in capitals, one alone only where it begins no sentence."""
    found = []
    end = 0
    before = ""
    for match in _NAME.finditer(text):
        words_ = match[0].split()
        before = text[end : match.start()].rstrip()[-1:] or before
        end = match.start()
        begins = not before or before in ".!?:"
        if begins and words_[0].lower() in _BREAKS | _OPENERS:
            words_ = words_[1:]
        elif begins and len(words_) == 1:
            continue
        if words_ and words_[-1].lower() not in _BREAKS:
            found.append(" ".join(words_))
    return found


def antecedent(question: str, plural: bool) -> Phrase | None:
    """Return the noun phrase of a question that a pronoun of that number most likely stands for."""
    found = phrases(question)
    return next((p for p in found if p.plural == plural), found[0] if found else None)
