"""Create the tables of comparisons, which train the same model on several datasets."""

import sqlalchemy as sa
from alembic import op

from touchstone.database.utc_datetime import UtcDateTime

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "comparisons",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("project_id", sa.Uuid(), nullable=True),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("request", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparisons")),
        sa.UniqueConstraint("owner", "idempotency_key", name=op.f("uq_comparisons_owner_idempotency_key")),
    )
    op.create_index(op.f("ix_comparisons_project_id"), "comparisons", ["project_id"])
    op.create_index(op.f("ix_comparisons_owner_created_at"), "comparisons", ["owner", "created_at"])

    op.create_table(
        "compared_datasets",
        sa.Column("comparison_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("dataset_name", sa.Text(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.Column("refusal", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["comparison_id"],
            ["comparisons.id"],
            name=op.f("fk_compared_datasets_comparison_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_compared_datasets_job_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("comparison_id", "position", name=op.f("pk_compared_datasets")),
    )
    op.create_index(op.f("ix_compared_datasets_job_id"), "compared_datasets", ["job_id"])
