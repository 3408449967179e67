"""The answers that stood in a reply's messages before: an emoji that was put on one is no vote on the next."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("claims", sa.Column("before", sa.JSON(), server_default="[]", nullable=False))


def downgrade() -> None:
    op.drop_column("claims", "before")
