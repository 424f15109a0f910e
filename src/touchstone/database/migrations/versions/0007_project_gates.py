"""Add the gates that the datasets of a project must pass."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add `projects.gates`. Existing projects have no gates."""
    gates = sa.Column("gates", sa.JSON(none_as_null=True), nullable=False, server_default="{}")
    op.add_column("projects", gates)
