"""Trainings beside other libraries: `python -m benchmarks learning [PART] [OPTION …]`.

- `quality` (the default) compares the product with five alternatives on the same rows by repeated cross-validation. The
  tasks are in `tasks.json`, with tables of the demo catalog, or in `FOLDER/TASKS.json` with `--tables FOLDER`.
  `--only`, `--repeats` and `--folds` run a part of it.
- `million` trains on a million rows, beside LightGBM alone.
- `explain` compares the explanation of 1,000 rows with the shap package.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.learning.explanations import EXPLAINED_COLUMNS, EXPLAINED_ROWS, compare_explanations
from benchmarks.learning.million import MILLION_ROWS, compare_million
from benchmarks.learning.quality import MeasuredFolds, compare_quality
from benchmarks.learning.tasks import read_tasks


def main() -> None:
    """Run the given part, and exit with 1 if the product misses one of its targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("quality", "million", "explain"), default="quality")
    parser.add_argument("--tables", type=Path, help="folder with TASKS.json")
    parser.add_argument("--only", default="", help="only tasks whose file name contains this")
    parser.add_argument("--repeats", type=int, default=10, help="cross-validations of each task, shuffled differently")
    parser.add_argument("--folds", type=int, default=5, help="folds of each cross-validation")
    parser.add_argument("--results", type=Path, help="file that keeps the scores of all folds, to continue a run")
    parser.add_argument(
        "--rows", type=int, help="rows of the part `million` or `explain`, by default 1,000,000 or 1,000"
    )
    options = parser.parse_args()

    if options.part == "explain":
        compare_explanations(options.rows or EXPLAINED_ROWS, EXPLAINED_COLUMNS)
        return
    if options.part == "million":
        is_passed = compare_million(options.rows or MILLION_ROWS)
    else:
        tasks = [task for task in read_tasks(options.tables) if options.only in task.path.name]
        folds = MeasuredFolds(options.results)
        is_passed = compare_quality(tasks, folds, repeats=options.repeats, folds=options.folds)

    if not is_passed:
        sys.exit(1)
