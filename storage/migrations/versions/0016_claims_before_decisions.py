"""Claims that are made before it is decided whom a message is for, and how often they were worked on."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    with op.batch_alter_table("claims") as batch:
        batch.add_column(sa.Column("language", sa.String(length=16), server_default="", nullable=False))
        batch.add_column(sa.Column("decided", sa.Boolean(), server_default=sa.true(), nullable=False))
        batch.add_column(sa.Column("tries", sa.Integer(), server_default="0", nullable=False))
        batch.add_column(sa.Column("kind", sa.String(length=16), server_default="message", nullable=False))
