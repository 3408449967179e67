"""Pages that Javadoc and Doxygen make of programs, as both write them."""

import pytest

from core.errors import NoDocument
from tests.core.ingestion.pages import parsed, section

JAVADOC = """<!DOCTYPE HTML><html><head><title>Text (Lib 3.12 API)</title>
<meta name="generator" content="javadoc/{writer}"></head><body class="class-declaration-page">
<main role="main">
<h1>Class Text</h1><div class="inheritance">java.lang.Object</div>
<p>Operations on text, each with null in mind.</p>
<section class="method-summary" id="method-summary"><h2>Method Summary</h2><div id="method-summary-table">
<div class="table-tabs" role="tablist"><button role="tab" aria-controls="p">All Methods</button>
<button role="tab" aria-controls="p">Static Methods</button></div><div id="p" role="tabpanel">
<div class="caption"><span>Methods</span></div><div class="summary-table three-column-summary">
<div class="table-header col-first">Type</div><div class="table-header col-second">Method</div>
<div class="table-header col-last">Description</div>
<div class="col-first"><code>static int</code></div><div class="col-second"><code>size(String s)</code></div>
<div class="col-last"><div class="block">Returns the length.</div></div>
<div class="col-first"><code>String</code></div><div class="col-second"><code>trim()</code></div>
<div class="col-last"><div class="block">Cuts spaces.</div></div></div></div></div></section>
<section class="detail" id="trim()"><h3>trim</h3><div class="member-signature">public String trim()</div>
<div class="block">Cuts spaces at both ends of the text that was given.</div>
<dl class="notes"><dt>Since:</dt><dd>3.0</dd>
<dt>See Also:</dt><dd><ul class="see-list"><li><a href="#size(String)">size</a></li></ul></dd></dl></section>
</main></body></html>"""

DOXYGEN = """<html><head><meta name="generator" content="Doxygen 1.9.4"/>
<title>Lib: Solver Class Reference</title>
</head><body><div id="top"><div id="titlearea"><table><tr><td><div id="projectname">Lib 3.4.0</div></td></tr>
</table></div></div><div id="doc-content"><div class="header"><div class="summary">
<a href="#pub">Public Members</a> |
<a href="l.html">List of all members</a></div><div class="headertitle">
<div class="title">Solver Class Reference
<div class="ingroups"><a href="g.html">Solvers</a></div></div></div></div><div class="contents">
<p>Solves what is linear. <a href="#details">More...</a></p>
<table class="memberdecls"><tr class="heading"><td colspan="2"><h2 class="groupheader">
<a id="pub" name="pub"></a>
Public Member Functions</h2></td></tr>
<tr class="memitem:a1"><td class="memTemplParams" colspan="2">template&lt;typename T &gt; </td></tr>
<tr class="memitem:a1"><td class="memTemplItemLeft">T&#160;</td><td class="memTemplItemRight">
<a href="#a1">solve</a> (const T &amp;b)</td></tr>
<tr class="memdesc:a1"><td class="mdescLeft">&#160;</td><td class="mdescRight">Solves it for one vector.
<a href="#a1">More...</a><br /></td></tr>
<tr class="separator:a1"><td class="memSeparator" colspan="2">&#160;</td></tr>
<tr class="memitem:a2"><td class="memItemLeft">bool&#160;</td><td class="memItemRight">
<b>ok</b> () const</td></tr>
<tr class="inherit_header x"><td colspan="2">Functions inherited from <a href="b.html">Base</a></td></tr>
<tr class="memitem:b1 inherit x"><td class="memItemLeft">int&#160;</td>
<td class="memItemRight">far ()</td></tr>
</table><a id="a1"></a><h2 class="memtitle"><span class="permalink"><a href="#a1">&#9670;&nbsp;</a>
</span>solve()</h2>
<div class="memitem"><div class="memproto"><table class="mlabels"><tr>
<td class="mlabels-left">T Solver::solve</td>
<td class="mlabels-right"><span class="mlabel">inline</span></td></tr></table></div><div class="memdoc">
<p>Solves it for one vector, in place where that is possible.</p><dl class="params"><dt>Parameters</dt><dd>
<table class="params"><tr><td class="paramdir">[in]</td><td class="paramname">b</td>
<td>the right side</td></tr></table>
</dd></dl></div></div>
<p>The documentation for this class was generated from the following file:<ul><li>Solver.h</li></ul>
</div></div>
</body></html>"""


def test_a_grid_of_javadoc_is_a_table_and_what_it_refers_to_is_kept():
    document = parsed(JAVADOC.replace("{writer}", "ClassWriterImpl"), "html")
    assert section(document, "Class Text").text == "Operations on text, each with null in mind."
    assert section(document, "Method Summary").text == (
        "Table: Methods\n\n| Type | Method | Description |\n| --- | --- | --- |\n"
        "| `static int` | `size(String s)` | Returns the length. |\n| `String` | `trim()` | Cuts spaces. |"
    )
    assert section(document, "trim").text.endswith("- Since: 3.0\n- See Also:\n  - size")


def test_a_page_of_doxygen_has_its_own_title_and_its_members_as_a_list():
    document = parsed(DOXYGEN, "html", path="classSolver.html")
    assert document.title == "Solver Class Reference"
    assert [s.headings for s in document.sections] == [
        ("Solver Class Reference",),
        ("Solver Class Reference", "Public Member Functions"),
        ("Solver Class Reference", "solve()"),
    ]
    first, members, solve = (s.text for s in document.sections)
    assert first == "Solves what is linear."
    assert members == (
        "- `template<typename T > T solve (const T &b)`: Solves it for one vector.\n- `bool ok () const`"
    )
    assert solve == (
        "```\nT Solver::solve\n```\n\nSolves it for one vector, in place where that is possible.\n\n"
        "- Parameters:\n  - `b`: the right side"
    )


def test_the_main_page_of_doxygen_is_called_as_its_project():
    page = (
        '<html><head><meta name="generator" content="Doxygen 1.9.4"/><title>Lib: Main Page</title></head>'
        "<body><div class='contents'><p>Lib solves what is linear, in a few lines.</p></div></body></html>"
    )
    assert parsed(page, "html", path="index.html").title == "Lib"


@pytest.mark.parametrize(
    "writer", ["ClassUseWriter", "SourceToHTMLConverter", "IndexWriter", "PackageTreeWriter"]
)
def test_what_javadoc_makes_beside_documentation_is_passed_over_with_the_reason(writer):
    with pytest.raises(NoDocument, match="a list of names or source code, by Javadoc"):
        parsed(JAVADOC.replace("{writer}", writer), "html", path="api/X.html")


@pytest.mark.parametrize("path", ["api/class-use/Text.html", "api/package-tree.html", "src-html/Text.html"])
def test_older_javadoc_is_known_by_its_comment_and_its_paths(path):
    page = (
        "<html><!-- Generated by javadoc (1.8.0) --><body><p>Uses of Text in this library.</p></body></html>"
    )
    with pytest.raises(NoDocument):
        parsed(page, "html", path=path)
    assert parsed(page, "html", path="api/Index.html").sections
    assert parsed(page.replace("javadoc", "hand"), "html", path=path).sections


@pytest.mark.parametrize(
    ("path", "is_list"),
    [
        *((f"{name}.html", True) for name in ("classSolver-members", "annotated", "files")),
        *((f"{name}.html", True) for name in ("functions_func_s", "dir_0123456789abcdef0123456789abcdef")),
        *((f"{name}.html", False) for name in ("classSolver", "functions_guide", "group__Solvers", "index")),
    ],
)
def test_lists_of_doxygen_are_passed_over(path, is_list):
    if is_list:
        with pytest.raises(NoDocument, match="by Doxygen"):
            parsed(DOXYGEN, "html", path=path)
    else:
        assert parsed(DOXYGEN, "html", path=path).sections


@pytest.mark.parametrize("name", ["examples", "concepts", "modules", "open_source", "team-members"])
def test_pages_of_people_that_are_called_like_lists_of_doxygen_are_read(name):
    page = DOXYGEN.replace("</body>", "<!-- PageDoc --></body>")
    assert parsed(page, "html", path=f"{name}.html").sections


def test_source_code_of_doxygen_is_known_by_its_lines_for_a_class_may_be_called_a_source():
    assert parsed(DOXYGEN, "html", path="structevent__source.html").sections
    code = '<div class="fragment"><div class="line"><a id="l00001" name="l00001"></a>int a;</div></div>'
    with pytest.raises(NoDocument, match="by Doxygen"):
        parsed(DOXYGEN.replace("</body>", f"{code}</body>"), "html", path="a_8h_source.html")


def test_what_other_sites_name_as_javadoc_does_keeps_its_text():
    page = (
        "<html><body><main><h1>Kettle</h1><p>It boils water for two cups of tea in a minute.</p>"
        '<div class="summary-table"><div>a</div></div><h2 title="Contents">In the box</h2>'
        '<ul class="contents-list"><li>Two cups for tea</li><li>One lid of steel</li></ul></main></body>'
    )
    assert section(parsed(page, "html"), "In the box").text == "- Two cups for tea\n- One lid of steel"
