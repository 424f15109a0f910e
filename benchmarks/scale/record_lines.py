"""Generated records as JSON Lines, in the form in which the bulk import takes them."""

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
    """Write `count` records to a file of JSON Lines; the key in the source of each is its number from `first_id` on."""
    columns = [*_PLAIN_MEMBERS, *_WORD_LISTS, "metadata"]
    with path.open("wb") as file:
        for batch in RecordGenerator().batches(first_id, count):
            rows = batch.select(columns).to_pylist()
            file.write(b"\n".join(msgspec.json.encode(_line(row)) for row in rows) + b"\n")


def _line(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as the JSON object of a record, without what is not known and without the measurement of a file."""
    line = {name: row[name] for name in _PLAIN_MEMBERS if row[name] is not None}
    line["name"] = line.pop("dataset_name")
    for name in _WORD_LISTS:
        if row[name] is not None:
            line[name] = msgspec.Raw(row[name].encode())

    metadata = msgspec.json.decode(row["metadata"])
    metadata.pop("measured", None)
    line["metadata"] = metadata
    return line
