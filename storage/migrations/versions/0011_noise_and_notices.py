"""Answers that nobody asked for, and what admins were told."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "unasked_answers",
        sa.Column("answer_id", sa.String(length=64), nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("conversation", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("noticed", sa.Boolean(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("answer_id"),
    )
    op.create_index("ix_unasked_answers_channel", "unasked_answers", ["channel", "at"])
    op.create_index("ix_unasked_answers_conversation", "unasked_answers", ["conversation"])
    op.create_table(
        "notices",
        sa.Column("destination", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("told_at", sa.Float(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("destination", "key"),
    )
