"""What a Markdown page includes: read inside of the source only, cut as it says, and never without end."""

from __future__ import annotations

import pytest

from core.domain import RawDocument
from core.ingestion.parsing import parse, reaches_out
from tests.core.ingestion.pages import parsed

CODE = (
    "import os\n\n# --8<-- [start:main]\ndef f():\n    # #region inner\n"
    "    return 1\n    # #endregion inner\n# --8<-- [end:main]\n"
)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    (folder / "docs" / "parts").mkdir(parents=True)
    (folder / "mkdocs.yml").write_text(
        "markdown_extensions:\n  - pymdownx.snippets:\n      base_path: [docs/parts]\n"
    )
    (folder / "docs" / "parts" / "part.md").write_text(
        "---\na: b\n---\n\nThe **part**.\n\n## Its heading\n\nUnder it.\n"
    )
    (folder / "code.py").write_text(CODE)
    (folder / "docs" / "loop.md").write_text('Once.\n\n--8<-- "loop.md"\n')
    (tmp_path / "secret.md").write_text("SECRET")
    (folder / "docs" / "link.md").symlink_to(tmp_path / "secret.md")
    return folder


def text_of(root, source, path="docs/page.md"):
    return "\n\n".join(s.text for s in parsed(source, "markdown", root, path).sections)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ('--8<-- "part.md"', "The **part**.\n\nUnder it."),
        ("--8<--\npart.md\n; gone.md\n--8<--", "The **part**.\n\nUnder it."),
        ('{% include "parts/part.md" %}', "The **part**.\n\nUnder it."),
        ('{% include-markdown "./parts/part.md" start="The" end="##" %}', "**part**."),
        ("{% include_relative parts/part.md %}", "The **part**.\n\nUnder it."),
        ("{!parts/part.md!}", "The **part**.\n\nUnder it."),
        ("<!--@include: ./parts/part.md{5,5}-->", ""),
        ("<!--@include: ./parts/part.md{2-2}-->", "The **part**."),
        ("```py\n--8<-- \"code.py:main\"\n```",
         "```py\ndef f():\n    # #region inner\n    return 1\n    # #endregion inner\n```"),
        ('```py\n--8<-- "code.py:4:4"\n```', "```py\ndef f():\n```"),
        ("```Python\n{!../code.py[ln:1]!}\n```", "```python\nimport os\n```"),
        ("{* ../code.py ln[1] hl[1] *}", "```python\nimport os\n```"),
        ("<<< ../code.py#inner{1}", "```python\nreturn 1\n```"),
        ("```js file=../code.py#L1\n```", "```js\nimport os\n```"),
        ('=== "Tab"\n\n    --8<-- "code.py:4:4"', "**Tab:** def f():"),
        ("```md\n;--8<-- \"part.md\"\n```", '```md\n--8<-- "part.md"\n```'),
        ("```md\n{% include \"parts/part.md\" %}\n```", '```md\n{% include "parts/part.md" %}\n```'),
        ("Write `--8<-- \"part.md\"`.", 'Write `--8<-- "part.md"`.'),
    ],
)  # fmt: skip
def test_every_way_to_include(root, source, shown):
    assert text_of(root, f"Start.\n\n{source}\n") == f"Start.\n\n{shown}".strip()


@pytest.mark.parametrize(
    "target",
    [
        "../../secret.md",
        "/../secret.md",
        "link.md",
        "{tmp}/secret.md",
        "../../../../../../etc/passwd",
        "gone.md",
        "https://x.example/y.md",
    ],
)
def test_nothing_outside_of_the_source_is_read(root, target):
    target = target.replace("{tmp}", str(root.parent))
    marks = [
        f'--8<-- "{target}"',
        f"--8<--\n{target}\n--8<--",
        f'{{% include "{target}" %}}',
        f"{{!{target}!}}",
    ]
    marks += [f"<!--@include: {target}-->", f"<<< {target}", f"```js file={target}\n```", f"{{* {target} *}}"]
    page = f"import X from '{target}';\n\nStart.\n\n" + "\n\n".join(marks) + "\n\n<X />\n"
    text = text_of(root, page, "docs/page.mdx")
    assert "SECRET" not in text
    assert "root:" not in text
    assert text.startswith("Start.")


def test_a_document_without_a_place_includes_nothing():
    raw = RawDocument("a.md", "", b'Start.\n\n--8<-- "/etc/passwd"\n\n{!/etc/a.conf!}\n', "markdown")
    assert [s.text for s in parse(raw).sections] == ["Start."]


def test_what_includes_itself_ends(root):
    assert text_of(root, '--8<-- "loop.md"', "docs/page.md") == "Once."
    for number in range(30):  # 2**30 parts, if nothing stopped it
        (root / "docs" / f"n{number}.md").write_text(
            f'x\n\n--8<-- "n{number + 1}.md"\n\n--8<-- "n{number + 1}.md"\n'
        )
    assert text_of(root, '--8<-- "n0.md"').count("x") < 200


def test_an_included_page_makes_its_page_change_with_it(root):
    def raw(text: str) -> RawDocument:
        return RawDocument("docs/p.md", "", text.encode(), "markdown", str(root), str(root / "docs" / "p.md"))

    for mark in (
        '--8<-- "a.md"',
        '{% include "a.md" %}',
        "{!a.md!}",
        "<!--@include: a.md-->",
        "import X from './x.mdx'",
        "::: a.b",
    ):
        assert reaches_out(raw(f"Text.\n\n{mark}\n")), mark
    assert not reaches_out(raw("Plain text with `code` and nothing else.\n"))
