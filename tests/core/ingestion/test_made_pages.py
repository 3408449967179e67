"""What Sphinx runs, draws and lays out: code that nobody sees, drawings, raw HTML, cards, panels."""

from __future__ import annotations

import pytest

from tests.core.ingestion.pages import body

BOIL = "kettle.boil()"


@pytest.mark.parametrize(
    "head",
    [
        ".. ipython:: python\n   :suppress:",
        ".. ipython:: python\n   :okexcept:\n   :suppress:",
        ".. testcode::\n   :hide:",
        ".. doctest::\n   :hide:",
        ".. testsetup::",
        ".. testcleanup:: group",
        ".. jupyter-execute::\n   :hide-code:",
        ".. exec-code::\n   :hide_code:",
        ".. plot::\n   :include-source: false",
        ".. plot::\n   :include-source: no\n   :context:",
        ".. code-cell:: python\n   :tags: [remove-input, other]",
    ],
)
def test_code_that_runs_and_is_not_shown_is_no_text_of_a_page(head: str) -> None:
    page = f"{head}\n\n   {BOIL}\n\nIt boils."
    assert body(page, "rst") == "It boils."
    inside = ".. warning::\n\n   " + page.replace("\n", "\n   ")
    assert body(inside, "rst") == "**Warning:** It boils."


@pytest.mark.parametrize(
    "head",
    [
        ".. ipython:: python\n   :okwarning:",
        ".. ipython:: python\n   :verbatim:",
        ".. testcode:: group",
        ".. plot::\n   :include-source:",
        ".. plot::\n   :include-source: true",
        ".. plot::",
        ".. jupyter-execute::\n   :hide-output:",
    ],
)
def test_code_that_is_shown_stays(head: str) -> None:
    assert body(f"{head}\n\n   {BOIL}\n", "rst") == f"```python\n{BOIL}\n```"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("", False),
        ("plot_include_source = False\n", False),
        ("plot_include_source = True\n", True),
    ],
)
def test_a_plot_shows_its_code_where_the_project_says_so(tmp_path, said: str, shown: bool) -> None:
    (tmp_path / "conf.py").write_text(said)
    text = body(f"Text.\n\n.. plot::\n\n   {BOIL}\n", "rst", tmp_path)
    assert (BOIL in text) is shown


def test_each_extension_has_its_own_default_for_the_code_of_plots(tmp_path) -> None:
    page = f"Text.\n\n.. {{}}::\n   :caption: It boils.\n\n   {BOIL}\n"
    conf = tmp_path / "conf.py"
    conf.write_text("plot_include_source = True\n")
    assert BOIL not in body(page.format("plotly"), "rst", tmp_path)
    assert BOIL in body(page.format("pyvista-plot"), "rst", tmp_path)
    conf.write_text("plotly_include_source = True\npyvista_plot_include_source = False\n")
    assert BOIL in body(page.format("plotly"), "rst", tmp_path)
    assert body(page.format("pyvista-plot"), "rst", tmp_path) == "Text.\n\nIt boils."
    assert body(page.format("plot"), "rst", tmp_path) == "Text.\n\nIt boils."
    assert body(".. plot:: boil.py\n\n   It *boils*.\n", "rst", tmp_path) == "It *boils*."


def test_what_tells_ipython_how_to_run_a_statement_is_no_code() -> None:
    page = (
        ".. ipython:: python\n\n   @savefig plot.png width=4in\n   plot(x)\n\n   @suppress\n   close(\n"
        "       x,\n   )\n   @verbatim\n   y = 1\n   @okexcept\n   @doctest float\n   y / 0\n"
    )
    assert body(page, "rst") == "```python\nplot(x)\n\ny = 1\ny / 0\n```"
    whole = (
        '.. ipython:: python\n\n   @suppress\n   a = """\n   b\n   """\n   @suppress\n   if a:\n       b\n'
        "   else:\n       c\n   boil()\n"
    )
    assert body(whole, "rst") == "```python\nboil()\n```"
    typed = (
        ".. ipython::\n\n   In [1]: x = 1\n\n   @suppress\n   In [2]: y = 2\n      ...: z = 3\n\n"
        "   In [3]: x\n   Out[3]: 1\n"
    )
    assert body(typed, "rst") == "```python\nIn [1]: x = 1\n\nIn [3]: x\nOut[3]: 1\n```"


@pytest.mark.parametrize(
    ("directive", "line"),
    [
        ("code-block:: python", "@verbatim"),
        ("ipython:: python", "@property"),
        ("ipython:: python", "@suppress(ValueError)"),
        ("ipython:: python", "@doctest.mark"),
    ],
)
def test_a_decorator_is_code(directive: str, line: str) -> None:
    assert body(f".. {directive}\n\n   {line}\n   def boil(): ...\n", "rst").startswith(
        f"```python\n{line}\n"
    )


def test_hidden_code_of_myst_is_hidden_too() -> None:
    page = "Text.\n\n```{{code-cell}} python\n:tags: [{}]\n\nboil()\n```\n"
    assert body(page.format("remove-cell"), "markdown") == "Text."
    assert "boil()" in body(page.format("hide-output"), "markdown")
    assert body("Text.\n\n```{ipython} python\n:suppress:\nboil()\n```\n", "markdown") == "Text."
    shown = body("```{ipython} python\n@savefig a.png\nboil()\n```\n", "markdown")
    assert shown == "```python\nboil()\n```"


@pytest.mark.parametrize(
    "page",
    [
        ".. mermaid::\n   :caption: How it *boils*\n\n   graph TD\n     a --> b\n",
        ".. mermaid::\n   :alt: How it *boils*\n\n   graph TD\n     a --> b\n",
        ".. digraph:: flow\n   :caption: How it *boils*\n\n   a -> b\n",
        ".. uml::\n   :caption: How it *boils*\n\n   a -> b\n",
        ".. graphviz:: flow.dot\n   :caption: How it *boils*\n",
    ],
)
def test_of_a_drawing_its_caption_is_read(page: str) -> None:
    assert body(f"Text.\n\n{page}", "rst") == "Text.\n\nHow it *boils*"
    assert body("Text.\n\n.. graphviz::\n\n   digraph { a -> b }\n", "rst") == "Text."
    assert body(".. uml::\n   :caption: Boiling\n\n   a -> b\n", "rst") == "Boiling"
    assert body("Text.\n\n.. uml::\n   :alt: Boiling\n\n   a -> b\n", "rst") == "Text."


def test_a_drawing_in_markdown_and_html_is_no_code() -> None:
    assert body("Text.\n\n```mermaid\ngraph TD\n  a --> b\n```\n", "markdown") == "Text."
    assert (
        body("Text.\n\n```{mermaid}\n:caption: It boils\n\na --> b\n```\n", "markdown") == "Text.\n\nIt boils"
    )
    assert "a -> b" in body("Text.\n\n```dot\na -> b\n```\n", "markdown"), "readers see this as it is written"
    page = "<main><h1>A</h1><p>Text.</p><pre class='mermaid'>a --> b</pre><pre>c</pre></main>"
    assert body(page, "html") == "Text.\n\n```\nc\n```"


def test_a_replacement_of_raw_html_says_its_text() -> None:
    page = (
        ".. |br| raw:: html\n\n   <br />\n\n.. |c| raw:: html\n\n   <b>&copy;</b>\n\n"
        ".. |l| raw:: latex\n\n   \\newline\n\n"
        "One or |br| two, |c| 2024 |l| all.\n\n+-----------+----+\n| a |br| b  | c  |\n+-----------+----+\n"
    )
    assert body(page, "rst") == "One or two, © 2024 all.\n\n|  |  |\n| --- | --- |\n| a b | c |"
    role = ".. role:: html(raw)\n   :format: html\n\nOne :html:`<br>` two.\n"
    assert body(role, "rst") == "One two."
    role = ".. role:: tex(raw)\n   :format: latex\n\nOne :tex:`newline` two.\n"
    assert body(role, "rst") == "One two."


def test_panels_and_cards_leave_their_texts() -> None:
    page = (
        ".. panels::\n   :column: col-6\n\n   ---\n   :img-top: a.png\n\n   How to\n   boil\n   ^^^\n"
        "   Fill it.\n\n   .. raw:: html\n\n      <iframe src='https://x.example/mec_78'></iframe>\n\n"
        "   ----\n   ++++\n   .. link-button:: a\n      :type: ref\n      :text: Clean it\n"
    )
    assert body(page, "rst") == "**How to boil:** Fill it.\n\nClean it"
    card = ".. card:: Boil\n\n   Head\n   ^^^^\n   Fill it.\n   +++\n   By us.\n"
    assert body(card, "rst") == "**Boil:** Head\n\nFill it.\n\nBy us."
    assert body(".. grid::\n\n   .. grid-item-card:: Boil *it*\n      :link: a\n", "rst") == "**Boil it**"
    parted = (
        ".. panels::\n\n   Kinds:\n   - a\n   - b\n\n   ---\n\n   Kinds:\n   - c\n   - d\n\n"
        "   ---\n\n   Last.\n\n"
        ".. card:: T\n\n   Kinds:\n   - e\n   - f\n\n   +++\n   By us.\n\nAfter.\n\nMore.\n"
    )
    listed = "Kinds:\n\n- a\n- b\n\nKinds:\n\n- c\n- d\n\nLast.\n\n**T:** Kinds:\n\n- e\n- f\n\nBy us."
    assert body(parted, "rst") == f"{listed}\n\nAfter.\n\nMore.", "blank lines that are put in shift nothing"
    assert body("```{card} Boil\nHead\n^^^\nFill it.\n+++\nBy us.\n```\n\n{ref}`x`", "markdown").startswith(
        "**Boil:** Head\n\nFill it.\n\nBy us."
    )


def test_what_parts_a_card_in_markdown_is_code_in_code() -> None:
    code = "```yaml\n---\na: 1\n+++\n```"
    page = f"````{{card}} Boil\nFill it.\n\n{code}\n\nMore\n----\n\nText.\n+++\nBy us.\n````\n"
    assert body(page, "markdown") == f"**Boil:** Fill it.\n\n{code}\n\n**More**\n\nText.\n\nBy us."
    page = "````{panels}\nFill it.\n---\nBoil it.\n````\n"
    assert body(page, "markdown") == "Fill it.\n\nBoil it."


def test_a_badge_says_its_text() -> None:
    said = ':badge:`New,cls=badge-info` by :link-badge:`https://x.example,"Ann Lee",cls=btn light`'
    assert body(said, "rst") == "New by Ann Lee"


def test_a_caption_of_old_stands_before_the_number(tmp_path) -> None:
    (tmp_path / "conf.py").write_text(
        "extlinks = {'issue': ('https://x.example/%s', 'GH'), 'o': ('%s', None)}\n"
    )
    assert body("See :issue:`12` and :o:`it`.", "rst", tmp_path) == "See GH12 and it."


def test_code_within_bold_print_has_the_marks_of_code() -> None:
    assert body("**Use ``nan`` here**", "rst") == "**Use `nan` here**"
