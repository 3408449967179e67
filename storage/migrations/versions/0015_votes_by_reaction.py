"""Which votes are reactions, that a moderator may clear."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column(
        "votes", sa.Column("by_reaction", sa.Boolean(), nullable=False, server_default=sa.false())
    )
