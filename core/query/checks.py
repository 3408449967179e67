"""Check that a rewrite or a translation, a rule's or a model's, keeps to what was said.

The words of a translation are new, so only its names, numbers and negation can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from core.domain import Question, Turn
from core.query.language import detected
from core.text.words import STOP_WORDS, identifiers, parts_of, quantities, query_terms, words
from core.vocabulary import NEGATIONS, NUMBER_WORDS

_EXACT = re.compile(r"(?<![\w-])-[A-Za-z](?![\w-])|(?<![\w.])[A-Z]{3,}(?![\w.])")


def checked(rewrite: str, question: str, history: Sequence[Turn]) -> bool:
    """Return True if a rewrite keeps to what was said: a rule's and a model's alike.

    Every identifier, constant, flag, number, negation and "why" of the question must be in it, and it may
    hold none that neither question nor thread has. It must not be empty or grow beyond what it was made
    from. A pronoun such as "the last two" may go.
    """
    if not rewrite.strip():
        return False
    said = " ".join([question, *(turn.text for turn in history), *(turn.release for turn in history)])
    if len(rewrite) > len(question) + max((len(t.text) for t in history), default=0) + 120:
        return False
    if not keeps_facts(rewrite, question, said) or not _asks(question) <= _asks(rewrite):
        return False
    if not _numbers(rewrite) <= _numbers(said) | _digits(said):
        return False
    return negated(rewrite) if negated(question) else not negated(rewrite) or negated(said)


def keeps_facts(rewrite: str, question: str, said: str) -> bool:
    """Return True if every identifier, constant, flag and digit of a question is in a text, in any language.

    The text may hold none that was not `said`, by the question or before it.
    """
    said_plain, rewrite_plain = _plain(said), _plain(rewrite)
    if any(_plain(name) not in rewrite_plain for name in identifiers(question)):
        return False
    if any(_plain(name) not in said_plain for name in identifiers(rewrite)):
        return False
    asked, told, heard = (_digits(text) for text in (question, rewrite, said))
    if not asked <= told or not told <= heard or not _exact(question) <= _exact(rewrite):
        return False
    return all(name in said or name.lower() in words(said) for name in _exact(rewrite))


def _plain(text: str) -> str:
    return (
        " "
        + " ".join(part for word in re.findall(r"\w+", text) for part in (parts_of(word) or [word.lower()]))
        + " "
    )


def _digits(text: str) -> set[str]:
    return {digits.rstrip(".xX") for digits, _ in quantities(text)}


def _exact(text: str) -> set[str]:
    """Return what differs by its capitals: `-p` and `-P`, and DEBUG where not all is shouted."""
    found = _EXACT.findall(text)
    return {name for name in found if name[0] == "-" or not (text.isupper() or name.lower() in STOP_WORDS)}


def _asks(text: str) -> set[str]:
    return {word for word in words(text) if word in ("why", "where", "who")}


def _numbers(text: str) -> set[str]:
    """Return the numbers that are written as words; "one" stands for too much else."""
    return {NUMBER_WORDS[word] for word in words(text) if word in NUMBER_WORDS and NUMBER_WORDS[word] != "1"}


def negated(text: str) -> bool:
    """Return True if an English text says "not"."""
    return any(word in NEGATIONS or word.endswith(("n't", "n’t")) for word in words(text))


_KEPT = 0.5
"""Least share of the message's terms that its rewrite holds: "that approach" may go, "fish" may not."""
_SPELLED = 0.75
"""How alike a word of a rewrite is to the one that it spells right."""
_POINTED = re.compile(r"\b(?:that|this|these|those|same|other|last|first)\s+[\w-]+", re.IGNORECASE)
"""What points at something that was named, in whatever words."""


def goes_on_otherwise(question: Question) -> bool:
    """Return True if the thread was in another language, so that a rewrite has words that nobody said."""
    before = (turn.text for turn in question.history if turn.role == "user")
    return bool(question.language) and any(detected(one) not in ("", question.language) for one in before)


def keeps_subject(base: str, question: Question) -> bool:
    """Return True if a rewrite has most of what the message says, be it spelled right ("threads").

    So it has to have what the message is the first to name. What only points back may go: "that approach".
    """
    before = set(query_terms(" ".join(turn.text for turn in question.history)))
    told, own = query_terms(base), query_terms(_POINTED.sub(" ", question.text))
    lost = {term for term in own if not get_close_matches(term, told, 1, _SPELLED)}
    new = [term for term in own if term not in before]
    kept = sum(term not in lost for term in own) >= _KEPT * len(own)
    return kept and 3 * len(lost.intersection(new)) <= len(new)


_LONGEST = 6
"""Characters of English that one of another script may take, amply: a Chinese one stands for a word."""
_ROOM = 120
_ABBREVIATIONS = re.compile(
    r"\b(?:z\.\s?B|d\.\s?h|u\.\s?a|o\.\s?ä|s\.\s?o|p\.\s?ej|p\.\s?ex|par ex)\b\.?", re.I
)
_NOT_WORDS = {
    "de": r"\b(?:nicht|nichts|kein\w*|ohne|nie|niemals|niemand\w*|nirgend\w*|weder)\b",
    "es": r"\b(?:no|sin|nunca|ni|nada|nadie|ning[uú]n\w*|tampoco|jamás)\b",
    "fr": r"\b(?:ne|n['’]|pas|sans|jamais|rien|aucun\w*)\b",
    "pt": r"\b(?:não|sem|nunca|nem|nada|ninguém|nenhum\w*|jamais)\b",
    "ru": r"\b(?:не|нет|без|никогда|ни|ничего|никто|нигде)\b",
    "zh": r"[不没無无别未]",
    "ja": r"ない|なく|ません|なし",
}
_NOT = {language: re.compile(said, re.IGNORECASE) for language, said in _NOT_WORDS.items()}
_NO_NEGATION = re.compile(
    r"([\u4e00-\u9fff])[不没]\1|有没有|[区级类特个分]别|不[同过仅断管]|未来|なければ\w*|ないと\w*|かもしれない"
)
"""Chinese and Japanese words with such a sign that deny nothing: "is it", "difference", "must"."""
_TURNED = re.compile(
    r"\b(?:fail\w*|error\w*|prevent\w*|disabl\w*|avoid\w*|stop\w*|unable|miss\w*|wrong\w*|without|un\w+ed|ignor\w*"
    r"|exclud\w*|skip\w*|turn\w* off|broken|problem\w*|refus\w*|omit\w*|suppress\w*|hid\w*|lack\w*)\b",
    re.IGNORECASE,
)
"""English words that say what another language says with "not"."""


def translated(base: str, question: str, history: Sequence[Turn], language: str) -> bool:
    """Return True if `base` can be the translation of a question: names, numbers and negation are kept.

    `language` is that of the question; a base that is still in it is no translation. Names may come from
    the thread, which a follow-up leans on.
    """
    longest = max((len(turn.text) for turn in history), default=0)
    if not base or len(base) > _LONGEST * len(question) + longest + _ROOM:
        return False
    said = " ".join([question, *(turn.text for turn in history), *(turn.release for turn in history)])
    if not keeps_facts(base, _ABBREVIATIONS.sub(" ", question), said):
        return False
    return _keeps_negation(base, question, said, language) and detected(base) != language


def _keeps_negation(base: str, question: str, said: str, language: str) -> bool:
    """Return True if "not" is neither lost nor invented; not checked in a language without a list."""
    if language not in _NOT:
        return True
    if _denies(question, language):
        return negated(base) or bool(_TURNED.search(base))
    return not negated(base) or _denies(said, language)


def _denies(text: str, language: str) -> bool:
    return bool(_NOT[language].search(_NO_NEGATION.sub(" ", text)))
