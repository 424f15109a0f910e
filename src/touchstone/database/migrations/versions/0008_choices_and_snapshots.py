"""Add tables for the choices of datasets for projects and for snapshots of recommendations."""

import secrets

import sqlalchemy as sa
from alembic import op

from touchstone.database.utc_datetime import UtcDateTime

revision = "0008"
down_revision = "0007"

# The evidence about a dataset at the time of its choice is unknown, so these choices have no digest. The name of a
# dataset that has become invisible for the owner of the project is omitted.
_COPY_CHOICES = """
    INSERT INTO project_choices (project_id, author, created_at, dataset_id, dataset_name, reason, bytes)
    SELECT projects.id, projects.user_id, projects.updated_at, projects.chosen_dataset_id, datasets.dataset_name,
           projects.choice_reason, 0
    FROM projects LEFT JOIN datasets
        ON datasets.id = projects.chosen_dataset_id
        AND (datasets.owner = projects.user_id OR (datasets.visibility = 'public' AND NOT datasets.is_hidden))
    WHERE projects.chosen_dataset_id IS NOT NULL OR projects.choice_reason IS NOT NULL
    ORDER BY projects.updated_at
"""


def upgrade() -> None:
    """Create the tables, copy the current choices, and generate the key for the catalog's tokens."""
    _create_choices()
    _create_snapshots()
    secret_keys = op.create_table(
        "secret_keys",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secret_keys")),
    )

    op.execute(sa.text(_COPY_CHOICES))
    op.bulk_insert(secret_keys, [{"name": "catalog_version", "key": secrets.token_bytes(32)}])


def _create_choices() -> None:
    """Create the table of the choices."""
    op.create_table(
        "project_choices",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("author", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=True),
        sa.Column("dataset_name", sa.Text(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.Column("content", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("ranking", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_choices_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project_choices")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_project_choices_project_id"), "project_choices", ["project_id"])


def _create_snapshots() -> None:
    """Create the table of the snapshots."""
    op.create_table(
        "project_snapshots",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("author", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("formula_version", sa.Text(), nullable=False),
        sa.Column("catalog_version", sa.BigInteger(), nullable=False),
        sa.Column("total_count", sa.BigInteger(), nullable=False),
        sa.Column("item_count", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_snapshots_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project_snapshots")),
    )
    op.create_index(op.f("ix_project_snapshots_project_id"), "project_snapshots", ["project_id"])
