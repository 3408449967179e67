"""The language that the answer of a pair is in; what was learnt before is in English."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("pairs", sa.Column("language", sa.String(length=16), server_default="en", nullable=False))
