"""What the second look reads of a page, worked out when it is indexed; documents are found by path."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "page_views",
        sa.Column("context_id", sa.String(length=64), nullable=False),
        sa.Column("by", sa.String(length=255), nullable=False),
        sa.Column("view", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["context_id"], ["context_chunks.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("context_id", "by"),
    )
    op.create_index("ix_documents_path", "documents", ["path"], postgresql_using="hash")


def downgrade() -> None:
    op.drop_index("ix_documents_path", "documents")
    op.drop_table("page_views")
