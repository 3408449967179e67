import pytest

from core.domain import Section
from tests.core.ingestion.pages import body, parsed, section

PAGE = """<!doctype html><html><head><title>Install — Tool Documentation (2.1)</title>
<style>p {color: red}</style><script>var x = "tracked";</script></head><body>
<header class="site-header"><a href="/">Tool</a><form><input></form></header>
<nav><ul><li><a href="/a">Menu entry</a></li></ul></nav>
<div class="sphinxsidebar"><h3>Contents</h3><ul><li><a href="#x">Sidebar entry</a></li></ul></div>
<main><div class="breadcrumbs">Docs / Install</div>
<section id="install"><h1>Install<a class="headerlink" href="#install">¶</a></h1>
<p>This page tells how to install the <a href="/t">tool</a> with <code>pip</code> on every system
that it runs on.</p>
<section id="cookies"><h2>Cookies<a class="headerlink" href="#cookies">¶</a></h2>
<p>The tool sets one cookie, <b>session</b>, which lives as long as the browser is open.</p>
<div class="highlight-python notranslate"><div class="highlight"><pre><span class="k">def</span> f():

    <span class="k">return</span> 1
</pre></div></div>
<div class="admonition note"><p class="admonition-title">Note</p><p>Mind the gap.</p></div>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td><code>A|B</code></td><td>1</td></tr>
<tr><td>wide</td></tr></tbody></table><table><tr><td></td></tr></table>
</section>
<h2 id="own">Own id</h2><ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<ol start="3"><li>three</li></ol><pre><code class="language-rust">fn main() {}</code></pre>
<h3><a name="named"></a>Named</h3><p>Text under a named anchor, long enough to be kept.</p>
</section><div class="pagination"><a href="/next">Next</a></div><p>Page 3 of 7</p>
</main><footer>© 2024 The Tool Authors. All rights reserved.</footer></body></html>"""


def test_a_documentation_page_keeps_its_words_and_loses_the_site():
    document = parsed(PAGE, "html")
    assert document.title == "Install"
    assert [(s.headings, s.anchor) for s in document.sections] == [
        (("Install",), "install"),
        (("Install", "Cookies"), "cookies"),
        (("Install", "Own id"), "own"),
        (("Install", "Own id", "Named"), "named"),
    ]
    whole = "\n".join(s.text for s in document.sections)
    for gone in ("Menu", "Sidebar", "tracked", "red", "Docs /", "Next", "Page 3", "©", "¶"):
        assert gone not in whole
    assert section(document, "Cookies").text == (
        "The tool sets one cookie, **session**, which lives as long as the browser is open.\n\n"
        "```python\ndef f():\n\n    return 1\n```\n\n**Note:** Mind the gap.\n\n"
        "Table: Cookies\n\n| Name | Value |\n| --- | --- |\n| `A\\|B` | 1 |\n| wide |  |"
    )
    assert section(document, "Own id").text == (
        "- one\n  - inner\n- two\n\n3. three\n\n```rust\nfn main() {}\n```"
    )


def test_sphinx_objects_are_sections():
    document = parsed(
        "<body><main><h1>API</h1><p>Everything that the tool offers to other programs is here.</p>"
        '<dl class="py method"><dt class="sig" id="tool.App.run"><span>run</span>(<em>port=1</em>)'
        '<a class="headerlink" href="#tool.App.run">¶</a></dt><dd><p>Runs it.</p></dd></dl>'
        '<dl class="py data"><dt id="DEBUG">DEBUG</dt><dd><p>Debugs.</p></dd></dl>'
        "<dl><dt>Term</dt><dd>Its meaning.</dd></dl></main></body>",
        "html",
    )
    assert document.sections[1:] == (
        Section(("API", "App.run()"), "tool.App.run", "`run(port=1)`\n\nRuns it."),
        Section(("API", "DEBUG"), "DEBUG", "`DEBUG`\n\nDebugs."),
        Section(("API",), "", "- Term: Its meaning."),
    )


def test_a_page_without_landmarks_is_found_by_trafilatura():
    pytest.importorskip(
        "lxml_html_clean", reason="trafilatura needs lxml_html_clean: pip install lxml_html_clean"
    )
    words = "The garden has a tree whose apples ripen late in autumn, when the nights are cold. "
    menu = "".join(f'<div><a href="/{i}">Go to place {i}</a></div>' for i in range(40))
    document = parsed(
        f"<html><head><title>Trees | Site</title></head><body><div><div>{menu}</div><div><div>"
        f'<h2 id="t">Apple trees</h2><p>{words * 4}</p><p>{words.replace("apples", "pears") * 4}</p>'
        f"</div></div><div>{menu}</div></div></body></html>",
        "html",
    )
    assert document.title == "Trees"
    assert [(s.headings, s.anchor) for s in document.sections] == [(("Apple trees",), "t")]
    assert "Go to place" not in document.sections[0].text
    assert "pears ripen" in document.sections[0].text


def test_content_inside_what_is_named_like_a_menu_is_kept():
    words = "The garden has a tree whose apples ripen late in autumn, when the nights are cold. " * 6
    document = parsed(
        f'<body><div class="sidebar"><div class="content"><h1>Trees</h1><p>{words}</p></div></div></body>',
        "html",
    )
    assert "apples" in document.sections[0].text


@pytest.mark.parametrize(
    "page", ["just text, no tags at all, but enough of it", "<p>unclosed <b>bold <i>text</p><li>x", "<html>x"]
)
def test_broken_pages_are_read(page):
    assert parsed(page, "html").sections


def test_layout_tables_are_no_tables():
    document = parsed(
        "<body><main><table><tr><td><h1>Title</h1><p>Some text that is in a cell of a "
        "layout.</p></td></tr></table>"
        "</main></body>",
        "html",
    )
    assert document.sections[0] == Section(("Title",), "", "Some text that is in a cell of a layout.")


def test_drawings_are_read_from_the_top_left():
    drawing = """<svg viewBox="0 0 90 90"><title>Flow</title><g transform="translate(0, 40)">
    <text x="60" y="3">Serve it</text><text x="5" y="0">Boil the water</text></g>
    <text x="5" y="10">Fill<tspan x="5" dy="4">the kettle</tspan></text>
    <foreignObject x="60" y="12"><div>Too full?</div></foreignObject></svg>"""
    icon = '<svg><text x="0" y="0">OK</text></svg>'
    page = f"<main><h1>Making tea</h1><p>These are the steps:</p>{drawing}<p>Done {icon} now.</p></main>"
    assert parsed(page, "html").sections[0].text == (
        "These are the steps:\n\nFill the kettle; Too full?; Boil the water; Serve it\n\nDone now."
    )


@pytest.mark.parametrize(
    "tabs",
    [
        '<div class="tabs-container"><ul role="tablist"><li role="tab">Linux</li><li '
        'role="tab">macOS</li></ul>'
        '<div><div role="tabpanel"><p>Use apt.</p></div><div role="tabpanel" hidden="">Use '
        "brew.</div></div></div>",
        '<div><div role="tablist"><button role="tab" aria-controls="p1">Linux</button>'
        '<button role="tab" aria-controls="p2">macOS</button></div><div id="p1" '
        'role="tabpanel"><p>Use apt.</p></div>'
        '<div id="p2" role="tabpanel" style="display: none"><p>Use brew.</p></div></div>',
        '<div class="tabbed-set tabbed-alternate"><input type="radio" id="a"><div '
        'class="tabbed-labels"><label for="a">'
        'Linux</label><label>macOS</label></div><div class="tabbed-content"><div '
        'class="tabbed-block"><p>Use apt.</p>'
        '</div><div class="tabbed-block"><p>Use brew.</p></div></div></div>',
        '<div class="sd-tab-set"><input type="radio"><label '
        'class="sd-tab-label">Linux</label><div class="sd-tab-content">'
        '<p>Use apt.</p></div><input type="radio"><label '
        'class="sd-tab-label">macOS</label><div class="sd-tab-content">'
        "<p>Use brew.</p></div></div>",
    ],
)
def test_a_tabs_label_stays_with_its_content(tabs):
    page = f"<main><h1>Install</h1><p>Choose your system, and do what is written there.</p>{tabs}</main>"
    assert parsed(page, "html").sections[0].text == (
        "Choose your system, and do what is written there.\n\n**Linux:**\n\nUse "
        "apt.\n\n**macOS:**\n\nUse brew."
    )


def test_a_flow_chart_is_read_where_it_stands():
    chart = """<figure><svg viewBox="0 0 400 300"><g class="node" transform="translate(200,20)">
    <foreignObject>
    <div><span class="nodeLabel">A question comes in</span></div></foreignObject></g>
    <g class="node" transform="translate(320,120)">
    <foreignObject><div>Answer it again</div></foreignObject></g>
    <g class="node" transform="translate(80,120)">
    <foreignObject><div>Search the pages</div></foreignObject></g>
    <g class="edgeLabel" transform="translate(260,70)"><text>known</text></g></svg>
    <figcaption>How an answer is found.</figcaption></figure>"""
    document = parsed(
        f"<main><h1>Flow</h1><p>Every question takes one of two ways.</p>{chart}</main>", "html"
    )
    assert document.sections[0].text == (
        "Every question takes one of two ways.\n\nA question comes in; known; Search the "
        "pages; Answer it again\n\n"
        "How an answer is found."
    )


def body_of(html: str) -> str:
    above = "<h1>Page</h1><p>What this page is about, in a sentence.</p>"
    page = f"<html><body><main>{above}{html}</main></body></html>"
    return "\n\n".join(section.text for section in parsed(page, "html").sections)


@pytest.mark.parametrize("kind", ["ul", "ol"])
def test_a_list_between_two_items_belongs_to_the_one_before(kind):
    text = body_of(f"<{kind}><li>A</li><{kind}><li>A1</li></{kind}><li>B</li></{kind}>")
    first, inner, last = [line for line in text.splitlines() if line.strip().endswith(("A", "A1", "B"))]
    assert inner.startswith("  ") and not first.startswith(" ") and not last.startswith(" ")
    assert "Only" in body_of(f"<{kind}><{kind}><li>Only</li></{kind}></{kind}>")


@pytest.mark.parametrize(
    "said",
    [
        "Last updated timestamps are stored in UTC for every row.",
        "Built with extensibility in mind, plugins can replace anything.",
        "Copyright stays with authors.",
        "Edit this page to change what the build shows in the end.",
    ],
)
def test_a_sentence_that_begins_like_a_footer_is_read(said):
    assert said in body_of(f"<p>{said}</p>")


@pytest.mark.parametrize(
    "said", ["Last updated on Mar 3, 2024.", "Built with Sphinx 7.2.", "Copyright 2024, Kettle Inc.", "Next"]
)
def test_a_footer_is_not_read(said):
    assert said not in body_of(f"<p>{said}</p>")
    assert body_of("<ul><li>Back</li><li>Next</li></ul>").count("Next") == 1


def test_a_table_with_code_in_a_cell_and_a_box_around_text_are_read_whole():
    table = (
        "<table><tr><th>Command</th><th>Meaning</th></tr><tr><td class='code'><pre>run</pre></td>"
        "<td>Runs it all</td></tr><tr><td class='code'><pre>stop</pre></td><td>Ends it</td></tr></table>"
    )
    text = body_of(table)
    assert "Runs it all" in text and "Ends it" in text
    words = "This box explains in two long sentences what the code below does. It has a second one, too."
    text = body_of(
        f"<div class='lang-en'><p>{words}</p><pre>first</pre><p>{words}</p><pre>second</pre></div>"
    )
    assert text.count("explains") == 2 and "first" in text and "second" in text
    numbered = (
        "<table class='highlighttable'><tr><td class='linenos'><pre>1</pre></td>"
        "<td class='code'><pre>x = 1</pre></td></tr></table>"
    )
    assert "x = 1" in body_of(numbered) and "\n1\n" not in body_of(numbered)


def test_a_note_whose_label_stands_above_it_is_one_paragraph():
    note = '<div class="warning"><img src="a.png"><strong>Note:</strong><p>It is hot.</p></div>'
    assert body(f"# Kettle\n\nText.\n\n{note}\n", "markdown") == "Text.\n\n**Note:** It is hot."
