"""Reading of the packaged demo records, and the folder of their tables."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from touchstone.core.attributes import BY_NAME

_FOLDER = Path(str(files(__package__)))


def read_records() -> Iterator[dict[str, Any]]:
    """Yield the records of the demo catalog in the order of the file, each with every attribute (None if unknown).

    The keys are `dataset_id`, `name`, `description`, `file_path`, `file_type`, the attributes of `core.attributes`
    (`dataset_name` equals `name`) and `metadata` with `tags`, `evidence`, `source` and `licence`. The `metadata` of a
    record with a table also has the profile of the table as `measured`, and suggestions for a training: `target`,
    `sensitive_columns`, `exclude_columns` and `note`.
    """
    with (_FOLDER / "catalog.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield dict.fromkeys(BY_NAME) | json.loads(line)


def tables_folder() -> Path:
    """Return the folder of the tables, for which `demo/` stands in the `file_path` of a record."""
    return _FOLDER / "tables"
