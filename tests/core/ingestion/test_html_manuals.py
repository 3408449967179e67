"""HTML as tools of manuals write it: DocBook, Texinfo, ExDoc, and pages that were written by hand."""

import pytest

from core.errors import SourceError
from tests.core.ingestion.pages import parsed, section

LONG = "It has to be set before the server starts, and every one of its workers reads it once."


def headings(html: str) -> list[tuple[tuple[str, ...], str]]:
    return [(s.headings, s.anchor) for s in parsed(html, "html").sections]


DOCBOOK = f"""<html><head><title>19.4. Resource Consumption</title></head><body>
<div class="navheader"><table><tr><td><a accesskey="p" href="files.html" title="19.2. Files">Prev</a></td>
<td><a accesskey="u" href="config.html" title="Chapter 19. Server Configuration">Up</a></td></tr></table>
</div>
<div class="sect1" id="RESOURCE"><div class="titlepage"><h2 class="title">19.4. Resource Consumption
<a href="#RESOURCE" class="id_link">#</a></h2></div>
<div class="sect2" id="MEMORY"><div class="titlepage"><h3 class="title">19.4.1. Memory</h3></div>
<div class="variablelist"><dl class="variablelist"><dt id="GUC-SHARED"><span class="term">
<code>shared_buffers</code> (<code>integer</code>)</span> <a href="#GUC-SHARED" class="id_link">#</a></dt>
<dd><p>Sets the amount of memory for shared buffers. {LONG}</p>
<div class="note"><h3 class="title">Note</h3><p>More is not always better.</p></div></dd>
<dt id="OPTION-ALL"><span class="term"><code>-a</code><br></span><span class="term"><code>--all</code></span>
</dt><dd><p>Shows everything that there is.</p></dd></dl></div></div></div></body></html>"""


def test_a_section_of_docbook_stands_under_its_chapter_without_numbers():
    document = parsed(DOCBOOK, "html")
    assert document.title == "Server Configuration"
    above = ("Server Configuration", "Resource Consumption", "Memory")
    assert [(s.headings, s.anchor) for s in document.sections] == [
        ((*above, "shared_buffers"), "GUC-SHARED"),
        ((*above, "-a, --all"), "OPTION-ALL"),
    ]
    assert document.sections[0].text == (
        "`shared_buffers` (`integer`)\n\nSets the amount of memory for shared buffers. "
        f"{LONG}\n\n**Note:** More is not always better."
    )


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("11.1. Introduction", "Introduction"),
        ("E.13. Release 17", "Release 17"),
        ("Chapter 7 - The default file", "The default file"),
        ("Appendix E. Release Notes", "Release Notes"),
        ("2.4: Codename Fox", "2.4: Codename Fox"),
        ("2.0. (2020-01-01)", "2.0. (2020-01-01)"),
        ("Part 1 of 3", "Part 1 of 3"),
        ("Section 5 man pages", "Section 5 man pages"),
        ("3.1.2 Released", "3.1.2 Released"),
        ("2024.9.0", "2024.9.0"),
        ("(11) SQLITE_CORRUPT", "(11) SQLITE_CORRUPT"),
        ("V8 options", "V8 options"),
        ("Part of the server", "Part of the server"),
    ],
)
def test_numbers_of_chapters_go_and_versions_stay(heading, shown):
    page = f"<body><main><h1>Manual</h1><p>{LONG}</p><h2 id='x'>{heading}</h2><p>{LONG}</p></main></body>"
    assert headings(page)[1] == (("Manual", shown), "x")


def test_texinfo_numbers_its_headings_without_a_dot():
    page = (
        "<html><head><title>Cell Arrays (GNU Octave (version 9.4.0))</title></head><body>"
        '<div class="nav-panel"><p>Next: <a href="a.html">Making</a>, Up: <a href="b.html">Containers</a></p>'
        '</div><h4 class="subsection" id="Cell-1"><span>6.3.1 Cell Arrays<a class="copiable-link" '
        f'href="#Cell-1"> ¶</a></span></h4><p>{LONG}</p></body></html>'
    )
    assert parsed(page, "html").title == "Cell Arrays"
    assert headings(page) == [(("Cell Arrays",), "Cell-1")]


@pytest.mark.parametrize(
    ("named", "body", "title"),
    [
        (
            "File system | Node.js v20 Documentation",
            "<header><h1>Node.js v20 documentation</h1></header><main><h2>File system</h2>{}</main>",
            "File system",
        ),
        (
            "File System | Node.js v12 Documentation",
            "<h1>Node.js v12 Documentation</h1><div><h1>File System<a href='#f'>#</a></h1>{}</div>",
            "File System",
        ),
        (
            "Slurm Manager - Quick Start",
            '<h1><a href="/" rel="home">Slurm Manager</a></h1><h1>Quick Start</h1>{}',
            "Quick Start",
        ),
        ("7. The default file", '<h1><a href="https://x.example">Mailer</a></h1><h2>The file</h2>{}', None),
        ("CREATE INDEX", '<div class="t">CREATE INDEX</div><h1>1. Syntax</h1>{}<h1>2. Limits</h1>{}', None),
        ("Tool manual - page(5)", "<pre>page - a page</pre><h2>NAME</h2>{}", "page(5)"),
        (
            "gen — stdlib",
            '<h1><a href="s">View<span class="sr-only">Source</span></a> gen</h1>{}',
            "View gen",
        ),
        ("Vec in std - Rust", "<h1>Struct Vec<button>Copy</button></h1>{}<h2>Examples</h2>{}", "Struct Vec"),
        ("Uses - SE", "<h1>Uses of Class<br>java.util.ArrayList</h1>{}", "Uses of Class java.util.ArrayList"),
        ("HTTP | Tool v1", "<h1>Tool v1</h1><h2>Table of Contents</h2><h1>HTTP</h1>{}", "HTTP"),
        ("HTTP | Tool v1", "<header><h1>Tool v1</h1></header><h2>HTTP</h2>{}<h3>Class: Agent</h3>{}", "HTTP"),
        ("FAQ - Tool", "<main><h1>Tool</h1>{}<h2>Install</h2>{}<h2>FAQ</h2>{}</main>", "Tool"),
        ("Guide — Tool Docs", "<main><h1>Guide</h1>{}<h2>Tool Docs</h2>{}</main>", "Guide"),
    ],
)
def test_a_page_is_called_by_its_own_heading_and_not_by_the_sites(named, body, title):
    page = (
        f"<html><head><title>{named}</title></head><body>{body.replace('{}', f'<p>{LONG}</p>')}</body></html>"
    )
    found = parsed(page, "html")
    assert found.title == title or (title is None and found.title in named)
    assert not any("Tool v1" in heading for section in found.sections for heading in section.headings)


def test_parts_that_are_all_as_high_as_a_title_stand_under_the_page():
    page = (
        "<html><head><title>CREATE INDEX</title></head><body><div><div>CREATE INDEX</div></div>"
        f"<h1 id='a'>1. Syntax</h1><p>{LONG}</p><h2 id='b'>1.1. Unique</h2><p>{LONG}</p>"
        f"<h1 id='c'>2. Limits</h1><p>{LONG}</p></body></html>"
    )
    assert headings(page) == [
        (("CREATE INDEX", "Syntax"), "a"),
        (("CREATE INDEX", "Syntax", "Unique"), "b"),
        (("CREATE INDEX", "Limits"), "c"),
    ]


def test_drawings_of_syntax_and_what_is_folded_away_go_with_the_lines_that_lead_to_them():
    shapes = "".join(f'<path d="M{n},17L26,17" style="fill:none" />' for n in range(900))
    labels = "".join(
        f"<text x='{n}' y='17'>{word}</text>" for n, word in enumerate("SELECT expr , (".split())
    )
    page = (
        f"<body><h1>SELECT</h1><p>{LONG}</p><p><b>select-stmt:</b> <button>hide</button></p>"
        f"<div><div><svg>{shapes}{labels}</svg></div></div><p><b>expr:</b><button>show</button></p>"
        f'<div style="display:none"><svg>{shapes}</svg></div><p>The statement reads rows. {LONG}</p></body>'
    )
    assert section(parsed(page, "html"), "SELECT").text == f"{LONG}\n\nThe statement reads rows. {LONG}"


def test_an_unclosed_tag_is_no_shape_and_counts():
    for page in ("<div>" * 400, "<div title='/>" * 400, '<div a="/">' * 400):
        with pytest.raises(SourceError, match="nested too deeply"):
            parsed(f"<body>{page}{LONG}", "html")


def test_bold_lines_behind_a_name_are_sections():
    page = (
        f"<body><h1>PRAGMA Statements</h1><p>{LONG} <a name='auto'></a><h style='display:none'>x</h><hr>"
        "<p><b>PRAGMA </b><i>schema.</i><b>auto_vacuum;<br> PRAGMA </b><i>schema.</i><b>auto_vacuum = </b>"
        f"<i>NONE</i><b>;</b></p><p>Query the status. {LONG}</p><a name='q2'></a>"
        f"<p><b>What types are there?</b></p><blockquote>Five. {LONG}</blockquote>"
        f"<a name='far'></a><p>Some words. <b>{LONG}</b></p><p><b>Bold</b> alone has no address.</p></body>"
    )
    assert headings(page) == [
        (("PRAGMA Statements",), ""),
        (("PRAGMA Statements", "PRAGMA schema.auto_vacuum"), "auto"),
        (("PRAGMA Statements", "What types are there?"), "q2"),
    ]
    text = section(parsed(page, "html"), "PRAGMA schema.auto_vacuum").text
    assert text.startswith("```\nPRAGMA schema.auto_vacuum;\nPRAGMA schema.auto_vacuum = NONE;\n```\n\nQuery")


def test_terms_with_names_are_sections():
    terms = (
        "<dt><b><a name='bounce'>bounce (default: postmaster)</a></b></dt><dd>Who gets it.</dd>"
        "<dt><a id='code'></a>code</dt><dt><a id='kode'></a>kode</dt><dd>What is told.</dd>"
    )
    page = f"<body><h1>Parameters</h1><p>{LONG}</p><dl>{terms}</dl></body>"
    assert headings(page)[1:] == [
        (("Parameters", "bounce"), "bounce"),
        (("Parameters", "code, kode"), "code"),
    ]
    listed = page.replace("<dt><a id='kode'></a>", "<dt>").replace("<dt><a id='code'></a>", "<dt>")
    assert headings(listed) == [(("Parameters",), "")]  # one has no address
    assert "code, kode: What is told." in parsed(listed, "html").sections[0].text


def test_what_stands_beside_the_longest_part_of_a_page_is_read():
    options = "".join(f"<p>The option number {n} says what happens. {LONG}</p>" for n in range(60))
    page = (
        "<body><div class='navheader'><a href='x'>Prev</a></div><div id='entry'><div><h2>tool</h2>"
        f"<p>The tool is a client of the server for everybody.</p></div><div><h2>Usage</h2>{options}</div>"
        "</div></body>"
    )
    assert [heading for heading, _ in headings(page)] == [("tool",), ("Usage",)]


def test_headings_keep_the_words_of_their_links():
    page = (
        f"<body><main><h1>Format</h1><p>{LONG}</p><h2><a class='toc-backref' href='#toc-entry-1'>Metadata</a>"
        f"<a class='headerlink' href='#meta'>¶</a></h2><p>{LONG}</p></main></body>"
    )
    assert headings(page)[1] == (("Format", "Metadata"), "meta")


def test_a_page_that_only_leads_to_another_holds_nothing():
    page = (
        '<html><head><meta http-equiv="refresh" content="0; url=new.html"></head><body>Moved.</body></html>'
    )
    assert parsed(page, "html").sections == ()
    assert parsed(page.replace("Moved.", f"<p>{LONG}</p>" * 6), "html").sections


def test_steps_to_other_pages_above_a_page_go():
    page = (
        "<html><head><title>Find a word</title></head><body><table><tr><td><a href='a'>« strpbrk</a></td>"
        "<td><a href='b'>strrchr »</a></td></tr><tr><td>Find a word</td></tr></table>"
        f"<div id='f'><h1>strpos</h1><p>{LONG}</p></div></body></html>"
    )
    assert headings(page) == [(("strpos",), "f")]


def test_space_beside_bold_words_stays():
    page = f"<body><h1>Notes</h1><p>{LONG}</p><p><strong>Release date: </strong>2024-09-26</p></body>"
    assert parsed(page, "html").sections[0].text.endswith("**Release date:** 2024-09-26")


def test_signatures_are_code_and_hidden_lines_of_code_are_not():
    page = (
        f"<body><main><h1>Deque</h1><p>{LONG}</p><div class='member-signature'><span>public</span>&nbsp;"
        "<span>void</span> <b>addFirst</b>\u200b(E e)</div><pre><code class='language-rust'>"
        "<span class='boring'>fn main() {\n</span>let s = 1;\n<span class='boring'>}\n</span></code></pre>"
        "</main></body>"
    )
    assert parsed(page, "html").sections[0].text == (
        f"{LONG}\n\n```\npublic void addFirst(E e)\n```\n\n```rust\nlet s = 1;\n```"
    )


def test_a_history_is_told_in_words_behind_what_it_is_about():
    history = (
        "<div class='api_metadata'><details class='changelog'><summary>History</summary><table>"
        "<tr><th>Version</th><th>Changes</th></tr><tr><td>v15.2, v14.17.0</td><td><p>The <code>signal</code>"
        " option is new.</p></td></tr><tr><td>v0.1.29</td><td><p><span>Added in: v0.1.29</span></p></td></tr>"
        "</table></details></div>"
    )
    mark = "<div><span>Added in: v1.0</span><span>Removed in: v2.1</span></div>"
    page = (
        f"<body><main><h1>File</h1>{history}<ul><li><code>path</code><a>&lt;string&gt;</a></li></ul><p>{LONG}</p>"
        f"<h2 id='x'>write()</h2>{mark}<p>{LONG}</p><h2 id='y'>Sizes</h2><table><tr><th>Version</th>"
        "<th>Size</th></tr><tr><td>1.0</td><td>2 MB</td></tr></table></main></body>"
    )
    file, write, sizes = parsed(page, "html").sections
    assert file.text == (
        f"- `path` <string>\n\n{LONG}\n\nChanged in version 15.2, 14.17.0: The `signal` option is new.\n\n"
        "Added in version 0.1.29."
    )
    assert write.text == f"Removed in version 2.1.\n\n{LONG}\n\nAdded in version 1.0."
    assert "| 1.0 | 2 MB |" in sizes.text


def test_a_function_is_headed_by_its_name_and_told_with_its_signature():
    page = (
        f"<body><main><h1>File</h1><p>{LONG}</p><h2 id='rm'><code>fs.rm(path[, options])</code></h2>"
        f"<p>{LONG}</p><h2 id='a'>abort()</h2><p>{LONG}</p><h2 id='c'>Files (and folders)</h2><p>{LONG}</p>"
        "<dl><dt id='abs'><b>abs(<i>X</i>)</b></dt><dd>The size.</dd>"
        "<dt id='max'>max(X,Y)</dt><dd>The most.</dd></dl></main></body>"
    )
    told = {s.headings[-1]: s.text for s in parsed(page, "html").sections}
    assert told == {
        "File": LONG,
        "fs.rm()": f"`fs.rm(path[, options])`\n\n{LONG}",
        "abort()": LONG,
        "Files (and folders)": LONG,
        "abs()": "`abs(X)`\n\nThe size.",
        "max()": "`max(X,Y)`\n\nThe most.",
    }


def written(body: str) -> str:
    page = f"<html><body><main><h1>Tool</h1><p>{LONG}</p>{body}</main></body></html>"
    return "\n\n".join(s.text for s in parsed(page, "html").sections).removeprefix(f"{LONG}\n\n")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (  # AsciiDoc
            "<div class='admonitionblock'><table><tr><td class='icon'><div class='title'>Note</div></td>"
            "<td class='content'>Mind the gap.</td></tr></table></div>",
            "**Note:** Mind the gap.",
        ),
        (  # Doxygen
            "<div class='fragment'><div class='line'><span class='lineno'>1</span>if (x) {</div>"
            "<div class='line'><span class='lineno'>2</span>  y();</div></div>",
            "```\nif (x) {\n  y();\n```",
        ),
        (  # PhD
            "<div class='methodsynopsis dc-description'><span>preg_match</span>(<span>string</span> "
            "<code>$pattern</code>): <span>int</span></div>",
            "```\npreg_match(string $pattern): int\n```",
        ),
        (
            "<div class='example' id='language.traits'><p><b>Example #1</b></p><pre>x</pre></div>",
            "**Example #1**\n\n```\nx\n```",
        ),
        (  # Javadoc
            "<dl><dt>Parameters:</dt><dd>a - one</dd><dd>b - two</dd><dt>Returns:</dt><dd>three</dd></dl>",
            "- Parameters:\n  - a - one\n  - b - two\n- Returns: three",
        ),
        (
            "<dl><div>Example: it runs.</div><dt>Term</dt><dd>Told.</dd></dl>",
            "- Example: it runs.\n- Term: Told.",
        ),
        ("<p>Set <span class='docutils literal'>uuid</span> now.</p>", "Set `uuid` now."),
        ("<p>Up to 2<sup>31</sup>-1 bytes<sup>see below</sup>.</p>", "Up to 2^31-1 bytessee below."),
        ("<table><tr><td>The data</td><td>is owned.</td></tr></table>", "The data\n\nis owned."),
        (
            "<table class='related'><tr><th>Modules</th></tr><tr><td>mod_cache keeps answers that were "
            "given, by their names</td></tr></table>",
            "Table: Tool\n\n| Modules |\n| --- |\n"
            "| mod_cache keeps answers that were given, by their names |",
        ),
        (
            "<table><tr><td>a</td><td></td><td>b</td></tr><tr><td>c</td><td></td><td>d</td></tr></table>",
            "Table: Tool\n\n|  |  |\n| --- | --- |\n| a | b |\n| c | d |",
        ),
        ("<p><b>date(</b><i>time</i><b>)</b></p>", "date(time)"),
        (
            "<blockquote>SELECT unixepoch();<br>SELECT date('now'); -- today\n</blockquote>",
            "```\nSELECT unixepoch();\nSELECT date('now'); -- today\n```",
        ),
        ("<blockquote>He came; he saw.</blockquote>", "He came; he saw."),
    ],
)
def test_what_builders_write_their_own_way(body, text):
    assert written(body) == text


def test_what_a_command_does_stands_above_the_content_of_asciidoc():
    page = (
        "<html><head><title>tool(1)</title></head><body><div id='header'><h1>tool(1) Manual Page</h1>"
        "<h2>NAME</h2><div class='sectionbody'><p>tool - Say what is there</p></div></div><div id='content'>"
        f"<div class='sect1'><h2 id='_synopsis'>SYNOPSIS</h2><p>{LONG}</p></div></div></body></html>"
    )
    sections = parsed(page, "html").sections
    assert [s.headings[-1] for s in sections] == ["NAME", "SYNOPSIS"]
    assert sections[0].text == "tool - Say what is there"


def test_a_manual_page_in_one_piece_has_sections():
    page = (
        "<html><head><title>Mail manual - pipe(8)</title></head><body><pre>\nPIPE(8)     PIPE(8)\n\n"
        "<b><a name='name'>NAME</a></b>\n       pipe - delivery to a  command\n\n"
        "<b><a name='synopsis'>SYNOPSIS</a></b>\n       <b>pipe</b> [options]\n\n"
        "<b><a name='limits'>LIMITS</a></b>\n       Some destinations cannot handle  more  than one  re-\n"
        "       cipient.\n\n           limit = 1\n           size  = 2\n</pre></body></html>"
    )
    document = parsed(page, "html")
    assert [(s.headings, s.anchor) for s in document.sections] == [
        (("NAME",), "name"),
        (("SYNOPSIS",), "synopsis"),
        (("LIMITS",), "limits"),
    ]
    assert document.sections[0].text == "pipe - delivery to a command"
    assert document.sections[2].text == (
        "Some destinations cannot handle more than one recipient.\n\n```\nlimit = 1\nsize  = 2\n```"
    )


ENTRIES = """TOOL(1)                                                  TOOL(1)

<b>NAME</b>
       tool - says what is there

<b>SYNOPSIS</b>
       <b>tool</b> [<b>-fv</b>]
               [<b>-d</b> <i>id</i>]

<b>DESCRIPTION</b>
       The  tool says what is there, and what is not, in one line for everybody.

       Options:

       <b>-d</b> <i>id</i>  Delete what has this id. Specify the option more than once to de-
              lete several, and read the warning below before you do that.

              Warning: it is gone afterwards.

              <b>o</b>      What is deleted cannot be brought back by anybody else in the
                     world, and no copy of it is kept.

              <b>1)</b>     One.

       <b>-e</b> <i>id</i>

       <b>-f</b>     Flush all of it:

              tool list
                | tool -f

       <b><a href="c.html#size">buffer_size</a> (16)</b>
              How much is read at once.

<b>STANDARDS</b>
       RFC 821 (SMTP)
       RFC 1123 (hosts)
       RFC 1652 (8 bits)

                                                                  TOOL(1)
"""


def test_options_and_settings_of_a_manual_page_are_entries():
    name, synopsis, description, standards = parsed(f"<body><pre>{ENTRIES}</pre></body>", "html").sections
    assert (name.headings, name.text) == (("NAME",), "tool - says what is there")
    assert synopsis.text == "```\ntool [-fv]\n        [-d id]\n```"
    assert description.text == (
        "The tool says what is there, and what is not, in one line for everybody.\n\nOptions:\n\n"
        "- `-d id`: Delete what has this id. Specify the option more than once to delete several, and read "
        "the warning below before you do that.\n\n  Warning: it is gone afterwards.\n\n"
        "  - What is deleted cannot be brought back by anybody else in the world, and no copy of it is kept."
        "\n  1. One.\n"
        "- `-e id`, `-f`: Flush all of it:\n\n  ```\n  tool list\n    | tool -f\n  ```\n"
        "- `buffer_size` (16): How much is read at once."
    )
    assert standards.text == "- RFC 821 (SMTP)\n- RFC 1123 (hosts)\n- RFC 1652 (8 bits)"


def test_what_stands_before_the_parts_of_a_manual_page_stays():
    parts = "".join(f"<b><a name='p{n}'>PART {n}</a></b>\n       {LONG}\n\n" for n in range(3))
    page = f"<body><pre>Read this first: {LONG}\n\n{parts}</pre></body>"
    told = [(s.headings, s.text) for s in parsed(page, "html").sections]
    assert told[0] == ((), f"Read this first: {LONG}")
    assert [heading for heading, _ in told[1:]] == [("PART 0",), ("PART 1",), ("PART 2",)]


def test_a_link_with_a_name_is_no_address_of_a_heading():
    page = (
        f"<body><main><h1>Option</h1><p>{LONG}</p><a id='get:A'></a><h4>get "
        f"<a href='Any.html' name='Any'>A</a></h4><p>{LONG}</p></main></body>"
    )
    assert headings(page)[1] == (("Option", "get A"), "get:A")


def test_a_keyword_with_a_name_is_a_section():
    page = (
        f"<body><h1>Manual</h1><p>{LONG}</p><a name='3-maxconn'></a><div class='keyword'><b>"
        "<a name='maxconn'></a><a href='#3-maxconn'>maxconn</a></b> <span>&lt;number&gt;</span></div>"
        "<pre>Sets the number.</pre></body>"
    )
    assert headings(page)[1] == (("Manual", "maxconn <number>"), "maxconn")


def test_gi_docgens_names_have_dots():
    page = (
        "<html><head><title>Gtk.Paned.set_position</title></head><body><h1>Gtk<span class='sep'></span>Paned"
        f"<span class='sep'></span>set_position</h1><p>{LONG}</p><h4 id='d'>Description <a class='srclink' "
        f"href='x'>[src]</a></h4><p>{LONG}</p></body></html>"
    )
    assert headings(page) == [
        (("Gtk.Paned.set_position",), ""),
        (("Gtk.Paned.set_position", "Description"), "d"),
    ]


def test_links_that_something_needs_stay():
    words = " ".join(f"<p>{LONG} Number {n}.</p>" for n in range(8))
    page = (
        f"<body><main><h1>Traits</h1>{words}<div><div class='col-first'><a href='a'>AbstractList</a></div>"
        "<div class='col-last'>This class provides much.</div></div><p>There are three kinds:</p><ul>"
        "<li><a href='b'>functions</a></li><li><a href='c'>types</a></li></ul>"
        "<section><h2 id='see'>SEE ALSO</h2><p><a href='d'>other</a>(1)</p></section>"
        "<section><h2>Contents</h2><p><a href='e'>first</a></p></section></main></body>"
    )
    text = "\n".join(s.text for s in parsed(page, "html").sections)
    assert "first" not in text
    for kept in ("AbstractList", "- functions\n- types", "other(1)"):
        assert kept in text


def test_a_manuals_index_is_no_page_of_it():
    entries = "".join(f"<dt>term {n}, <a href='p{n}.html'>Where it is told {n}</a></dt>" for n in range(60))
    page = f"<html><head><title>Index</title></head><body><h2>Index</h2><dl>{entries}</dl></body></html>"
    assert parsed(page, "html").sections == ()
    told = page.replace("<h2>Index</h2>", f"<h2>Index</h2><p>{LONG * 20}</p>")
    assert parsed(told, "html").sections
