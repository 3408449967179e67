"""Several processes on one database: who they are, what they answer, what they tell each other."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "members",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seen", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "changes",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("topic", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("by", sa.String(length=16), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.add_column("votes", sa.Column("said_at", sa.Float(), server_default="0", nullable=False))
    op.add_column("claims", sa.Column("holder", sa.String(length=16), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("claims", "holder")
    op.drop_column("votes", "said_at")
    op.drop_table("changes")
    op.drop_table("members")
