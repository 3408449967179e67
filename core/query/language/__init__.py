"""Which language a question is in, told from its words alone.

Code, identifiers, quotations, links and numbers are taken out first: they are English in any question. What
is left is often three words, so a detector for whole texts is right only where it chooses among few languages
(docs/decisions/languages.md, L-01, has the figures).
"""

from __future__ import annotations

import asyncio
import re
import threading
from functools import cache
from typing import TYPE_CHECKING

from core.text.words import STOP_WORDS, one_line, ruled
from core.vocabulary import in_english, languages_of_changes, words_of

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

KNOWN = ("en", "de", "es", "fr", "ja", "pt", "ru", "zh")
"""Languages that are told apart first; a text in none of both lists is undecided, or in the nearest one."""
FURTHER = ("it", "ko", "nl", "pl", "sv", "tr")
"""Languages that a text is in only where nothing of `KNOWN` is more likely: beside them nothing changes."""
SURE = 0.5
"""Probability from which a text with a small word of a language, or a letter of its own, is in it."""
SURE_OF_NAMES = 0.8
"""The same where there is no such word: names of products look like words of any language."""
SURE_ENGLISH = 0.35
"""The same for English: words of the trade are English everywhere, so nothing else is as likely."""

_loading = threading.Lock()
_CODE = re.compile(
    r"```.*?(?:```|\Z)"
    r"|`[^`\n]*`"
    r"|https?://\S+"
    r"|\"[^\"\n]*\"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|「[^「」\n]*」"
    r"|(?<![\w-])--?[A-Za-z](?:[\w-]*\w)?"  # --debug, -p
    r"|(?<![A-Za-z_])[A-Za-z_]\w{0,80}+(?:(?:\.|::|->|/)[A-Za-z_]\w{0,80}+)+(?:\(\))?"  # flask.g, docs/api
    r"|(?<![A-Za-z_])[A-Za-z_]\w{0,80}+\(\)"  # url_for()
    r"|(?<![A-Za-z0-9])[A-Za-z0-9]*_[A-Za-z0-9_]*"  # SECRET_KEY, __init__
    r"|(?<![A-Za-z])[A-Za-z]+[a-z0-9][A-Z][A-Za-z0-9]*"  # CamelCase
    r"|\b[A-Z][A-Z0-9]+\b"  # HTTP
    r"|(?<!\w)\.[a-z]{2,6}\b"  # .env
    r"|:[a-z0-9_+-]+:"  # :thumbsup:
    r"|<[^<>\s][^<>]*>"  # <@U1>
    r"|\d+",
    re.DOTALL,
)
_SMALL = {language: frozenset(words.split()) for language, words in words_of(__package__)["small"].items()}
_ALONE = {
    word: language for language, words in words_of(__package__)["alone"].items() for word in words.split()
}
_LETTERS = {language: re.compile(letters) for language, letters in words_of(__package__)["letters"].items()}
_OWN_LETTER = re.compile(r"[^\W\d_a-zA-Z]")
_OF_FURTHER = re.compile(r"[åąćęłńśźżğışò\uac00-\ud7a3]")
"""Letters of `FURTHER` that none of `KNOWN` has: "port ändern" is no Swedish for its ä."""
_OTHER_SCRIPT = re.compile(r"[\u0370-\u04ff\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f]{2,}")
_BOTH = frozenset({"am", "an", "also", "in", "is", "it", "me", "so", "not"})
"""Small words of English that others have, too."""
_GREETS = 4
"""Words up to which a greeting or thanks among them tells the language."""
_ASKED_IN_ENGLISH = re.compile(
    r"(?:^|[,.;:!?]\s)\W{0,3}(?:(?:so|and|but|hi|hello|hey|ok|well|please)\W{1,3})?(?:"
    r"(?:how|what|why|where|when|which|who)\s+(?:do|does|did|can|could|should|would|will|is|are|to)\b"
    r"|(?:can|could|do|does|did|should|would|is|are)\s+(?:i|we|you|the|it|there|they)\b)",
    re.IGNORECASE,
)
"""How questions begin in English alone: "how do i deploy" has two small words of Polish."""
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff\uff66-\uff9f]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+(?:['’][A-Za-zÀ-ɏ]+)?")
_HAN_OF_A_WORD = 1.5
"""Chinese characters that count as one word beside Latin ones."""


def wording(text: str) -> str:
    """Return a text without what is written alike in every language: code, names, links, quotations."""
    return one_line(_CODE.sub(" ", text))


def detected(text: str) -> str:
    """Return the language of a text as `de`; empty where its words do not tell.

    The first call reads the detector's model (half a second, 80 MB); the others take a tenth of a
    millisecond. Safe to call from several threads.
    """
    words = wording(ruled(text))
    latin = len(_LATIN_WORD.findall(words))
    kana, han = len(_KANA.findall(words)), len(_HAN.findall(words))
    if (kana + han) / _HAN_OF_A_WORD > latin:
        return "ja" if kana else "zh"
    if not re.search(r"[^\W\d_]", words):
        return ""
    if told := _told_by_letters(words, latin) or _told_by_greeting(words):
        return told
    if _ASKED_IN_ENGLISH.search(words) and not _OWN_LETTER.search(words):
        return "en"
    ranked = [(str(language), float(share)) for language, share in _identifier().rank(words)]
    if ranked[0][0] == "en" and (beside := _beside_names(words)):
        return beside
    language, probability = ranked[0]
    if language in FURTHER and probability >= _needed(language, words):
        return language
    language, probability = next(one for one in ranked if one[0] in KNOWN)
    probability /= sum(share for one, share in ranked if one in KNOWN)
    return language if probability >= _needed(language, words) else ""


def _needed(language: str, words: str) -> float:
    """Return the probability from which the words are taken to be in a language."""
    if language == "en":
        return SURE_ENGLISH
    own = _OF_FURTHER if language in FURTHER else _OWN_LETTER
    said = _said(words)
    return SURE if said & _SMALL.get(language, frozenset()) or own.search(words.lower()) else SURE_OF_NAMES


def _said(words: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", words.lower()))


def _told_by_letters(words: str, latin: int) -> str:
    """Return the language of letters that none of `KNOWN` is written in, where most words are; else empty."""
    lower = words.lower()
    if len(_OTHER_SCRIPT.findall(lower)) <= latin:
        return ""
    return next((language for language, letters in _LETTERS.items() if letters.search(lower)), "")


def _told_by_greeting(words: str) -> str:
    """Return the language of "hallo" and "gracias", beside which nothing is said that tells one."""
    said = _said(words)
    told = {_ALONE[word] for word in said if word in _ALONE}
    return told.pop() if len(told) == 1 and len(said) <= _GREETS and not said & STOP_WORDS else ""


def _beside_names(words: str) -> str:
    """Return the language of two small words among names and messages that look English; else empty.

    "Ich kriege BrokerError: connection refused beim Start" has none of English.
    """
    said = _said(words)
    if said & (STOP_WORDS - _BOTH):
        return ""
    ranked = sorted((len(said & small - STOP_WORDS), language) for language, small in _SMALL.items())
    (second, _), (most, language) = ranked[-2:]
    return language if most >= 2 and most > second else ""


def small_words(language: str) -> frozenset[str]:
    """Return small words of a language, such as `wie` and `ich`; none of one without a list, as English."""
    return _SMALL.get(language, frozenset())


def asked_of_changes(text: str) -> tuple[str, frozenset[str]]:
    """Return what a question asks of changes, in English, and small words of the languages that it is in."""
    return in_english(text), frozenset().union(*map(small_words, languages_of_changes(text)))


async def detect(text: str) -> str:
    """Return the same without keeping others waiting while the model is read."""
    return await asyncio.to_thread(detected, text)


async def read_model() -> None:
    """Read the model ahead of the first text that its words do not tell."""
    await asyncio.to_thread(_identifier)


def _identifier() -> LanguageIdentifier:
    with _loading:  # two threads at once would each read the model
        return _loaded()


@cache
def _loaded() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([*KNOWN, *FURTHER])
    return identifier


_BESIDE_RELEASES = frozenset(words_of(__package__)["beside_releases"].split())
_SIGNS = re.compile(r"[那在里中呢吗嗎也的版本用是又里面下上还還では版はの]+")


def says_little(word: str) -> bool:
    """Return True if a lower-case word only leads to a release: `und`, `en`, `dans la`, `那`, `呢`."""
    return word in _BESIDE_RELEASES or bool(_SIGNS.fullmatch(word))
