"""The table of claims, which is the ledger: reads, inserts and closes claims."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.core.evidence import EvidenceLevel
from touchstone.core.identity import Caller
from touchstone.database.engine import Reader, Row, StreamingReader, Writer
from touchstone.database.tables import claims, datasets
from touchstone.metadata.documents import Scope
from touchstone.services.selection.datasets.store import is_visible_to
from touchstone.services.selection.evidence.claim_records import (
    ClaimRecord,
    ClaimReview,
    ClaimSource,
    ClaimStatus,
    Decision,
)

# Both databases accept several thousand values in one IN list.
_IDS_PER_QUERY: Final = 1000


class QueuedClaim(NamedTuple):
    """A claim that waits for a decision, with the name of the dataset that it is about."""

    claim: ClaimRecord
    dataset_name: str


async def insert_claims(transaction: Writer, records: Sequence[ClaimRecord]) -> None:
    """Insert claims. The caller must also update the evidence of their records."""
    if records:
        await transaction.execute(sa.insert(claims), [_column_values(record) for record in records])


async def update_claim(transaction: Writer, record: ClaimRecord) -> None:
    """Store the review or the withdrawal of a claim, whose other columns never change."""
    review = record.review
    update = sa.update(claims).where(claims.c.id == record.id)
    values = {"status": record.status.value, "withdrawn_at": record.withdrawn_at, **_review_values(review)}
    await transaction.execute(update.values(**values))


async def read_claims(connection: Reader, dataset_id: int) -> list[ClaimRecord]:
    """Return all claims about a record, the newest first."""
    query = sa.select(claims).where(claims.c.dataset_id == dataset_id)
    rows = await connection.all(query.order_by(claims.c.created_at.desc(), claims.c.attribute, claims.c.id))
    return [_to_record(row) for row in rows]


async def read_claims_by_dataset(
    connection: Reader, dataset_ids: Sequence[int], status: ClaimStatus | None = None
) -> dict[int, list[ClaimRecord]]:
    """Return the claims about the given records, by the id of the record.

    Args:
        connection: a connection to the database.
        dataset_ids: the integer ids of the records.
        status: the stored status of the claims to return, or None for all claims.

    Returns:
        The claims by record, without records that have no such claims.
    """
    has_status = sa.true() if status is None else claims.c.status == status.value
    claims_by_dataset: dict[int, list[ClaimRecord]] = {}
    for start in range(0, len(dataset_ids), _IDS_PER_QUERY):
        batch = dataset_ids[start : start + _IDS_PER_QUERY]
        rows = await connection.all(sa.select(claims).where(claims.c.dataset_id.in_(batch), has_status))
        for row in rows:
            claims_by_dataset.setdefault(row["dataset_id"], []).append(_to_record(row))

    return claims_by_dataset


async def stream_active_claims(connection: StreamingReader, chunk_size: int) -> AsyncIterator[list[ClaimRecord]]:
    """Yield all active claims in chunks, ordered by record."""
    is_active = claims.c.status == ClaimStatus.ACTIVE.value
    query = sa.select(claims).where(is_active).order_by(claims.c.dataset_id, claims.c.attribute, claims.c.id)
    async for rows in connection.stream(query, chunk_size):
        yield [_to_record(row) for row in rows]


async def dataset_ids_with_expired_claims(connection: Reader, now: datetime, limit: int) -> list[int]:
    """Return the ids of at most `limit` records with open claims that have expired."""
    is_open = claims.c.status.in_([ClaimStatus.ACTIVE.value, ClaimStatus.PROPOSED.value])
    query = sa.select(claims.c.dataset_id).where(claims.c.until <= now, is_open).distinct().limit(limit)
    return [row["dataset_id"] for row in await connection.all(query)]


def open_proposal_condition(caller: Caller, now: datetime) -> sa.ColumnElement[bool]:
    """Return the SQL condition for open proposals that a caller may decide about."""
    is_proposal = (claims.c.status == ClaimStatus.PROPOSED.value) & _is_unexpired(now)
    if caller.is_curator:
        return is_proposal & is_visible_to(caller.id)
    return is_proposal & (datasets.c.owner == caller.id)


def unconfirmed_claim_condition(curator: UUID, now: datetime) -> sa.ColumnElement[bool]:
    """Return the SQL condition for effective claims with a quote that a curator may confirm.

    Curators may not confirm their own claims. Claims about annotators are never effective.
    """
    is_effective = (claims.c.status == ClaimStatus.ACTIVE.value) & _is_unexpired(now)
    is_effective &= claims.c.scope.is_(None) | (claims.c.scope != Scope.ANNOTATORS.value)
    is_confirmed = claims.c.decision.is_not(None) & (claims.c.decision == Decision.CONFIRM.value)
    is_by_somebody_else = claims.c.author.is_(None) | (claims.c.author != curator)
    return is_effective & claims.c.quote.is_not(None) & ~is_confirmed & is_by_somebody_else & is_visible_to(curator)


def _is_unexpired(now: datetime) -> sa.ColumnElement[bool]:
    """Return the SQL condition for claims that have not expired."""
    return claims.c.until.is_(None) | (claims.c.until > now)


async def read_queue(
    connection: Reader, condition: sa.ColumnElement[bool], *, offset: int, limit: int
) -> list[QueuedClaim]:
    """Return a page of the claims that satisfy a condition, the oldest first."""
    query = sa.select(claims, datasets.c.dataset_name)
    query = query.join(datasets, datasets.c.id == claims.c.dataset_id).where(condition)
    rows = await connection.all(query.order_by(claims.c.created_at, claims.c.id).offset(offset).limit(limit))
    return [QueuedClaim(_to_record(row), row["dataset_name"]) for row in rows]


async def count_queue(connection: Reader, condition: sa.ColumnElement[bool]) -> int:
    """Return the number of claims that satisfy a condition."""
    query = sa.select(sa.func.count()).select_from(claims.join(datasets, datasets.c.id == claims.c.dataset_id))
    return int(await connection.scalar(query.where(condition)))


async def count_open_proposals_by(connection: Reader, author: UUID) -> int:
    """Return the number of open proposals of a user about all records."""
    is_open = (claims.c.author == author) & (claims.c.status == ClaimStatus.PROPOSED.value)
    return int(await connection.scalar(sa.select(sa.func.count()).select_from(claims).where(is_open)))


def _column_values(record: ClaimRecord) -> dict[str, Any]:
    """Return the values of all columns of a claim, by the name of the column."""
    return {
        "id": record.id,
        "dataset_id": record.dataset_id,
        "attribute": record.attribute,
        "value": record.value,
        "is_not_applicable": record.is_not_applicable,
        "level": record.level.value,
        "status": record.status.value,
        "author": record.author,
        "scope": record.scope,
        "quote": record.quote,
        "place": record.place,
        "source": record.source,
        "standard": record.standard,
        "field": record.field,
        "note": record.note,
        "created_at": record.created_at,
        "until": record.until,
        "withdrawn_at": record.withdrawn_at,
        **_review_values(record.review),
    }


def _review_values(review: ClaimReview | None) -> dict[str, Any]:
    """Return the values of the columns for the last review of a claim."""
    if review is None:
        return {"reviewer": None, "reviewed_at": None, "decision": None, "review_note": None}

    return {
        "reviewer": review.reviewer,
        "reviewed_at": review.at,
        "decision": review.decision.value,
        "review_note": review.note,
    }


def _to_record(row: Row) -> ClaimRecord:
    """Convert a row of the table."""
    review: ClaimReview | None = None
    if row["decision"] is not None:
        review = ClaimReview(
            reviewer=row["reviewer"],
            at=row["reviewed_at"],
            decision=Decision(row["decision"]),
            note=row["review_note"],
        )
    source = row["source"]

    return ClaimRecord(
        id=row["id"],
        dataset_id=row["dataset_id"],
        attribute=row["attribute"],
        value=row["value"],
        is_not_applicable=row["is_not_applicable"],
        level=EvidenceLevel(row["level"]),
        status=ClaimStatus(row["status"]),
        author=row["author"],
        scope=row["scope"],
        quote=row["quote"],
        place=row["place"],
        source=None if source is None else msgspec.convert(source, ClaimSource),
        standard=row["standard"],
        field=row["field"],
        note=row["note"],
        created_at=row["created_at"],
        until=row["until"],
        withdrawn_at=row["withdrawn_at"],
        review=review,
    )
