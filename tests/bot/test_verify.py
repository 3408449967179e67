"""`threadlore verify`: what it finds in a home that is whole, and in one that is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.app.bootstrap import build
from bot.commands.command_line import handle
from bot.operations.application import Application
from core.domain import Question, Vote
from core.ports import Corpus, pairs_collection
from core.settings import Settings, load_settings
from tests.fakes import FakeEncoder
from tests.shared_processes import SHARED

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


async def verified(app: Application, **given: bool) -> tuple[int, str]:
    """Return exit status, and lines and notes."""
    said: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    await handle(app, {"command": "verify", **given}, send)
    return said[-1]["code"], "\n".join(str(m.get("line") or m.get("note") or "") for m in said)


async def test_a_home_is_verified_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    async with build(settings, "test", lambda *_: FakeEncoder(), SHARED) as app:
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
        assert "1.0: the vector index holds 1 passage that is not live; restart the bot" in told
        assert "The vector index holds 1 collection of no corpus" in told

    async with build(settings, "test", lambda *_: FakeEncoder(), SHARED) as app:  # a start mends the indexes
        assert (await verified(app))[0] == 0

    with sqlite3.connect(tmp_path / "home" / "threadlore.sqlite3") as database:
        database.execute("DELETE FROM search_chunks WHERE id = ?", (second,))
    async with build(settings, "test", lambda *_: FakeEncoder(), SHARED) as app:
        code, told = await verified(app)
        assert code == 1 and "1.0: 1 passage is kept where 2 were indexed; the database is damaged" in told
        assert "1.0: 1 document has no passages" in told


async def test_what_a_cut_run_read_is_told_and_is_nothing_wrong(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    async with build(settings, "test", lambda *_: FakeEncoder(), SHARED) as app:
        await app.corpus_manager.reindex()
    with sqlite3.connect(tmp_path / "home" / "threadlore.sqlite3") as database:
        database.execute(
            "INSERT INTO documents (id, release, source, path, title, url, hash, at) "
            "SELECT 'cut', release, source, 'cut.md', title, url, 'cut', at FROM documents LIMIT 1"
        )
    async with build(settings, "test", lambda *_: FakeEncoder(), SHARED) as app:
        code, told = await verified(app)
        assert code == 0 and "1.0: 1 document was read by a run that was cut short" in told
        await app.corpus_manager.reindex()
        code, told = await verified(app)
        assert code == 0 and "cut short" not in told


Harm = Callable[[Application, Corpus], Awaitable[None]]


async def vector_index_lacks(app: Application, corpus: Corpus) -> None:
    await app.vectors.delete(corpus.collection, sorted(await app.vectors.ids(corpus.collection))[:1])


async def vector_index_is_empty(app: Application, corpus: Corpus) -> None:
    await app.vectors.drop(corpus.collection)


async def strange_vectors(app: Application, corpus: Corpus) -> None:
    await app.vectors.upsert(corpus.collection, ["stranger"], np.ones((1, 256), np.float32))
    await app.vectors.upsert("corpus-of-nobody", ["a"], np.ones((1, 256), np.float32))


async def word_index_lacks(app: Application, corpus: Corpus) -> None:
    await app.words.delete(corpus.collection, sorted(await app.words.ids(corpus.collection))[:1])


async def word_index_is_gone(app: Application, corpus: Corpus) -> None:
    await app.words.drop(corpus.collection)


async def pairs_are_not_indexed(app: Application, corpus: Corpus) -> None:
    for index in (app.vectors, app.words):
        await index.drop(pairs_collection(corpus))


async def an_older_corpus_answers(app: Application, corpus: Corpus) -> None:
    live = app.searcher._live["1.0"]
    app.searcher._live["1.0"] = replace(live, corpus=replace(corpus, generation=corpus.generation - 1))


async def passages_have_no_vector(app: Application, corpus: Corpus) -> None:
    execute(app, "DELETE FROM vectors")


async def a_score_is_wrong(app: Application, corpus: Corpus) -> None:
    execute(app, "UPDATE placements SET score = score / 2")


async def a_placement_is_gone(app: Application, corpus: Corpus) -> None:
    execute(app, "DELETE FROM placements")


async def a_pair_is_in_the_other_store(app: Application, corpus: Corpus) -> None:
    execute(app, "UPDATE placements SET store = 'low'")


async def a_pair_is_in_no_cluster(app: Application, corpus: Corpus) -> None:
    execute(app, "UPDATE placements SET cluster = NULL")


async def a_centroid_is_off(app: Application, corpus: Corpus) -> None:
    partitions = app.memory._places.partitions.values()
    partition = next(one for one in partitions if one.members)
    for row in partition.centroids.values():
        row[:] = -row


def execute(app: Application, statement: str) -> None:
    """Harm the database beside the bot."""
    with sqlite3.connect(app.settings.home / "threadlore.sqlite3") as database:
        assert database.execute(statement).rowcount


HARMS: tuple[Harm, ...] = (
    vector_index_lacks,
    vector_index_is_empty,
    strange_vectors,
    word_index_lacks,
    word_index_is_gone,
    pairs_are_not_indexed,
    an_older_corpus_answers,
    passages_have_no_vector,
    a_score_is_wrong,
    a_placement_is_gone,
    a_pair_is_in_the_other_store,
    a_pair_is_in_no_cluster,
    a_centroid_is_off,
)


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
async def test_what_derives_from_the_database_is_repaired(tmp_path: Path, harm: Harm) -> None:
    """Each damage alone: it is told, mended while the bot serves, and told no more."""
    async with build(settings_of(tmp_path), "test", lambda *_: FakeEncoder(), SHARED) as app:
        await app.corpus_manager.reindex()
        answer = await app.engine.answer(Question("What is the lid made of?", "cli"))
        assert await app.engine.feedback(Vote(answer.id, "cli", 1))
        code, told = await verified(app)
        assert code == 0, told
        await harm(app, (await app.corpora.live())["1.0"])
        code, told = await verified(app)
        assert code == 1 and "threadlore verify --repair" in told
        code, told = await verified(app, repair=True)
        assert code == 0 and "Repaired: " in told and "Repaired: nothing" not in told, told
        assert (await verified(app))[0] == 0
        assert (await app.engine.answer(Question("What is the lid made of?", "cli"))).route == "reuse"
        assert "verify" in [act.what for act in await app.audit.acts()]


async def test_a_damaged_database_is_not_repaired_but_told(tmp_path: Path) -> None:
    """Rows that are gone derive from nothing: repairing must not make the rest agree with that."""
    async with build(settings_of(tmp_path), "test", lambda *_: FakeEncoder(), SHARED) as app:
        await app.corpus_manager.reindex()
        execute(app, "DELETE FROM search_chunks WHERE id = (SELECT min(id) FROM search_chunks)")
        code, told = await verified(app, repair=True)
        assert code == 1 and "go back to a backup" in told
