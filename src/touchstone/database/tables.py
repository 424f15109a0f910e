"""The tables for the catalog, claims, projects, files, users and jobs."""

from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy as sa

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.database.utc_datetime import UtcDateTime

NAMING_CONVENTION: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = sa.MetaData(naming_convention=NAMING_CONVENTION)

_COLUMN_TYPES: Final[dict[Kind, Any]] = {
    Kind.TEXT: sa.Text,
    Kind.INTEGER: sa.BigInteger,
    Kind.PERCENTAGE: sa.Double,
    Kind.FLAG: sa.Boolean,
}


def _json_column(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    """Return a column of JSON values that stores None as NULL instead of the JSON value `null`."""
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=nullable)


def _attribute_columns() -> Iterator[sa.Column[Any]]:
    """Yield a column for each attribute of a dataset. Only the name of a dataset is required."""
    for attribute in ATTRIBUTES:
        if attribute.kind is Kind.WORDS:
            yield _json_column(attribute.name)
        else:
            column_type = _COLUMN_TYPES[attribute.kind]
            yield sa.Column(attribute.name, column_type(), nullable=attribute.name != "dataset_name")


datasets = sa.Table(
    "datasets",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("dataset_id", sa.Uuid, nullable=False, unique=True),
    sa.Column("owner", sa.Uuid, nullable=True),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("file_path", sa.Text, nullable=False),
    sa.Column("file_type", sa.Text, nullable=False),
    *_attribute_columns(),
    _json_column("metadata"),
    # The names of the attributes that were measured in the data file but not declared.
    _json_column("measured_attributes"),
    # The combined evidence by attribute. Attributes without an entry are only declared by the creator.
    _json_column("attribute_evidence"),
    # The time of the creator's declaration by attribute, for declarations after the record was created.
    _json_column("declared_at"),
    # An administrator has made the record visible only to its owner.
    sa.Column("is_hidden", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("hidden_reason", sa.Text, nullable=True),
    # Identifies the owner, the source and the key in the source of an imported record.
    sa.Column("source_digest", sa.Text, nullable=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("updated_at", UtcDateTime, nullable=False),
    # The catalog version of the last change of this row. Other processes fetch all rows with newer versions.
    sa.Column("changed_at_version", sa.BigInteger, nullable=False),
    # The size of the record as JSON in bytes, for the quota of its owner and for the size limit of a page.
    sa.Column("bytes", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Index(None, "changed_at_version", "id"),
    sa.Index(None, "source_digest", unique=True),
    sqlite_autoincrement=True,
)

# The total size of the records of each owner, which is updated in the same transaction as the records.
record_usage = sa.Table(
    "record_usage",
    metadata,
    sa.Column("owner", sa.Uuid, primary_key=True),
    sa.Column("bytes", sa.BigInteger, nullable=False),
)

dataset_deletions = sa.Table(
    "dataset_deletions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("deleted_at_version", sa.BigInteger, nullable=False, index=True),
)

# Claims about the attributes of datasets, by people, from documents and from measurements. Values declared by the
# creator of a record are in the row of the record instead.
claims = sa.Table(
    "claims",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("dataset_id", sa.Integer, sa.ForeignKey("datasets.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("attribute", sa.Text, nullable=False),
    _json_column("value"),
    sa.Column("is_not_applicable", sa.Boolean, nullable=False),
    sa.Column("level", sa.Text, nullable=False),  # before the review
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("author", sa.Uuid, nullable=True),
    sa.Column("scope", sa.Text, nullable=True),
    sa.Column("quote", sa.Text, nullable=True),
    sa.Column("place", sa.Text, nullable=True),
    _json_column("source"),
    sa.Column("standard", sa.Text, nullable=True),
    sa.Column("field", sa.Text, nullable=True),
    sa.Column("note", sa.Text, nullable=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("until", UtcDateTime, nullable=True, index=True),
    sa.Column("withdrawn_at", UtcDateTime, nullable=True),
    sa.Column("reviewer", sa.Uuid, nullable=True),
    sa.Column("reviewed_at", UtcDateTime, nullable=True),
    sa.Column("decision", sa.Text, nullable=True),
    sa.Column("review_note", sa.Text, nullable=True),
    sa.Index(None, "status", "created_at"),
    sa.Index(None, "author", "status"),
)

# The counters "catalog", "accounts" and "names", which are incremented in the transactions that change this data.
versions = sa.Table(
    "versions",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
)

# The files in which processes have saved the index of the catalog, each with the version of its records. A file that is
# not listed here contains records of another database, or changes that were undone when a backup was restored.
catalog_snapshots = sa.Table(
    "catalog_snapshots",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
)

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=True),
    _json_column("criteria", nullable=False),
    _json_column("weights", nullable=False),
    sa.Column("chosen_dataset_id", sa.Integer, nullable=True),
    sa.Column("choice_reason", sa.Text, nullable=True),
    sa.Column("assurance", sa.Text, nullable=False, server_default="declared"),
    sa.Column("gates", sa.JSON(none_as_null=True), nullable=False, server_default="{}"),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("updated_at", UtcDateTime, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Index(None, "user_id", "updated_at"),
)

# An append-only table of the choices of datasets for projects, in the order of the ids. A row contains the evidence
# about the dataset at that time, which is kept when the record is deleted.
project_choices = sa.Table(
    "project_choices",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("project_id", sa.Uuid, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("author", sa.Uuid, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    # All of these are null if the choice was withdrawn.
    sa.Column("dataset_id", sa.Integer, nullable=True),
    sa.Column("dataset_name", sa.Text, nullable=True),
    sa.Column("digest", sa.Text, nullable=True),
    _json_column("content"),
    sa.Column("reason", sa.Text, nullable=True),
    _json_column("ranking"),
    # The size counts towards the quota of the owner of the project.
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sqlite_autoincrement=True,
)

project_snapshots = sa.Table(
    "project_snapshots",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("author", sa.Uuid, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("note", sa.Text, nullable=True),
    sa.Column("sha256", sa.Text, nullable=False),
    sa.Column("formula_version", sa.Text, nullable=False),
    sa.Column("catalog_version", sa.BigInteger, nullable=False),
    sa.Column("total_count", sa.BigInteger, nullable=False),
    sa.Column("item_count", sa.Integer, nullable=False),
    # The canonical JSON with the digest in `sha256`.
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
)

# Random keys generated by the service.
secret_keys = sa.Table(
    "secret_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key", sa.LargeBinary, nullable=False),
)

files = sa.Table(
    "files",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner", sa.Uuid, nullable=False, index=True),
    sa.Column("file_path", sa.Text, nullable=False, unique=True),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_folded", sa.Text, nullable=False, unique=True),
    sa.Column("password_hash", sa.Text, nullable=True),
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("is_superuser", sa.Boolean, nullable=False),
    sa.Column("is_curator", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("is_verified", sa.Boolean, nullable=False),
    sa.Column("pseudo", sa.Text, nullable=True),
    sa.Column("given_name", sa.Text, nullable=True),
    sa.Column("family_name", sa.Text, nullable=True),
    sa.Column("locale", sa.Text, nullable=True),  # null if none is chosen, so that the language of the client is used
    sa.Column("picture", sa.LargeBinary, nullable=True),
    sa.Column("picture_digest", sa.Text, nullable=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
)

oauth_accounts = sa.Table(
    "oauth_accounts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("oauth_name", sa.Text, nullable=False),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("account_email", sa.Text, nullable=False),
    sa.UniqueConstraint("oauth_name", "account_id"),
)

# The sign-ins at identity providers that have been completed, until their states expire, so that none is used twice.
used_sign_in_states = sa.Table(
    "used_sign_in_states",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("expires_at", UtcDateTime, nullable=False, index=True),
)

# A session is one sign-in on one device. Its refresh tokens form a family that is revoked as a whole.
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("user_agent", sa.Text, nullable=True),
    sa.Column("address", sa.Text, nullable=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("used_at", UtcDateTime, nullable=False),
    sa.Column("revoked_at", UtcDateTime, nullable=True),
)

refresh_tokens = sa.Table(
    "refresh_tokens",
    metadata,
    # Only the digest is stored, so that a stolen database contains no usable tokens.
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Uuid, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime, nullable=False),
    sa.Column("used_at", UtcDateTime, nullable=True),
)

reset_tokens = sa.Table(
    "reset_tokens",
    metadata,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("expires_at", UtcDateTime, nullable=False),
    sa.Column("used_at", UtcDateTime, nullable=True),
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("owner", sa.Uuid, nullable=False),
    sa.Column("status", sa.Text, nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=True),
    sa.Column("project_id", sa.Uuid, nullable=True, index=True),
    sa.Column("parent_job_id", sa.Uuid, nullable=True, index=True),
    sa.Column("dataset_id", sa.Integer, nullable=True),
    sa.Column("idempotency_key", sa.Text, nullable=True),
    sa.Column("request_digest", sa.Text, nullable=False),
    _json_column("request", nullable=False),
    # Data for the worker that is hidden from users: the path of the file, its declared metadata, the model artefact.
    _json_column("source"),
    _json_column("inputs"),
    _json_column("progress"),
    _json_column("result"),
    _json_column("error"),
    sa.Column("attempt", sa.Integer, nullable=False),
    # The number of attempts that ended because the worker was lost, not counting workers that were shut down.
    sa.Column("losses", sa.Integer, nullable=False),
    sa.Column("worker", sa.Text, nullable=True),
    sa.Column("lease_until", UtcDateTime, nullable=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("started_at", UtcDateTime, nullable=True),
    sa.Column("finished_at", UtcDateTime, nullable=True),
    sa.Column("updated_at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("owner", "kind", "idempotency_key"),
    sa.Index(None, "owner", "created_at"),
    sa.Index(None, "owner", "started_at"),  # for scheduling jobs fairly between users
)

# An append-only table of the state changes and progress reports of jobs, in the order of the ids.
job_events = sa.Table(
    "job_events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("job_id", sa.Uuid, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    _json_column("data"),
    sa.Column("at", UtcDateTime, nullable=False),
    sqlite_autoincrement=True,
)

job_artifacts = sa.Table(
    "job_artifacts",
    metadata,
    sa.Column("job_id", sa.Uuid, sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),
    # Relative to the artefacts folder. The path includes the attempt, so that attempts never overwrite each other.
    sa.Column("path", sa.Text, nullable=False),
)

# The records whose data files have yet to be measured. A lease keeps other processes from measuring the same record.
pending_measurements = sa.Table(
    "pending_measurements",
    metadata,
    sa.Column("dataset_id", sa.Integer, sa.ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("leased_until", UtcDateTime, nullable=False),
)

# A comparison trains the same model on several datasets. Each training is a row of `jobs`.
comparisons = sa.Table(
    "comparisons",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=True),
    sa.Column("project_id", sa.Uuid, nullable=True, index=True),
    sa.Column("idempotency_key", sa.Text, nullable=True),
    sa.Column("request_digest", sa.Text, nullable=False),
    _json_column("request", nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("owner", "idempotency_key"),
    sa.Index(None, "owner", "created_at"),
)

compared_datasets = sa.Table(
    "compared_datasets",
    metadata,
    sa.Column("comparison_id", sa.Uuid, sa.ForeignKey("comparisons.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("dataset_id", sa.Integer, nullable=False),
    sa.Column("dataset_name", sa.Text, nullable=False),
    # The position of the dataset in the ranking of the project, or null if the dataset was specified by its id.
    sa.Column("rank", sa.Integer, nullable=True),
    sa.Column("target", sa.Text, nullable=True),
    # Null if the dataset cannot be used for training, for the reason in `refusal`, or if the training was deleted.
    sa.Column("job_id", sa.Uuid, sa.ForeignKey("jobs.id", ondelete="SET NULL"), nullable=True, index=True),
    _json_column("refusal"),
)
