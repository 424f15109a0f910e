"""Generated records as JSON Lines, for bulk imports."""

from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.scale.record_generator import RecordGenerator
from touchstone.core.attributes import ATTRIBUTES, Kind

_WORD_LISTS: Final = frozenset(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.WORDS)
_PLAIN_MEMBERS: Final = (
    "description",
    "file_path",
    "file_type",
    "visibility",
    *(attribute.name for attribute in ATTRIBUTES if attribute.name not in _WORD_LISTS),
)


def write_record_lines(path: Path, first_id: int, count: int) -> None:
    """Write `count` generated records to a JSON Lines file, with the numbers from `first_id` on as source keys."""
    columns = [*_PLAIN_MEMBERS, *_WORD_LISTS, "metadata"]
    with path.open("wb") as file:
        for batch in RecordGenerator().batches(first_id, count):
            for row in batch.select(columns).to_pylist():
                line = msgspec.json.encode(_record(row))
                file.write(line + b"\n")


def _record(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as a record for an import, without unknown values and without the measurement of the file."""
    record = {name: row[name] for name in _PLAIN_MEMBERS if row[name] is not None}
    record["name"] = record.pop("dataset_name")
    for name in _WORD_LISTS:
        if row[name] is not None:
            record[name] = msgspec.Raw(row[name].encode())

    metadata = msgspec.json.decode(row["metadata"])
    metadata.pop("measured", None)
    record["metadata"] = metadata
    return record
