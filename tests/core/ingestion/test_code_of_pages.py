"""What pages take from the code in lists, and docstrings as Google writes them."""

import pytest

from core.domain import RawDocument, Section
from core.ingestion.chunking import linked
from core.ingestion.parsing import parse
from core.ingestion.sites import anchored, page_of
from tests.core.ingestion.pages import body, parsed, section

CODE = '''
"""Tools."""


class Box:
    """A box.

    It holds things.
    """

    def open(self):
        """Opens it."""


class Frame:
    """A frame."""

    def head(self, n=5):
        """Returns the first rows."""


def norm(x, ord=None):
    """Gives the norm
    of a matrix.

    Details.

    Arguments:
        x (list[int]): the matrix,
            all of it
        ord: the order

    Returns:
        The norm, which
        is a number.

    See Also
    --------
    linalg : More of it.
    """
'''


def project(tmp_path):
    (tmp_path / "thing.py").write_text(CODE)
    return tmp_path


def test_pages_that_autosummary_would_make_are_in_the_list(tmp_path):
    document = parsed(
        "API\n===\n\n.. currentmodule:: thing\n\n.. autosummary::\n   :toctree: generated/\n\n   norm\n"
        "   Box\n   ~Frame\n   Frame.head\n   missing.f\n",
        "rst",
        project(tmp_path),
    )
    assert [one.headings[-1] for one in document.sections] == [
        "API",
        "norm()",
        "Box",
        "Box.open()",
        "Frame",
        "Frame.head()",
    ]
    assert section(document, "API").text == "- `missing.f`"
    assert (
        "`thing.norm(x, ord=None)`\n\nGives the norm of a matrix.\n\nDetails."
        in section(document, "norm()").text
    )


LISTED = (
    "API\n===\n\n.. currentmodule:: thing\n\n.. autosummary::\n   :toctree: generated/\n"
    "   :template: own.rst\n\n   norm\n   Box\n\nMore\n----\n\nText.\n"
)


@pytest.mark.parametrize(
    ("path", "url", "page"),
    [
        ("api.rst", "https://x.example/en/api.html", "https://x.example/en/generated/thing.{}.html#thing.{}"),
        ("api.rst", "https://x.example/api/", "https://x.example/generated/thing.{}/#thing.{}"),
        ("index.rst", "https://x.example/", "https://x.example/generated/thing.{}/#thing.{}"),
        (
            "a/index.rst",
            "https://x.example/a/index.html",
            "https://x.example/a/generated/thing.{}.html#thing.{}",
        ),
        ("api.rst", "https://x.example/api", "https://x.example/generated/thing.{}#thing.{}"),
        ("api.rst", "https://code.example/blob/main/api.rst", "https://code.example/blob/main/api.rst#api"),
        ("api.rst", "https://x.example/view?page=api", "https://x.example/view?page=api#api"),
        ("api.rst", "", ""),
    ],
)
def test_what_autosummary_makes_pages_of_is_linked_where_they_are(tmp_path, path, url, page):
    root = project(tmp_path)
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(LISTED)
    document = parse(RawDocument(path, url, LISTED.encode(), "rst", str(root), str(root / path)))

    def address(heading, name):
        found = linked(document.url, section(document, heading))
        return found, page.format(*(name for _ in range(page.count("{}"))))

    assert len(set(address("norm()", "norm"))) == 1
    found, wanted = address("Box.open()", "Box")
    assert found == (f"{wanted}.open" if "generated" in page else wanted)
    assert linked(url, section(document, "More")) == (f"{url}#more" if url else "")


def test_objects_of_a_list_in_markdown_are_linked_where_their_pages_are(tmp_path):
    text = f"# API\n\n```{{eval-rst}}\n{LISTED.partition('More')[0].partition('===')[2]}\n```\n"
    assert section(parsed(text, "markdown", project(tmp_path)), "norm()").page == "../generated/thing.norm/"
    assert linked("https://x.example/a.html#b", Section((), "c", "Text.")) == "https://x.example/a.html#c"


def test_a_plain_autosummary_is_a_list(tmp_path):
    root = project(tmp_path)
    (root / "docs" / "generated").mkdir(parents=True)
    (root / "docs" / "generated" / "thing.Box.rst").write_text("thing.Box\n=========\n")
    document = parsed(
        "API\n===\n\n.. autosummary::\n   :nosignatures:\n\n   thing.norm\n\n"
        ".. autosummary::\n   :toctree: generated\n\n   thing.Box\n",
        "rst",
        root,
    )
    assert [one.text for one in document.sections] == [
        "- `thing.norm`: Gives the norm of a matrix.\n\n- `thing.Box`: A box."
    ]


def test_lists_of_google_docstrings_are_lists(tmp_path):
    text = body(".. autofunction:: thing.norm\n", "rst", project(tmp_path))
    assert "**Arguments:**\n\n- `x` (list[int]): the matrix, all of it\n- `ord`: the order" in text
    assert "**Returns:**\n\n- The norm, which is a number." in text
    assert "**See Also**" in text


def test_a_table_of_a_file_is_read(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "versions.csv").write_text('Python,3.13,"3.12, 3.11"\nThing 11,Yes,No\n')
    page = ".. csv-table:: Versions\n   :file: {}\n   :header-rows: 1\n"
    assert body(page.format("versions.csv"), "rst", tmp_path) == (
        "Versions\n\n| Python | 3.13 | 3.12, 3.11 |\n| --- | --- | --- |\n| Thing 11 | Yes | No |"
    )
    assert body(page.format("/etc/passwd"), "rst", tmp_path) == ""


@pytest.mark.parametrize(
    ("page", "section"),
    [
        ("https://t.dev/api.html", "https://t.dev/api.html#a"),
        ("https://t.dev/#/docs/api", "https://t.dev/#/docs/api?id=a"),
        ("https://t.dev/?id=1", "https://t.dev/?id=1#a"),
    ],
)
def test_a_hash_that_names_a_page_stays(page: str, section: str) -> None:
    assert anchored(page, "a") == anchored(section, "a") == section
    assert page_of(page) == page_of(section) == page
