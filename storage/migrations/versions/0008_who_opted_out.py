"""Who opted out, by one-way names."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "opt_outs",
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("told", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("person"),
    )
