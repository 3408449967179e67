"""The releases that people use, and those that channels were given while the bot ran."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "own_releases",
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("release", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("person"),
    )
    op.create_table(
        "channel_releases",
        sa.Column("channel", sa.String(length=255), nullable=False),
        sa.Column("release", sa.String(length=255), nullable=False),
        sa.Column("by", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("channel"),
    )


def downgrade() -> None:
    op.drop_table("channel_releases")
    op.drop_table("own_releases")
