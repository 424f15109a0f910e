"""Store with each project the weakest level of evidence that counts in its recommendations."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add `projects.assurance`; existing projects count everything that is declared, as before."""
    op.add_column("projects", sa.Column("assurance", sa.Text(), nullable=False, server_default="declared"))
