"""Notebooks: their words, code and short results; nothing of pictures; links as Jupyter makes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.catalogue import SourceSpec
from core.errors import SourceError
from core.ingestion.formats import MAX_DOCUMENT_BYTES
from core.ingestion.sources.folder import FolderSource
from core.ingestion.sources.folder import Options as FolderOptions
from tests.core.ingestion.pages import parsed, section
from tests.fake_workers import FakeWorkers

PICTURE = "iVBORw0KGgoAAAANSUhEUgAA" * 40
PYTHON = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}


def notebook(*cells: dict[str, Any], metadata: dict[str, Any] | None = None, **keys: Any) -> str:
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 4,
            "metadata": PYTHON if metadata is None else metadata,
            "cells": cells,
            **keys,
        }
    )


def markdown(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n".join(lines)}


def code(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "metadata": {"tags": list(tags)},
        "source": source.splitlines(keepends=True),
        "outputs": list(outputs),
        "execution_count": 1,
    }


def result(**data: Any) -> dict[str, Any]:
    named = {name.replace("_", "/", 1): value for name, value in data.items()}
    return {"output_type": "execute_result", "metadata": {}, "execution_count": 1, "data": named}


def printed(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def test_words_code_and_results_under_jupyters_own_anchors():
    document = parsed(
        notebook(
            markdown("# A First Look: Data & Co.", "", "Read *this* [page](https://x.example)."),
            code("import numpy as np\nnp.arange(3)", result(text_plain="array([0, 1, 2])")),
            markdown("## Fit it", "", "Now fit."),
            code("print('x')", printed("line 1\n"), printed("line 2\n"), printed("a warning", "stderr")),
        ),
        "notebook",
        path="guide.ipynb",
    )
    assert document.title == "A First Look: Data & Co."
    assert [(s.headings, s.anchor, s.text) for s in document.sections] == [
        (
            ("A First Look: Data & Co.",),
            "A-First-Look:-Data-&-Co.",
            "Read *this* page.\n\n```python\nimport numpy as "
            "np\nnp.arange(3)\n```\n\n```\narray([0, 1, 2])\n```",
        ),
        (
            ("A First Look: Data & Co.", "Fit it"),
            "Fit-it",
            "Now fit.\n\n```python\nprint('x')\n```\n\n```\nline 1\nline 2\n```",
        ),
    ]


def test_pictures_objects_and_progress_bars_leave_nothing():
    table = (
        "<div><style>td{}</style><table><tr><th>city</th><th>°C</th></tr><tr><td>Bonn"
        "</td><td>9</td></tr></table></div>"
    )
    document = parsed(
        notebook(
            code("plot()", result(image_png=PICTURE, text_plain="<Figure size 640x480 with 1 Axes>")),
            code("chart", result(text_plain="alt.Chart(...)")),
            code("frame", result(text_html=table, text_plain="  city  °C\n0 Bonn 9")),
            code("bar()", printed("10%\r50%\r100%\n")),
            code("colour()", printed("\x1b[31mred\x1b[0m\n")),
            code(
                "fail()",
                {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["\x1b[0;31m…"]},
            ),
            markdown("![attached](attachment:image.png)", "", f"<img src='data:image/png;base64,{PICTURE}'>"),
        ),
        "notebook",
    )
    assert "\n\n".join(s.text for s in document.sections) == (
        "```python\nplot()\n```\n\n```python\nchart\n```\n\n"
        "```python\nframe\n```\n\n| city | °C |\n| --- | --- |\n| Bonn | 9 |\n\n"
        "```python\nbar()\n```\n\n```\n100%\n```\n\n```python\ncolour()\n```\n\n```\nred\n```\n\n"
        "```python\nfail()\n```\n\n```\nKeyError: 'x'\n```"
    )


def test_long_outputs_and_tables_are_cut():
    rows = "".join(f"<tr><td>row {i}</td></tr>" for i in range(200))
    document = parsed(
        notebook(
            code("a", printed("".join(f"line {i}\n" for i in range(500)))),
            code("b", result(text_html=f"<table><tr><th>n</th></tr>{rows}</table>")),
        ),
        "notebook",
    )
    text = document.sections[0].text
    assert "line 19\n…\n```" in text
    assert "line 20" not in text
    assert "| row 17 |\n| … |" in text
    assert "row 18" not in text


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"language_info": {"name": "R"}}, "r"),
        ({"kernelspec": {"language": "julia", "name": "julia-1.9"}}, "julia"),
        ({"kernelspec": {"name": "ir"}}, "ir"),
        ({"language_info": {"name": "ipython"}}, "python"),
        ({}, "python"),
    ],
)
def test_code_is_in_the_language_of_its_kernel(metadata, language):
    document = parsed(notebook(code("x <- 1"), code("%%bash\nls"), metadata=metadata), "notebook")
    assert document.sections[0].text == f"```{language}\nx <- 1\n```\n\n```bash\n%%bash\nls\n```"


def test_cells_that_a_book_hides_are_hidden():
    document = parsed(
        notebook(
            code("secret", printed("out"), tags=("remove-cell",)),
            code("setup", printed("shown"), tags=("remove_input",)),
            code("silent", printed("out"), tags=("remove-output",)),
            code(""),
        ),
        "notebook",
    )
    assert document.sections[0].text == "```\nshown\n```\n\n```python\nsilent\n```"


def test_a_notebook_of_version_3_is_read():
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": "old"},
        "worksheets": [
            {
                "metadata": {},
                "cells": [
                    {"cell_type": "heading", "level": 2, "metadata": {}, "source": "Old heading"},
                    {"cell_type": "markdown", "metadata": {}, "source": "Words."},
                    {
                        "cell_type": "code",
                        "collapsed": False,
                        "input": "1 + 1",
                        "language": "python",
                        "metadata": {},
                        "outputs": [
                            {"output_type": "pyout", "prompt_number": 1, "text": "2", "metadata": {}}
                        ],
                    },
                ],
            }
        ],
    }
    document = parsed(json.dumps(old), "notebook")
    assert section(document, "Old heading").text == "Words.\n\n```python\n1 + 1\n```\n\n```\n2\n```"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{not json", "is no notebook that can be read"),
        ("[]", "is no notebook that can be read"),
        ('{"a": 1}', "is no notebook that can be read"),
        (json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}}), "has no cells|can be read"),
        (notebook({"cell_type": "markdown", "metadata": {}, "source": 7}), "has no text"),
        (json.dumps({"nbformat": 9, "nbformat_minor": 0, "metadata": {}, "cells": []}), "can be read"),
        ("", "is empty"),
    ],
)
def test_a_broken_notebook_is_skipped_with_a_reason(content, said, capfd):
    with pytest.raises(SourceError, match=said):
        parsed(content, "notebook")
    assert capfd.readouterr() == ("", "")


def test_a_notebook_that_is_a_little_wrong_is_read(capfd):
    odd = {"cell_type": "markdown", "metadata": {}, "source": "Words.", "extra": 1, "id": "a b?"}
    assert parsed(notebook(odd, odd, nbformat_minor=5), "notebook").sections[0].text == "Words.\n\nWords."
    assert capfd.readouterr() == ("", "")


def test_a_notebook_under_sphinx_has_its_anchors(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").write_text("project = 'x'\n")
    document = parsed(notebook(markdown("# What's New?", "", "x")), "notebook", tmp_path, "docs/a.ipynb")
    assert document.sections[0].anchor == "what-s-new"


def test_a_folder_takes_notebooks_larger_than_text_may_be(tmp_path):
    (tmp_path / "a.ipynb").write_text(
        notebook(markdown("Words."), code("x", result(image_png="A" * (MAX_DOCUMENT_BYTES + 1))))
    )
    (tmp_path / "bad.ipynb").write_text("{")
    spec = SourceSpec(
        "folder", FolderOptions(path="."), root=tmp_path, url="https://x.example/{page}.html", where=""
    )
    source = FolderSource(spec, FakeWorkers())
    assert [(d.path, d.url, d.format) for d in source.documents()] == [
        ("a.ipynb", "https://x.example/a.html", "notebook"),
        ("bad.ipynb", "https://x.example/bad.html", "notebook"),
    ]
