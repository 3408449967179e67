import re

import pytest

from core.domain import Section
from tests.core.ingestion.pages import body, parsed, section

DEBRIS = re.compile(r"^\s*\.\. [\w:-]+::|:[\w:+-]+:`|\|version\||^\s*:[\w-]+:( |$)", re.M)


@pytest.mark.parametrize(
    ("role", "shown"),
    [
        (":class:`~flask.Flask`", "`Flask`"),
        (":func:`a.b`", "`a.b()`"),
        (":meth:`~flask.Flask.run`", "`run()`"),
        (":meth:`run it <flask.Flask.run>`", "`run it`"),
        (":py:exc:`!ValueError`", "`ValueError`"),
        (":ref:`the guide <guide>`", "the guide"),
        (":ref:`some-label`", "some label"),
        (":doc:`/deploying/index`", "index"),
        (":doc:`Deploying <deploying/index>`", "Deploying"),
        (":pep:`8`", "PEP 8"),
        (":rfc:`7231`", "RFC 7231"),
        (":issue:`12`", "#12"),
        (":pr:`12`", "#12"),
        (":gh:`12`", "#12"),
        (":data:`SECRET_KEY`", "`SECRET_KEY`"),
        (":file:`app/{name}.py`", "`app/name.py`"),
        (":unheard-of:`text <target>`", "text"),
        ("`plain`", "`plain`"),
        ("`Blinker <https://blinker.example/>`_", "Blinker"),
        ("`Blinker`_", "Blinker"),
        (":meth:``Reader.read``", "`Reader.read`"),
        ("``:issue:`123```", "`` :issue:`123` ``"),
        ("``see :py:func:`.name```", "`` see :py:func:`.name` ``"),
        ("*an* :meth:``Reader.read``", "*an* `Reader.read`"),
        ("``str```", "`str`"),
        ("it [1]_:", "it [^1]:"),
    ],
)
def test_roles_read_as_sphinx_shows_them(role, shown):
    assert body(f"See {role} now.", "rst") == f"See {shown} now."


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (".. note:: Mind the gap.", "**Note:** Mind the gap."),
        (".. warning::\n\n   One.\n\n   Two.", "**Warning:** One.\n\nTwo."),
        (".. admonition:: A :func:`title`\n\n   Text.", "**A title():** Text."),
        ("Linux::\n    Here.\n\nmacOS (new):\n    There.", "- Linux: Here.\n- macOS (new): There."),
        ("* Linux\n    Here.\n* macOS\n    There.", "- Linux: Here.\n- macOS: There."),
        ("* - One\n  - Two\n\n  Both.\n* Three", "- One\n- Two\n\n  Both.\n\n- Three"),
        (".. versionadded:: 2.2", "Added in version 2.2."),
        (".. versionchanged:: 2.3\n   It moved.", "Changed in version 2.3: It moved."),
        (".. deprecated:: 2.2\n    Use :data:`X`.", "Deprecated since version 2.2: Use `X`."),
        (".. versionremoved:: 3.0", "Removed in version 3.0."),
        (".. code-block:: python\n   :linenos:\n\n   x = 1\n\n   y = 2", "```python\nx = 1\n\ny = 2\n```"),
        (".. sourcecode:: html+jinja\n\n   <p>", "```html+jinja\n<p>\n```"),
        (".. code-block:: text\n\n   plain", "```\nplain\n```"),
        (".. image:: x.png", ""),
        (".. image:: x.png\n   :alt: What is shown", "What is shown"),
        (".. figure:: x.png\n\n   The caption.", "The caption."),
        (".. toctree::\n   :maxdepth: 2\n\n   a", ""),
        (".. contents::\n   :local:", ""),
        (".. raw:: html\n\n   <script>alert(1)</script>", ""),
        (".. only:: html\n\n   Shown.", "Shown."),
        (
            ".. tabs::\n\n   .. group-tab:: Windows\n\n      .. code-block:: text\n\n         > x",
            "**Windows:**\n\n```\n> x\n```",
        ),
        (".. rubric:: Notes", "**Notes**"),
        (".. unheard_of:: thing\n   :option: 3\n\n   The *content*.", "The *content*."),
        (".. promo:: Two words\n\n   Text.", "**Two words**\n\nText."),
        (".. click:run::\n\n   invoke(x)", "```python\ninvoke(x)\n```"),
        (".. productionlist::\n   a: b", "```\na: b\n```"),
        (".. csv-table:: T\n   :header: a, b\n\n   1, 2", "T\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (
            ".. list-table::\n   :header-rows: 1\n   :class: wide\n\n"
            "   * - a\n     - b\n   * - ``x|y``\n     - 2",
            "| a | b |\n| --- | --- |\n| `x\\|y` | 2 |",
        ),
        (".. highlight:: python\n\nExample::\n\n   x", "Example:\n\n```\nx\n```"),
        (".. |name| replace:: Flask\n\nUse |name|.", "Use Flask."),
        (".. rst-class:: lead\n\nText.", "Text."),
        (".. comment of nobody\n\nText.", "Text."),
        ("1. one\n2. two\n\n   * in\n   * side", "1. one\n2. two\n   - in\n   - side"),
        ("term : kind\n    What it is.", "- term (kind): What it is."),
        (":param name: who\n:type name: str\n:returns: a thing\n:raises ValueError: never", "DOCINFO"),
    ],
)
def test_directives_leave_what_a_reader_needs(source, shown):
    text = body(f"Start.\n\n{source}\n", "rst")
    if shown == "DOCINFO":
        assert "- `name` (str): who" in text
        assert "Returns: a thing" in text
        assert "- `ValueError`: never" in text
    else:
        assert text == f"Start.\n\n{shown}".strip()
    assert not DEBRIS.search(text)


def test_headings_and_anchors_are_those_of_sphinx():
    document = parsed(
        "Before.\n\n.. _my-label:\n\nThe Title\n=========\n\nIntro, see :ref:`ansi-colors`.\n\n"
        ".. _ansi-colors:\n\n"
        "ANSI Colors\n-----------\n\nText.\n\nText!\n-----\n\nMore.\n\nText!\n-----\n\nAgain.\n",
        "rst",
    )
    assert document.title == "The Title"
    assert document.sections == (
        Section((), "", "Before."),
        Section(("The Title",), "the-title", "Intro, see ANSI Colors."),
        Section(("The Title", "ANSI Colors"), "ansi-colors", "Text."),
        Section(("The Title", "Text!"), "text", "More."),
        Section(("The Title", "Text!"), "id2", "Again."),
    )


def test_each_entry_of_a_glossary_is_a_section_under_its_terms():
    document = parsed(
        "Words\n=====\n\n.. glossary::\n   :sorted:\n\n   late ack\n   late acknowledgment\n"
        "      A message is acknowledged\n      *after* it was read.\n\n      See :term:`WSGI`.\n\n"
        "   .. of other projects\n\n   ..\n      for authors\n\n"
        "   ``WSGI`` : standard\n      An interface.\n\n   WSGI\n      Once more.\n\n"
        "   任务\n      A task.\n\n   told nowhere\n",
        "rst",
    )
    assert document.sections == (
        Section(
            ("Words", "late ack, late acknowledgment"),
            "term-late-ack",
            "A message is acknowledged *after* it was read.\n\nSee WSGI.",
        ),
        Section(("Words", "WSGI"), "term-WSGI", "An interface."),
        Section(("Words", "WSGI"), "words", "Once more."),
        Section(("Words", "任务"), "words", "A task."),
    )


def test_each_config_value_is_a_section_of_its_own():
    document = parsed(
        "Configuration\n=============\n\nValues\n------\n\nThese:\n\n.. py:data:: SECRET_KEY\n\n"
        "   Signs.\n\n"
        "   Default: ``None``\n\n"
        ".. py:data:: DEBUG\n\n   Debugs.\n\n.. versionadded:: 0.4\n   ``LOGGER_NAME``\n",
        "rst",
    )
    headings = ("Configuration", "Values")
    assert document.sections == (
        Section(headings, "values", "These: `SECRET_KEY`, `DEBUG`"),
        Section((*headings, "SECRET_KEY"), "SECRET_KEY", "`SECRET_KEY`\n\nSigns.\n\nDefault: `None`"),
        Section((*headings, "DEBUG"), "DEBUG", "`DEBUG`\n\nDebugs."),
        Section(headings, "values", "Added in version 0.4: `LOGGER_NAME`"),
    )


def test_a_changelog_directive_is_a_section_per_release():
    document = parsed(
        "2.0 Changelog\n=============\n\n"
        ".. changelog::\n    :version: 2.0.36\n    :released: October 15, 2024\n\n"
        ""
        "    .. change::\n        :tags: bug, orm\n        :tickets: 11912\n\n"
        "        Fixed :class:`.Session`.\n",
        "rst",
    )
    assert document.sections == (
        Section(
            ("2.0 Changelog", "2.0.36"),
            "change-2.0.36",
            "Released: October 15, 2024\n\nFixed `Session`.",
        ),
    )


def test_objects_are_named_and_linked_as_in_their_module():
    document = parsed(
        "API\n===\n\n.. module:: flask\n\n.. class:: session\n\n   A dict.\n\n"
        "   .. attribute:: new\n\n      Is it?\n\n"
        "   .. method:: pop(key, default=None)\n\n      Pops.\n\n.. data:: other\n   :noindex:\n\n"
        "   Here too.\n\n"
        ".. c:function:: int main(void)\n\n   Starts.\n\n"
        ".. program:: flask run\n\n.. option:: --debug <x>\n\n   Debugs.\n",
        "rst",
    )
    assert [(s.headings[-1], s.anchor) for s in document.sections] == [
        ("session", "flask.session"),
        ("session.new", "flask.session.new"),
        ("session.pop()", "flask.session.pop"),
        ("other", "api"),
        ("main()", "c.main"),
        ("--debug", "cmdoption-flask-run-debug"),
    ]
    assert section(document, "session.pop()").text.startswith("`session.pop(key, default=None)`")


def test_includes_are_read_inside_the_root_and_never_outside(tmp_path):
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("SECRET")
    (root / "CHANGES.rst").write_text(
        "Version 1\n---------\n\n- Fix. :issue:`3`\n\n.. include:: CHANGES.rst\n"
    )
    (root / "code.py").write_text("import os\n\n\ndef f():\n    return 1\n\n\ny = 2\n")
    (root / "docs" / "link.txt").symlink_to(tmp_path / "secret.txt")
    document = parsed(
        "Changes\n=======\n\n.. include:: ../CHANGES.rst\n\n.. include:: ../../secret.txt\n\n"
        f".. include:: {tmp_path}/secret.txt\n\n.. include:: link.txt\n\n"
        f".. literalinclude:: ../../secret.txt\n\n"
        ".. csv-table::\n   :file: ../../secret.txt\n\n.. raw:: html\n   :file: ../../secret.txt\n\n"
        ".. literalinclude:: ../code.py\n   :pyobject: f\n",
        "rst",
        root,
    )
    assert [s.headings for s in document.sections] == [("Changes", "Version 1")]
    assert document.sections[0].anchor == "version-1"
    assert document.sections[0].text == "- Fix. #3\n\n```python\ndef f():\n    return 1\n```"


def test_a_markdown_file_can_be_included(tmp_path):
    (tmp_path / "README.md").write_text("# Readme\n\nUse [it](https://x.example).\n\n## Install\n\n`pip`\n")
    document = parsed("Title\n=====\n\n.. include:: ../README.md\n   :parser: myst\n", "rst", tmp_path)
    assert [(s.headings, s.text) for s in document.sections] == [
        (("Title", "Readme"), "Use it."),
        (("Title", "Install"), "`pip`"),
    ]


def test_the_configuration_of_sphinx_is_read_and_not_run(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: x\nVersion: 3.1.0\n")
    (tmp_path / "docs" / "conf.py").write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\nversion = compute()\n"
        "extlinks = {'cve': ('https://x/%s', 'CVE %s')}\nrst_epilog = '.. |us| replace:: Pallets'\n"
    )
    (tmp_path / "docs" / "other.rst").write_text(
        ".. _deep:\n\nOther :class:`Page`\n==================\n\nx\n"
    )
    text = body(
        "Version |version| (|release|) by |us|, :cve:`7`, :doc:`other`, :ref:`deep`.", "rst", tmp_path
    )
    assert text == "Version 3.1 (3.1.0) by Pallets, CVE 7, Other Page, Other Page."
    assert not (tmp_path / "ran").exists()


def test_broken_input_neither_raises_nor_prints(capfd):
    text = (
        "Title\n==\n\n`unclosed\n\n**strong\n\n|nothing| `lost`_ [1]_ name_ *args\n\n.. table::\n\n"
        "   ===\n  a\n\n"
        ".. py:function::\n\n.. figure:: x\n   :scale: none\n\n   Caption.\n\n.. code-block::\n\n"
        ".. include::\n\n"
        ".. role:: bogus(\n\n+---+\n| a\n+---+\n\n====\nOver\n\n.. note:\n\n.. _a: b\n.. _a: c\n\nEnd.\n"
    )
    document = parsed(text, "rst")
    written = "\n".join(s.text for s in document.sections)
    assert "Caption." in written
    assert "End." in written
    assert not DEBRIS.search(written)
    assert capfd.readouterr() == ("", "")


def test_substitutions_that_multiply_end():
    lines = [f".. |a{i}| replace:: |a{i + 1}| |a{i + 1}|" for i in range(40)]
    assert body("\n".join([*lines, ".. |a40| replace:: x", "", "|a0| |a39|"]), "rst") == "x x"


def test_a_long_tab_is_a_section_and_a_short_one_a_label():
    words = "The installer asks for a folder and for the name of the account that it runs under. " * 12
    document = parsed(
        "Install\n=======\n\n.. tab-set::\n\n   .. tab-item:: Linux\n\n"
        f"      {words}\n\n      .. code-block:: sh\n\n         apt\n\n   .. tab-item:: "
        f"macOS\n\n      Use brew.\n\nAfter.\n",
        "rst",
    )
    assert [s.headings for s in document.sections] == [("Install", "Linux"), ("Install",)]
    assert document.sections[0].text.endswith("```sh\napt\n```")
    assert document.sections[1].text == "**macOS:** Use brew.\n\nAfter."


def test_what_is_for_print_only_is_not_on_the_page():
    for condition, shown in (
        ("html", True),
        ("latex", False),
        ("not latex", True),
        ("html or man", True),
        ("not html", False),
    ):
        text = body(f"A\n=\n\n.. only:: {condition}\n\n   Here.\n\nEnd.\n", "rst")
        assert ("Here." in text) is shown, condition


@pytest.mark.parametrize("prompt", ["$ kettle boil", "C:\\> kettle boil", ">>> boil()"])
def test_what_is_typed_at_a_prompt_stays_code_in_a_directive_nobody_knows(prompt):
    said = f"{prompt}\nIt boils.\n[more]"
    rest = "Do this:\n\n.. kettle-cli::\n\n   " + said.replace("\n", "\n   ") + "\n"
    myst = f"Do this:\n\n```{{kettle-cli}}\n{said}\n```\n"
    for text in (body(rest, "rst"), body(f"{myst}\n{{ref}}`x`\n", "markdown")):
        assert f"\n{said}\n```" in text
    assert "```" not in body(".. kettle-cli::\n\n   It costs $ 5.\n", "rst")


def test_entries_of_an_index_belong_to_what_comes_next():
    read = parsed(
        """
Guide
=====

.. index:: single: alpha; beta

.. _one:

One
---

Of one.

.. index::
   pair: loop; statement
   see: foo; bar
   ! triple: module; search; path

Two
---

.. index:: admonition, !admonitions

Of two.

.. class:: Foo(x)

   .. index:: a: b

   Makes it.

.. index:: nothing follows
""",
        "rst",
    )
    assert [(one.headings[-1], one.terms) for one in read.sections] == [
        ("One", ("alpha beta",)),
        ("Two", ("loop statement", "foo", "module search path", "admonition", "admonitions")),
        ("Foo", ("a: b",)),
    ]
    assert [one.text for one in read.sections] == ["Of one.", "Of two.", "`Foo(x)`\n\nMakes it."]


def test_options_of_a_setting_are_read_as_sphinx_shows_them():
    read = parsed(
        "Page\n====\n\n.. confval:: retries\n   :type: :code-py:`int`\n   :default: ``1``, or *more*\n\n"
        "   Tries.\n",
        "rst",
    )
    assert section(read, "retries").text == "`retries: int`\n\n**Default:** `1`, or *more*\n\nTries."


def test_directives_and_roles_that_are_described_have_their_names():
    read = parsed(
        "Page\n====\n\n.. rst:directive:: .. index:: <entries>\n\n   Lists.\n\n"
        ".. rst:directive:: .. py:function:: name(parameters)\n\n   Describes.\n\n"
        ".. rst:directive:: toctree\n\n   Collects.\n\n.. rst:role:: ref\n\n   Refers.\n",
        "rst",
    )
    assert [(s.headings[-1], s.anchor, s.text.rpartition("\n")[2]) for s in read.sections] == [
        ("index", "directive-index", "Lists."),
        ("py:function", "directive-py-function", "Describes."),
        ("toctree", "directive-toctree", "Collects."),
        ("ref", "role-ref", "Refers."),
    ]


@pytest.mark.parametrize(("conf", "shown"), [("", False), ("todo_include_todos = True\n", True)])
def test_what_authors_still_have_to_do_is_shown_where_their_pages_show_it(tmp_path, conf, shown):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").write_text(conf)
    text = body("Page\n====\n\nText.\n\n.. todo:: Move this.\n", "rst", tmp_path)
    assert ("Move this." in text) is shown and "Text." in text


def test_objects_that_a_colon_introduces_are_named_behind_it():
    text = (
        "API\n===\n\nUse one of these functions:\n\n.. function:: run(a)\n\n   Runs.\n\n"
        ".. function:: stop(b)\n\n   Stops.\n\nThen more.\n\n.. class:: Pot\n\n   Holds.\n\n   It has:\n\n"
        "   .. method:: boil()\n\n      Boils.\n"
    )
    told = [(s.headings[-1], s.text.split("\n\n")[-1]) for s in parsed(text, "rst").sections]
    assert told == [
        ("API", "Use one of these functions: `run()`, `stop()`"),
        ("run()", "Runs."),
        ("stop()", "Stops."),
        ("API", "Then more."),
        ("Pot", "It has: `Pot.boil()`"),
        ("Pot.boil()", "Boils."),
    ]


def test_a_long_row_of_objects_is_not_named_in_a_sentence():
    rows = "".join(f".. data:: VALUE_{n}\n\n   Value {n}.\n\n" for n in range(4))
    assert parsed(f"Values\n======\n\nThese are used:\n\n{rows}", "rst").sections[0].text == "These are used:"
