"""What was asked, answered and posted, and which questions were put to a person."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Float, Index, String, true
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.columns import ID, KEY, Base, Parts, Prose


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
    citations: Mapped[list[Any]] = mapped_column(Parts)
    confidence: Mapped[float] = mapped_column(Float)
    similarity: Mapped[float] = mapped_column(Float)
    pair_id: Mapped[str] = mapped_column(ID, index=True)
    trace: Mapped[dict[str, Any]] = mapped_column(Parts)
    __table_args__ = (Index("ix_answers_asker", "asker", "at"),)


class ClaimRow(Base):
    """What was taken from a platform, once: a message, a command or a press."""

    __tablename__ = "claims"
    message: Mapped[str] = mapped_column(KEY, primary_key=True)
    conversation: Mapped[str] = mapped_column(KEY)
    asker: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float, index=True)
    payload: Mapped[dict[str, Any]] = mapped_column(Parts)
    parts: Mapped[list[Any]] = mapped_column(Parts)
    answer_id: Mapped[str | None] = mapped_column(ID, index=True)
    posting: Mapped[str] = mapped_column(ID, server_default="")
    language: Mapped[str] = mapped_column(String(16), server_default="")
    decided: Mapped[bool] = mapped_column(server_default=true())
    tries: Mapped[int] = mapped_column(server_default="0")
    kind: Mapped[str] = mapped_column(String(16), server_default="message")
    holder: Mapped[str] = mapped_column(String(16), server_default="")
    """The process of a cluster that answers."""
    before: Mapped[list[Any]] = mapped_column(Parts, server_default="[]")
    """The ids of the answers that stood in the same messages before, the first one first."""
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


class EscalationRow(Base):
    """A question that was put to a person; what `core.ports.escalations.Ticket` says of each field."""

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
    people: Mapped[list[Any]] = mapped_column(Parts)
    names: Mapped[str] = mapped_column(Prose)
    told: Mapped[list[Any]] = mapped_column(Parts)
    posts: Mapped[list[Any]] = mapped_column(Parts)
    notice: Mapped[list[Any]] = mapped_column(Parts)
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
