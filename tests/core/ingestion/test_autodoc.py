import pytest

from core.ingestion.docstrings import as_rst
from tests.core.ingestion.pages import parsed, section

APP = '''
"""The app."""
import sys

sys.stdout.write("imported!")


class Base:
    def inherited(self):
        """From :class:`Base`."""

    def overridden(self):
        """Says what it does."""


class App(Base):
    """An application.

    .. versionadded:: 0.7

    :param name: how it is called
    """

    #: The class of requests, see :class:`~app.Request`.
    request_class = Request

    def __init__(self, name, debug=False):
        #: Its settings.
        self.config = {}

    @property
    def debug(self) -> bool:
        """Whether it debugs."""

    def run(self, host: str | None = None, *, port: int = 5000, **options: object) -> None:
        """Runs it.

        Notes
        -----
        Not in production.
        """

    def overridden(self):
        pass

    def hidden(self):
        """Not for you.

        :meta private:
        """

    def undocumented(self):
        pass

    def _private(self):
        """Private."""


def send_file(path, /, mimetype="text/plain"):
    """Send a file."""


LIMIT = 3
"""How much."""
'''


def project(tmp_path, layout):
    package = tmp_path / layout / "thing"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .app import App as App\nfrom .app import send_file\n")
    (package / "app.py").write_text(APP)
    (package / "plain").mkdir()
    (package / "plain" / "inner.py").write_text('def f():\n    """In a folder without init."""\n')
    return tmp_path


def test_code_is_documented_without_running_it(tmp_path, capfd):
    for layout in ("src", "."):
        root = project(tmp_path / layout.replace(".", "flat"), layout)
        document = parsed(
            "API\n===\n\n.. module:: thing\n\n.. autoclass:: App\n   :members:\n   :inherited-members:\n\n"
            ".. autofunction:: thing.send_file\n\n.. currentmodule:: thing.app\n\n.. autodata:: LIMIT\n\n"
            ".. autofunction:: thing.plain.inner.f\n",
            "rst",
            root,
        )
        assert {s.headings[-1]: s.anchor for s in document.sections} == {
            "App": "thing.App",
            "App.request_class": "thing.App.request_class",
            "App.config": "thing.App.config",
            "App.debug": "thing.App.debug",
            "App.run()": "thing.App.run",
            "App.overridden()": "thing.App.overridden",
            "App.inherited()": "thing.App.inherited",
            "send_file()": "thing.send_file",
            "LIMIT": "thing.app.LIMIT",
            "f()": "thing.plain.inner.f",
        }
        assert section(document, "App").text == (
            "`class thing.App(name, debug=False)`\n\nAn application.\n\nAdded in version 0.7.\n\n"
            "Parameters:\n\n- `name`: how it is called"
        )
        assert section(document, "App.run()").text == (
            "`thing.App.run(host: str | None = None, *, port: int = 5000, **options: object) -> None`\n\n"
            "Runs it.\n\n**Notes**\n\nNot in production."
        )
        assert section(document, "App.request_class").text.endswith("The class of requests, see `Request`.")
        assert section(document, "App.overridden()").text.endswith("Says what it does.")
        assert "(path, /, mimetype='text/plain')" in section(document, "send_file()").text
        assert section(document, "LIMIT").text == "`thing.app.LIMIT = 3`\n\nHow much."
    assert capfd.readouterr() == ("", "")


def test_members_can_be_chosen(tmp_path):
    root = project(tmp_path, "src")
    document = parsed(
        ".. autoclass:: thing.App\n   :members: run, debug\n   :exclude-members: debug\n\n"
        ".. automodule:: thing.app\n   :members:\n",
        "rst",
        root,
    )
    names = [s.headings[-1] for s in document.sections if s.headings]
    assert names[:2] == ["App", "App.run()"]
    assert {"App.debug", "App.run()", "send_file()", "LIMIT"} <= set(names[2:])
    assert not {"Base", "App.inherited()", "App._private()", "App.hidden()"} & set(names)


def test_links_inside_a_package_lead_nowhere_else(tmp_path):
    (tmp_path / "far.py").write_text('def f():\n    """SECRET."""\n\n\nclass C:\n    """SECRET."""\n')
    root = tmp_path / "root"
    for package in (root / "thing", root / "thing" / "plain"):
        package.mkdir(parents=True)
        (package / "inner.py").symlink_to(tmp_path / "far.py")
    (root / "thing" / "__init__.py").write_text(
        "from .inner import C, f\n\n\n"
        'class D(C):\n    from os import __init__, getcwd\n    """Own."""\n\n'
        "    def f(self):\n        pass\n"
    )
    lines = [f".. autofunction:: thing.{name}" for name in ("f", "inner.f", "plain.inner.f")]
    lines += [f".. autoclass:: thing.{name}\n   :members:\n   :undoc-members:" for name in ("C", "D")]
    document = parsed("\n\n".join(["API\n===", *lines]), "rst", root)
    assert [s.headings[-1] for s in document.sections] == ["D", "D.f()"]
    assert "SECRET" not in "".join(s.text for s in document.sections)


def test_what_cannot_be_found_is_dropped(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "far.py").write_text('def f():\n    """Secret."""\n')
    root = tmp_path / "root"
    root.mkdir()
    (root / "far.py").symlink_to(tmp_path / "outside" / "far.py")
    (root / "broken.py").write_text("def f(:\n")
    text = (
        "API\n===\n\nText.\n\n.. autofunction:: far.f\n\n.. autofunction:: broken.f\n\n"
        ".. autoclass:: json.JSONEncoder\n"
        "   :members:\n\n.. autofunction:: ../x\n\n.. autoclass::\n"
    )
    assert [s.text for s in parsed(text, "rst", root).sections] == ["Text."]


def test_a_package_that_others_may_extend_gives_all_that_it_imports(tmp_path):
    package = tmp_path / "wide"
    (package / "ext").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n\n"
        "from .channel import *\nfrom . import channel as channel\n"
    )
    (package / "channel.py").write_text(
        '__all__ = (\'Channel\',)\n\n\nclass Channel:\n    """A channel."""\n\n'
        '    def purge(self, limit=100):\n        """Deletes messages."""\n\n'
        '    def typing(self):\n        """Shows that somebody types."""\n\n\n'
        'class Hidden:\n    """Not exported."""\n'
    )
    (package / "ext" / "__init__.py").write_text("from .bot import *\n")
    (package / "ext" / "bot.py").write_text(
        'class Bot:\n    """A bot."""\n\n    def check(self):\n        """Adds a check."""\n'
    )
    document = parsed(
        "API\n===\n\n.. currentmodule:: wide\n\n.. autoclass:: Channel()\n    :members:\n"
        "    :exclude-members: typing\n\n    .. automethod:: typing\n\n.. autoclass:: Hidden\n\n"
        ".. autoclass:: wide.ext.Bot\n\n    .. automethod:: Bot.check()\n",
        "rst",
        tmp_path,
    )
    assert [(one.headings[-1], one.anchor) for one in document.sections] == [
        ("Channel", "wide.Channel"),
        ("Channel.typing()", "wide.Channel.typing"),
        ("Channel.purge()", "wide.Channel.purge"),
        ("Bot", "wide.ext.Bot"),
        ("Bot.check()", "wide.ext.Bot.check"),
    ]


def test_what_stands_below_automodule_is_of_that_module(tmp_path):
    root = project(tmp_path, "src")
    document = parsed(
        "API\n===\n\n.. automodule:: thing.app\n\nFunctions\n---------\n\n.. autofunction:: send_file\n\n"
        ".. autodata:: LIMIT\n",
        "rst",
        root,
    )
    assert [(one.headings[-1], one.anchor) for one in document.sections[1:]] == [
        ("send_file()", "thing.app.send_file"),
        ("LIMIT", "thing.app.LIMIT"),
    ]


def test_stubs_hide_nothing_of_the_code(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text('def define():\n    """Makes a class."""\n')
    (tmp_path / "inner" / "errors.py").write_text(
        "class Frozen(Exception):\n    '''It cannot be changed.'''\n"
    )
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "errors.py").write_text("from inner.errors import *\n")
    (tmp_path / "outer" / "core").mkdir()
    (tmp_path / "outer" / "core" / "__init__.py").write_text("from .shapes import *\n")
    (tmp_path / "outer" / "core" / "shapes.py").write_text(
        "__all__ = ['reshape']\n\n\ndef reshape(a):\n    '''Gives it another shape.'''\n"
    )
    (tmp_path / "outer" / "core" / "shapes.pyi").write_text("__all__: list[str]\n")
    (tmp_path / "outer" / "__init__.py").write_text("from inner import define\n")
    (tmp_path / "outer" / "__init__.pyi").write_text(
        "from typing import overload\n\n"
        + "".join(f"@overload\ndef define(cls: {kind} = ...) -> type: ...\n" for kind in ("type", "None"))
    )
    with (tmp_path / "outer" / "__init__.py").open("a") as file:
        file.write("from .core import int8\n")
    with (tmp_path / "outer" / "__init__.pyi").open("a") as file:
        file.write('class int8:\n    """Compiled."""\n')
    document = parsed(
        "API\n===\n\n.. autoclass:: outer.int8\n\n.. autofunction:: outer.define\n\n"
        ".. autofunction:: outer.core.reshape\n\n"
        ".. autoexception:: outer.errors.Frozen\n",
        "rst",
        tmp_path,
    )
    assert section(document, "int8").text.endswith("Compiled.")
    assert section(document, "Frozen").text.endswith("It cannot be changed.")
    assert section(document, "reshape()").text.endswith("Gives it another shape.")
    assert section(document, "define()").text.endswith("Makes a class.")


WAITER = '''
class Waiter:
    """Waits for an answer."""

    def __init__(self, seconds=None):
        """All of it is optional.

        :param seconds: how long it waits, default 20
        """

class Bare:
    def __init__(self):
        """Made of nothing."""
'''


@pytest.mark.parametrize(
    ("conf", "option", "told"),
    [
        ("", "", "Waits for an answer."),
        ("autoclass_content = 'class'", "", "Waits for an answer."),
        ("autoclass_content = 'init'", "", "All of it is optional.\n\nParameters:"),
        ("autoclass_content = 'both'", "", "Waits for an answer.\n\nAll of it is optional.\n\nParameters:"),
        ("", "   :class-doc-from: both\n", "Waits for an answer.\n\nAll of it is optional."),
        ("autoclass_content = 'both'", "   :class-doc-from: class\n", "Waits for an answer."),
    ],
)
def test_what_tells_of_a_class_is_as_the_project_has_it(tmp_path, conf, option, told):
    (tmp_path / "wait.py").write_text(WAITER)
    (tmp_path / "conf.py").write_text(conf)
    text = f"API\n===\n\n.. autoclass:: wait.Waiter\n{option}\n.. autoclass:: wait.Bare\n"
    document = parsed(text, "rst", tmp_path)
    shown = section(document, "Waiter").text.partition("\n\n")[2]
    assert shown.startswith(told) and ("default 20" in shown) == ("optional" in told)
    assert section(document, "Bare").text.endswith("Made of nothing.")


def test_a_parameter_may_be_described_below_its_name() -> None:
    """So attrs writes most of its own."""
    listed = "one (list | None):\n        The first.\n\n    two: The second.\n\n    three:\n        Third."
    docstring = f"Do it.\n\nArgs:\n    {listed}"
    told = as_rst(docstring)
    assert "- ``one`` (list | None):\n  The first." in told
    assert "- ``two``: The second." in told and "- ``three``:\n  Third." in told
    assert "``" not in as_rst("Do it.\n\nReturns:\n    One of the following:\n        this or that")


def test_what_goes_on_below_a_parameter_is_none_of_its_own() -> None:
    docstring = (
        "Listen.\n\nArgs:\n\n  port (int): The port.\n\n      With 0 the kernel takes\n"
        "      any that is open. But be careful: each address gets its own.\n\n  host: The interface.\n"
    )
    told = as_rst(docstring)
    assert "  any that is open. But be careful: each address gets its own.\n" in told
    assert told.count("- ``") == 2
