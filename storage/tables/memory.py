"""Community memory: pairs, votes on them, where these place them, and what people said beside votes.

Beside them stands whose words the rows of any table hold, so that forgetting goes by that.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Float, ForeignKey, Index, Integer, String, false
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.columns import ID, KEY, Base, Parts, Prose


class PairRow(Base):
    """A question and answer that votes may promote; neutral until then."""

    __tablename__ = "pairs"
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    question: Mapped[str] = mapped_column(Prose)
    topic: Mapped[str] = mapped_column(Prose)
    answer: Mapped[str] = mapped_column(Prose)
    citations: Mapped[list[Any]] = mapped_column(Parts)
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
    proposed: Mapped[list[Any] | None] = mapped_column(Parts)
    language: Mapped[str] = mapped_column(String(16), server_default="en")


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
    by_reaction: Mapped[bool] = mapped_column(server_default=false())
    said_at: Mapped[float] = mapped_column(Float, server_default="0")
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
    """What somebody found wrong with an answer, and the better one they wrote; `scope`: where they did."""

    __tablename__ = "corrections"
    answer_id: Mapped[str] = mapped_column(ID, primary_key=True)
    person: Mapped[str] = mapped_column(KEY, primary_key=True)
    name: Mapped[str] = mapped_column(Prose)
    what: Mapped[str] = mapped_column(String(16))
    better: Mapped[str] = mapped_column(Prose)
    at: Mapped[float] = mapped_column(Float, index=True)
    pair_id: Mapped[str] = mapped_column(ID)
    scope: Mapped[str] = mapped_column(KEY, server_default="")


class WordsRow(Base):
    """Somebody whose words a row of another table holds.

    `kind` names the table: `answer`, `pair`, `claim`, `ticket` or `page` (a document); `key` is the row's
    key there. `part` tells what of an answer: `asked` is its question, `queries` what that was taken for,
    `told` its text, `trace` what explains it and nothing else; it is empty for the others. `person` is an
    account, or a one-way name that holds for `place`; that of an author of pages holds everywhere.
    """

    __tablename__ = "words"
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    key: Mapped[str] = mapped_column(KEY, primary_key=True)
    person: Mapped[str] = mapped_column(KEY, primary_key=True, index=True)
    part: Mapped[str] = mapped_column(String(8), primary_key=True, server_default="")
    place: Mapped[str] = mapped_column(KEY, server_default="")


class DistinctionRow(Base):
    """That a question is not a pair's own, as somebody said of an answer; its words stand with the answer."""

    __tablename__ = "distinctions"
    pair_id: Mapped[str] = mapped_column(ID, primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    answer_id: Mapped[str] = mapped_column(ID, index=True)
    person: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float, index=True)
