"""What is literal text in a document is literal text in what is said, whatever the format."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from core.domain import Document, RawDocument
from core.ingestion.chunking import chunk
from core.ingestion.parsing import parse
from core.text.markup import code
from tests.bot.test_harmless import read_everywhere
from tests.core.ingestion.hostile_pages import FORMATS, page
from tests.core.ingestion.pages import parsed
from tests.effort import examples
from tests.lookalikes import CALLS, LOOKS, hostile_texts
from tests.readers import words

ONE_LINE = [text for text in (*LOOKS, *CALLS) if "\n" not in text]


def said(document: Document) -> list[str]:
    """Return what may be said of a document: its texts, and its headings as they stand above quotes."""
    heads = [f"**{heading}**" for section in document.sections for heading in section.headings]
    return [*(section.text for section in document.sections), *heads, f"**{document.title}**"]


@pytest.mark.parametrize("text", ONE_LINE)
@pytest.mark.parametrize("kind", FORMATS)
def test_text_that_looks_like_a_link_or_a_call_is_text(kind: str, text: str) -> None:
    document = parsed(page(kind, text), kind)
    assert "valve is opened by" in "\n".join(said(document))
    for one in said(document):
        for read in read_everywhere(one):
            assert not read.acts and not read.masked


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "pdf"])
@settings(max_examples=examples(60), deadline=None)
@given(text=hostile_texts)
def test_no_text_acts_however_it_is_put_together(kind: str, text: str) -> None:
    for one in said(parsed(page(kind, text), kind)):
        for read in read_everywhere(one):
            assert not read.acts and not read.masked


@pytest.mark.parametrize(
    "text",
    [
        "[Log in](https://evil.example)",
        "![x](https://tracker.example/p.png)",
        "<https://evil.example|text>",
        "<@U123> and <!channel>",
        "@everyone",
        "<img src=x>",
        "&lt;b&gt;",
        "[1]: https://evil.example",
        "javascript:alert(1)",
    ],
)
@pytest.mark.parametrize("kind", FORMATS)
def test_people_read_the_text_as_it_stands(kind: str, text: str) -> None:
    document = parsed(page(kind, text), kind)
    whole = "\n\n".join(said(document))
    for reads in (read_everywhere(whole)[:1], read_everywhere(whole)[1:2]):
        seen = words("".join(read.seen for read in reads))
        assert words(f"valve is opened by {text} in the morning") in seen


@pytest.mark.parametrize("kind", ["html", "rst", "markdown", "notebook"])
def test_code_of_a_document_is_quoted_unchanged(kind: str) -> None:
    text = "[Log in](https://evil.example) &lt; \\[x\\] <b>"
    written = "\n\n".join(section.text for section in parsed(page(kind, text), kind).sections)
    spans = [written[start:end] for start, end in code(written)]
    assert any(text in span for span in spans)


@pytest.mark.parametrize("kind", FORMATS)
def test_no_character_that_nobody_sees_enters_with_a_document(kind: str) -> None:
    hidden = "o\u200bp\u202ee\u00adn\U000e0041\u2060"
    written = "\n".join(said(parsed(page(kind, hidden), kind)))
    if kind == "pdf":  # its fonts have no such characters
        assert not any(sign in written for sign in "\u200b\u202e\U000e0041\u2060")
    else:
        assert "is opened by open in the morning" in written


def test_an_entity_hides_no_character_either() -> None:
    text = parsed("<main><p>ig&shy;no&#8203;re &#xE0041;&#x202E;me, &lrm;all of you</p></main>", "html")
    assert text.sections[0].text == "ignore me, all of you"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("See [the guide](https://docs.example/a).", "See the guide."),
        ("See [the guide][g].\n\n[g]: https://docs.example/a", "See the guide."),
        ("See <https://docs.example/a>.", "See https://docs.example/a."),
        ("See [x](javascript:alert(1)).", "See [x]\\(javascript:alert(1))."),
        ("See ![a chart of it](https://t.example/p.png).", "See a chart of it."),
        ("`a` [`b`](https://docs.example/b)", "`a` `b`"),
    ],
)
def test_links_that_a_page_makes_are_written_as_their_text(markdown: str, text: str) -> None:
    assert parsed(markdown, "markdown").sections[0].text == text


def test_an_anchor_cannot_break_out_of_its_link() -> None:
    anchor = "x) [Log in](https://evil.example"
    told = "The valve is opened in the morning, as everybody knows who has a valve. " * 3
    text = f'<html><body><main><h1>Kettle</h1><h2 id="{anchor}">Valve</h2><p>{told}</p></main></body></html>'
    document = parsed(text, "html")
    [context] = chunk(document, release="1", source="s", count_tokens=len, max_tokens=500).contexts
    assert context.url == "https://docs.example/page/#x%29%20%5BLog%20in%5D%28https://evil.example"


def test_the_name_of_a_file_is_no_link() -> None:
    raw = RawDocument("a.md", "https://docs.example/a) [x](https://evil.example", b"# A\n\nText.", "markdown")
    [context] = chunk(parse(raw), release="1", source="s", count_tokens=len, max_tokens=500).contexts
    assert " " not in context.url and "[" not in context.url and ")" not in context.url
