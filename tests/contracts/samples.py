"""Documents, pairs and answers for the contract suites."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.domain import Answer, ChunkedDocument, Citation, ContextChunk, Question, SearchChunk, content_hash
from core.ports import MemoryStore, Remembered

AWKWARD = "naïve \U0001f44d\u200d 日本語 ' \" \\ % _ -- ; \t\r\n \x01 end"
UNWRITABLE = "before \x00 between \ud800 after"
"""Holds what PostgreSQL (NUL) and UTF-8 (half a surrogate pair) have no place for."""


def kept_of(text: str) -> str:
    """Return what every database must keep of a text."""
    return "".join(c for c in text if c not in "\x00\ufffd" and not "\ud800" <= c <= "\udfff")


def document(
    path: str,
    release: str = "1.0",
    version: str = "1",
    pieces: int = 2,
    text: str = "about",
    source: str = "s",
) -> ChunkedDocument:
    """Make a document of two pages, each with `pieces` search chunks."""
    key = content_hash(release, source, path, version)
    contexts, searches = [], []
    for page in ("intro", "usage"):
        context = content_hash(key, page)
        contexts.append(
            ContextChunk(
                context,
                path,
                f"Title of {path}",
                page,
                f"https://docs.example/{path}#{page}",
                f"{text} {path} {page} {version}",
                before="lead",
                after="tail",
                release=release,
            )
        )
        for number in range(pieces):
            passage = f"{text} {path} {page} {version} {number}"
            chunk_id = content_hash(context, str(number))
            searches.append(SearchChunk(chunk_id, context, passage, f"Title: {passage}"))
    return ChunkedDocument(
        key,
        content_hash(version),
        source,
        path,
        f"Title of {path}",
        f"https://docs.example/{path}",
        tuple(contexts),
        tuple(searches),
    )


def pair(key: str = "p1", **given: Any) -> Remembered:
    """Make a neutral pair."""
    made = Remembered(
        id=key,
        question=f"How to {key}?",
        topic=f"how {key}",
        answer=f"Like this: {key}.",
        release="1.0",
        scope="public",
        prior=0.5,
        created_at=1000.25,
        citations=(Citation(1, "Title", "https://docs.example/a", "1.0", "a.rst", "h1"),),
        asker="slack:U1",
    )
    return replace(made, **given)


async def keep(store: MemoryStore, made: Remembered, *answer_ids: str) -> Remembered:
    """Save answers that share one pair."""
    for answer_id in answer_ids or (f"a-{made.id}",):
        answer = Answer(answer_id, made.answer, "documents", made.release, made.citations, pair_id=made.id)
        await store.save_answer(answer, Question(made.question, asker=made.asker), made)
    return made
