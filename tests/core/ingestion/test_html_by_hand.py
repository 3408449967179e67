"""HTML of manuals older than themes: frames, examples and code as hands made them."""

import pytest

from core.ingestion.formats._outline import Outline
from core.ingestion.formats.html.frame import is_needed
from core.ingestion.formats.html.tags import soup_of
from tests.core.ingestion.pages import parsed

LONG = "It has to be set before the server starts, and every one of its workers reads it once."
TITLE = "<title>Files - Kettle Server Version 2</title>"


def sections_of(body: str) -> list[tuple[str, str]]:
    document = parsed(f"<html><head>{TITLE}</head><body>{body}</body></html>", "html")
    return [(" > ".join(one.headings[1:]), one.text) for one in document.sections]


def test_the_sites_name_and_the_way_to_a_page_are_no_text_of_it():
    page = (
        "<div id=header><p class=menu><a href=m>Modules</a> | <a href=d>Directives</a></p>"
        "<p>Kettle Server Version 2</p></div><div id=path><a href=a>Kettle</a> &gt; <a href=b>Server</a> &gt;"
        f" <a href=c>Version 2</a> &gt; <a href=d>How-To and Tutorials</a></div><h1>Files</h1><p>{LONG}</p>"
    )
    assert sections_of(page) == [("", LONG)]


def test_names_of_modules_in_a_row_and_below_an_item_are_kept():
    linked = "<li><code><a href=a>mod_a</a></code></li><li><code><a href=b>mod_b</a></code></li>"
    page = (
        f"<h1>Files</h1><p>{LONG}</p>"
        f"<table><tr><th>Modules</th></tr><tr><td><ul>{linked}</ul></td></tr></table>"
        f"<ul><li>Authentication type <ul>{linked.replace('code', 'i')}</ul></li></ul><p>{LONG} Twice.</p>"
    )
    said = sections_of(page)[0][1]
    assert "| - `mod_a` - `mod_b` |" in said
    assert "- Authentication type\n  - mod_a\n  - mod_b" in said


def test_a_list_of_links_in_a_cell_that_a_line_introduces_is_kept():
    linked = "".join(f"<li><a href={n}>The {n} of the kettle</a></li>" for n in ("lid", "spout", "base"))
    found = soup_of(f"<table><tr><td><p>It needs:</p><ul>{linked}</ul></td></tr></table>").ul
    assert found is not None and is_needed(found)
    found = soup_of(f"<table><tr><td><p>Kettle</p><ul>{linked}</ul></td></tr></table>").ul
    assert found is not None and not is_needed(found)


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        (
            "<code>\n# put it on<br>\nNew password: <span>mine</span><br />\n</code>",
            "# put it on\nNew password: mine",
        ),
        ("<tt>if (a)<br>&nbsp;&nbsp;b;<br></tt>", "if (a)\n  b;"),
    ],
)
def test_a_paragraph_of_code_with_breaks_is_a_block_of_it(code, lines):
    page = f"<h1>Files</h1><p>{LONG}</p><div class=example><p>{code}</p></div>"
    assert sections_of(page) == [("", f"{LONG}\n\n```\n{lines}\n```")]


def test_a_line_of_code_in_an_example_is_a_block_too():
    line = "<div class=example><p><code>htpasswd -c x</code></p></div>"
    page = f"<h1>Files</h1><p>{LONG}</p>{line}<p>{LONG} Now.</p>"
    assert sections_of(page) == [("", f"{LONG}\n\n```\nhtpasswd -c x\n```\n\n{LONG} Now.")]


def test_code_beside_code_is_one_and_quotes_of_old_are_quotes():
    page = (
        f"<h1>Files</h1><p>{LONG} Set <code>Least</code><code>+ 1</code>, <code>a`b</code><code>c</code>,"
        " the ``best'' and <i><code>X</code><code>Y</code></i>, not <code>``x''</code>.</p>"
    )
    assert sections_of(page) == [
        ("", f"{LONG} Set `Least+ 1`, `` a`b `` `c`, the \"best\" and `XY`, not ``` ``x'' ```.")
    ]


def test_code_in_a_sentence_is_none():
    page = f"<h1>Files</h1><p>{LONG} It is <code>a<br>b</code> here.</p><p><code>c</code></p>"
    assert sections_of(page) == [("", f"{LONG} It is `ab` here.\n\n`c`")]


def test_the_title_of_an_example_heads_nothing_but_the_example():
    page = (
        f"<h1>Files</h1><h2>Rules</h2><p>{LONG}</p>"
        f"<div class=example><h3>In the main file</h3><pre>Add x</pre></div><p>After it: {LONG}</p>"
    )
    assert sections_of(page) == [
        ("Rules", f"{LONG}\n\n**In the main file:**\n\n```\nAdd x\n```\n\nAfter it: {LONG}")
    ]


@pytest.mark.parametrize(
    ("heading", "text", "found"),
    [
        ("See also", "- `Listen`\n- other pages", ["Sets it.\n\n**See also:**\n\n- `Listen`\n- other pages"]),
        ("SEE ALSO", "- `Listen`", ["Sets it.\n\n**SEE ALSO:**\n\n- `Listen`"]),
        ("See also", "It is told in another place.", ["Sets it.", "It is told in another place."]),
        ("Also", "- `Listen`", ["Sets it.", "- `Listen`"]),
        ("See also", f"- {'word ' * 12}", ["Sets it.", f"- {'word ' * 12}".rstrip()]),
    ],
)
def test_references_belong_to_what_they_stand_below(heading, text, found):
    outline = Outline()
    outline.heading(1, "Port", "")
    outline.add("Sets it.")
    outline.heading(2, heading, "")
    outline.add(text)
    assert [one.text for one in outline.sections()] == found


def test_references_of_a_page_that_stand_far_from_its_text_are_a_section():
    outline = Outline()
    for level, heading, text in ((1, "Page", "It."), (2, "Part", "That."), (2, "See also", "- more")):
        outline.heading(level, heading, "")
        outline.add(text)
    assert [one.headings[-1] for one in outline.sections()] == ["Page", "Part", "See also"]


def test_what_a_setting_has_is_a_list():
    rows = (
        "<tr><th><a href=a>Syntax:</a></th><td><code>Wait <i>seconds</i></code></td></tr>"
        "<tr><th>Default:</th><td><code>Wait 5</code></td></tr><tr><th>Status:</th><td></td></tr>"
    )
    page = f"<h1>Files</h1><h2>Wait</h2><table>{rows}</table><p>{LONG}</p>"
    assert sections_of(page) == [("Wait", f"- Syntax: `Wait seconds`\n- Default: `Wait 5`\n\n{LONG}")]


def test_a_table_with_a_name_or_more_columns_stays_one():
    named = (
        "<table><caption>Sizes</caption><tr><th>a</th><td>1</td></tr><tr><th>b</th><td>2</td></tr></table>"
    )
    three = named.replace("<caption>Sizes</caption>", "").replace("<td>2</td>", "<td>2</td><td>3</td>")
    assert "| a | 1 |" in sections_of(f"<h1>Files</h1><p>{LONG}</p>{named}")[0][1]
    assert "| b | 2 | 3 |" in sections_of(f"<h1>Files</h1><p>{LONG}</p>{three}")[0][1]


def test_a_table_in_a_cell_of_a_table_with_a_heading_is_told_in_the_cell():
    inner = "<table><tr><td>sec</td><td>a|b</td></tr><tr><td>usec</td><td></td></tr></table>"
    rows = (
        "<tr><th>Format</th><th>Tells</th></tr><tr><td>%D</td><td>how long</td></tr>"
        f"<tr><td>%t</td><td><p>The time, by</p>{inner}</td></tr>"
    )
    text = sections_of(f"<h1>Files</h1><p>{LONG}</p><table>{rows}</table>")[0][1]
    told = (
        "| Format | Tells |",
        "| --- | --- |",
        "| %D | how long |",
        "| %t | The time, by sec: a\\|b; usec |",
    )
    assert text.endswith("\n".join(told))
