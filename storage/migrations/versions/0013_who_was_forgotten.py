"""Who asked to be forgotten, by one-way names, so that no source brings back what they wrote before."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "forgotten",
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("person"),
    )
