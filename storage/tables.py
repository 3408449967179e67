"""The tables. SQL is the truth; what is derived from it says so. Times are seconds since the epoch."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import (
    JSON,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


def writable(text: str) -> str:
    """Replace by U+FFFD what PostgreSQL (NUL) and UTF-8 (half a surrogate pair) cannot hold."""
    return _UNWRITABLE.sub("\ufffd", text)


class Prose(TypeDecorator[str]):
    """Text of any length."""

    impl: type[String] = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Make a text writable."""
        return None if value is None else writable(value)


class Key(Prose):
    """Text of a limited length that is compared."""

    impl = String
    cache_ok = True


ID = Key(64)
KEY = Key(255)


class Base(DeclarativeBase):
    """All tables of Threadlore."""


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


class VectorRow(Base):
    """A vector as float32 bytes, by encoder and by the hash of its text."""

    __tablename__ = "vectors"
    encoder: Mapped[str] = mapped_column(Prose, primary_key=True)
    text_hash: Mapped[str] = mapped_column(ID, primary_key=True)
    vector: Mapped[bytes] = mapped_column(LargeBinary)


class SourceRunRow(Base):
    """How the last reading of a source went."""

    __tablename__ = "source_runs"
    release: Mapped[str] = mapped_column(KEY, primary_key=True)
    source: Mapped[str] = mapped_column(Prose, primary_key=True)
    at: Mapped[float] = mapped_column(Float)
    succeeded_at: Mapped[float] = mapped_column(Float)
    failures: Mapped[int] = mapped_column(Integer)
    error: Mapped[str] = mapped_column(Prose)
    skipped: Mapped[list[Any]] = mapped_column(JSON)
    level: Mapped[int] = mapped_column(Integer, server_default="0")


class PairRow(Base):
    """A question and answer that votes may promote; neutral until then."""

    __tablename__ = "pairs"
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    question: Mapped[str] = mapped_column(Prose)
    topic: Mapped[str] = mapped_column(Prose)
    answer: Mapped[str] = mapped_column(Prose)
    citations: Mapped[list[Any]] = mapped_column(JSON)
    release: Mapped[str] = mapped_column(KEY, index=True)
    scope: Mapped[str] = mapped_column(KEY)
    origin: Mapped[str] = mapped_column(String(16))
    label: Mapped[str] = mapped_column(Prose)
    asker: Mapped[str] = mapped_column(KEY)
    prior: Mapped[float] = mapped_column(Float)
    created_at: Mapped[float] = mapped_column(Float)
    stale: Mapped[bool] = mapped_column(default=False)
    aside: Mapped[str] = mapped_column(String(16), server_default="")
    uses: Mapped[int] = mapped_column(Integer, server_default="0")
    used_at: Mapped[float] = mapped_column(Float, server_default="0")
    channel: Mapped[str] = mapped_column(KEY, server_default="", index=True)
    stale_in: Mapped[str] = mapped_column(KEY, server_default="")
    marked_at: Mapped[float] = mapped_column(Float, server_default="0")
    checked_at: Mapped[float] = mapped_column(Float, server_default="0")
    finding: Mapped[str] = mapped_column(Prose, server_default="")
    proposal: Mapped[str] = mapped_column(Prose, server_default="")
    proposed: Mapped[list[Any] | None] = mapped_column(JSON)
    language: Mapped[str] = mapped_column(String(16), server_default="en")


class AnswerRow(Base):
    """An answer that was given, and why."""

    __tablename__ = "answers"
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    at: Mapped[float] = mapped_column(Float, index=True)
    question: Mapped[str] = mapped_column(Prose)
    asker: Mapped[str] = mapped_column(KEY)
    channel: Mapped[str] = mapped_column(KEY)
    scope: Mapped[str] = mapped_column(KEY)
    release: Mapped[str] = mapped_column(KEY)
    route: Mapped[str] = mapped_column(String(16))
    text: Mapped[str] = mapped_column(Prose)
    citations: Mapped[list[Any]] = mapped_column(JSON)
    confidence: Mapped[float] = mapped_column(Float)
    similarity: Mapped[float] = mapped_column(Float)
    pair_id: Mapped[str] = mapped_column(ID, index=True)
    trace: Mapped[dict[str, Any]] = mapped_column(JSON)
    __table_args__ = (Index("ix_answers_asker", "asker", "at"),)


class VoteRow(Base):
    """A vote event: a value put on an answer, or taken off it (`value` is NULL then)."""

    __tablename__ = "votes"
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    answer_id: Mapped[str] = mapped_column(ID)
    pair_id: Mapped[str] = mapped_column(ID, index=True)
    voter: Mapped[str] = mapped_column(KEY)
    value: Mapped[int | None] = mapped_column(Integer)
    withdraws: Mapped[int | None] = mapped_column(Integer)
    weight: Mapped[float] = mapped_column(Float)
    at: Mapped[float] = mapped_column(Float)
    standing: Mapped[str] = mapped_column(String(16), server_default="known")
    __table_args__ = (
        Index("ix_votes_voter", "voter", "at", "pair_id"),
        Index("ix_votes_standing", "standing", "at"),
        Index("ix_votes_at", "at", "voter"),
    )


class PlacementRow(Base):
    """Derived from votes: where a pair stands in memory."""

    __tablename__ = "placements"
    pair_id: Mapped[str] = mapped_column(ForeignKey("pairs.id", ondelete="CASCADE"), primary_key=True)
    store: Mapped[str] = mapped_column(String(8))
    score: Mapped[float] = mapped_column(Float)
    cluster: Mapped[int | None] = mapped_column(Integer)
    shadowed_by: Mapped[str] = mapped_column(ID)


class MarkRow(Base):
    """A mark that counts on a person's message: ✅ of a helper (accept), ❌ of its author (object)."""

    __tablename__ = "marks"
    message: Mapped[str] = mapped_column(KEY, primary_key=True)
    person: Mapped[str] = mapped_column(KEY, primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    at: Mapped[float] = mapped_column(Float)


class AuthorRow(Base):
    """Who wrote the answer of a pair that a person made."""

    __tablename__ = "authors"
    pair_id: Mapped[str] = mapped_column(ID, primary_key=True)
    person: Mapped[str] = mapped_column(KEY, index=True)


class CorrectionRow(Base):
    """What somebody found wrong with an answer, and the better one they wrote."""

    __tablename__ = "corrections"
    answer_id: Mapped[str] = mapped_column(ID, primary_key=True)
    person: Mapped[str] = mapped_column(KEY, primary_key=True)
    name: Mapped[str] = mapped_column(Prose)
    what: Mapped[str] = mapped_column(String(16))
    better: Mapped[str] = mapped_column(Prose)
    at: Mapped[float] = mapped_column(Float, index=True)
    pair_id: Mapped[str] = mapped_column(ID)


class ClaimRow(Base):
    """A message that was taken from a platform, once."""

    __tablename__ = "claims"
    message: Mapped[str] = mapped_column(KEY, primary_key=True)
    conversation: Mapped[str] = mapped_column(KEY)
    asker: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float, index=True)
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    parts: Mapped[list[Any]] = mapped_column(JSON)
    answer_id: Mapped[str | None] = mapped_column(ID, index=True)
    __table_args__ = (Index("ix_claims_conversation", "conversation", "at"),)


class EventRow(Base):
    """An event id that was taken, whichever connection brought it."""

    __tablename__ = "events"
    event: Mapped[str] = mapped_column(KEY, primary_key=True)
    at: Mapped[float] = mapped_column(Float, index=True)


class PostRow(Base):
    """Which question's reply a posted message belongs to."""

    __tablename__ = "posts"
    part: Mapped[str] = mapped_column(KEY, primary_key=True)
    message: Mapped[str] = mapped_column(KEY, index=True)


class ChannelModeRow(Base):
    """How a channel is served by what was said while the bot ran, in place of `corpora.toml`."""

    __tablename__ = "channel_modes"
    channel: Mapped[str] = mapped_column(KEY, primary_key=True)
    mode: Mapped[str] = mapped_column(String(16))
    by: Mapped[str] = mapped_column(KEY)
    why: Mapped[str] = mapped_column(Prose)
    at: Mapped[float] = mapped_column(Float)


class PauseRow(Base):
    """Where no new questions are answered: a channel, or everywhere (`place` is empty)."""

    __tablename__ = "pauses"
    place: Mapped[str] = mapped_column(KEY, primary_key=True)
    until: Mapped[float] = mapped_column(Float)
    by: Mapped[str] = mapped_column(KEY)
    why: Mapped[str] = mapped_column(Prose)
    at: Mapped[float] = mapped_column(Float)


class ActRow(Base):
    """What an admin or the bot itself did: the audit log."""

    __tablename__ = "acts"
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    at: Mapped[float] = mapped_column(Float, index=True)
    who: Mapped[str] = mapped_column(KEY)
    place: Mapped[str] = mapped_column(KEY)
    what: Mapped[str] = mapped_column(Prose)
    outcome: Mapped[str] = mapped_column(Prose)


class OptOutRow(Base):
    """Somebody who opted out, by a one-way name, and what they were told once."""

    __tablename__ = "opt_outs"
    person: Mapped[str] = mapped_column(KEY, primary_key=True)
    told: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float)


class EscalationRow(Base):
    """A question that was put to a person; what `core.escalations.Ticket` says of each field."""

    __tablename__ = "escalations"
    message: Mapped[str] = mapped_column(KEY, primary_key=True)
    answer_id: Mapped[str] = mapped_column(ID)
    conversation: Mapped[str] = mapped_column(KEY)
    channel: Mapped[str] = mapped_column(KEY)
    scope: Mapped[str] = mapped_column(KEY)
    asker: Mapped[str] = mapped_column(KEY)
    by: Mapped[str] = mapped_column(KEY)
    question: Mapped[str] = mapped_column(Prose)
    release: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float, index=True)
    people: Mapped[list[Any]] = mapped_column(JSON)
    names: Mapped[str] = mapped_column(Prose)
    told: Mapped[list[Any]] = mapped_column(JSON)
    posts: Mapped[list[Any]] = mapped_column(JSON)
    notice: Mapped[list[Any]] = mapped_column(JSON)
    resolved_at: Mapped[float] = mapped_column(Float, index=True)
    resolver: Mapped[str] = mapped_column(KEY)
    resolver_name: Mapped[str] = mapped_column(Prose)
    answer: Mapped[str] = mapped_column(KEY, index=True)
    __table_args__ = (Index("ix_escalations_conversation", "conversation", "at"),)


class EscalationPostRow(Base):
    """Which ticket a message of the bot tells of, to the people asked or in the thread."""

    __tablename__ = "escalation_posts"
    part: Mapped[str] = mapped_column(KEY, primary_key=True)
    message: Mapped[str] = mapped_column(KEY, index=True)


class PregeneratedDocumentRow(Base):
    """By which rules, or which model, the pairs of a document were made."""

    __tablename__ = "pregenerated_documents"
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    by: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float)


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


class UnaskedRow(Base):
    """An answer that nobody asked the bot for, and what came of it beside votes."""

    __tablename__ = "unasked_answers"
    answer_id: Mapped[str] = mapped_column(ID, primary_key=True)
    channel: Mapped[str] = mapped_column(KEY)
    conversation: Mapped[str] = mapped_column(KEY, index=True)
    at: Mapped[float] = mapped_column(Float)
    noticed: Mapped[bool] = mapped_column()
    deleted: Mapped[bool] = mapped_column()
    __table_args__ = (Index("ix_unasked_answers_channel", "channel", "at"),)


class NoticeRow(Base):
    """What the people who run the bot were told, or could not be told yet (`told_at` is 0)."""

    __tablename__ = "notices"
    destination: Mapped[str] = mapped_column(KEY, primary_key=True)
    key: Mapped[str] = mapped_column(KEY, primary_key=True)
    text: Mapped[str] = mapped_column(Prose)
    at: Mapped[float] = mapped_column(Float)
    told_at: Mapped[float] = mapped_column(Float)
    tries: Mapped[int] = mapped_column(Integer)
