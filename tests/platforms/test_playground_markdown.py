"""What the page makes of Markdown: what bots write, half of it while it streams, and hostile text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from selenium import webdriver

from core.text.markup import literal
from tests.effort import examples
from tests.lookalikes import hostile_texts
from tests.platforms.browser import Page, playground
from tests.platforms.web_dispatch import FakeDispatch

LINK = 'target="_blank" rel="noopener noreferrer"'


@pytest.fixture(scope="module")
def page(chromium: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with playground(tmp_path_factory.mktemp("home"), FakeDispatch()) as url:
        page = Page(chromium, url)
        page.open(channel="general")
        yield page
        chromium.get("about:blank")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "a **b** *c* `d` ~~e~~ __f__ _g_",
            "<p>a <strong>b</strong> <em>c</em> <code>d</code> <del>e</del>"
            " <strong>f</strong> <em>g</em></p>",
        ),
        ("***both***", "<p><strong><em>both</em></strong></p>"),
        ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
        ("SECRET_KEY and TEST_DB_X, 2 * 3 * 4", "<p>SECRET_KEY and TEST_DB_X, 2 * 3 * 4</p>"),
        ("`` a`b `` and `c", "<p><code>a`b</code> and `c</p>"),
        (r"\*not\* \[1\] \\", r"<p>*not* [1] \</p>"),
        ("one\ntwo  \nthree", "<p>one two<br>three</p>"),
        ("one\n\ntwo", "<p>one</p><p>two</p>"),
        ("# Big\n### Small ###\ntext", "<h3>Big</h3><h5>Small</h5><p>text</p>"),
        ("a\n\n---\nb", "<p>a</p><hr><p>b</p>"),
        (
            "> one\n> two\n>> three\n\nafter",
            "<blockquote><p>one two</p><blockquote><p>three</p></blockquote></blockquote><p>after</p>",
        ),
        (
            "- a\n- b\n  - c\n  - d\n- e",
            "<ul><li>a</li><li>b<ul><li>c</li><li>d</li></ul></li><li>e</li></ul>",
        ),
        ("3. a\n4. b\n   c\n\nafter", '<ol start="3"><li>a</li><li>b c</li></ol><p>after</p>'),
        ("- a\n\n- b", "<ul><li>a</li><li>b</li></ul>"),
        ("- a\n\n  b\n- c", "<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>"),
        ("- a\n1. b", "<ul><li>a</li></ul><ol><li>b</li></ol>"),
        ("text\n- a", "<p>text</p><ul><li>a</li></ul>"),
        ("AT&amp;T &lt;b&gt; &nope;", "<p>AT&amp;T &lt;b&gt; &amp;nope;</p>"),
        (
            "see https://a.example/x_(y)_z. Bye",
            f'<p>see <a href="https://a.example/x_(y)_z" {LINK}>https://a.example/x_(y)_z</a>. Bye</p>',
        ),
        ("<https://a.example/>", f'<p><a href="https://a.example/" {LINK}>https://a.example/</a></p>'),
        (
            "[a *b*](https://a.example/c_(d) 't')",
            f'<p><a href="https://a.example/c_(d)" {LINK}>a <em>b</em></a></p>',
        ),
        ("[[1]](https://a.example/)", f'<p><a href="https://a.example/" {LINK}>[1]</a></p>'),
        ("![alt](https://a.example/p.png)", f'<p><a href="https://a.example/p.png" {LINK}>alt</a></p>'),
        (
            "hi @Threadlore and @Chloé",
            '<p>hi <span class="mention">@Threadlore</span> and <span class="mention">@Chloé</span></p>',
        ),
        ("a@ada.example", "<p>a@ada.example</p>"),
        (
            "list[1] and [2].",
            '<p>list<span class="citation">1</span> and\u00a0<span class="citation">2</span>.</p>',
        ),
    ],
)
def test_markdown(page: Page, text: str, html: str) -> None:
    assert page.rendered(text).replace("&nbsp;", "\u00a0") == html


def test_line_breaks_of_people_are_kept(page: Page) -> None:
    assert page.rendered("one\ntwo", breaks=True) == "<p>one<br>two</p>"


def test_table_scrolls_and_aligns(page: Page) -> None:
    html = page.rendered("| a | b |\n|---|--:|\n| `x|y` | 1 \\| 2 |\n| z |\n\nafter")
    assert '<th scope="col">a</th><th class="align-right" scope="col">b</th>' in html
    assert '<td><code>x|y</code></td><td class="align-right">1 | 2</td>' in html
    assert '<td>z</td><td class="align-right"></td>' in html
    assert html.endswith("<p>after</p>")
    assert page.rendered("a | b\nnot a table") == "<p>a | b not a table</p>"


@pytest.mark.parametrize("closing", ["\n```\n\nafter", ""])
def test_code_keeps_what_is_in_it(page: Page, closing: str) -> None:
    html = page.rendered(f"```python\n# **a** [1] <b>\nif x:\n\n    y = '@Ada'{closing}")
    text = re.sub(r"<[^>]+>", "", html)
    assert "# **a** [1] &lt;b&gt;\nif x:\n\n    y = '@Ada'" in text
    assert ("<p>after</p>" in html) == bool(closing)
    assert "<strong>" not in html and "citation" not in html


def test_code_in_a_list_loses_its_indent(page: Page) -> None:
    html = page.rendered("1. Do\n\n   ```sh\n   a\n     b\n   ```\n2. Then")
    assert html.count("<ol>") == 1 and html.count("<li>") == 2
    assert "<code>a\n  b</code>" in re.sub(r"</?span[^>]*>", "", html)


@pytest.mark.parametrize(
    "sources",
    [
        "**Sources**\n[1] [One › A]({0}/1#x)\n[2] [Two (b)]({0}/2)\n\n*Flask 2.3 · quoted*",
        "## Sources\n1. [One › A]({0}/1#x)\n2. [Two (b)]({0}/2)\n\n*Flask 2.3 · quoted*",
        "[1]: {0}/1#x\n[2] [Two (b)]({0}/2)",
    ],
)
def test_citations_lead_to_their_source(page: Page, sources: str) -> None:
    listed = sources.format("https://a.example")
    html = page.rendered(f"Said [1], and [2][1]. Not [3].\n\n{listed}", anchor="m7")
    assert re.findall(r'class="citation" href="https://a.example/(\d)[^"]*" target="_blank"', html) == [
        "1",
        "2",
        "1",
    ]
    assert '<span class="citation">3</span>' in html
    assert re.findall(r'<li id="(source-m7-\d)"', html) == ["source-m7-1", "source-m7-2"]
    assert 'href="https://a.example/1#x"' in html and ">Two (b)</a>" in html
    assert ("<em>Flask 2.3 · quoted</em>" in html.partition('class="after"')[2]) == ("Flask" in sources)


@pytest.mark.parametrize("title", ["Quellen", "Fuentes", "来源"])
def test_the_list_of_sources_is_found_in_any_language(page: Page, title: str) -> None:
    html = page.rendered(f"Gesagt [1].\n\n**{title}**\n[1] [Eins](https://a.example/1)\n\n*Flask 2.3*")
    assert (
        f'class="sources-title">{title}</p>' in html
        and html.count("<li ") == 1
        and f"<strong>{title}" not in html
    )


def test_a_source_without_an_address_is_shown_in_the_list(page: Page) -> None:
    html = page.rendered("Said [1].\n\n**Sources**\n[1] The manual", anchor="m7")
    assert 'class="citation" href="#source-m7-1"' in html


def test_text_that_begins_with_a_citation_is_no_source(page: Page) -> None:
    assert "sources" not in page.rendered("Said.\n\n[1] says the same, as [2] does.")


HOSTILE = [
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    "[a](javascript:window.hit=1) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x)",
    "[a](/api/state?person=ada) [b](/api/files/1/../2?person=ada) [c](/#/ada/help) [d](/#/m/1/../2)",
    "[e](//evil.example) [f](file:///etc/passwd) ![g](javascript:x)",
    "[a](java\tscript:x) [b](\u0001javascript:x) [c](/api/messages) [d](<javascript:x>) <javascript:x>",
    '[a](https://a.example/"onmouseover="window.hit=1) ![x](https://a.example/"onerror="x)',
    "**Sources**\n[1] [x](javascript:window.hit=1)\n[2] <img src=x onerror=x>",
    '```"><script>window.hit = 1</script>\nx\n```',
    "| <svg onload=x> |\n|---|\n| [a](javascript:x) |",
    "&lt;script&gt;window.hit = 1&lt;/script&gt;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(page: Page, text: str) -> None:
    page.rendered(text)
    found = page.js(
        """const [html] = arguments;
        const box = document.createElement("template");
        box.innerHTML = html;
        return [...box.content.querySelectorAll("*")].flatMap((e) => [
          ...(["SCRIPT", "IMG", "IFRAME", "OBJECT", "STYLE", "FORM"].includes(e.tagName) ? [e.tagName] : []),
          ...[...e.attributes].filter((a) => a.name.startsWith("on")).map((a) => a.name),
          ...(e.tagName === "A" && !/^(https?:|mailto:|#source-)/.test(e.getAttribute("href"))
            ? [e.outerHTML] : []),
        ]);""",
        page.rendered(text),
    )
    assert found == []
    assert page.js("return window.hit") is None


@settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=hostile_texts)
def test_text_of_a_document_is_no_link_but_to_what_it_shows(page: Page, text: str) -> None:
    html = page.rendered(literal(text))
    links = re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', html, re.DOTALL)
    shown = [
        (urlsplit(unescape(href)).netloc, unescape(re.sub(r"<[^>]*>", "", said))) for href, said in links
    ]
    assert all(
        re.match("https?://", said) and unquote(place) in unquote(said).lower() for place, said in shown
    )
    assert "<img" not in html and "<script" not in html


@pytest.mark.parametrize(
    ("text", "label", "target"),
    [
        ("[docs](https://docs.example/a)", "docs", "https://docs.example/a"),
        ("[docs.example](https://docs.example/a)", "docs.example", "https://docs.example/a"),
        (
            "[https://bank.example](https://evil.example/x)",
            "https://evil.example/x",
            "https://evil.example/x",
        ),
        ("[**bank.com**](https://evil.example/x)", "https://evil.example/x", "https://evil.example/x"),
        ("[a@bank.example](mailto:b@evil.example)", "mailto:b@evil.example", "mailto:b@evil.example"),
        (
            "**Sources**\n[1] [www.bank.com](https://evil.example/x)",
            "https://evil.example/x",
            "https://evil.example/x",
        ),
        ("*a ` b `` c* [x](https://a.example/) `", "", ""),
    ],
)
def test_a_link_shows_where_it_leads(page: Page, text: str, label: str, target: str) -> None:
    html = page.rendered(text)
    links = [
        (re.sub(r"<[^>]*>", "", said), href)
        for href, said in re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', html)
    ]
    assert links == ([(label, target)] if target else [])


def test_of_this_server_a_message_and_a_file_of_one_can_be_opened(page: Page) -> None:
    file = "/api/files/12/my-data.json?person=ada"
    assert page.rendered("[there](/#/m/12)") == '<p><a href="#/m/12">there</a></p>'
    assert page.rendered(f"[my-data.json]({file})") == (
        f'<p><a href="{page.url}{file}" {LINK}>my-data.json</a></p>'
    )


def test_hostile_message_in_the_channel_is_inert(page: Page) -> None:
    for text in HOSTILE[:2]:
        page.write(text)
        assert page.text("#messages .body", text[:12]) == text
    assert page.js("return window.hit") is None


@pytest.mark.parametrize(
    "text",
    [
        "*" * 12_000,
        "**a " * 3_000,
        "[" * 12_000,
        "[a](" * 3_000,
        "`a``b" * 2_400,
        "> " * 6_000,
        "- " * 6_000,
        "|" * 12_000,
        "|-" * 6_000,
        "# " + " " * 11_000 + "x",
        "_a" * 6_000,
        "http://" * 1_700,
        "x [1] " * 2_000,
        "\\" * 12_000,
        "&lt" * 4_000,
    ],
    ids=lambda text: text[:4],
)
def test_odd_text_is_shown_quickly(page: Page, text: str) -> None:
    begun = time.monotonic()
    html = page.rendered(text)
    assert not html.startswith("failed") and html
    assert time.monotonic() - begun < 10.0
