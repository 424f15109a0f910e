"""Random records, put into the database below the API, and their row-by-row twins."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.ranking.catalogs import row
from touchstone.core.attributes import ATTRIBUTES, WORDS
from touchstone.database.engine import Database
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.services.selection import store

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def random_rows(seed: int, count: int) -> list[CatalogRow]:
    """Records full of ties, nulls and awkward spellings, with ids from 1."""
    random = Random(seed)
    return [row(random, id_) for id_ in range(1, count + 1)]


def stored(one: CatalogRow) -> dict[str, Any]:
    """The database row of an evaluator's row."""
    values: dict[str, Any] = {a.name: getattr(one, a.name) for a in ATTRIBUTES}
    values |= {name: None if values[name] is None else list(values[name]) for name in WORDS}
    values |= {name: getattr(one, name) for name in ("id", "dataset_id", "owner", "visibility")}
    values |= {name: getattr(one, name) or "" for name in ("description", "file_path", "file_type")}
    values |= {name: EPOCH + timedelta(microseconds=getattr(one, name)) for name in ("created_at", "updated_at")}
    return values | {"metadata": None, "measured_attributes": None, "changed_at_version": 1}


def twin(one: CatalogRow) -> CatalogRow:
    """The record as it is once stored: these texts are never null in the database."""
    values = {name: getattr(one, name) for name in CatalogRow.__struct_fields__}
    return CatalogRow(**values | {name: values[name] or "" for name in ("description", "file_path", "file_type")})


async def seed(database: Database, rows: Sequence[CatalogRow]) -> None:
    """Put records in, as another process would have done."""
    async with database.writing() as writer:
        await store.insert_datasets(writer, [stored(one) for one in rows])
