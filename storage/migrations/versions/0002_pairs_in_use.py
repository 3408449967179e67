"""How often a pair is reused, and why it is in no store."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("pairs", sa.Column("aside", sa.String(length=16), nullable=False, server_default=""))
    op.add_column("pairs", sa.Column("uses", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("pairs", sa.Column("used_at", sa.Float(), nullable=False, server_default="0"))
