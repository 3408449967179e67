"""What `verify` compares: corpora, indexes, pairs made of documents, and memory, against the database."""

from __future__ import annotations

from collections import Counter

from bot.operations.application import Application
from bot.rendering.sources import kept_lines
from core.ports import Corpus, entries, pairs_collection
from core.text.plurals import counted, plural

RESTART = "restart the bot: every start repairs the indexes from the database"
RESTORE = "the database is damaged: go back to a backup (docs/running.md), then run `threadlore index`"
TURNS = 3
"""How often a release is looked at again because it changed while it was looked at."""


async def verified(app: Application) -> tuple[list[str], list[str]]:
    """Return sentences about what is as it should be, and about what is wrong.

    What is being indexed right now may be in the indexes before it is live, and is not counted as wrong.
    """
    wrong: list[str] = []
    told: list[str] = []
    corpora = await app.corpora.live()
    for release in app.corpus_manager.order():
        if release not in corpora:
            wrong.append(f"{release}: it is not indexed; run `threadlore index --release {release}`.")
            continue
        found = await _settled(app, release)
        wrong += found
        if not found:
            corpus = (await app.corpora.live())[release]
            pairs = (
                await app.corpus_manager.pregeneration.pairs(release)
                if app.corpus_manager.pregeneration
                else ()
            )
            told.append(
                f"{release}: {counted(corpus.documents, 'document')}, "
                f"{counted(corpus.chunks, 'passage')} and {counted(len(pairs), 'pair')} made of them "
                "are as they should be."
            )
        left = await app.corpora.leftovers(release)
        if left and not _runs(app, release):
            documents = counted(left, "document was", "documents were")
            told.append(
                f"{release}: {documents} read by a run that was cut short; they do not answer yet: "
                f"`threadlore index --release {release}` goes on with them, or removes them."
            )
    told += kept_lines(await app.corpus_manager.kept())
    if not app.corpus_manager.progress():
        wrong += await _strangers(app)
    memory = await app.memory.verify() + await app.upkeep.broken()
    wrong += [f"memory: {sentence} Run `threadlore memory rebuild`." for sentence in memory]
    if not memory:
        told.append(f"Memory: {counted(len(await app.memory.placed()), 'answer')}, all match the votes.")
    return told, wrong


async def _settled(app: Application, release: str) -> list[str]:
    """Return what is wrong with a release; look again where a new corpus went live meanwhile."""
    found: list[str] = []
    for _ in range(TURNS):
        before = (await app.corpora.live())[release]
        found = [
            *await _corpus(app, before),
            *await _indexes(app, before),
            *await _pairs(app, before),
        ]
        if not found or (await app.corpora.live())[release] == before:
            break
    return found


async def _corpus(app: Application, corpus: Corpus) -> list[str]:
    """Compare what is said of a corpus with its documents and passages in the database."""
    name, wrong = corpus.release, []
    documents, rows = await app.corpora.manifest(name), await app.corpora.rows(name)
    for what, kept, said in (
        ("document", len(documents), corpus.documents),
        ("passage", len(rows), corpus.chunks),
    ):
        if kept != said:
            are = plural(kept, "is", "are")
            wrong.append(f"{name}: {counted(kept, what)} {are} kept where {said} were indexed; {RESTORE}.")
    twice = [place for place, count in Counter((d.source, d.path) for d in documents).items() if count > 1]
    if twice:
        told = counted(len(twice), "document is", "documents are")
        wrong.append(f"{name}: {told} kept twice, such as {twice[0][1]}; {RESTORE}.")
    empty = {d.id: d.path for d in documents}.keys() - {row.document_id for row in rows}
    if empty:
        told = counted(len(empty), "document has", "documents have")
        wrong.append(f"{name}: {told} no passages; {RESTORE}.")
    lacking = await app.corpora.missing_vectors(corpus.encoder, [row.text_hash for row in rows])
    if lacking:
        told = counted(len(lacking), "passage has", "passages have")
        wrong.append(f"{name}: {told} no vector; run `threadlore index --release {name}`.")
    answers = app.searcher.corpora.get(name)
    if answers is None or answers.generation != corpus.generation:
        wrong.append(f"{name}: an older corpus answers than the one that is live; {RESTART}.")
    return wrong


async def _indexes(app: Application, corpus: Corpus) -> list[str]:
    """Compare both indexes with the passages in the database."""
    wanted = {row.id for row in await app.corpora.rows(corpus.release)}
    return await _compared(app, corpus.release, corpus.collection, wanted, "passage")


async def _pairs(app: Application, corpus: Corpus) -> list[str]:
    """Compare both indexes with the pairs made of documents, and the pairs with the live pages."""
    if app.corpus_manager.pregeneration is None:
        return []
    name = corpus.release
    pairs = await app.corpus_manager.pregeneration.pairs(name)
    pages = {row.context_id for row in await app.corpora.rows(name)}
    lost = [pair for pair in pairs if pair.context_id not in pages]
    told = counted(len(lost), "pair cites", "pairs cite")
    wrong = [f"{name}: {told} pages that are gone; {RESTORE}."] if lost else []
    if _runs(app, name):
        return wrong  # they are embedded and indexed after they are made
    wanted = {key for pair in pairs for key, _, _ in entries(pair)}
    return wrong + await _compared(
        app, name, pairs_collection(corpus), wanted, "text of pairs", "texts of pairs"
    )


async def _compared(app: Application, name: str, collection: str, wanted: set[str], *what: str) -> list[str]:
    wrong = []
    for index, its in ((app.vectors, "vector index"), (app.words, "word index")):
        present = await index.ids(collection)
        if missing := len(wanted - present):
            wrong.append(f"{name}: the {its} lacks {missing} of {counted(len(wanted), *what)}; {RESTART}.")
        if (extra := len(present - wanted)) and not _runs(app, name):
            are = plural(extra, "is", "are")
            wrong.append(f"{name}: the {its} holds {counted(extra, *what)} that {are} not live; {RESTART}.")
    return wrong


async def _strangers(app: Application) -> list[str]:
    """Look for collections of the indexes that belong to no corpus."""
    corpora = (await app.corpora.live()).values()
    used = {name for corpus in corpora for name in (corpus.collection, pairs_collection(corpus))}
    wrong = []
    for index, its in ((app.vectors, "vector index"), (app.words, "word index")):
        if others := await index.collections() - used:
            wrong.append(f"The {its} holds {counted(len(others), 'collection')} of no corpus; {RESTART}.")
    return wrong


def _runs(app: Application, release: str) -> bool:
    return any(entry["release"] == release for entry in app.corpus_manager.progress())
