"""Add claims, the evidence of each record, the role of curators, and hidden records."""

from typing import Any, Final
from uuid import uuid4

import sqlalchemy as sa
from alembic import op

from touchstone.database.utc_datetime import UtcDateTime

revision = "0004"
down_revision = "0003"

_BATCH: Final = 500
# What was measured in a data file: the attribute, and the member of the stored measurement.
_MEASURED: Final = {
    "instances_number": "rows",
    "features_number": "columns",
    "missing_values_percentage": "missing_values_percentage",
}
_datasets: Final = sa.table(
    "datasets",
    sa.column("id", sa.Integer),
    sa.column("instances_number", sa.BigInteger),
    sa.column("features_number", sa.BigInteger),
    sa.column("missing_values_percentage", sa.Double),
    sa.column("has_missing_values", sa.Boolean),
    sa.column("metadata", sa.JSON(none_as_null=True)),
    sa.column("measured_attributes", sa.JSON(none_as_null=True)),
    sa.column("attribute_evidence", sa.JSON(none_as_null=True)),
    sa.column("updated_at", UtcDateTime),
    sa.column("changed_at_version", sa.BigInteger),
)
_claims: Final = sa.table(
    "claims",
    sa.column("id", sa.Uuid),
    sa.column("dataset_id", sa.Integer),
    sa.column("attribute", sa.Text),
    sa.column("value", sa.JSON(none_as_null=True)),
    sa.column("is_not_applicable", sa.Boolean),
    sa.column("level", sa.Text),
    sa.column("status", sa.Text),
    sa.column("created_at", UtcDateTime),
)
_versions: Final = sa.table("versions", sa.column("name", sa.Text), sa.column("version", sa.BigInteger))


def upgrade() -> None:
    """Create the table of claims, add columns, and convert existing measurements to claims."""
    op.add_column("users", sa.Column("is_curator", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("datasets", sa.Column("attribute_evidence", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("datasets", sa.Column("is_hidden", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("datasets", sa.Column("hidden_reason", sa.Text(), nullable=True))
    _create_claims()
    _convert_measurements()


def _create_claims() -> None:
    """Create the empty table of claims."""
    op.create_table(
        "claims",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("attribute", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("is_not_applicable", sa.Boolean(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("author", sa.Uuid(), nullable=True),
        sa.Column("scope", sa.Text(), nullable=True),
        sa.Column("quote", sa.Text(), nullable=True),
        sa.Column("place", sa.Text(), nullable=True),
        sa.Column("source", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("standard", sa.Text(), nullable=True),
        sa.Column("field", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=True),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
        sa.Column("reviewer", sa.Uuid(), nullable=True),
        sa.Column("reviewed_at", UtcDateTime(), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("review_note", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_claims_dataset_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claims")),
    )
    op.create_index(op.f("ix_claims_dataset_id"), "claims", ["dataset_id"], unique=False)
    op.create_index(op.f("ix_claims_status_created_at"), "claims", ["status", "created_at"], unique=False)
    op.create_index(op.f("ix_claims_author_status"), "claims", ["author", "status"], unique=False)
    op.create_index(op.f("ix_claims_until"), "claims", ["until"], unique=False)


def _convert_measurements() -> None:
    """Insert a claim for each attribute that was measured in the data file of a dataset.

    The changed datasets get a new catalog version, so that other processes update their copies in memory.
    """
    connection = op.get_bind()
    is_catalog = _versions.c.name == "catalog"
    current_version = connection.scalar(sa.select(_versions.c.version).where(is_catalog)) or 0
    next_version = current_version + 1

    is_measured = sa.cast(_datasets.c.metadata, sa.Text).like('%"measured"%')
    last_id = 0
    is_changed = False

    while True:
        query = sa.select(_datasets).where(_datasets.c.id > last_id, is_measured).order_by(_datasets.c.id)
        records = connection.execute(query.limit(_BATCH)).mappings().all()
        if not records:
            break

        for record in records:
            is_changed |= _convert_measurement(connection, record, next_version)
        last_id = records[-1]["id"]

    if is_changed:
        connection.execute(sa.update(_versions).where(is_catalog).values(version=next_version))


def _convert_measurement(connection: sa.Connection, record: Any, next_version: int) -> bool:
    """Convert the measured values of a dataset to claims and evidence, and return whether there are any."""
    measured_values = _measured_values(record["metadata"])
    if not measured_values:
        return False

    # The attributes with measured values because nobody has declared them.
    attributes_without_declaration = set(record["measured_attributes"] or ())
    changes: dict[str, Any] = {"changed_at_version": next_version}
    evidence: dict[str, Any] = {}

    for attribute, measured in measured_values.items():
        declared = None if attribute in attributes_without_declaration else record[attribute]
        is_shown = declared is None or declared == measured
        evidence[attribute] = {
            "level": "measured" if is_shown else "declared",
            "declared": declared,
            "documented": measured,
            "reviewed": measured,
        }

        # A declared value is still shown if the measurement contradicts it.
        if not is_shown:
            evidence[attribute]["stricter_level"] = "measured"

        if declared is None:
            attributes_without_declaration.add(attribute)
            changes[attribute] = measured

    changes["measured_attributes"] = sorted(attributes_without_declaration) or None
    changes["attribute_evidence"] = evidence
    connection.execute(sa.update(_datasets).where(_datasets.c.id == record["id"]).values(**changes))

    new_claims = [_new_claim(record, attribute, value) for attribute, value in measured_values.items()]
    connection.execute(sa.insert(_claims), new_claims)
    return True


def _new_claim(record: Any, attribute: str, value: bool | int | float) -> dict[str, Any]:
    """Return the row of a measured claim about a record."""
    return {
        "id": uuid4(),
        "dataset_id": record["id"],
        "attribute": attribute,
        "value": value,
        "is_not_applicable": False,
        "level": "measured",
        "status": "active",
        "created_at": record["updated_at"],
    }


def _measured_values(metadata: Any) -> dict[str, bool | int | float]:
    """Return the values measured in the data file of a dataset, by attribute.

    The target column in the metadata is not counted as a feature.
    """
    measured = metadata.get("measured") if isinstance(metadata, dict) else None
    if not isinstance(measured, dict):
        return {}

    values = {name: measured[member] for name, member in _MEASURED.items() if measured.get(member) is not None}

    column_names = [column["name"] for column in measured.get("column_profiles") or ()]
    has_target_column = metadata.get("target") in column_names
    if "features_number" in values and has_target_column:
        values["features_number"] -= 1

    if "missing_values_percentage" in values:
        values["has_missing_values"] = values["missing_values_percentage"] > 0
    return values
