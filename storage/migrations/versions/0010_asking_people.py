"""Questions that were put to a person, and the messages that tell of them."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "escalations",
        sa.Column("message", sa.String(length=255), nullable=False),
        sa.Column("answer_id", sa.String(length=64), nullable=False),
        sa.Column("conversation", sa.String(length=255), nullable=False),
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("scope", sa.String(length=255), nullable=False),
        sa.Column("asker", sa.String(length=255), nullable=False),
        sa.Column("by", sa.String(length=255), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("release", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("people", sa.JSON(), nullable=False),
        sa.Column("names", sa.Text(), nullable=False),
        sa.Column("told", sa.JSON(), nullable=False),
        sa.Column("posts", sa.JSON(), nullable=False),
        sa.Column("notice", sa.JSON(), nullable=False),
        sa.Column("resolved_at", sa.Float(), nullable=False),
        sa.Column("resolver", sa.String(length=255), nullable=False),
        sa.Column("resolver_name", sa.Text(), nullable=False),
        sa.Column("answer", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("message"),
    )
    op.create_index("ix_escalations_conversation", "escalations", ["conversation", "at"])
    op.create_index("ix_escalations_resolved_at", "escalations", ["resolved_at"])
    op.create_index("ix_escalations_answer", "escalations", ["answer"])
    op.create_index("ix_escalations_at", "escalations", ["at"])
    op.create_table(
        "escalation_posts",
        sa.Column("part", sa.String(length=255), nullable=False),
        sa.Column("message", sa.String(length=255), nullable=False),
        sa.PrimaryKeyConstraint("part"),
    )
    op.create_index("ix_escalation_posts_message", "escalation_posts", ["message"])
