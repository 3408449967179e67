"""Where somebody said what was wrong with an answer; empty before: where the answer was.

What an admin published from a private channel has no channel any more, as its pair has none.
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("corrections", sa.Column("scope", sa.String(255), server_default="", nullable=False))
    op.execute(
        "UPDATE answers SET channel = '' WHERE scope = 'public' AND pair_id IN "
        "(SELECT id FROM pairs WHERE scope = 'public' AND channel = '' AND origin = 'answer')"
    )


def downgrade() -> None:
    op.drop_column("corrections", "scope")
