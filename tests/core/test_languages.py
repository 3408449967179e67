"""Message catalogues: complete, true to their placeholders, and safe to speak in many tasks at once."""

from __future__ import annotations

import ast
import asyncio
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from core.languages import _, available, name_of, ngettext, plain, read, speaking, spoken, told_name
from core.languages import translations_of as in_every_language

ROOT = Path(__file__).parents[2]
OTHERS = ("de", "es", "zh")
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}
Key = str | tuple[str, ...]


@cache
def _marked() -> set[Key]:
    """Return every sentence that the code marks."""
    found: set[Key] = set()
    for folder in ("bot", "core"):
        for entry in extract_from_dir(str(ROOT / folder), [("**.py", "python")], keywords=KEYWORDS):
            said = entry[2]
            found.add(said if isinstance(said, str) or len(said) > 1 else said[0])
    return found


@cache
def _catalogue(language: str) -> Catalog:
    with (ROOT / "core" / "languages" / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language, abort_invalid=True)


def _places(text: str) -> set[str]:
    return {name for _literal, name, _spec, _conversion in Formatter().parse(text) if name is not None}


def test_english_german_spanish_and_chinese_are_there() -> None:
    assert available() == ("en", *OTHERS)


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_every_sentence_and_no_other(language: str) -> None:
    entries = {
        tuple(message.id) if isinstance(message.id, list | tuple) else message.id: message
        for message in _catalogue(language)
        if message.id
    }
    marked = _marked()
    assert len(marked) > 100
    assert marked - entries.keys() == set(), "translate these"
    assert entries.keys() - marked == set(), "nobody says these any more"
    assert not [message.id for message in entries.values() if message.fuzzy]


@pytest.mark.parametrize("language", OTHERS)
def test_translations_keep_places_commands_and_marks(language: str) -> None:
    catalogue = _catalogue(language)
    for message in catalogue:
        if not message.id:
            continue
        english = message.id if isinstance(message.id, str) else message.id[-1]
        said = (message.string,) if isinstance(message.string, str) else tuple(message.string)
        assert isinstance(message.id, str) or len(said) == catalogue.num_plurals
        for text in said:
            assert text, f"{english!r} is not translated"
            assert _places(text) <= _places(english), text
            if isinstance(message.id, str):
                assert _places(text) == _places(english), text
            assert re.findall(r"[👍👎✅❌·…]", text)[:1] == re.findall(r"[👍👎✅❌·…]", english)[:1] or (
                "…" in english
            ), text
            commands = [code for code in re.findall(r"`[^`]*`", english) if "…" not in code]
            assert sorted(re.findall(r"`[^`]*`", text)) == sorted(commands) or "…" in english, text
            edges = (english[0].isspace(), english[-1].isspace())
            assert (text[0].isspace(), text[-1].isspace()) == edges, "words would run together"


def test_sentences_are_written_out_where_they_are_marked() -> None:
    """A sentence with an f-string inside has no entry in any catalogue."""
    for folder in ("bot", "core"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_", "N_", "ngettext"):
                    assert not isinstance(node.args[0], ast.JoinedStr), f"{path}:{node.lineno}"
                    nested = [n for n in ast.walk(node.args[0]) if isinstance(n, ast.JoinedStr)]
                    assert not nested, f"{path}:{node.lineno}"
                if isinstance(node, ast.JoinedStr):
                    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
                    marked = [
                        n
                        for n in calls
                        if getattr(n.func, "id", "") == "_" and isinstance(n.args[0], ast.Constant)
                    ]
                    assert not marked, f"{path}:{node.lineno}: extraction does not see into an f-string"


def test_a_language_is_spoken_inside_a_block_and_not_after_it() -> None:
    assert (spoken(), _("Sources")) == ("en", "Sources")
    with speaking("de"):
        assert (spoken(), _("Sources")) == ("de", "Quellen")
        with speaking("zh-CN"):
            assert _("Sources") == "来源"
        with speaking(""):
            assert _("Sources") == "Quellen", "nothing changes nothing"
        assert _("Sources") == "Quellen"
    assert _("Sources") == "Sources"


def test_a_block_that_fails_leaves_its_language() -> None:
    with pytest.raises(ZeroDivisionError), speaking("es"):
        _ = 1 / 0
    assert spoken() == "en"


async def test_tasks_and_threads_speak_their_own_language() -> None:
    async def say(language: str) -> str:
        with speaking(language):
            await asyncio.sleep(0)
            told = asyncio.create_task(later())
            await asyncio.sleep(0)
            in_thread = await asyncio.to_thread(_, "Sources")
            return f"{await told} {in_thread}"

    async def later() -> str:
        await asyncio.sleep(0)
        return _("Sources")

    wanted = ["Sources Sources", "Quellen Quellen", "Fuentes Fuentes", "来源 来源"]
    assert await asyncio.gather(*(say(language) for language in ("en", *OTHERS))) == wanted


def test_a_language_without_a_catalogue_is_spoken_in_english() -> None:
    with speaking("fr"):
        assert _("Sources") == "Sources" and ngettext("{count} day", "{count} days", 2) == "{count} days"
        assert told_name("de") == "German"


@pytest.mark.parametrize("written", [b"\xff\xfe broken", b'msgid "a"\nmsgstr "b"\nnonsense', b'msgid "open'])
def test_a_broken_catalogue_falls_back_to_english(written: bytes) -> None:
    assert read(written, "de").gettext("Sources") == "Sources"


def test_plurals() -> None:
    one, many = "{count} person said: {what}.", "{count} people said: {what}."
    with speaking("de"):
        assert ngettext(one, many, 1).startswith("{count} Person ")
        assert ngettext(one, many, 2).startswith("{count} Leute ")
    with speaking("zh"):
        assert ngettext(one, many, 1) == ngettext(one, many, 5) == "{count} 人说：{what}。"


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("de", "de"), ("de-AT", "de"), ("zh_Hans_CN", "zh"), ("pt-BR", "pt"), ("es-419", "es"),
        ("EN-us", "en"),
        ("", ""), ("x", ""), ("../de", ""), ("deutsch", ""),
    ],
)  # fmt: skip
def test_tags_of_platforms(tag: str, language: str) -> None:
    assert plain(tag) == language


def test_names_of_languages() -> None:
    assert [name_of(tag) for tag in ("de", "zh", "ja", "xx")] == ["German", "Chinese", "Japanese", "xx"]
    with speaking("de"):
        assert told_name("en") == "Englisch"
    assert in_every_language("Sources") == ("Sources", "Quellen", "Fuentes", "来源")
