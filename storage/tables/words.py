"""Whose words rows hold beside those of who is named in them, so that forgetting goes by that."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.columns import KEY, Base


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
