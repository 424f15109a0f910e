"""The prediction tasks of the benchmark, and the part of their tables that is used."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from touchstone.demo.packaged_records import tables_folder

MAX_ROWS: Final = 6_000
MIN_CLASS_ROWS: Final = 5


@dataclass(frozen=True)
class BenchmarkTask:
    """A column to predict from the other columns of a table, except the dropped ones."""

    path: Path
    target: str
    is_classification: bool
    dropped: tuple[str, ...]

    @property
    def metric(self) -> str:
        """The metric by which models are compared."""
        return "balanced_accuracy" if self.is_classification else "r2"

    def read_table(self) -> pd.DataFrame:
        """Return the rows with a target, at most 6,000 of them, without classes of fewer than five rows."""
        table = pd.read_parquet(self.path) if self.path.suffix == ".parquet" else pd.read_csv(self.path)
        table = table[table[self.target].notna()].drop(columns=list(self.dropped))

        if len(table) > MAX_ROWS:
            table = table.sample(MAX_ROWS, random_state=0)
        if self.is_classification:
            class_counts = table[self.target].value_counts()
            frequent_classes = class_counts[class_counts >= MIN_CLASS_ROWS].index
            table = table[table[self.target].isin(frequent_classes)]
        return table.reset_index(drop=True)


def read_tasks(folder: Path | None) -> list[BenchmarkTask]:
    """Return the tasks of `TASKS.json` in a folder, or by default the packaged ones.

    The paths of files in `TASKS.json` are relative to the parent of the folder.
    """
    if folder is None:
        tasks_file, tables = Path(__file__).with_name("tasks.json"), tables_folder()
    else:
        tasks_file, tables = folder / "TASKS.json", folder.parent

    return [
        BenchmarkTask(
            path=tables / task["file"],
            target=task["target"],
            is_classification=task["task"] == "classification",
            dropped=tuple(task["drop"]),
        )
        for task in json.loads(tasks_file.read_text())
    ]
