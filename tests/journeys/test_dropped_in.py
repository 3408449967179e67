"""The folder is the registry: what is dropped in works, and no other file is touched for it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from bot import platforms as packages
from bot.app.serve import connect_all
from bot.cli.doctor.examination import examinations
from bot.ports import platforms
from core.catalogue import load_catalogue
from core.domain import Question
from core.errors import ConfigurationError, ThreadloreError
from core.ingestion import formats, sources
from core.ingestion.parsing import parse
from core.ingestion.sources import Kinds, open_source
from core.retrieval import retrievers
from tests.fake_workers import FakeWorkers
from tests.journeys.house import Kettle, house

PORT = "Which port does kettle serve listen on by default?"
PLATFORM = '''
from dataclasses import replace

from bot.ports.chat import Message, Person
from core.domain import MessageRef, Scope


def connect(settings, dispatch):
    return Pigeons(dispatch)


class Pigeons:
    """Both the platform and its chat: one person, who asks one question."""

    name = "pigeons"

    def __init__(self, dispatch):
        self.dispatch, self.said = dispatch, []

    async def run(self):
        where = MessageRef("pigeons", "loft", "1", "1")
        asked = Message(where, Person("pigeons:ann"), "QUESTION", Scope(), mentions_bot=True, event="e1")
        self.dispatch.meet(self)
        with self.dispatch.holders.running(self.name, forget=self.forget, expire=self.expire):
            await self.dispatch.message(self, asked)

    async def stop(self):
        pass

    async def forget(self, accounts, ids):
        self.said.clear()

    async def expire(self, before, dry_run):
        return 0

    async def history(self, before, limit):
        return ()

    async def own_after(self, ref):
        return ()

    async def post(self, where, reply):
        self.said.append(reply.markdown)
        return (replace(where, message=str(len(self.said) + 1)),)

    async def edit(self, parts, reply):
        self.said.append(reply.markdown)
        return parts

    async def seed_votes(self, ref):
        pass

    async def solve(self, ref):
        pass
'''.replace("QUESTION", PORT)
PERSONAL_DATA = """
FILES = ("pigeons.txt",)
WHAT = "letters of pigeons"

def held(home, accounts):
    letters = home / "pigeons.txt"
    return [{"text": letters.read_text()}] if letters.exists() and "pigeons:ann" in accounts else []

def accounts(home):
    return frozenset({"pigeons:ann"}) if (home / "pigeons.txt").exists() else frozenset()

def forget(home, accounts, ids):
    (home / "pigeons.txt").unlink(missing_ok=True)

def tidy(home):
    pass

def expire(home, before, dry_run):
    return 0
"""
DOCTOR = """
from bot.home.findings import good

async def examine(settings):
    return [good("Pigeons", "they are fed")]
"""
HISTORY = """
def open_reader(settings):
    raise NotImplementedError
"""
KIND = """
from core.catalogue import SourceOptions
from core.domain import RawDocument


class Options(SourceOptions):
    words: str


def open_source(spec, settings, workers):
    return Bottle(spec)


class Bottle:
    name, skipped = "bottle", ()

    def __init__(self, spec):
        self._words = spec.options.words

    def documents(self):
        yield RawDocument("bottle", "", self._words.encode(), "shouts")
"""
FORMAT = """
from core.domain import Document, Section
from core.ingestion.formats import Kind

KIND = Kind((".shout",), ("text/shout",), shared=("text/any",))


def parse(raw, text):
    return Document(raw.path, "Shouts", raw.url, (Section(("Shouts",), "", text.upper()),))
"""
RETRIEVER = """
async def find(look):
    # what is longest comes first
    pool = await look.pool([*dict.fromkeys(look.live.context_of.values())])
    return await look.found(pool, [len(chunk.page) for chunk in await look.chunks(pool)])
"""
CATALOGUE = """
[product]
name = "Kettle"

[[release]]
name = "1.0"

[[release.source]]
kind = "bottle"
words = "help me"
"""
FOLDER = """
[product]
name = "Kettle"

[[release]]
name = "1.0"

[[release.source]]
kind = "folder"
path = "docs"

[[release.source]]
kind = "folder"
path = "./docs"
format = "shouts"
"""


@contextmanager
def dropped_in(registry: ModuleType, folder: Path, **files: str) -> Iterator[None]:
    """Write modules into a folder that a registry looks into, by their dotted names with `__` for dots."""
    for name, text in files.items():
        place = folder.joinpath(*name.split("__")).with_suffix(".py")
        place.parent.mkdir(parents=True, exist_ok=True)
        (place.parent / "__init__.py").touch()
        place.write_text(dedent(text))
    registry.__path__.append(str(folder))
    importlib.invalidate_caches()
    before = set(sys.modules)
    try:
        yield
    finally:
        registry.__path__.remove(str(folder))
        for name in set(sys.modules) - before:
            if name.startswith(registry.__name__):
                del sys.modules[name]


async def test_a_platform_is_one_package(kettle: Kettle, tmp_path: Path) -> None:
    with dropped_in(
        packages,
        tmp_path / "dropped",
        pigeons__platform=PLATFORM,
        pigeons__personal_data=PERSONAL_DATA,
        pigeons__doctor=DOCTOR,
        pigeons__history=HISTORY,
    ):
        async with house(kettle) as bot:
            assert [name for name, _ in examinations()][-3:].count("Pigeons") == 1
            assert "pigeons" in platforms.readers(bot.settings)
            [pigeons] = connect_all(bot.settings, bot.dispatch)
            await pigeons.run()
            assert "9090" in pigeons.said[-1]  # type: ignore[attr-defined]
            letters = kettle.home / "pigeons.txt"
            letters.write_text("a letter")
            held = await bot.app.my_data.of("pigeons:ann")
            assert held["letters of pigeons"] == [{"text": "a letter"}]
            await bot.app.people.forget("pigeons:ann")
            assert not letters.exists()


def test_a_kind_of_source_is_one_file_and_so_is_a_format(kettle: Kettle, tmp_path: Path) -> None:
    catalogue = tmp_path / "corpora.toml"
    catalogue.write_text(CATALOGUE)
    with (
        dropped_in(sources, tmp_path / "kinds", bottle=KIND),
        dropped_in(formats, tmp_path / "formats", shouts=FORMAT),
    ):
        [spec] = load_catalogue(catalogue, Kinds()).sources
        [raw] = open_source(spec, kettle.settings(), FakeWorkers()).documents()
        assert parse(raw).sections[0].text == "HELP ME"
    try:
        load_catalogue(catalogue, Kinds())
    except ThreadloreError as error:
        assert "bottle" in str(error)
    else:
        raise AssertionError("what was taken out is known no more")


def test_files_of_a_new_format_are_read_by_their_ending(kettle: Kettle, tmp_path: Path) -> None:
    catalogue = tmp_path / "corpora.toml"
    catalogue.write_text(FOLDER)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "help.shout").write_text("the kettle hums")
    with dropped_in(formats, tmp_path / "formats", shouts=FORMAT):
        [spec, told] = load_catalogue(catalogue, Kinds()).sources
        for one in (spec, told):
            [raw] = open_source(one, kettle.settings(), FakeWorkers()).documents()
            assert (raw.format, parse(raw).sections[0].text) == ("shouts", "THE KETTLE HUMS")
    with pytest.raises(ConfigurationError, match='"shouts" is no format'):
        load_catalogue(catalogue, Kinds())


def test_a_website_s_pages_of_a_new_format_are_read_by_their_media_type(tmp_path: Path) -> None:
    with dropped_in(formats, tmp_path / "formats", shouts=FORMAT):
        assert formats.told_by("text/shout", "/page") == "shouts"
        assert formats.told_by("text/shout", "/page.md") == "markdown", "an ending that is known says more"
        assert formats.told_by("text/any", "/page.shout") == formats.told_by("", "/page.shout") == "shouts"
        assert formats.told_by("text/any", "/page") is formats.told_by("", "/page") is None
    assert formats.told_by("text/shout", "/page") is None


def test_the_playground_is_off_beside_a_new_platform(kettle: Kettle, tmp_path: Path) -> None:
    (tmp_path / "dropped" / "pigeons").mkdir(parents=True)
    (tmp_path / "dropped" / "pigeons" / "__init__.py").write_text('TOKENS = ("GITHUB_TOKEN",)')
    alone, beside = kettle.settings(playground=None), kettle.settings(playground=None, github_token="x")
    assert platforms.serves_playground(beside)
    with dropped_in(packages, tmp_path / "dropped", pigeons__platform=PLATFORM, crows__platform=PLATFORM):
        assert platforms.configured(alone) == ["crows"], "what names no token needs none"
    with dropped_in(packages, tmp_path / "dropped"):
        (tmp_path / "dropped" / "crows" / "platform.py").unlink()
        (tmp_path / "dropped" / "crows" / "__init__.py").unlink()
        assert platforms.configured(beside) == ["pigeons"] and not platforms.serves_playground(beside)
        assert platforms.serves_playground(alone)


async def test_a_retriever_is_one_file(kettle: Kettle, tmp_path: Path) -> None:
    with dropped_in(retrievers, tmp_path / "retrievers", the_longest=RETRIEVER):
        async with house(kettle, retriever="the+longest") as bot:
            asked = await bot.app.research.understand(Question(PORT))
            found = (await bot.app.research.search(asked)).evidence
            lengths = [len(item.chunk.page) for item in found]
            assert len(found) == 8 and lengths == sorted(lengths, reverse=True)
    with pytest.raises(ConfigurationError, match=r"no retriever 'the\+longest'.*cosine\+mmr, fusion"):
        async with house(kettle, retriever="the+longest"):
            pass
