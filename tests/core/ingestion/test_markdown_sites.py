"""Markdown as MkDocs, Docusaurus, VitePress, Hugo and MyST extend it: no marks are left, and labels stay."""

from __future__ import annotations

import pytest

from core.errors import SourceError
from tests.core.ingestion.pages import body, parsed, section
from tests.processor import at_most


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ('!!! note inline end "Mind"\n    The gap.', "**Mind:** The gap."),
        ("!!! warning annotate\n    The gap.", "**Warning:** The gap."),
        ('!!! note ""\n    The gap.', "The gap."),
        ('??? tip "Folded"\n\n    ```py\n    a\n\n\n    b\n    ```', "**Folded:**\n\n```py\na\n\n\nb\n```"),
        ('=== "A"\n    One.\n\n=== "B"\n    Two.', "**A:** One.\n\n**B:** Two."),
        ('=== "Linux"\n\n    === "apt"\n\n        Use it.', "**Linux:** **apt:** Use it."),
        ("/// tab | Linux\nUse `apt`.\n///\n\n/// tab | macOS\nUse `brew`.\n///",
         "**Linux:** Use `apt`.\n\n**macOS:** Use `brew`."),
        ("/// note | Mind\n    type: x\n\nThe gap.\n///", "**Mind:** The gap."),
        (":::note[Title]\nText.\n:::", "**Title:** Text."),
        (":::tip Title\n\nText.\n\n:::", "**Title:** Text."),
        ("::::danger\n:::note\nInner.\n:::\n::::", "**Danger:** **Note:** Inner."),
        ("> [!NOTE]\n> Mind.", "**Note:** Mind."),
        ("Press ++ctrl+alt+del++ :material-keyboard: now.", "Press Ctrl+Alt+Del now."),
        ("A [button](x){ .md-button .primary } and ![wide picture](y){ width=300 }.",
         "A button and wide picture."),
        ("Some text.\n{: .class #id }", "Some text."),
        ("A `code`{.python} span, `#!python x = 1`.", "A `code` span, `x = 1`."),
        ("See [`BaseModel`][pydantic.BaseModel] and [pydantic.Field][].",
         "See `BaseModel` and pydantic.Field."),
        ("| a | b |\n|---|---|\n| :white_check_mark: | :x: |", "| a | b |\n| --- | --- |\n| ✓ | ✗ |"),
        ("| a | b |\n|---|---|\n| <ul><li>`x`</li><li>y :warning:</li></ul> | z |",
         "| a | b |\n| --- | --- |\n| • `x` • y ⚠ | z |"),
        ("==marked== {++added++}{--gone--} text", "marked added text"),
        ("[TOC]\n\nText.", "Text."),
        ("Text.\n\n*[HTML]: Hyper Text", "Text."),
        ("{{< tabs >}}\n{{< tab \"Linux\" >}}\nUse apt.\n{{< /tab >}}\n{{< /tabs >}}",
         "**Linux:**\n\nUse apt."),
        ("{{% alert title=\"Mind\" %}}The gap.{{% /alert %}}", "**Mind:** The gap."),
        ("{{< highlight go >}}\nx := 1\n{{< /highlight >}}", "```go\nx := 1\n```"),
        ('{% hint style="info" %}\nThe gap.\n{% endhint %}', "**Hint:** The gap."),
        ("{% comment %}nobody{% endcomment %}Text.", "Text."),
        ("```jinja\n{% if x %}{{ y }}{% endif %}\n```", "```jinja\n{% if x %}{{ y }}{% endif %}\n```"),
        ("Write `{% raw %}` and `:::` and `=== \"x\"`.", "Write `{% raw %}` and `:::` and `=== \"x\"`."),
        ("```yaml\nx: 1 # (1)!\n```\n\n1.  The reason.", "```yaml\nx: 1 # (1)\n```\n\n1. The reason."),
        ("An `array[i][j]`, array[i][j] too.", "An `array[i][j]`, array[i][j] too."),
    ],
)  # fmt: skip
def test_no_mark_is_left(source, shown):
    assert body(f"Start.\n\n{source}\n", "markdown") == f"Start.\n\n{shown}".strip()


def test_a_long_tab_is_a_section_so_that_every_passage_says_whose_it_is():
    words = "The installer asks for a folder and for the name of the account that it runs under. " * 12
    document = parsed(
        f'# Install\n\n=== "Linux"\n\n    {words}\n\n    More of it.\n\n=== "macOS"\n\n    '
        f"Short.\n\nAfter.\n",
        "markdown",
    )
    assert [(s.headings, s.anchor) for s in document.sections] == [
        (("Install", "Linux"), "install"),
        (("Install",), "install"),
    ]
    assert document.sections[0].text.endswith("More of it.")
    assert document.sections[1].text == "**macOS:** Short.\n\nAfter."


def test_front_matter_is_read_and_not_shown():
    document = parsed(
        '---\ntitle: "It\'s: here"\ndescription: What it is for.\nslug: /x\ntags: [a, '
        "b]\n---\n\n## Use\n\nText.\n",
        "markdown",
    )
    assert document.title == "It's: here"
    assert [s.text for s in document.sections] == ["What it is for.", "Text."]
    assert parsed('+++\ntitle = "Hugo"\n+++\n\nText.\n', "markdown").title == "Hugo"
    endless = parsed(f"+++\nweight = {'9' * 5000}\n+++\n\n# Hugo\n\nText.\n", "markdown")
    assert endless.title == "Hugo", "a number that Python does not read is no front matter"
    broken = parsed("---\ntitle: a: b: [\n---\n\nText.\n", "markdown")
    assert (broken.title, broken.sections[0].text) == ("a: b: [", "Text.")
    rule = parsed("---\n\nBetween rules.\n\n---\n\nText.\n", "markdown")
    assert [s.text for s in rule.sections] == ["Between rules.\n\nText."]


@pytest.mark.parametrize(
    ("line", "said"),
    [("draft: true", "a draft"), ("unlisted: true", "unlisted"), ("published: false", "not published")],
)
def test_what_is_not_on_the_site_is_skipped_with_a_reason(line, said):
    with pytest.raises(SourceError, match=said):
        parsed(f"---\n{line}\n---\n\nText.\n", "markdown")
    assert parsed("---\ndraft: false\n---\n\nText.\n", "markdown").sections[0].text == "Text."


MDX = """---
title: Install
---
import Tabs from '@theme/Tabs';
import TabItem from '@theme/TabItem';
import Part from './_part.mdx';
import {useThing} from '@site/src/thing';
import Code from '!!raw-loader!./code.js';
import CodeBlock from '@theme/CodeBlock';

export const Highlight = ({children, color}) => (
  <span style={{backgroundColor: color}}>{children}</span>
);

{/* a note to the authors */}

Start with {useThing('x')}`npm`{' '}now. <Badge text="new" />

<Tabs groupId="os" values={[{label: 'GNU/Linux', value: 'linux'}]}>
  <TabItem value="linux">

    ```bash
    apt install x
    ```

  </TabItem>
  <TabItem value="mac" label="macOS">Use **brew**.</TabItem>
</Tabs>

<Part />

<CodeBlock language="js">{Code}</CodeBlock>

<div className="grid" onClick={() => go('a > b')}>
  Inside a *box*.
</div>

<Highlight color="#25c2a0">green</Highlight> words, \\{kept\\}.

## Next {/* #next-step */}

<Admonition type="tip" title="Mind">The gap.</Admonition>
"""


def test_mdx_becomes_markdown(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "_part.mdx").write_text("---\nx: 1\n---\nimport Y from './y';\n\nThe *part*.\n")
    (tmp_path / "docs" / "code.js").write_text("run();\n")
    document = parsed(MDX, "markdown", tmp_path, "docs/install.mdx")
    assert [s.text for s in document.sections] == [
        "Start with `npm` now.\n\n"
        "**GNU/Linux:**\n\n```bash\napt install x\n```\n\n**macOS:** Use **brew**.\n\n"
        "The *part*.\n\n```js\nrun();\n```\n\nInside a *box*.\n\ngreen words, {kept}.",
        "**Mind:** The gap.",
    ]
    assert document.sections[1].anchor == "next-step"


def test_code_about_mdx_stays_code():
    text = "```jsx\nimport X from './x';\n<Tabs>{x}</Tabs>\n```\n\nA `<TabItem>` and `import x from './y'`."
    assert body(text, "markdown") == text


PYTHON = '''"""The tool."""


class Tool:
    """Does things.

    See [`Other`][tool.Other].

    Args:
        name: How it is called.
        size (int): How large.
    """

    def __init__(self, name: str, size: int = 1) -> None:
        self.name = name

    def run(self) -> int:
        """Run it.

        Returns:
            The code.
        """
        return 0
'''


def test_mkdocstrings_shows_what_the_code_says(tmp_path):
    (tmp_path / "tool.py").write_text(PYTHON)
    document = parsed(
        "# API\n\n::: tool.Tool\n    options:\n        heading_level: 2\n\nAfter.\n",
        "markdown",
        tmp_path,
        "docs/api.md",
    )
    assert [(s.headings, s.anchor) for s in document.sections] == [
        (("API", "Tool"), "tool.Tool"),
        (("API", "Tool.run()"), "tool.Tool.run"),
        (("API",), "api"),
    ]
    assert section(document, "Tool").text == (
        "`class tool.Tool(name: str, size: int = 1)`\n\nDoes things.\n\nSee `Other`.\n\n**Args:**\n\n"
        "- `name`: How it is called.\n- `size` (int): How large."
    )
    assert (
        section(document, "Tool.run()").text
        == "`tool.Tool.run() -> int`\n\nRun it.\n\n**Returns:**\n\n- The code."
    )
    gone = parsed("# API\n\n::: far.away.Thing\n\nAfter.\n", "markdown", tmp_path, "docs/b.md")
    assert [s.text for s in gone.sections] == ["After."]


@pytest.mark.parametrize(
    ("config", "anchors"),
    [
        ("mkdocs.yml", ["whats-new-caf-a-b", "twice", "twice_1", "own"]),
        ("docusaurus.config.js", ["whats-new-café--a---b", "twice", "twice-1", "own"]),
        ("conf.py", ["what-s-new-cafe-a-b", "twice", "id1", "own"]),
        ("", ["whats-new-café--a---b", "twice", "twice-1", "own"]),
    ],
)
def test_anchors_are_those_of_the_site(tmp_path, config, anchors):
    if config:
        (tmp_path / config).write_text("site_name: x\n" if config.endswith("yml") else "")
    document = parsed(
        "# T\n\n## What's new: café & a - b\n\na\n\n## Twice\n\nb\n\n## Twice\n\nc\n\n## Own {#own}\n\nd\n",
        "markdown",
        tmp_path,
        "docs/a.md",
    )
    expected = [a.replace("-caf-", "-cafe-") if config == "mkdocs.yml" else a for a in anchors]
    assert [s.anchor for s in document.sections] == expected


def test_pymdownx_slugs_and_macros_are_read_from_the_configuration(tmp_path):
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: !ENV [NAME, x]\nplugins:\n  - search\n  - macros\nextra:\n  tool:\n    version: 1.2\n"
        "markdown_extensions:\n  - toc:\n"
        "      slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}\n"
    )
    document = parsed(
        "# T\n\n## Été - now\n\nIt is {{ tool.version }}, {{ unknown }}.\n", "markdown", tmp_path, "docs/a.md"
    )
    assert (document.sections[0].anchor, document.sections[0].text) == (
        "été---now",
        "It is 1.2, {{ unknown }}.",
    )


def test_a_page_without_a_title_is_called_as_the_menu_calls_it(tmp_path):
    inner = "    - Test Client: ./testclient.md\n    - Boil: boil.md\n    - lid.md\n"
    (tmp_path / "mkdocs.yml").write_text(f"nav:\n  - Home: index.md\n  - Use:\n{inner}")
    below = "Tests it.\n\n### Change the address\n\nSo.\n\n### Sessions\n\nSo.\n"
    for path, text, title in (
        ("docs/testclient.md", below, "Test Client"),
        ("docs/lid.md", below, "Lid"),
        ("docs/boil.md", "# Boiling water\n\nSo.\n", "Boiling water"),
        ("docs/boil.md", "# First\n\nSo.\n\n# Then\n\nSo.\n", "Boil"),
        ("docs/boil.md", "---\ntitle: Heat\n---\n" + below, "Heat"),
        ("docs/index.md", below, "Home"),
    ):
        assert parsed(text, "markdown", tmp_path, path).title == title


def test_a_heading_that_is_closed_before_its_attributes_has_no_signs_at_its_end():
    document = parsed("# Log\n\n## 1.19.1 - 2023-12-12 ## {: #v1.19.1 }\n\nIt boils.\n", "markdown")
    (one,) = document.sections
    assert (one.headings[-1], one.anchor) == ("1.19.1 - 2023-12-12", "v1.19.1")


@pytest.mark.parametrize(
    "unit",
    ["{", "{#a", "{.a.b.c ", "<A b={", "/// a\n", "{++", "{{<", "!!! a\n", "`` ", "import x from './y'\n"],
)
def test_marks_without_end_cost_no_more_than_their_length(unit):
    # 32 s for 20,000 characters where each unclosed mark was looked for to the end of the page
    with at_most(4.0):
        parsed(unit * (10_000 // len(unit)), "markdown", path="docs/page.mdx")
