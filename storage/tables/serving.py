"""How the bot serves: modes, pauses, the audit log, opt-outs, notices; and what the database is."""

from __future__ import annotations

from sqlalchemy import Float, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.columns import KEY, Base, Prose


class ChannelModeRow(Base):
    """How a channel is served by what was said while the bot ran, in place of `corpora.toml`."""

    __tablename__ = "channel_modes"
    channel: Mapped[str] = mapped_column(KEY, primary_key=True)
    mode: Mapped[str] = mapped_column(String(16))
    by: Mapped[str] = mapped_column(KEY)
    why: Mapped[str] = mapped_column(Prose)
    at: Mapped[float] = mapped_column(Float)


class OwnReleaseRow(Base):
    """The release that somebody uses: for their questions that name none."""

    __tablename__ = "own_releases"
    person: Mapped[str] = mapped_column(KEY, primary_key=True)
    release: Mapped[str] = mapped_column(KEY)
    at: Mapped[float] = mapped_column(Float)


class ChannelReleaseRow(Base):
    """The release of a channel by what was said while the bot ran, in place of `corpora.toml`."""

    __tablename__ = "channel_releases"
    channel: Mapped[str] = mapped_column(KEY, primary_key=True)
    release: Mapped[str] = mapped_column(KEY)
    by: Mapped[str] = mapped_column(KEY)
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


class ForgottenRow(Base):
    """Somebody who asked to be forgotten, by a one-way name: what they wrote before is in no source read."""

    __tablename__ = "forgotten"
    person: Mapped[str] = mapped_column(KEY, primary_key=True)
    at: Mapped[float] = mapped_column(Float)


class AboutRow(Base):
    """Something that the database knows about itself, such as which key its one-way names were made with."""

    __tablename__ = "about"
    name: Mapped[str] = mapped_column(KEY, primary_key=True)
    value: Mapped[str] = mapped_column(Prose)


class NoticeRow(Base):
    """What the people who run the bot were told, or could not be told yet (`told_at` is 0)."""

    __tablename__ = "notices"
    destination: Mapped[str] = mapped_column(KEY, primary_key=True)
    key: Mapped[str] = mapped_column(KEY, primary_key=True)
    text: Mapped[str] = mapped_column(Prose)
    at: Mapped[float] = mapped_column(Float)
    told_at: Mapped[float] = mapped_column(Float)
    tries: Mapped[int] = mapped_column(Integer)


class BucketRow(Base):
    """How many questions somebody or a place may still ask; a person stands there under a one-way name."""

    __tablename__ = "buckets"
    name: Mapped[str] = mapped_column(KEY, primary_key=True)
    held: Mapped[float] = mapped_column(Float)
    at: Mapped[float] = mapped_column(Float)


class MemberRow(Base):
    """A process of a cluster; `seen` is when it said last that it lives, by the database's clock."""

    __tablename__ = "members"
    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    name: Mapped[str] = mapped_column(Prose)
    seen: Mapped[float] = mapped_column(Float)


class ChangeRow(Base):
    """What a process changed that others of its cluster hold, for an hour; what was forgotten stays."""

    __tablename__ = "changes"
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    topic: Mapped[str] = mapped_column(String(32))
    key: Mapped[str] = mapped_column(KEY)
    by: Mapped[str] = mapped_column(String(16))
    at: Mapped[float] = mapped_column(Float)
