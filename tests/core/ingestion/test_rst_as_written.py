"""What people write by hand in reStructuredText, whatever docutils makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.ingestion.pages import body, parsed, section

METHOD = ".. method:: Reader.read({})\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            ":param int size: up to which, 4\n              MB by default. Use ``0``\n              for all.",
            "Parameters:\n\n- `size` (int): up to which, 4 MB by default. Use `0` for all.",
        ),
        (
            ":param int size: most that is read, 4\n              MB by default.\n\n   .. versionadded:: 2.1",
            "Parameters:\n\n- `size` (int): most that is read, 4 MB by default.\n\n  Added in version 2.1.",
        ),
        (
            "- New.\n\n  The reader class was modified to respond with\n   403 Forbidden or ``404``.",
            "- New.\n\n  The reader class was modified to respond with 403 Forbidden or `404`.",
        ),
        ("- Kinds:\n\n  size\n    Most that is read.", "- Kinds:\n  - size: Most that is read."),
        (
            "- Kinds:\n\n  what a reader does by default\n    Most that is read.",
            "- Kinds:\n  - what a reader does by default: Most that is read.",
        ),
        (
            "what a reader does by default\n  most that is read.",
            "- what a reader does by default: most that is read.",
        ),
        (
            "The size of a block was told by the reader and will be\n used by what comes after.",
            "The size of a block was told by the reader and will be used by what comes after.",
        ),
        (
            "Once more, from the least to the most:\n    1. Files\n    2. ``SIZE``",
            "Once more, from the least to the most:\n\n1. Files\n2. `SIZE`",
        ),
        ("Sizes:\n    1. Small\n    2. Large", "- Sizes:\n  1. Small\n  2. Large"),
        # one paragraph goes on in the line, a list or code does not
        (
            "Of this only the following is read:\n    ``size``, ``lid``.",
            "Of this only the following is read: `size`, `lid`.",
        ),
        (
            "The following sizes are known to the reader of it,\n    - small\n    - large",
            "- The following sizes are known to the reader of it:\n  - small\n  - large",
        ),
        (
            "The reader of blocks can be asked to boil with\n    >>> boil()",
            "- The reader of blocks can be asked to boil with:\n\n  ```\n  >>> boil()\n  ```",
        ),
    ],
)
def test_a_line_that_goes_on_indented_is_no_definition(text: str, written: str) -> None:
    assert body(f"Text.\n\n{text}", "rst") == f"Text.\n\n{written}"


def test_options_may_be_indented_deeper_than_the_text() -> None:
    text = f"{METHOD.format('n=-1')}      :async:\n      :note: of two\n        lines\n\n   Read up to *n*.\n"
    assert body(text, "rst") == "`Reader.read(n=-1)`\n\nRead up to *n*."
    assert body(".. method:: Reader.read(\n      n=-1)\n   :async:\n\n   All.", "rst").endswith("All.")


@pytest.mark.parametrize(
    ("signature", "shown"),
    [('separator="\\n"', 'separator="\\n"'), ("\\*args, \\**more", "*args, **more"), ("a\\_b", "a_b")],
)
def test_a_signature_keeps_the_backslashes_of_its_values(signature: str, shown: str) -> None:
    assert body(f"{METHOD.format(signature)}\n   Read.", "rst").startswith(f"`Reader.read({shown})`")


def test_fields_of_a_projects_own_are_a_list_that_stays_whole() -> None:
    text = ":Exit code 0: All passed\n:Exit code 1: Some failed\n"
    assert body(f"It ends with one of two:\n\n{text}", "rst").endswith(
        "- Exit code 0: All passed\n- Exit code 1: Some failed"
    )
    assert body("Text.\n\n:Example: One\n", "rst").endswith("Example: One")


def test_a_page_of_another_project_is_named_in_words_where_the_text_has_them() -> None:
    link = "Due to the :doc:`python:tutorial/floatingpoint`, numbers differ."
    assert body(f"{link} A floating-point number is.", "rst").startswith("Due to the floating-point, numbers")
    assert body(link, "rst").startswith("Due to the floatingpoint, numbers")
    assert body(":doc:`other:a/what-is-new`", "rst") == "what is new"


def test_an_entry_of_a_private_module_bears_its_bare_name(tmp_path) -> None:
    package = tmp_path / "_inner"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "hooks.py").write_text(
        'class Kept:\n    """Is kept."""\n\n    def put(self, it=3):\n        """Put it."""\n\n\n'
        'LIMIT = 3\n"""How much."""\n\n\ndef collect(path: str) -> None:\n    """Collect."""\n'
    )
    document = parsed(
        "API\n===\n\n.. currentmodule:: _inner.hooks\n\n.. autofunction:: collect\n\n.. autodata:: LIMIT\n\n"
        ".. autoclass:: Kept\n   :members:\n",
        "rst",
        tmp_path,
    )
    assert section(document, "collect()").text == "`collect(path: str) -> None`\n\nCollect."
    assert section(document, "collect()").anchor == "inner.hooks.collect"
    assert section(document, "LIMIT").text.startswith("`LIMIT = 3`")
    assert section(document, "Kept").text.startswith("`class Kept`")
    assert section(document, "Kept.put()").text.startswith("`Kept.put(it=3)`")


def test_of_a_replacement_that_is_nowhere_defined_no_marks_are_left():
    page = "Boil\n====\n\n|coro|\n\nBoils with |kettle version| at once.\n"
    assert [one.text for one in parsed(page, "rst").sections] == ["Boils with kettle version at once."]


def test_code_with_markup_is_read_as_its_readers_see_it():
    """Docutils shows replacements, roles and bold print of a `parsed-literal` as what they stand for."""
    page = (
        ".. |release| replace:: 3.1.0\n\n.. parsed-literal::\n   :class: x\n\n"
        "   $ pip install kettle==\\ |release|\n\n"
        "   kettle **boil** :option:`--warm` *PATH*  # see `water`_\n"
        "     def f(*args, **options): ...\n"
    )
    assert body(page, "rst") == (
        "```\n$ pip install kettle==3.1.0\n\nkettle boil --warm PATH  # see water\n"
        "  def f(*args, **options): ...\n```"
    )
    piped = ".. parsed-literal::\n\n   ps |grep x| wc"
    assert body(piped, "rst") == "```\nps |grep x| wc\n```", "what is defined nowhere stays"


def test_an_annotation_is_shortened_as_its_readers_see_it():
    written = "boil(when: ~typing.Callable | None = None, at: typing.Any = ~x, n=~re.I) -> ~a.b.Kettle"
    page = f".. py:function:: {written}\n\n   Boil."
    shown = "`boil(when: Callable | None = None, at: typing.Any = ~x, n=~re.I) -> Kettle`"
    assert body(page, "rst") == f"{shown}\n\nBoil."


OPTIONS = """
Export
======

.. class:: options-table

+-------------------+------------------+------------------------+
| **arguments**                                                 |
+-------------------+------------------+------------------------+
|                   | ``PATH``         |                        |
+-------------------+------------------+------------------------+
| **options**                                                   |
+-------------------+------------------+------------------------+
|                   | ``-p``           | for paper              |
+-------------------+------------------+------------------------+
|                   | ``--level N``    | how much (default: 3)  |
+-------------------+------------------+------------------------+
| .. class:: common-ref                                         |
|                                                               |
| :ref:`common_options`                                         |
+-------------------+------------------+------------------------+
| **Filters** — Filters leave out files.                        |
+-------------------+------------------+------------------------+
|                   | ``--name NAME``  | keep those of a name   |
+-------------------+------------------+------------------------+
"""


def test_options_in_groups_are_lists_and_say_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").write_text("primary_domain = 'rst'\n")
    (tmp_path / "docs" / "common.rst.inc").write_text(
        ".. _common_options:\n\nCommon options\n--------------\n\nText.\n"
    )
    document = parsed(OPTIONS, "rst", tmp_path)
    assert [section.headings for section in document.sections] == [("Export",)]
    assert document.sections[0].text == (
        "**arguments**:\n\n- `PATH`\n\n**options**:\n\n- `-p`: for paper\n"
        "- `--level N`: how much (default: 3)\n\n"
        "Common options\n\n**Filters** — Filters leave out files.\n\n- `--name NAME`: keep those of a name"
    )


def test_a_project_of_python_still_has_classes(tmp_path: Path) -> None:
    assert section(parsed("Shop\n====\n\n.. class:: Kettle\n\n   Boils.\n", "rst", tmp_path), "Kettle")


def test_a_table_of_more_columns_keeps_them_under_a_row_over_all() -> None:
    line = "=====  =====  ====="
    rows = f"{line}\nA      B      C\n{line}\nKettles\n-------------------\n1      2      3\n{line}"
    assert body(rows, "rst") == "| A | B | C |\n| --- | --- | --- |\n| Kettles |  |  |\n| 1 | 2 | 3 |"


def test_an_html_page_has_such_options_as_lists_too() -> None:
    row = "<tr><td></td><td><code>-p</code></td><td>for paper</td></tr>"
    table = f"<table><tr><td colspan='3'><b>options</b></td></tr>{row}</table>"
    page = f"<main><h1>Export</h1><p>It writes what you can print and keep.</p>{table}</main>"
    assert body(page, "html").endswith("\n\n**options**:\n\n- `-p`: for paper")


def test_footnotes_are_marked_as_no_citation_of_an_answer_is() -> None:
    told = body(
        "It fails [1]_, see [#]_ and [Knuth]_.\n\n.. [1] A *disk*.\n\n.. [#] Later.\n\n.. [Knuth] A book.",
        "rst",
    )
    assert (
        told == "It fails [^1], see note 2 and [Knuth].\n\n[^1] A *disk*.\n\n[^2] Later.\n\n[Knuth] A book."
    )
    link = "<a class='footnote-reference brackets' href='#id2'><span>[</span>1<span>]</span></a>"
    page = f"<main><h1>Disks</h1><p>It fails in some circumstances {link}, but seldom.</p></main>"
    assert body(page, "html") == "It fails in some circumstances [^1], but seldom."


@pytest.mark.parametrize(
    ("headings", "title"),
    [(("Mount", "Umount"), ""), (("Mount",), "Mount"), (("", "Mount", "Umount"), "Mount")],
)
def test_a_page_of_several_sections_beside_each_other_has_none_of_their_titles(
    headings: tuple[str, ...], title: str
) -> None:
    text = "\n\n".join(
        f"{name}\n{'=' * len(name)}\n\nText.\n\nExamples\n--------\n\nMore." if name else "Before."
        for name in headings
    )
    document = parsed(text, "rst")
    assert document.title == title
    assert document.sections[-1].headings == (headings[-1], "Examples")


def test_an_ending_keeps_its_dot_and_an_ellipsis_is_one() -> None:
    assert body("Reads `.pyc` files; an ellipsis (`...`) is all.", "rst").startswith("Reads `.pyc` files; an")
    assert "(`...`)" in body("Reads `.pyc` files; an ellipsis (`...`) is all.", "rst")
    assert "`.Lid" not in body("See :meth:`.Lid.turn`.", "rst")


def test_what_has_no_role_is_read_by_the_projects_own(tmp_path) -> None:
    page = "See `.Lid.turn` (`...`)."
    (tmp_path / "conf.py").write_text("default_role = 'obj'\n")
    assert body(page, "rst", tmp_path) == "See `Lid.turn` (`...`)."
    assert body(page, "rst") == "See `.Lid.turn` (`...`)."


def test_code_of_a_role_is_as_it_is_written() -> None:
    said = ":kbd:`.` or :kbd:`!`, :code:`List <int>`, :literal:`~x`, :class:`~a.Lid`, :command:`fill <a>`."
    assert body(said, "rst") == "`.` or `!`, `List <int>`, `~x`, `Lid`, `fill`."


def test_stars_with_spaces_are_a_heading_that_somebody_meant() -> None:
    assert body("** Breaking changes **\n\n- No lids.", "rst") == "**Breaking changes**\n\n- No lids."
    assert body("*** NOTE ***\n\nText.", "rst") == "**NOTE**\n\nText."
    assert body("2 ** 3 ** 4\n\nText.", "rst") == "2 ** 3 ** 4\n\nText."


def test_code_in_a_cell_is_code_in_its_line() -> None:
    table = (
        ".. list-table::\n   :header-rows: 1\n\n   * - Set\n     - Sent\n"
        '   * - .. code::\n\n          ["*"]\n'
        "     - .. code::\n\n          Lid: on\n          Ring: off\n"
    )
    assert '| `["*"]` | `Lid: on`, `Ring: off` |' in body(table, "rst")


def test_a_statement_of_several_lines_is_one_in_a_cell() -> None:
    code = "a = query(Kettle).\\\\\n    filter(\n        lid=1\n    )\nboil(a)\n(a\n    .one()\n)"
    lines = code.replace("\\\\", "\\").split("\n")
    rows = "\n".join(f"| {line:<28} |" for line in [".. code::", "", *(f"   {line}" for line in lines)])
    rule = "+" + "-" * 30 + "+"
    table = body(f"{rule}\n{rows}\n{rule}", "rst")
    assert "| `a = query(Kettle). filter( lid=1 )`, `boil(a)`, `(a .one() )` |" in table


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("1. **Open it:**\n       Type the name.", "1. **Open it:** Type the name."),
        (
            "1. Make one on the site.\n       It has to be free.",
            "1. Make one on the site. It has to be free.",
        ),
        (
            "1. **Open it:**\n       .. code-block:: sh\n\n           edit x",
            "1. **Open it:**\n\n   ```sh\n   edit x\n   ```",
        ),
        ("- name\n     What it is called.", "- name: What it is called."),
        (
            "1. name\n     What it is called.\n   age\n     How old.",
            "1. - name: What it is called.\n   - age: How old.",
        ),
    ],
)
def test_a_step_with_its_text_below_is_no_definition(item: str, shown: str) -> None:
    assert body(item, "rst") == shown
