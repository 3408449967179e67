import json
import subprocess
import sys

import pytest

from core.domain import RawDocument
from core.errors import SourceError
from core.ingestion.formats import MAX_DOCUMENT_BYTES
from core.ingestion.parsing import cut, without_moved
from tests.core.ingestion.pages import body, parsed


@pytest.mark.parametrize("kind", ["markdown", "rst", "html", "text"])
def test_what_is_no_text_is_refused_with_a_sentence(kind):
    for content, said in (
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"PK\x03\x04\x00\x00", "is a binary file"),
        (bytes(range(128, 256)) * 4 + bytes(range(1, 9)) * 20, "is a binary file"),
        (b"a" * (MAX_DOCUMENT_BYTES + 1), r"has 5\.0 MB, more than the 5 MB"),
    ):
        with pytest.raises(SourceError, match=said):
            parsed(content, kind)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("Grüße, naïve café".encode("utf-8-sig"), "text"),
        ("Grüße, naïve café".encode("utf-16"), "text"),
        ("Grüße, naïve café".encode("cp1252"), "text"),
        ("Grüße, naïve café".encode(), "markdown"),
        (
            b'<html><head><meta charset="iso-8859-1"></head><body><p>'
            + "Grüße, naïve café".encode("latin-1")
            + b"</p></body></html>",
            "html",
        ),
        (
            '<?xml version="1.0" encoding="koi8-r"?><p>Grüße, naïve café</p>'.replace(
                "Grüße, naïve café", "Привет"
            ).encode("koi8-r"),
            "html",
        ),
    ],
)
def test_charsets_are_found(content, kind):
    assert parsed(content, kind).sections[0].text in ("Grüße, naïve café", "Привет")


def test_a_nul_that_a_tool_copied_into_a_page_makes_it_no_binary():
    told = "The code \0 is a null control character. " + "It ends a string in C. " * 50
    assert body(told, "text") == told.replace("\0", "").replace("code  is", "code is").strip()
    with pytest.raises(SourceError, match="is a binary file"):
        parsed(told[:200], "text")


@pytest.mark.parametrize("charset", ["nonsense", "idna", "punycode", "utf-16"])
def test_a_charset_that_cannot_be_is_passed_over(charset):
    page = f'<html><head><meta charset="{charset}"></head><body><p>Grüße</p></body></html>'
    assert parsed(page, "html").sections[0].text == "Grüße"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<div>" * 3000 + "x" + "</div>" * 3000, "html"),
        ("\n\n".join(" " * depth + "a" for depth in range(800)), "rst"),
        ("\n\n".join("   " * depth + ".. note::" for depth in range(400)), "rst"),
    ],
)
def test_nesting_beyond_reason_is_a_source_error(text, kind):
    with pytest.raises(SourceError, match="nested too deeply"):
        parsed(text, kind)


def test_plain_text_has_no_false_headings():
    text = (
        "Release notes\n=============\n\nIt is faster.\nMuch faster.\n\n"
        "Name     Value\n-----    -----\na        1\n\n"
        "A SHOUTED LINE\n\n3\n\n- one\n  more\n- two\n"
    )
    document = parsed(text, "text")
    assert document.title == "Release notes"
    assert [s.headings for s in document.sections] == [("Release notes",)]
    text = document.sections[0].text
    assert "It is faster. Much faster." in text
    assert "- one more\n- two" in text
    assert "```\nName     Value\n-----    -----\na        1\n```" in text
    assert "\n3\n" not in text


def test_a_page_of_nothing_but_navigation_has_no_sections():
    assert parsed("Docs\n====\n\n.. toctree::\n\n   a\n   b\n", "rst").sections == ()


def test_line_ends_of_every_system_are_read():
    assert body("one\r\n\r\ntwo\r\rthree", "text") == "one\n\ntwo\n\nthree"


def test_importing_the_dispatcher_loads_no_parser():
    heavy = ["docutils", "bs4", "trafilatura", "griffe", "markdown_it"]
    code = (
        "import sys, core.ingestion.parsing, core.ingestion.chunking;"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (
            ".. note::\n\n   This section has moved to :doc:`other`. Please update references accordingly.",
            False,
        ),
        ("This page has been relocated to the wiki.", False),
        ("This section has moved to the wiki. The kettle boils there.", True),
        ("The section has lids that have moved.", True),
    ],
)
def test_sections_that_only_say_where_their_text_has_gone_are_left_out(text, stays):
    page = parsed(f"Guide\n=====\n\nIt boils.\n\nOld\n---\n\n{text}\n", "rst")
    assert [section.headings[-1] for section in page.sections] == ["Guide", "Old"]
    assert len(without_moved(page).sections) == (2 if stays else 1)


@pytest.mark.parametrize(
    ("name", "text", "other", "before", "after", "said"),
    [
        (
            "a.rst",
            "Page\n====\n\nThis is |release|.\n",
            "conf.py",
            "release = '8.1'",
            "release = '8.2'",
            "8.2",
        ),
        (
            "a.rst",
            "Page\n====\n\nLimits:\n\n.. csv-table::\n   :file: l.csv\n",
            *("l.csv", "name,100", "name,500", "500"),
        ),
        (
            "a.ipynb",
            json.dumps(
                {
                    "nbformat": 4,
                    "nbformat_minor": 5,
                    "metadata": {},
                    "cells": [
                        {
                            "cell_type": "markdown",
                            "id": "a",
                            "metadata": {},
                            "source": '# Page\n\n--8<-- "i.md"',
                        }
                    ],
                }
            ),
            *("i.md", "It was so.", "It is other.", "other"),
        ),
    ],
)
def test_a_page_is_read_again_when_what_it_depends_on_changes(
    name, text, other, before, after, said, tmp_path
):
    def read(known: str = ""):
        kind = {"rst": "rst", "ipynb": "notebook"}[name.rpartition(".")[2]]
        raw = RawDocument(name, "https://x.example/a", text.encode(), kind, str(tmp_path), name)
        return cut(raw, "1.0", "s", len, 10_000, known)

    (tmp_path / other).write_text(before)
    first = read()
    assert first is not None and read(first.hash) is None, "nothing changed"
    (tmp_path / other).write_text(after + " ")
    again = read(first.hash)
    assert again is not None and said in again.contexts[0].page
