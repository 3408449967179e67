"""Where a pair was learnt, in which releases it is stale and what came of that, and what a voter was."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    for name in ("channel", "stale_in"):
        op.add_column("pairs", sa.Column(name, sa.String(length=255), nullable=False, server_default=""))
    for name in ("marked_at", "checked_at"):
        op.add_column("pairs", sa.Column(name, sa.Float(), nullable=False, server_default="0"))
    for name in ("finding", "proposal"):
        op.add_column("pairs", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.add_column("pairs", sa.Column("proposed", sa.JSON(), nullable=True))
    op.add_column(
        "votes", sa.Column("standing", sa.String(length=16), nullable=False, server_default="known")
    )
    op.create_index("ix_pairs_channel", "pairs", ["channel"])
    op.create_index("ix_answers_asker", "answers", ["asker", "at"])
    op.create_index("ix_votes_voter", "votes", ["voter", "at", "pair_id"])
    op.create_index("ix_votes_at", "votes", ["at", "voter"])
    op.create_index("ix_votes_standing", "votes", ["standing", "at"])
    # a pair has the name of the answer that it was made of, with another first letter
    op.execute(
        "UPDATE pairs SET channel = COALESCE((SELECT channel FROM answers "
        "WHERE answers.id = 'a' || substr(pairs.id, 2)), '') WHERE origin = 'answer'"
    )
    op.execute("UPDATE pairs SET stale_in = release, marked_at = 1 WHERE stale")
