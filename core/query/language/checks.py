"""Check a translated question against the original: names, numbers and negation kept, nothing added.

The words of a translation are new, so they cannot be compared with what was said, as those of a rewrite in
the same language are (`core.query.followups.checks`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import Turn
from core.query.followups.checks import keeps_facts, negated
from core.query.language.detect import detected

_LONGEST = 6
"""Characters of English that one of another script may take, amply: a Chinese one stands for a word."""
_ROOM = 120
_ABBREVIATIONS = re.compile(
    r"\b(?:z\.\s?B|d\.\s?h|u\.\s?a|o\.\s?ä|s\.\s?o|p\.\s?ej|p\.\s?ex|par ex)\b\.?", re.I
)
_NOT_WORDS = {
    "de": r"\b(?:nicht|kein\w*|ohne|nie|niemals|weder)\b",
    "es": r"\b(?:no|sin|nunca|ni)\b",
    "fr": r"\b(?:ne|n['’]|pas|sans|jamais|aucun\w*)\b",
    "pt": r"\b(?:não|sem|nunca|nem)\b",
    "ru": r"\b(?:не|нет|без|никогда|ни)\b",
    "zh": r"[不没無无别未]",
    "ja": r"ない|なく|ません|なし",
}
_NOT = {language: re.compile(words, re.IGNORECASE) for language, words in _NOT_WORDS.items()}
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
    """Tell that "not" is neither lost nor invented; where nobody knows its words, that is not looked at."""
    if language not in _NOT:
        return True
    if _denies(question, language):
        return negated(base) or bool(_TURNED.search(base))
    return not negated(base) or _denies(said, language)


def _denies(text: str, language: str) -> bool:
    return bool(_NOT[language].search(_NO_NEGATION.sub(" ", text)))
