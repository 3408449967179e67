"""What a home holds of its corpora, table by table and index by index, to be compared with a fresh home."""

from __future__ import annotations

import asyncio
import sqlite3

from core.domain import content_hash
from core.ports import pairs_collection
from tests.endurance.checks import Found, open_database
from tests.journeys.house import Kettle, opened

_TABLES = {
    "documents": "SELECT id FROM documents",
    "live documents": "SELECT release || document_id FROM corpus_documents",
    "pages": "SELECT id || hash FROM context_chunks",
    "passages": "SELECT id || text_hash FROM search_chunks",
    "pairs of documents": "SELECT id || question_hash || answer_hash FROM pregenerated_pairs",
    "vectors": "SELECT encoder || text_hash FROM vectors",
}


async def contents(kettle: Kettle) -> dict[str, list[str]]:
    """Return the ids in SQL and in both indexes of a home that nobody has open."""
    found = await asyncio.to_thread(_database, kettle)
    async with opened(kettle, "check") as app:
        for corpus in (await app.corpora.live()).values():
            for kind, collection in (("passages", corpus.collection), ("pairs", pairs_collection(corpus))):
                for its, index in (("vector", app.vectors), ("word", app.words)):
                    found[f"{kind} in the {its} index"] = sorted(await index.ids(collection))
            for name, index in (("vector", app.vectors), ("word", app.words)):
                found[f"collections of the {name} index"] = sorted(await index.collections())
    return found


def differences(found: dict[str, list[str]], fresh: dict[str, list[str]]) -> Found:
    """Say for each part of a home what it lacks, has too much of, or has twice, against a fresh one."""
    wrong: Found = {}
    for part, wanted in fresh.items():
        has = found.get(part, [])
        counts = {
            "missing": len(set(wanted) - set(has)),
            "too many": len(set(has) - set(wanted)),
            "twice": len(has) - len(set(has)),
        }
        told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        wrong[f"{part} are those of a fresh home"] = [told] if told else []
    return wrong


def _database(kettle: Kettle) -> dict[str, list[str]]:
    with open_database(kettle) as database:
        found = {part: _column(database, query) for part, query in _TABLES.items()}
        # a question that was answered keeps the vector of its topic
        topics = {content_hash(topic) for topic in _column(database, "SELECT topic FROM pairs")}
        encoders = _column(database, "SELECT DISTINCT encoder FROM vectors")
    asked = {encoder + topic for encoder in encoders for topic in topics}
    found["vectors"] = [key for key in found["vectors"] if key not in asked]
    return found


def _column(database: sqlite3.Connection, query: str) -> list[str]:
    return sorted(row[0] for row in database.execute(query))
