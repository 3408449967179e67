"""How many pages of a document its pairs are made of so far."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("pregenerated_documents", sa.Column("pages", sa.Integer(), nullable=True))
