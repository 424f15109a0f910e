"""Add the weakest level of evidence that counts in the recommendations of a project."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add `projects.assurance`. Declared values still count in existing projects."""
    op.add_column("projects", sa.Column("assurance", sa.Text(), nullable=False, server_default="declared"))
