"""`threadlore verify`: what it finds in a home that is whole, and in one that is not."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from bot.app.bootstrap import build
from bot.commands.command_line import handle
from bot.operations.application import Application
from core.settings import Settings, load_settings
from tests.fakes import FakeEncoder

CONFIG = """\
[product]
name = "Kettle"
[[release]]
name = "1.0"
latest = true
[[release.source]]
kind = "folder"
path = "docs"
"""


def settings_of(folder: Path) -> Settings:
    (folder / "docs").mkdir()
    for name in ("lid", "spout"):
        (folder / "docs" / f"{name}.md").write_text(
            f"# The {name}\n\nThe {name} is made of copper and tin.\n"
        )
    (folder / "corpora.toml").write_text(CONFIG)
    return load_settings(
        None, home=folder / "home", config=folder / "corpora.toml", ollama_host="off", pregenerate="rules"
    )


async def verified(app: Application) -> tuple[int, str]:
    """Return exit status and lines."""
    said: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    await handle(app, {"command": "verify"}, send)
    return said[-1]["code"], "\n".join(str(m.get("line", "")) for m in said)


async def test_a_home_is_verified_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    async with build(settings, "test", lambda *_: FakeEncoder()) as app:
        code, told = await verified(app)
        assert code == 1 and "1.0: it is not indexed; run `threadlore index --release 1.0`." in told

        await app.corpus_manager.reindex()
        code, told = await verified(app)
        assert (
            code == 0 and "1.0: 2 documents, 2 passages and 2 pairs" in told and "Memory: 0 answers" in told
        )

        corpus = (await app.corpora.live())["1.0"]
        first, second = sorted(await app.words.ids(corpus.collection))
        await app.words.delete(corpus.collection, [first])
        await app.vectors.upsert(corpus.collection, ["stranger"], np.ones((1, 256), np.float32))
        await app.vectors.upsert("corpus-of-nobody", ["a"], np.ones((1, 256), np.float32))
        code, told = await verified(app)
        assert code == 1
        assert "1.0: the word index lacks 1 of 2 passages; restart the bot" in told
        assert "1.0: the vector index holds 1 passages that are not live; restart the bot" in told
        assert "The vector index holds 1 collections of no corpus" in told

    async with build(settings, "test", lambda *_: FakeEncoder()) as app:  # a start mends the indexes
        assert (await verified(app))[0] == 0

    with sqlite3.connect(tmp_path / "home" / "threadlore.sqlite3") as database:
        database.execute("DELETE FROM search_chunks WHERE id = ?", (second,))
    async with build(settings, "test", lambda *_: FakeEncoder()) as app:
        code, told = await verified(app)
        assert code == 1 and "1.0: 1 passages are kept where 2 were indexed; the database is damaged" in told
        assert "1.0: 1 documents have no passages" in told


async def test_what_a_cut_run_read_is_told_and_is_nothing_wrong(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    async with build(settings, "test", lambda *_: FakeEncoder()) as app:
        await app.corpus_manager.reindex()
    with sqlite3.connect(tmp_path / "home" / "threadlore.sqlite3") as database:
        database.execute(
            "INSERT INTO documents (id, release, source, path, title, url, hash, at) "
            "SELECT 'cut', release, source, 'cut.md', title, url, 'cut', at FROM documents LIMIT 1"
        )
    async with build(settings, "test", lambda *_: FakeEncoder()) as app:
        code, told = await verified(app)
        assert code == 0 and "1.0: 1 documents were read by a run that was cut short" in told
        await app.corpus_manager.reindex()
        code, told = await verified(app)
        assert code == 0 and "cut short" not in told
