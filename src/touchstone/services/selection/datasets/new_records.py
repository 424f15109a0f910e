"""New records as columns, in the forms in which the database and the catalog in memory take many of them at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self
from uuid import UUID

import numpy as np

from touchstone.core.attributes import WORDS
from touchstone.database.bulk_insert import ConvertedColumn
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.ranking.columns.record_batch import RecordBatch
from touchstone.ranking.columns.row_batches import encode_record_batch
from touchstone.services.selection.datasets.dataset_record import (
    ATTRIBUTE_NAMES,
    DatasetDraft,
    RecordLabels,
    content_size,
)
from touchstone.services.selection.datasets.encoded_records import to_microseconds
from touchstone.services.selection.datasets.label_words import licence_words, optional_words, trainable_words

_FIELDS_OF_DRAFT: Final = (
    "dataset_id",
    "owner",
    "visibility",
    "description",
    "file_path",
    "file_type",
    "metadata",
    "source_digest",
    "created_at",
    "updated_at",
)


@dataclass(frozen=True, slots=True)
class NewRecords:
    """New records of one owner, which nobody has made claims about.

    Everything that takes long is prepared when an object of this class is made, so that storing it does not keep other
    writers waiting.

    Attributes:
        owner: Who owns all of the records; None for nobody.
        sizes: The size of each record in bytes, which counts towards the quota of its owner.
        columns: The converted columns of the table, except for those that are assigned when the records are stored.
    """

    owner: UUID | None
    sizes: Sequence[int]
    columns: Mapping[str, ConvertedColumn]
    _catalog_batch: RecordBatch

    @classmethod
    def from_drafts(cls, database: Database, owner: UUID | None, drafts: Sequence[DatasetDraft]) -> Self:
        """Prepare to store the drafts of some new records of an owner."""
        columns: dict[str, list[Any]] = {}
        for name in _FIELDS_OF_DRAFT:
            columns[name] = [getattr(draft, name) for draft in drafts]
        for name in ATTRIBUTE_NAMES:
            columns[name] = [draft.attributes[name] for draft in drafts]
        columns["bytes"] = [content_size(draft) for draft in drafts]

        return cls(
            owner,
            sizes=columns["bytes"],
            columns=database.convert_columns(datasets, columns),
            _catalog_batch=_encode_for_catalog(columns),
        )

    def catalog_batch(self, ids: Sequence[int]) -> RecordBatch:
        """Return the records as the catalog in memory takes them; `ids` are those that the database has assigned."""
        batch = self._catalog_batch
        return replace(batch, columns={**batch.columns, "id": np.array(ids, np.int64)})


def _encode_for_catalog(columns: Mapping[str, Sequence[Any]]) -> RecordBatch:
    """Return new records as the catalog in memory takes them, but without their ids: each is 0."""
    labels = [RecordLabels.from_metadata(metadata) for metadata in columns["metadata"]]
    words = {name: [None if value is None else tuple(value) for value in columns[name]] for name in WORDS}

    return encode_record_batch(
        {
            **columns,
            **words,
            "license": [licence_words(label.licence) for label in labels],
            "language": [optional_words(label.language) for label in labels],
            "source": [optional_words(label.source) for label in labels],
            "tags": [optional_words(label.tags) for label in labels],
            "trainable": [trainable_words(label.measured_rows) for label in labels],
            "created_at": _all_to_microseconds(columns["created_at"]),
            "updated_at": _all_to_microseconds(columns["updated_at"]),
            "evidence": [None] * len(labels),
            "id": [0] * len(labels),
        }
    )


def _all_to_microseconds(instants: Sequence[datetime]) -> list[int]:
    """Return instants as numbers of microseconds since 1970; those of new records are nearly always the same."""
    microseconds = {instant: to_microseconds(instant) for instant in set(instants)}
    return [microseconds[instant] for instant in instants]
