"""Directives and roles that a project registers itself."""

from dataclasses import replace

import pytest

from core.domain import RawDocument
from core.errors import NoDocument
from core.ingestion.parsing import parse
from tests.core.ingestion.pages import parsed, section

OWN = """
import sys

sys.stdout.write("imported!")


class Option(Cmdoption):
    pass


class Event(ObjectDescription[str]):
    pass


def parse_command(env, text, node):
    env.ref_context["std:program"] = text
    return text


def setup(app):
    app.add_crossref_type(directivename="setting", rolename="setting", indextemplate="pair: %s; setting")
    app.add_object_type("django-admin", rolename="djadmin", parse_node=parse_command)
    app.add_directive("django-admin-option", Option)
    app.add_directive("happening", Event)
    app.add_crossref_type("state", "state")
"""


def project(tmp_path):
    (tmp_path / "docs" / "_ext").mkdir(parents=True)
    (tmp_path / "docs" / "conf.py").write_text(
        "globals().update(build(extra_extensions=['sphinx.ext.autodoc', 'own']))\n\n\n"
        "def setup(app):\n    app.add_object_type('event', 'event', 'pair: %s; event', parse_event)\n"
    )
    (tmp_path / "docs" / "_ext" / "own.py").write_text(OWN)
    return tmp_path


def test_what_a_project_registers_is_found_by_its_name(tmp_path, capfd):
    document = parsed(
        "Commands\n========\n\ncheck\n-----\n\n.. django-admin:: check [app ...]\n\n"
        "Checks, see :state:`DONE`.\n\n"
        ".. django-admin-option:: --tag TAGS, -t TAGS\n\n    Names the tags.\n\n"
        "Events\n------\n\n.. event:: built (app, error)\n\n    Sent at the end.\n\n"
        ".. happening:: closed\n\n    Nothing is open.\n\n"
        ".. setting:: DEBUG\n\nDEBUG\n-----\n\nShows errors.\n",
        "rst",
        project(tmp_path),
    )
    assert [(one.headings[-1], one.anchor, one.text) for one in document.sections] == [
        ("check", "check", "`check [app ...]`\n\nChecks, see `DONE`."),
        ("--tag", "cmdoption-check-tag", "`--tag TAGS, -t TAGS`\n\nNames the tags."),
        ("built", "event-built", "`built (app, error)`\n\nSent at the end."),
        ("closed", "happening-closed", "`closed`\n\nNothing is open."),
        ("DEBUG", "debug", "Shows errors."),
    ]
    assert capfd.readouterr() == ("", "")


def test_extensions_outside_of_the_source_are_not_read(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    root = project(tmp_path / "root")
    (root / "docs" / "_ext" / "own.py").unlink()
    (root / "docs" / "_ext" / "own.py").symlink_to(tmp_path / "own.py")
    document = parsed("Page\n====\n\n.. happening:: closed\n\n    Text.\n", "rst", root)
    assert [one.headings for one in document.sections] == [("Page",)]


def test_a_role_of_the_document_is_read_as_its_base():
    document = parsed(
        ".. role:: code-py(code)\n   :language: python\n\n.. role:: raw-html(raw)\n   :format: html\n\n"
        "Page\n====\n\nUse :code-py:`x = 1`:raw-html:`<br>` now.\n",
        "rst",
    )
    assert section(document, "Page").text == "Use `x = 1` now."


def test_options_of_a_directive_have_their_names():
    document = parsed(
        "Page\n====\n\n.. rst:directive:: toctree\n\n   Lists pages.\n\n"
        "   .. rst:directive:option:: maxdepth: n\n\n"
        "      How deep.\n",
        "rst",
    )
    assert [(one.headings[-1], one.anchor) for one in document.sections] == [
        ("toctree", "directive-toctree"),
        ("maxdepth", "directive-toctree"),
    ]


def test_short_names_of_modules_and_marks_of_folded_sql_are_not_shown(tmp_path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "conf.py").write_text(
        'zzzeeksphinx_module_prefixes = {"_orm": "pottery.orm", "_sql": "pottery.sql"}\n'
    )
    text = (
        "Kiln\n====\n\nUse :meth:`_orm.Kiln.fire`, :func:`~_sql.glaze` or :class:`the kiln <_orm.Kiln>`;"
        " :mod:`_thread` stays.\n\n"
        ".. sourcecode:: pycon+sql\n\n    >>> kiln.fire()\n    {printsql}SELECT heat{stop}\n\n"
        '.. sourcecode:: python\n\n    f"{stop} at {heat}"\n'
    )
    page = section(parsed(text, "rst", tmp_path), "Kiln").text
    assert "`Kiln.fire()`" in page and "`glaze()`" in page and "`the kiln`" in page and "`_thread`" in page
    assert "```pycon\n>>> kiln.fire()\nSELECT heat\n```" in page
    assert 'f"{stop} at {heat}"' in page


def test_an_extension_that_is_called_conf_is_not_taken_for_conf_py(tmp_path):
    (tmp_path / "docs" / "extensions").mkdir(parents=True)
    (tmp_path / "docs" / "conf.py").write_text("extensions = ['conf']\n")
    (tmp_path / "docs" / "extensions" / "conf.py").write_text(
        "class Conf(ObjectDescription[str]):\n    pass\n\n\n"
        "def setup(app):\n    app.add_directive('conf', Conf)\n"
    )
    text = "Tea\n===\n\n.. conf:: host\n    :default: example.org\n\n    The server that is asked.\n"
    document = parsed(text, "rst", tmp_path)
    assert section(document, "host").text == "`host`\n\n**Default:** example.org\n\nThe server that is asked."


def test_templates_are_no_pages(tmp_path):
    (tmp_path / "docs" / "_templates").mkdir(parents=True)
    (tmp_path / "docs" / "conf.py").write_text("templates_path = ['_templates', '']\n")
    for name in ("docs/_templates/base.rst", "docs/page.rst"):
        (tmp_path / name).write_text("Tea\n===\n\n{% block methods %}\n")
    raw = RawDocument("docs/page.rst", "", b"Tea", "rst", root=str(tmp_path))
    assert parse(raw).sections
    with pytest.raises(NoDocument, match="templates_path"):
        parse(replace(raw, path="docs/_templates/base.rst"))
