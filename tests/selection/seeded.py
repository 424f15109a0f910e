"""Random records, written directly to the database, and the same records for the row-by-row reference."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.ranking.catalogs import row
from touchstone.core.attributes import ATTRIBUTES, WORDS
from touchstone.database.engine import Database
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetDraft

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def random_rows(seed: int, count: int) -> list[CatalogRow]:
    """Return records with many ties, nulls and unusual spellings, with ids from 1."""
    random = Random(seed)
    return [row(random, id_) for id_ in range(1, count + 1)]


def draft_of(row: CatalogRow) -> DatasetDraft:
    """Return the record to write for a row of the evaluator."""
    attributes = {attribute.name: getattr(row, attribute.name) for attribute in ATTRIBUTES}
    attributes |= {name: None if attributes[name] is None else list(attributes[name]) for name in WORDS}
    return DatasetDraft(
        id=row.id,
        dataset_id=row.dataset_id,
        owner=row.owner,
        visibility=row.visibility,
        description=row.description or "",
        file_path=row.file_path or "",
        file_type=row.file_type or "",
        attributes=attributes,
        metadata=metadata_of(row),
        measured_attributes=None,
        attribute_evidence=row.evidence,
        created_at=EPOCH + timedelta(microseconds=row.created_at),
        updated_at=EPOCH + timedelta(microseconds=row.updated_at),
    )


def metadata_of(row: CatalogRow) -> dict[str, Any]:
    """Return metadata from which the catalog reads the labels of a row again."""
    licence = None if row.license in (None, ("unknown",)) else " OR ".join(row.license or ())
    return {
        "licence": licence,
        "language": list(row.language) if row.language else None,
        "tags": list(row.tags) if row.tags else None,
        "source": {"name": row.source[0]} if row.source else "elsewhere",
        **({"measured": {"rows": 1}} if row.trainable == ("true",) else {}),
    }


def stored_row(row: CatalogRow) -> CatalogRow:
    """Return a record as it is after storing, because some texts are never null in the database."""
    values = {name: getattr(row, name) for name in CatalogRow.__struct_fields__}
    return CatalogRow(**values | {name: values[name] or "" for name in ("description", "file_path", "file_type")})


async def seed(database: Database, rows: Sequence[CatalogRow]) -> None:
    """Insert records as another process would."""
    async with database.writing() as writer:
        await store.insert_datasets(writer, [draft_of(row) for row in rows], version=1)
