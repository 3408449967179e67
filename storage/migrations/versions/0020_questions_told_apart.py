"""Questions that people told apart from the remembered one whose answer they got."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "distinctions",
        sa.Column("pair_id", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("answer_id", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("pair_id", "key"),
    )
    op.create_index("ix_distinctions_answer_id", "distinctions", ["answer_id"])
    op.create_index("ix_distinctions_at", "distinctions", ["at"])
