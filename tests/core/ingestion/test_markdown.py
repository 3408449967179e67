import pytest

from core.domain import Section
from tests.core.ingestion.pages import body, parsed, section


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("A [link](http://x.example/y) and <http://z.example>.", "A link and http://z.example."),
        ("![logo](a.png) ![What is shown](b.png)", "What is shown"),
        ("Press <kbd>Ctrl</kbd>.<!-- note to self -->", "Press Ctrl."),
        ('```python title="app.py"\nx = 1\n\ny\n```', "```python\nx = 1\n\ny\n```"),
        ("~~~\na ``` b\n~~~", "````\na ``` b\n````"),
        ("    indented", "```\nindented\n```"),
        ("| a | b |\n|---|---|\n| `x` | [y](z) |", "| a | b |\n| --- | --- |\n| `x` | y |"),
        ("- one\n  more\n- two\n\n  ```js\n  x\n  ```", "- one more\n\n- two\n\n  ```js\n  x\n  ```"),
        ("3. c\n4. d", "3. c\n4. d"),
        ('!!! note "Mind"\n    The gap.', "**Mind:** The gap."),
        ("!!! warning\n    The gap.", "**Warning:** The gap."),
        ('??? tip "Folded"\n    Text.', "**Folded:** Text."),
        ("::: tip\nText.\n:::", "**Tip:** Text."),
        (":::info Title here\n\nText.\n\n:::", "**Title here:** Text."),
        (":::{note}\n:class: x\n\nText.\n:::", "**Note:** Text."),
        ("> [!WARNING]\n> Careful.", "**Warning:** Careful."),
        ('=== "Linux"\n\n    ```sh\n    apt\n    ```', "**Linux:**\n\n```sh\napt\n```"),
        ("```{note}\nText with {py:func}`a.b`.\n```", "**Note:** Text with `a.b()`."),
        ("```{versionchanged} 2.3\nIt *moved*.\n```", "Changed in version 2.3: It *moved*."),
        ("```{code-block} python\n:linenos:\n\nx = 1\n```", "```python\nx = 1\n```"),
        ("```{toctree}\na\n```", ""),
        ("See {ref}`the guide <g>` and {doc}`/intro`.", "See the guide and intro."),
        ("<details><summary>More</summary>\n\nHidden.\n\n</details>", "**More**\n\nHidden."),
        (
            "<table><tr><th>H</th></tr><tr><td>v</td></tr></table>",
            "| H |\n| --- |\n| v |",
        ),
        ("Term\n:   What it is.", "- Term: What it is."),
        ("<script>alert(1)</script>", ""),
    ],
)
def test_markdown_of_every_tool_is_written_plainly(source, shown):
    assert body(f"Start.\n\n{source}\n", "markdown") == f"Start.\n\n{shown}".strip()


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("![Kettle logo](a.png)", "Kettle"),
        ("[![Kettle](a.png)](https://a.example)", "Kettle"),
        ("![Logo](a.png)", "Page"),
        ("![project logo](a.png)", "Page"),
        ("![](a.png)", "Page"),
        ("![Logo](a.png) Kettle", "Kettle"),
    ],
)
def test_a_logo_names_a_page_where_it_says_a_name(heading, title):
    assert parsed(f"# {heading}\n\nIt boils.\n\n## Usage\n\nPress it.\n", "markdown").title == title


def test_pictures_that_lead_to_themselves_or_to_other_pages_are_no_badges():
    shown = "[![How water flows](a.png)](a.png)\n[![What the lid hides](https://x.example/b.png)](https://x.example/b.png)"
    assert "How water flows" in body(f"# K\n\n{shown}\n\nText.\n", "markdown")
    pages = "[![How to boil](a.png)](boil.md) [![How to clean](b.png)](clean.md)"
    assert "How to clean" in body(f"# K\n\n{pages}\n\nText.\n", "markdown")


def test_a_readme_is_called_by_its_logo_and_its_badges_are_no_text():
    page = parsed(
        "# ![Kettle](logo.png)\n\n"
        "[![Checked with mypy](a.png)](http://a.example)\n![Code style: black](b.png)\n\n"
        "It boils water.\n\n![What the lid looks like](c.png)\n\n## Installation\n\nUse pip.\n",
        "markdown",
    )
    assert page.title == "Kettle"
    assert [(s.headings, s.text) for s in page.sections] == [
        (("Kettle",), "It boils water.\n\nWhat the lid looks like"),
        (("Kettle", "Installation"), "Use pip."),
    ]


def test_anchors_are_githubs_or_the_headings_own():
    document = parsed(
        "---\ntitle: 'Front'\n---\n\nimport T from '@x/t';\n\nBefore.\n\n# What's `new` in 2.0?\n\n"
        "a\n\n## Dup\n\nb\n\n"
        "## Dup\n\nc\n\n### Own {#my-id}\n\nd\n\n"
        "```python\n# no heading\n```\n\nUnderlined\n----------\n\ne\n",
        "markdown",
    )
    assert document.title == "Front"
    top = "What's new in 2.0?"
    assert document.sections == (
        Section((), "", "Before."),
        Section((top,), "whats-new-in-20", "a"),
        Section((top, "Dup"), "dup", "b"),
        Section((top, "Dup"), "dup-1", "c"),
        Section((top, "Dup", "Own"), "my-id", "d\n\n```python\n# no heading\n```"),
        Section((top, "Underlined"), "underlined", "e"),
    )


def test_myst_targets_and_embedded_rst_have_anchors():
    document = parsed(
        "# Title\n\n(here)=\n## Heading\n\nText.\n\n"
        "```{eval-rst}\n.. py:data:: FOO\n\n   The :class:`foo`.\n```\n",
        "markdown",
    )
    assert section(document, "Heading").anchor == "here"
    assert section(document, "FOO") == Section(("Title", "Heading", "FOO"), "FOO", "`FOO`\n\nThe `foo`.")


def test_myst_includes_stay_inside_the_root(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "secret.md").write_text("SECRET")
    (root / "CHANGES.md").write_text("## 1.0\n\nFirst.\n\n```{include} CHANGES.md\n```\n")
    text = "# Changes\n\n```{include} ../CHANGES.md\n```\n\n```{include} ../../secret.md\n```\n"
    document = parsed(text, "markdown", root)
    assert {heading for s in document.sections for heading in s.headings} == {"Changes", "1.0"}
    assert "SECRET" not in "".join(s.text for s in document.sections)


def test_what_a_myst_page_includes_keeps_its_headings(tmp_path):
    notes = "# Notes\n\n## 2.1\n\n### Style\n\nLess.\n\n### Docs\n\nMore.\n\n## 2.0\n\n### Style\n\nNone.\n"
    (tmp_path / "notes.md").write_text(notes)
    document = parsed("```{include} ../notes.md\n```\n", "markdown", tmp_path)
    assert document.title == "Notes"
    assert [(s.headings, s.anchor) for s in document.sections] == [
        (("Notes", "2.1", "Style"), "style"),
        (("Notes", "2.1", "Docs"), "docs"),
        (("Notes", "2.0", "Style"), "style-1"),
    ]


def test_myst_includes_are_cut_as_they_say(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "code.py").write_text("import os\n\n\ndef f():\n    return 1\n")
    (root / "README.md").write_text(
        "---\na: b\n---\n# Readme\n\n<!-- start -->\nThe start.\n<!-- end -->\nNo more.\n"
    )
    (tmp_path / "secret.py").write_text("SECRET\n")
    document = parsed(
        "# T\n\n```{literalinclude} ../code.py\n:pyobject: f\n:language: python\n```\n\n"
        "```{literalinclude} ../../secret.py\n```\n\n"
        "```{include} ../README.md\n:start-after: <!-- start -->\n:end-before: <!-- end -->\n```\n\n"
        ":::{tip}\n```{include} ../code.py\n:literal:\n:lines: 1\n```\n:::\n",
        "markdown",
        root,
    )
    assert [s.text for s in document.sections] == [
        "```python\ndef f():\n    return 1\n```\n\nThe start.\n\n**Tip:**\n\n```python\nimport os\n```"
    ]
    long = "The installer asks for a folder and for the name of the account that it runs under. " * 10
    tabs = parsed(
        f"# T\n\n::::{{tab-set}}\n:::{{tab-item}} Linux\n{long}\n:::\n:::{{tab-item}} "
        f"macOS\nBrew.\n:::\n::::\n",
        "markdown",
    )
    assert [(s.headings, s.text[:13]) for s in tabs.sections] == [
        (("T", "Linux"), "The installer"),
        (("T",), "**macOS:** Br"),
    ]


def test_headings_are_plain_text_but_for_stars_that_are_code():
    titles = {
        "*Black*": "Black",
        "Use *it* and **more**": "Use it and more",
        "Call `f(*args)`": "Call f(*args)",
    }
    for source, shown in titles.items():
        assert parsed(f"## {source}\n\nText.", "markdown").sections[0].headings == (shown,)


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("| a | b |\n|---|---|\n| `str | None` | z |", "| `str \\| None` | z |"),
        ("a | b\n--- | ---\n`p|q` | `r|s`", "| `p\\|q` | `r\\|s` |"),
        ("| a | b |\n|---|---|\n| `x\\|y` | z |", "| `x\\|y` | z |"),
        ("| `a|b` | c |\n|---|---|\n| p | z |", "| `a\\|b` | c |"),
        ("| `a | b` |\n|---|---|\n| p | z |", "| p | z |"),
        ("| a | b |\n|---|---|\n| ` | tick |\n| ` | again |", "| ` | again |"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "- item\n\n{}", "```{{note}}\n{}\n```"])
def test_a_bar_in_code_ends_no_cell(around: str, table: str, row: str) -> None:
    indented = table.replace("\n", "\n  ") if around.startswith("-") else table
    told = body(around.format(f"  {indented}" if around.startswith("-") else indented), "markdown")
    assert row in [line.strip() for line in told.split("\n")]


def test_a_banner_and_a_table_of_contents_are_no_text_of_a_page():
    contents = "**Table of contents**\n- [Logs](#logs)\n  - [`level`](#level)\n"
    banner = '<h1 align="center">Kettle</h1>\n\n'
    document = parsed(f"{banner}{contents}\n## Logs\n\nSay what.\n\n### level\n\nHow much.\n", "markdown")
    assert document.title == "Logs"
    assert [(one.headings, one.text) for one in document.sections] == [
        (("Logs",), "Say what."),
        (("Logs", "level"), "How much."),
    ]
    assert parsed("<h1>Kettle</h1>\n\n## Logs\n\nSay.\n", "markdown").title == "Kettle"
    told = body("- [Logs](#logs): what is said\n- [Level](#level)\n", "markdown")
    assert told == "- Logs: what is said\n- Level", "a list that says something stays"
    assert body("- [Logs](https://docs.example/logs)\n- [Level](level.md)\n", "markdown") == "- Logs\n- Level"


def test_a_page_of_sections_beside_each_other_has_none_of_their_titles():
    assert parsed("## Factory\n\nMakes one.\n\n## Instance\n\nIs one.\n", "markdown").title == ""
    below = "Before.\n\n## Factory\n\nMakes one.\n\n## Instance\n\nIs.\n"
    assert parsed(below, "markdown").title == "Page", "a part of the page gives it no name, its file does"
    one = "Before.\n\n### `kettle.push`\n\nSends.\n"
    assert parsed(one, "markdown", path="docs/01-server_push.md").title == "Server push"
    assert parsed(one, "markdown", path="docs/guides/README.md").title == "Guides"
    assert parsed(one, "markdown", path="README.md").title == "kettle.push"


@pytest.mark.parametrize(
    "code", ["`/teas/{name}`, and", "a `{name}` is", "this:\n\n```js\nsay(`at ${place}`)\n```\n\nAnd"]
)
def test_code_that_ends_in_a_brace_makes_no_page_myst(code: str):
    document = parsed(f"# Teas\n\nSee {code} more.\n\n## app.js\n\nRuns.\n", "markdown")
    assert section(document, "app.js").anchor == "appjs"
    role = parsed("# Teas\n\nSee {py:func}`a.b`.\n\n## app.js\n\nRuns.\n", "markdown")
    assert section(role, "app.js").anchor == "app-js"
