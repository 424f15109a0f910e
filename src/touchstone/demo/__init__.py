"""The demo catalog: real dataset records that come with the package, some of them with their table.

Made by `tools/make_demo_catalog.py`; sources and licences are in `ATTRIBUTION.md` beside this file.
"""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from touchstone.core.attributes import BY_NAME

_HERE = Path(str(files(__package__)))


def records() -> Iterator[dict[str, Any]]:
    """Yield the records in the order of the file, each with every attribute (None where nothing is known).

    Keys: `dataset_id`, `name`, `description`, `file_path`, `file_type`, the attributes of `core.attributes`
    (`dataset_name` equals `name`) and `metadata` with `tags`, `evidence`, `source`, `licence`; a record with a table
    has `measured` there too, and suggestions: `target`, `sensitive_columns`, `exclude_columns`, `note`.
    """
    with (_HERE / "catalog.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield dict.fromkeys(BY_NAME) | json.loads(line)


def tables_folder() -> Path:
    """Return the folder of the tables, for which `demo/` stands in the `file_path` of a record."""
    return _HERE / "tables"
