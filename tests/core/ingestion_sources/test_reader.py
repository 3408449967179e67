from __future__ import annotations

import asyncio
import sys
import time
import traceback
from pathlib import Path

import pytest
from pydantic import ValidationError

from core.catalogue import SourceSpec
from core.domain import RawDocument
from core.errors import SourceError
from core.ingestion.parsing import following, opened
from core.ingestion.sources import open_source
from core.ingestion.sources.reader import Options, ReaderSource
from core.settings import load_settings
from tests.fake_workers import FakeWorkers

HERE = __name__


class Loaded:
    def __init__(self, text: str, **metadata: object) -> None:
        self.text = text
        self.metadata = metadata


class Wiki:
    """A reader in the shape of llama-index's, with whatever is asked for."""

    def __init__(self, **arguments: object) -> None:
        self.arguments = arguments

    def load_data(self, **load: object) -> list[Loaded]:
        if "raises" in self.arguments:
            raise RuntimeError(f"no access with {self.arguments['raises']}")
        return [Loaded(**given) for given in load.get("pages", [])]


class Echo(Wiki):
    def load_data(self, **load: object) -> list[Loaded]:
        return [Loaded(repr(self.arguments), title="arguments")]


def source(tmp_path: Path, reader: str = f"{HERE}:Wiki", arguments=None, load=None, max_bytes=1_000, **keys):
    options = Options(reader=reader, arguments=arguments or {}, load=load or {})
    spec = SourceSpec("reader", options, root=tmp_path, where="corpora.toml, line 8", **keys)
    return ReaderSource(spec, max_bytes)


def pages(tmp_path: Path, *given: dict, **keys) -> list[RawDocument]:
    return list(source(tmp_path, load={"pages": list(given)}, **keys).documents())


def test_a_reader_of_llama_index(tmp_path):
    for path in ("docs/a.md", "docs/sub/b.html", "docs/sub/a.md"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<p>text of {path}</p>")
    options = Options(
        reader="llama_index.core.readers:SimpleDirectoryReader",
        arguments={"input_dir": "./docs", "recursive": True},
    )
    spec = SourceSpec("reader", options, root=tmp_path, url="https://x.org/{page}/")
    opened = open_source(spec, load_settings(None), FakeWorkers())
    documents = {d.path: d for d in opened.documents()}
    assert set(documents) == {"a.md", "sub/a.md", "sub/b.html"}
    assert documents["sub/b.html"].format == "html"
    assert documents["sub/b.html"].url == "https://x.org/sub/b/"
    assert b"text of docs/sub/a.md" in documents["sub/a.md"].content
    assert opened.name.startswith("reader:llama_index.core.readers:SimpleDirectoryReader#")


def test_links_titles_and_names_come_from_the_metadata(tmp_path):
    wiki, plain, numbered = pages(
        tmp_path,
        {"text": "body", "url": "https://wiki.org/Start", "title": "Start here"},
        {"text": "# Own heading\n\nbody", "title": "Own heading"},
        {"text": "body"},
    )
    assert (wiki.path, wiki.url) == ("wiki.org/Start", "https://wiki.org/Start")
    assert wiki.content == b"# Start here\n\nbody"
    assert (plain.path, plain.content) == ("Own heading", b"# Own heading\n\nbody")
    assert (numbered.path, numbered.url, numbered.format) == ("3", "", "markdown")


def test_pages_of_one_file_and_double_names_stay_apart(tmp_path):
    documents = pages(
        tmp_path,
        {"text": "a", "file_name": "m.pdf", "page_label": "1"},
        {"text": "b", "file_name": "m.pdf", "page_label": "2"},
        {"text": "c", "file_name": "n.txt"},
        {"text": "d", "file_name": "n.txt"},
        url="https://x.org/{path}",
    )
    assert [d.path for d in documents] == ["m.pdf#page=1", "m.pdf#page=2", "n.txt", "n.txt#2"]
    assert [d.url for d in documents] == [
        "https://x.org/m.pdf#page=1",
        "https://x.org/m.pdf#page=2",
        "https://x.org/n.txt",
        "https://x.org/n.txt",
    ]


def test_what_is_passed_over(tmp_path):
    given = [
        {"text": "", "file_name": "empty"},
        {"text": "x" * 1_001, "file_name": "large"},
        {"text": "\0", "file_name": "binary"},
        {"text": "fine", "file_name": "a.md"},
        {"text": "fine", "file_name": "b.rst"},
    ]
    opened = source(tmp_path, load={"pages": given}, exclude=("*.rst",))
    assert [d.path for d in opened.documents()] == ["a.md"]
    assert [path for path, _ in opened.skipped] == ["empty", "large", "binary"]
    with pytest.raises(SourceError, match=r"gives no document.*corpora\.toml, line 8"):
        list(source(tmp_path).documents())


def test_paths_in_arguments_start_at_the_file(tmp_path):
    (document,) = source(
        tmp_path, f"{HERE}:Echo", {"a": "./x", "b": ["../y", "z"], "c": {"d": 1}}
    ).documents()
    assert str(tmp_path / "x") in document.content.decode()
    assert "'z'" in document.content.decode()


def test_other_arguments_make_another_source(tmp_path):
    assert source(tmp_path).name == f"reader:{HERE}:Wiki"
    assert source(tmp_path, load={"a": 1}).name != source(tmp_path, load={"a": 2}).name


@pytest.mark.parametrize(
    ("reader", "told"),
    [
        ("llama_index.readers.no_such_wiki:NoReader", "pip install llama-index-readers-no-such-wiki"),
        ("no_such_package.x:Reader", "the package that has no_such_package"),
        (f"{HERE}:Nobody", "There is no Nobody"),
    ],
)
def test_a_reader_that_is_not_there(tmp_path, reader, told):
    with pytest.raises(SourceError) as caught:
        list(source(tmp_path, reader).documents())
    assert told in str(caught.value)


def test_a_reader_that_fails(tmp_path):
    with pytest.raises(SourceError, match="fails with RuntimeError: no access with True"):
        list(source(tmp_path, arguments={"raises": True}).documents())


def test_secrets_come_from_the_environment_or_env_and_stand_in_no_message(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("WIKI_USER=ann\n")
    monkeypatch.setenv("WIKI_TOKEN", "t0p-secret")
    given = {"token": "${WIKI_TOKEN}", "login": ["${WIKI_USER}:${WIKI_TOKEN}"]}
    opened = source(tmp_path, f"{HERE}:Echo", given)
    [document] = opened.documents()
    assert "'t0p-secret'" in document.content.decode() and "'ann:t0p-secret'" in document.content.decode()
    monkeypatch.setenv("WIKI_TOKEN", "another")
    assert source(tmp_path, f"{HERE}:Echo", given).name == opened.name, "a new token is no new source"
    with pytest.raises(SourceError, match=r"no access with \$\{WIKI_TOKEN\}") as caught:
        list(source(tmp_path, arguments={"raises": "${WIKI_TOKEN}"}).documents())
    assert "another" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(SourceError, match=r"NOWHERE_SET is not set; write it to \.env"):
        list(source(tmp_path, arguments={"x": "${NOWHERE_SET}"}).documents())


async def test_a_reader_that_blocks_keeps_nobody_waiting(tmp_path):
    spec = source(tmp_path, f"{HERE}:Slow")
    reading = asyncio.create_task(collect(spec))
    beats = 0
    while not reading.done():
        await asyncio.sleep(0.01)
        beats += 1
    assert await reading == ["late"] and beats > 5


async def collect(reader: ReaderSource) -> list[str]:
    """Read a source as the index does."""
    found = []
    async with opened(reader, FakeWorkers()) as documents:
        while (raw := await asyncio.to_thread(following, reader, documents)) is not None:
            found.append(raw.path)
    return found


class Slow:
    """A reader that blocks its thread."""

    def load_data(self) -> list[Loaded]:
        time.sleep(0.3)
        return [Loaded("text", title="late")]


@pytest.mark.parametrize("reader", ["os", "os.system", "a:b:c", ":x", "x:", "a b:c"])
def test_what_is_no_class_is_refused(reader):
    with pytest.raises(ValidationError):
        Options(reader=reader)


def test_this_module_is_the_one_that_is_loaded():
    assert sys.modules[HERE].Wiki is Wiki
