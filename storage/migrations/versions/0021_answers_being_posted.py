"""The answer that was found for a claim and is being posted."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("claims") as table:
        table.add_column(sa.Column("posting", sa.String(length=64), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("claims") as table:
        table.drop_column("posting")
