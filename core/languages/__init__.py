"""What the bot says in its own words, in the language of the person who reads it.

`_("Sentence with {a_place}.").format(a_place=…)` marks a sentence for the catalogues and looks it up in the
language of the moment; `N_` only marks one, for a constant that is looked up where it is said. Sentences are
marked where *people who ask* see them: admin commands and the command line are in English.
"""

from __future__ import annotations

import gettext
import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources

from babel import Locale, UnknownLocaleError
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

log = logging.getLogger(__name__)

DEFAULT = "en"
"""The language of the sentences in the code."""
_CODE = re.compile(r"([a-z]{2,3})(?:[-_][A-Za-z0-9_-]+)?")
_spoken: ContextVar[str] = ContextVar("spoken", default=DEFAULT)


def plain(tag: str) -> str:
    """Return the language of a tag: `de` of `de-AT`, `zh` of `zh_Hans_CN`; empty for what is no tag."""
    found = _CODE.fullmatch(tag.strip()[:2].lower() + tag.strip()[2:])
    return found[1] if found else ""


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Say things in a language inside the block, and in the tasks that are begun there.

    An empty one changes nothing. A language without a catalogue is spoken in English.
    """
    token = _spoken.set(plain(language) or _spoken.get())
    try:
        yield
    finally:
        _spoken.reset(token)


def spoken() -> str:
    """Return the language of the moment, such as `de`."""
    return _spoken.get()


@cache
def available() -> tuple[str, ...]:
    """Return the languages that have a catalogue, English first."""
    files = resources.files(__package__).iterdir()
    return (DEFAULT, *sorted(file.name[:-3] for file in files if file.name.endswith(".po")))


def name_of(language: str) -> str:
    """Return the English name of a language: `German` for `de`; the code itself where nobody knows it."""
    try:
        return Locale.parse(language).english_name or language
    except (UnknownLocaleError, ValueError):
        return language


def told_name(language: str) -> str:
    """Return what a language is called in the language of the moment: `Englisch` for `en` in German."""
    try:
        said_in = _spoken.get() if _spoken.get() in available() else DEFAULT
        return Locale.parse(language).get_display_name(said_in) or language
    except (UnknownLocaleError, ValueError):
        return language


def _(sentence: str) -> str:
    """Mark a sentence, and return it in the language of the moment."""
    return _catalogue(_spoken.get()).gettext(sentence) if sentence else ""


def ngettext(one: str, many: str, count: int) -> str:
    """Mark a sentence for one and for many, and return the one for `count` in the language of the moment."""
    return _catalogue(_spoken.get()).ngettext(one, many, count)


def N_(sentence: str) -> str:
    """Mark a sentence that is looked up later."""
    return sentence


def translations_of(sentence: str) -> tuple[str, ...]:
    """Return a sentence in every language there is, English first: to know the bot's own words again."""
    return tuple(dict.fromkeys(_catalogue(language).gettext(sentence) for language in available()))


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """Return the catalogue of a language, an empty one where there is none."""
    if language not in available() or language == DEFAULT:
        return gettext.NullTranslations()
    return read((resources.files(__package__) / f"{language}.po").read_bytes(), language)


def read(written: bytes, language: str) -> gettext.NullTranslations:
    """Read a PO file; one that is broken is as if it were empty, which the log says."""
    compiled = io.BytesIO()
    try:
        write_mo(compiled, read_po(io.BytesIO(written), locale=language, abort_invalid=True))
        compiled.seek(0)
        return gettext.GNUTranslations(compiled)
    except Exception as error:  # noqa: BLE001 a broken file must not silence the bot
        log.warning("the catalogue %s.po cannot be read, English is said: %s", language, error)
        return gettext.NullTranslations()
