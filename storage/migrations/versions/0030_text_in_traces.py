"""What explains an answer, without the characters for which PostgreSQL refuses to look into it."""

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

AT_ONCE = 200
NUL, HALF = "\\u0000", "\\ud"
"""How JSON writes a NUL, and how half a surrogate pair begins (a whole one, too)."""
UNWRITABLE = re.compile("[\x00\ud800-\udfff]")

answers = sa.table("answers", sa.column("id", sa.String), sa.column("trace", sa.JSON))


def upgrade() -> None:
    connection, last = op.get_bind(), ""
    written = sa.cast(answers.c.trace, sa.Text)
    doubtful = sa.or_(*(written.contains(part, autoescape=True) for part in (NUL, HALF)))
    while True:
        some = sa.select(answers.c.id, answers.c.trace).where(answers.c.id > last, doubtful)
        rows = connection.execute(some.order_by(answers.c.id).limit(AT_ONCE)).all()
        for row in rows:
            if (clean := _clean(row.trace)) != row.trace:
                connection.execute(sa.update(answers).where(answers.c.id == row.id).values(trace=clean))
        if len(rows) < AT_ONCE:
            return
        last = rows[-1].id


def downgrade() -> None:
    pass


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return UNWRITABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_clean(name): _clean(part) for name, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, list) else value
