"""What other languages say of changes, put into English for the rules that read it.

`changes.toml` has the words. What is read so is never shown.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

_GIVEN = tomllib.loads(files(__package__).joinpath("changes.toml").read_text("utf-8"))
_CODE = re.compile(r"`[^`\n]*`")
_HELD = re.compile("[\U00100000-\U0010fffd]")
"""Signs of nobody's language that stand for code while a text is put into English."""
_FIRST, _MOST = 0x100000, 1_000
_DONE = "\u01c3"
"""A letter before every word that is in English already: German "was" is not what "was removed" has."""
_ENGLISH_WORD = re.compile(r"[A-Za-z]+")
_SPACES = re.compile(r"(?<=\S) {2,}(?=\S)")
_LETTERS = re.compile(r"[^\W\d_]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WHOLE = {"zh": ("(?:{})", " {} ")}
"""How a pattern is framed, and its English: Chinese has no spaces around words."""
_PARTS = {
    "<code>": _HELD.pattern,
    "<name>": rf"(?:{_HELD.pattern}|@?--?[A-Za-z][\w-]{{0,60}}+|@?[A-Za-z_][\w.]{{0,60}}+(?:\(\))?)",
}


def _translations(language: str, said: str) -> list[tuple[re.Pattern[str], str]]:
    framed, spaced = _WHOLE.get(language, (r"(?<!\w)(?:{})(?!\w)", "{}"))
    found = []
    for pattern, _, plain in (line.partition(" = ") for line in said.splitlines() if line):
        for part, stands_for in _PARTS.items():
            pattern = pattern.replace(part, stands_for)
        is_open = plain.endswith(r"\x20")  # "d'" stands right before a word
        framing = framed.removesuffix(r"(?!\w)") if is_open else framed
        plain = _ENGLISH_WORD.sub(rf"{_DONE}\g<0>", plain.removesuffix(r"\x20") + " " * is_open)
        english = spaced.format(plain)
        found.append((re.compile(framing.format(pattern), re.IGNORECASE), english))
    return found


_IN_ENGLISH = {language: _translations(language, given["said"]) for language, given in _GIVEN.items()}


def _endings(word: str) -> Iterator[str]:
    stem, *endings = word.split("/")
    yield stem
    yield from (stem + ending for ending in endings)


def _signs() -> dict[str, list[tuple[str, str]]]:
    """Return the languages that a word is a sign of, with the phrase that it has to begin, if any."""
    found: dict[str, list[tuple[str, str]]] = {}
    for language, given in _GIVEN.items():
        for sign in given.get("signs", "").split():
            for one in dict.fromkeys(_endings(sign)):
                first, _, rest = one.partition("~")
                phrase = f" {first} {rest.replace('~', ' ')} " if rest else ""
                found.setdefault(first, []).append((language, phrase))
    return found


_SIGNS = _signs()
_SIMPLIFIED = str.maketrans(dict(pair for pair in _GIVEN["zh"]["simplified"].split() if len(pair) == 2))


@lru_cache(maxsize=4096)
def in_english(text: str) -> str:
    """Return what a text says of changes, in English; any other text as it is.

    Word by word and with the foreign order: enough to tell that something was removed, and not to be shown.
    """
    languages = languages_of_changes(text)
    if not languages:
        return text
    held: list[str] = []

    def hold(code: re.Match[str]) -> str:
        held.append(code[0])
        return chr(_FIRST + len(held) - 1)

    text = _CODE.sub(hold, _HELD.sub("", text), _MOST)
    for language in languages:
        text = text.translate(_SIMPLIFIED) if language == "zh" else text
        for pattern, said in _IN_ENGLISH[language]:
            text = pattern.sub(said, text)
        text = _SPACES.sub(" ", text) if language == "zh" else text
    return _HELD.sub(lambda sign: held[ord(sign[0]) - _FIRST], text.replace(_DONE, ""))


def languages_of_changes(text: str) -> list[str]:
    """Return the languages, but English, in which a text may tell of changes: those with most signs."""
    if _HAN.search(text):
        return ["zh"]
    words = _LETTERS.findall(_CODE.sub(" ", text.lower()))
    found = [sign for word in words if word in _SIGNS for sign in _SIGNS[word]]
    if len(words) == 1:
        found += _SIGNS.get(f"={words[0]}", ())
    line = f" {' '.join(words)} " if found else ""
    counts = Counter(language for language, phrase in found if not phrase or phrase in line)
    most = max(counts.values(), default=0)
    return [language for language, count in counts.items() if count == most]
