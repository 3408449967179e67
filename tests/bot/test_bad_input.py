"""Bad input on the command line: one sentence that says what to do, no traceback, nothing lost."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import forked
from tests.ollama_server import OllamaServer
from tests.patience import PATIENCE

CORPORA = """
[product]
name = "Kettle"

[[release]]
name = "1.0"
[[release.source]]
kind = "folder"
path = "docs"
url = "https://kettle.example/{page}/"
"""


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int | None
    stdout: str
    stderr: str


class Shop:
    """A folder with a corpora.toml, documents and a home, and the real command line on it."""

    def __init__(self, root: Path, models: Path) -> None:
        self.root = root
        self.docs = root / "docs"
        self.docs.mkdir()
        (self.docs / "kettle.md").write_text("# Kettle\n\nThe kettle boils water in four minutes.\n")
        (root / "corpora.toml").write_text(CORPORA)
        self.home = root / "home"
        self.home.mkdir()
        (self.home / "models").symlink_to(models)

    def run(self, *arguments: str, **environment: str) -> Ended:
        return asyncio.run(self.running(*arguments, **environment))

    async def running(self, *arguments: str, **environment: str) -> Ended:
        """Run a command to its end in a loop that does other things, too."""
        ours = ("THREADLORE", "OLLAMA", "DATABASE")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        clean |= {"OLLAMA_HOST": "off"} | environment
        given = ["--home", str(self.home), *arguments]
        child, out, err = await asyncio.wait_for(forked.ended(given, clean, self.root), 2 * PATIENCE)
        return Ended(child.returncode, out.decode(), err.decode())


@pytest.fixture
def shop(tmp_path: Path, encoder_cache: Path) -> Shop:
    return Shop(tmp_path, encoder_cache)


def _told(done: Ended, code: int, *words: str) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_what_cannot_be_read_is_passed_over_and_the_rest_is_indexed(shop: Shop) -> None:
    (shop.docs / "image.md").write_bytes(b"\x89PNG\0\0\0binary")
    with (shop.docs / "huge.md").open("wb") as huge:
        huge.truncate(50_000_000)
    (shop.docs / "empty.md").write_text("")
    done = shop.run("index")
    assert done.returncode == 0, done.stderr
    assert "1 page," in done.stdout
    assert "3 passed over" in done.stdout
    answer = shop.run("ask", "How long does the kettle take to boil water?")
    assert "four minutes" in answer.stdout

    for path in shop.docs.iterdir():
        path.unlink()
    emptied = shop.run("index")
    _told(emptied, 1, "folder", "still answers")
    assert "four minutes" in shop.run("ask", "How long does the kettle take to boil water?").stdout


def test_a_missing_folder_says_which_and_where_it_is_named(shop: Shop) -> None:
    shop.docs.rename(shop.root / "elsewhere")
    _told(shop.run("index"), 1, "docs", "corpora.toml")


def test_a_wrong_key_names_line_key_and_what_is_allowed(shop: Shop) -> None:
    (shop.root / "corpora.toml").write_text(CORPORA.replace("url =", "ulr ="))
    _told(shop.run("status"), 1, "corpora.toml", "line 10", "ulr", "url")


def test_a_home_that_a_newer_version_wrote_is_refused_untouched(shop: Shop) -> None:
    assert shop.run("index").returncode == 0
    database = sqlite3.connect(shop.home / "threadlore.sqlite3")
    with database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    _told(shop.run("status"), 1, "newer version", "THREADLORE_HOME")
    assert database.execute("SELECT count(*) FROM documents").fetchone() == (1,)
    database.close()


def test_where_nothing_is_read_yet_asking_says_how_to_read_it(shop: Shop) -> None:
    shop.home.mkdir(mode=0o700, exist_ok=True)
    done = shop.run("ask", "How do I open the shop?")
    assert done.returncode == 0 and "run `threadlore index`" in done.stdout
    assert shop.run("index").returncode == 0
    assert "threadlore index" not in shop.run("ask", "How do I open the shop?").stdout


def test_settings_that_cannot_be_are_named(shop: Shop) -> None:
    _told(shop.run("status", THREADLORE_PORT="eighty"), 1, "THREADLORE_PORT", "eighty")
    _told(shop.run("status", DATABASE_URL="mysql://x/y"), 1, "DATABASE_URL", "postgresql://")
    _told(shop.run("index", EMBEDDING_MODEL="/no/such/model"), 1, "EMBEDDING_MODEL")


def test_wrong_use_ends_with_two(shop: Shop) -> None:
    _told(shop.run("ask"), 2, "write the question")
    _told(shop.run("ask", "--batch", "questions.jsonl"), 2, "--out")
    _told(shop.run("index", "--release", "7.7"), 2, "7.7", "1.0")
    _told(shop.run("vote", "nobody", "up"), 2, "nobody")
    _told(shop.run("dance"), 2, "dance")


async def test_a_model_that_is_not_pulled_is_said_with_the_command_that_pulls_it(shop: Shop) -> None:
    async with OllamaServer() as server:
        done = await shop.running("status", OLLAMA_HOST=server.url, OLLAMA_MODEL="not-there:1b")
    assert done.returncode == 0
    assert "ollama pull not-there:1b" in done.stdout
