"""The language that the answer of a pair is in; what was learnt before is in English."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("pairs", sa.Column("language", sa.String(length=16), server_default="en", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("pairs") as batch:
        batch.drop_column("language")
