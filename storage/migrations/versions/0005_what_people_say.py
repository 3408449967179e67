"""What people say beside votes: marks on messages, authors of pairs, corrections of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "marks",
        sa.Column("message", sa.String(length=255), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("message", "person", "kind"),
    )
    op.create_table(
        "authors",
        sa.Column("pair_id", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("pair_id"),
    )
    op.create_index("ix_authors_person", "authors", ["person"])
    op.create_table(
        "corrections",
        sa.Column("answer_id", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("what", sa.String(length=16), nullable=False),
        sa.Column("better", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("pair_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("answer_id", "person"),
    )
    op.create_index("ix_corrections_at", "corrections", ["at"])
    op.create_index("ix_claims_answer_id", "claims", ["answer_id"])
