"""New records as columns, in the forms in which the database and the catalog in memory take many of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import UUID

import numpy as np

from touchstone.core.attributes import WORDS
from touchstone.ranking.columns.record_batch import RecordBatch
from touchstone.ranking.columns.row_batches import encode_record_batch
from touchstone.services.selection.datasets.dataset_record import (
    ATTRIBUTE_NAMES,
    DatasetDraft,
    RecordLabels,
    content_size,
)
from touchstone.services.selection.datasets.encoded_records import to_microseconds
from touchstone.services.selection.datasets.label_words import label_words

_FIELDS_OF_DRAFT = (
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
        columns: The value of each record by the name of the column in the database, except for the columns that are
            assigned when the records are stored.
    """

    owner: UUID | None
    columns: dict[str, list[Any]]
    _catalog_batch: RecordBatch

    @classmethod
    def from_drafts(cls, owner: UUID | None, drafts: Sequence[DatasetDraft]) -> Self:
        """Prepare to store the drafts of some new records of an owner."""
        columns: dict[str, list[Any]] = {}
        for name in _FIELDS_OF_DRAFT:
            columns[name] = [getattr(draft, name) for draft in drafts]
        for name in ATTRIBUTE_NAMES:
            columns[name] = [draft.attributes[name] for draft in drafts]
        columns["bytes"] = [content_size(draft) for draft in drafts]

        return cls(owner, columns, _encode_for_catalog(columns))

    def catalog_batch(self, ids: Sequence[int]) -> RecordBatch:
        """Return the records as the catalog in memory takes them; `ids` are those that the database has assigned."""
        batch = self._catalog_batch
        return replace(batch, columns={**batch.columns, "id": np.array(ids, np.int64)})


def _encode_for_catalog(columns: dict[str, list[Any]]) -> RecordBatch:
    """Return new records as the catalog in memory takes them, but without their ids: each is 0."""
    labels = [label_words(RecordLabels.from_metadata(metadata)) for metadata in columns["metadata"]]
    unknown = [None] * len(labels)

    values: dict[str, Sequence[Any]] = {
        **columns,
        "id": [0] * len(labels),
        "created_at": [to_microseconds(instant) for instant in columns["created_at"]],
        "updated_at": [to_microseconds(instant) for instant in columns["updated_at"]],
        "evidence": unknown,
    }
    for name in WORDS:
        values[name] = [None if words is None else tuple(words) for words in columns[name]]
    for name in ("license", "language", "source", "tags", "trainable"):
        values[name] = [words[name] for words in labels]  # type: ignore[literal-required]

    return encode_record_batch(values)
