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
