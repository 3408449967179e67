"""How often sources change."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("source_runs", sa.Column("level", sa.Integer(), nullable=False, server_default="0"))
