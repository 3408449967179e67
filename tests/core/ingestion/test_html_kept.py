"""What of a page's words stays, though it looks like a site's frame, a fold, a history or a signature."""

import time

import pytest

from tests.core.ingestion.pages import parsed

LONG = "It has to be set before the server starts, and every one of its workers reads it once."
BIG = " ".join(f"<p>{LONG} That is paragraph number {n} of the page.</p>" for n in range(26))


def text_of(body: str, head: str = "") -> str:
    return "\n\n".join(s.text for s in parsed(f"<html>{head}<body>{body}</body></html>", "html").sections)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (
            f"<main><div class=lede><p>TL;DR: upgrade to 2.0.</p></div><h1>Guide</h1>{BIG}</main>",
            "TL;DR: upgrade to 2.0",
        ),
        (
            f"<header><h1>Kit</h1></header><main><p>A long intro of it.</p><h2>Kit</h2>{BIG}</main>",
            "intro",
        ),
        ("<a name=d></a><p><b>This function will go in 5.0.</b></p><h2>Next</h2>", "will go in 5.0"),
        (
            "<a name=x></a><p><b>GET /users</b></p><a name=y></a><p><b>DELETE /users</b></p><h2>N</h2>",
            "GET /users\n\nDELETE /users",
        ),
        ("<dl><dt id=a>--alpha</dt><dd>Sets.</dd><dt id=b>--beta</dt><dd></dd></dl>", "--beta"),
        ("<h2>See also<a id=s></a></h2><p><b>slurm.conf</b>(5)</p><h2>Index</h2>", "slurm.conf"),
        ("<p>Install it from <a href=p>PyPI</a>, then read the <a href=q>quickstart →</a></p>", "PyPI"),
        ("<p>Next: set up the <a href=a>database</a> and the <a href=b>cache</a> before it.</p>", "database"),
        (
            "<table><tr><td><a href=#n>next</a></td><td>Moves to the next row.</td></tr>"
            "<tr><td><a href=#p>reset</a></td><td>Goes back.</td></tr></table>",
            "Moves to the next row.",
        ),
        ("<p>Choose <a href=f>File</a> › <a href=s>Save as ›</a> now.</p>", "Save as"),
        (
            "<p>Run this command:</p><div style='display:none'>Copied!</div><pre>npm i</pre>",
            "Run this command:",
        ),
        ("<p>Written in C<a href=cs.html>#</a> by us.</p>", "C#"),
        (
            "<p>The parts are joined like this:</p><svg><text>Producer</text><text>→</text><text>Queue</text>"
            "<text>Consumer</text></svg>",
            "Producer",
        ),
        (
            "<details><summary>Which version?</summary><table><tr><th>Version</th><th>Changes</th></tr><tr>"
            "<td>v1.2</td><td>New.</td></tr></table><p>Not with threads.</p></details>",
            "Not with threads.",
        ),
        ("<p>Last changed in version 2.0.</p>", "Last changed in version 2.0."),
        ("<p>See <span class=section-number>3.2</span> for it.</p>", "See 3.2 for it."),
        (
            "<table><tr><th>Version</th><th>Notes</th></tr><tr><td>3.8</td><td>Not supported.</td></tr>"
            "</table>",
            "| 3.8 | Not supported. |",
        ),
        ("<dl><dt id=a>a</dt><dd>x</dd><div><dt id=b>xi</dt><dd>lost</dd></div></dl>", "lost"),
        ("<ol><li>Open.</li><li>Set:<dl><dt id=t>t</dt><dd>u</dd></dl></li><li>Close.</li></ol>", "1. Open."),
    ],
)
def test_words_of_a_page_stay(body, kept):
    body = body if "<main>" in body else f"<main><h1>Guide</h1><p>{LONG}</p>{body}</main>"
    assert kept in text_of(body)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("<h2 id=x>Parameter(s)</h2>", "Parameter(s)"),
        ("<h2 id=x>O(n)</h2>", "O(n)"),
        ("<h2 id=x class=section>A Simple Example</h2>", "A Simple Example"),
        ("<h2 id=x class=section>3 ways to install</h2>", "3 ways to install"),
        ("<h2><span id=x>Use</span><span class=mw-editsection>[<a href=e>edit</a>]</span></h2>", "Use"),
        ("<section class=important><h2 id=x>Breaking changes in 3</h2></section>", "Breaking changes in 3"),
    ],
)
def test_headings_stay_as_they_are(heading, title):
    page = f"<main><h1>Guide</h1><p>{LONG}</p>{heading}<p>{LONG}</p></main>"
    assert [s.headings[-1] for s in parsed(page, "html").sections] == ["Guide", title]


def test_marks_below_other_text_stay_where_they_stand():
    page = (
        f"<main><h1>Guide</h1><p><b>foo()</b></p><div>Added in: v1.0</div><p>{LONG}</p><p><b>bar()</b></p>"
        f"<div>Added in: v2.0</div><p>{LONG}</p></main>"
    )
    assert text_of(page) == (
        f"**foo()**\n\nAdded in version 1.0.\n\n{LONG}\n\n**bar()**\n\nAdded in version 2.0.\n\n{LONG}"
    )


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("<noscript><meta http-equiv=refresh content='0; url=/n.html'></noscript>", f"<p>{LONG}</p>"),
        ("<meta http-equiv=refresh content='5; url=status.html'>", f"<p>{LONG}</p>"),
    ],
)
def test_a_page_that_reloads_is_read(head, body):
    assert LONG in text_of(body, f"<head>{head}</head>")


def test_two_names_of_one_thing_are_a_title_and_no_parts():
    head = "<head><title>Closes a connection</title></head>"
    page = f"<html>{head}<body><h1>mysqli::close</h1><h1>mysqli_close</h1><p>{LONG}</p></body></html>"
    assert parsed(page, "html").title == "mysqli::close"


def test_bold_lines_inside_a_term_end_with_it():
    page = (
        f"<main><h1>Guide</h1><p>{LONG}</p><a name=o></a><p><b>Options</b></p><dl><dt id=p>p</dt><dd>Port."
        "<a name=pp></a><p><b>Ports below</b></p><p>Few.</p></dd><dt id=h>h</dt><dd>Host.</dd></dl></main>"
    )
    assert [s.headings[1:] for s in parsed(page, "html").sections] == [
        (),
        ("Options", "p"),
        ("Options", "p", "Ports below"),
        ("Options", "h"),
    ]


def test_half_a_bold_line_is_no_heading():
    page = f"<main><h1>Guide</h1><p>{LONG}</p><a id=i></a><p><b>Run it once.</b> Then look at it.</p></main>"
    assert len(parsed(page, "html").sections) == 1


@pytest.mark.parametrize(
    "page",
    [
        lambda n: "<main>" * 90 + "<b></b>" * n + "<h2>T</h2>",
        lambda n: "<div>" * 150 + "<a name=x></a><p><b>w</b> some more words that are plain</p>" * (n // 4),
        lambda n: "<div>" * 45 + "<dl>" + "<dt>x</dt>" * n + "</dl><dl><dt id=a>a</dt><dd>b</dd></dl>",
        lambda n: "<div><a href=x>" * 80 + "<i></i>" * n,
        lambda n: ("</a" * (4 * n) + "/>") * 20,
    ],
)
def test_time_grows_with_the_page_and_no_faster(page):
    def cost(n: int) -> float:
        before = time.process_time()
        parsed(f"<body><h1>T</h1><p>{LONG}</p>{page(n)}", "html")
        return time.process_time() - before

    cost(100)
    assert cost(800) < 6 * cost(200) + 0.05  # a page four times as long; with its square sixteen times
