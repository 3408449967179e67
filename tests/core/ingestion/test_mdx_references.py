"""References that MDX keeps in the properties of components: they are documentation like any other text."""

import pytest

from tests.core.ingestion.pages import body, parsed
from tests.processor import at_most

TABLE = """# Parameters

<PropertiesTable
  content={[
    {
      name: 'model',
      type: 'LanguageModel',
      required: true,
      // what a comment says is no text
      description: "The model to use. It's asked once.",
    },
    {
      name: 'messages',
      type: 'Array<Message>',
      description: 'What was said.',
      properties: [
        { type: 'System', parameters: [{ name: 'content', type: 'string', description: 'The rules.' }] },
        { type: 'User', parameters: [{ name: 'content', type: 'string | Part[]', description: 'Said.' }] },
      ],
    },
    { name: 'retries', type: 'number', default: 2, description: `How often, at most \\`3\\`.` },
    { name: 'nothing', onClick: () => go('a', [1]) },
  ]}
/>
"""


def test_a_table_of_properties_is_a_list():
    assert body(TABLE, "markdown", path="docs/a.mdx") == (
        "- `model` (`LanguageModel`, required): The model to use. It's asked once.\n"
        "- `messages` (`Array<Message>`): What was said.\n"
        "  - `System`:\n"
        "    - `content` (`string`): The rules.\n"
        "  - `User`:\n"
        "    - `content` (`string | Part[]`): Said.\n"
        "- `retries` (`number`, default `2`): How often, at most `3`."
    )


def test_a_long_table_of_properties_is_read_whole():
    entry = "    { name: 'option%d', type: 'string', description: 'What option %d does, in a sentence.' },\n"
    rows = "".join(entry % (number, number) for number in range(200))
    text = body(f"<Table content={{[\n{rows}  ]}}\n/>\n", "markdown", path="docs/a.mdx")
    assert text.count("\n") == 199
    assert text.endswith("- `option199` (`string`): What option 199 does, in a sentence.")


def test_an_object_whose_keys_are_names_is_a_list():
    text = "<TypeTable\n  type={{\n a: { description: 'Wide.', type: 'number', default: 0.2 },\n  }}\n/>"
    assert body(text, "markdown", path="docs/a.mdx") == "- `a` (`number`, default `0.2`): Wide."


def test_fields_keep_their_names():
    text = (
        '<ParamField path="user.id" type="string" required>\n  The **id**.\n\n  ```js\n  run()\n  ```\n'
        '</ParamField>\n\n<ResponseField name="ok" type="boolean">\n  Whether it worked.\n</ResponseField>'
    )
    assert body(text, "markdown", path="docs/a.mdx") == (
        "- `user.id` (`string`, required): The **id**.\n\n  ```js\n  run()\n  ```\n\n"
        "- `ok` (`boolean`): Whether it worked."
    )


def test_signs_in_cells_say_yes_and_no_and_leave_the_table_whole():
    text = (
        "| Provider | Images | Tools |\n| --- | --- | --- |\n"
        "| Big | <Check size={18} /> | <Cross size={18} /> |\n| Small | <Cross /> | <Check /> Some |\n"
    )
    assert body(text, "markdown", path="docs/a.mdx") == (
        "| Provider | Images | Tools |\n| --- | --- | --- |\n| Big | ✓ | ✗ |\n| Small | ✗ | ✓ Some |"
    )


def test_the_code_of_a_snippet_is_shown_and_links_of_cards_are_not():
    text = (
        "import { Snippet } from './x';\n\n## Import\n\n<Snippet text={`import { embed } from \"ai\"`} "
        "prompt={false} />\n\n"
        "<Cards cards={[{ title: 'Chat', description: 'How to chat.', href: '/chat' }]} />\n"
    )
    assert body(text, "markdown", path="docs/a.mdx") == '```\nimport { embed } from "ai"\n```'


def test_types_in_what_an_entry_tells_are_no_tags():
    text = (
        "<T content={[{ name: 'a', type: 'X', default: new Map<string>(), "
        "description: 'A Promise<string>.' }, "
        "{ name: 'b', type: 'Y', description: 'An <b>old</b> `Map<K, V>`.' }]} />"
    )
    assert body(text, "markdown", path="docs/a.mdx") == (
        "- `a` (`X`, default `new Map<string>()`): A Promise<string>.\n- `b` (`Y`): An old `Map<K, V>`."
    )


def test_what_is_no_field_stays_in_its_sentence():
    text = (
        'See the <Badge name="x" type="tip">new</Badge> one.\n\n'
        '<Panel header="Note" type="info">\nIt is hot.\n</Panel>'
    )
    assert body(text, "markdown", path="docs/a.mdx") == "See the new one.\n\nIt is hot."


def test_a_snippet_shows_strings_and_no_names_of_variables():
    text = (
        "import code from './x';\n\n<Snippet text={code} />\n\n<Snippet text=\"pip install a\" />\n\n"
        "<CommandOptions options={[{ name: '--all', description: 'Takes all.' }]} />"
    )
    assert body(text, "markdown", path="docs/a.mdx") == "```\npip install a\n```\n\n- `--all`: Takes all."


def test_a_page_that_is_imported_under_the_name_of_a_sign_is_shown(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/_no.mdx").write_text("It is not possible.\n")
    text = "import No from './_no.mdx'\n\n<No/>\n"
    assert body(text, "markdown", tmp_path, "docs/a.mdx") == "It is not possible."


@pytest.mark.parametrize("unit", ["[", "{a:", "/*,", '"\\",', "`\\`,", "'a,", "{name:'a',type:'b',d:["])
def test_what_is_no_data_costs_no_more_than_its_length(unit):
    with at_most(4.0):
        parsed("<Table content={[" + unit * (100_000 // len(unit)) + "]} />", "markdown", path="docs/a.mdx")
