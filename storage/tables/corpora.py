"""Corpora, their documents, chunks and vectors, the pairs made of them, and how reading the sources went."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Float, ForeignKey, Index, Integer, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.columns import ID, KEY, Base, Parts, Prose


class CorpusRow(Base):
    """The live corpus of a release."""

    __tablename__ = "corpora"
    release: Mapped[str] = mapped_column(KEY, primary_key=True)
    encoder: Mapped[str] = mapped_column(Prose)
    generation: Mapped[int] = mapped_column(Integer)
    built_at: Mapped[float] = mapped_column(Float)
    documents: Mapped[int] = mapped_column(Integer)
    chunks: Mapped[int] = mapped_column(Integer)


class CorpusDocumentRow(Base):
    """Which documents a live corpus consists of."""

    __tablename__ = "corpus_documents"
    release: Mapped[str] = mapped_column(KEY, primary_key=True)
    document_id: Mapped[str] = mapped_column(ID, primary_key=True)


class DocumentRow(Base):
    """One version of one document, live or being built."""

    __tablename__ = "documents"
    # paths may be longer than a tree of PostgreSQL takes
    __table_args__ = (Index("ix_documents_path", "path", postgresql_using="hash"),)
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    release: Mapped[str] = mapped_column(KEY, index=True)
    source: Mapped[str] = mapped_column(Prose)
    path: Mapped[str] = mapped_column(Prose)
    title: Mapped[str] = mapped_column(Prose)
    url: Mapped[str] = mapped_column(Prose)
    hash: Mapped[str] = mapped_column(ID)
    at: Mapped[float] = mapped_column(Float)


class ContextRow(Base):
    """A context chunk: a page with its surroundings."""

    __tablename__ = "context_chunks"
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), index=True)
    position: Mapped[int] = mapped_column(Integer)
    heading: Mapped[str] = mapped_column(Prose)
    url: Mapped[str] = mapped_column(Prose)
    page: Mapped[str] = mapped_column(Prose)
    before: Mapped[str] = mapped_column(Prose)
    after: Mapped[str] = mapped_column(Prose)
    hash: Mapped[str] = mapped_column(ID)


class SearchRowTable(Base):
    """A search chunk; its vector is found by the hash of its embedded text."""

    __tablename__ = "search_chunks"
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    context_id: Mapped[str] = mapped_column(ID)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), index=True)
    position: Mapped[int] = mapped_column(Integer)
    text: Mapped[str] = mapped_column(Prose)
    embedded: Mapped[str] = mapped_column(Prose)
    text_hash: Mapped[str] = mapped_column(ID, index=True)


class PageViewRow(Base):
    """What the second look reads of a page, worked out when it was indexed (`Corpus.views`)."""

    __tablename__ = "page_views"
    context_id: Mapped[str] = mapped_column(
        ForeignKey("context_chunks.id", ondelete="CASCADE"), primary_key=True
    )
    by: Mapped[str] = mapped_column(KEY, primary_key=True)
    view: Mapped[bytes] = mapped_column(LargeBinary)


class VectorRow(Base):
    """A vector as float32 bytes, by encoder and by the hash of its text; of windows the `tokens`, in bits."""

    __tablename__ = "vectors"
    encoder: Mapped[str] = mapped_column(Prose, primary_key=True)
    text_hash: Mapped[str] = mapped_column(ID, primary_key=True)
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    tokens: Mapped[bytes | None] = mapped_column(LargeBinary)


class SourceRunRow(Base):
    """How the last reading of a source went."""

    __tablename__ = "source_runs"
    release: Mapped[str] = mapped_column(KEY, primary_key=True)
    source: Mapped[str] = mapped_column(Prose, primary_key=True)
    at: Mapped[float] = mapped_column(Float)
    succeeded_at: Mapped[float] = mapped_column(Float)
    failures: Mapped[int] = mapped_column(Integer)
    error: Mapped[str] = mapped_column(Prose)
    skipped: Mapped[list[Any]] = mapped_column(Parts)
    level: Mapped[int] = mapped_column(Integer, server_default="0")


class PregeneratedDocumentRow(Base):
    """By which rules, or which model, the pairs of a document were made, or are to be made.

    `pages` is how many of its first pages are done where others are to come; empty where all are.
    """

    __tablename__ = "pregenerated_documents"
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    by: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float)
    pages: Mapped[int | None] = mapped_column(Integer)


class PregeneratedRow(Base):
    """A question/answer pair made of a document; its vectors are found by the hashes of its texts."""

    __tablename__ = "pregenerated_pairs"
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), index=True)
    context_id: Mapped[str] = mapped_column(ID)
    position: Mapped[int] = mapped_column(Integer)
    question: Mapped[str] = mapped_column(Prose)
    answer: Mapped[str] = mapped_column(Prose)
    full_answer: Mapped[str] = mapped_column(Prose)
    summary: Mapped[str] = mapped_column(Prose)
    category: Mapped[str] = mapped_column(Prose)
    question_hash: Mapped[str] = mapped_column(ID, index=True)
    answer_hash: Mapped[str] = mapped_column(ID, index=True)


class RefusedPairRow(Base):
    """A pair that a reviewer refused, by a hash of its page and question; it is not made again."""

    __tablename__ = "refused_pairs"
    key: Mapped[str] = mapped_column(ID, primary_key=True)
    at: Mapped[float] = mapped_column(Float)
