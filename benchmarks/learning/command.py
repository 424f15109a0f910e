"""Trainings beside other libraries: `python -m benchmarks learning [PART] [OPTION …]`.

- `quality` (the default) trains every task of `tasks.json`, whose tables the demo catalog carries, or of
  `FOLDER/TASKS.json` with `--tables FOLDER`, by repeated cross-validation. The product is compared with five
  alternatives on the same rows. `--only`, `--repeats` and `--folds` run a part of it.
- `million` trains on a million rows, beside LightGBM alone.
- `explain` compares the explanation of 1,000 rows with the shap package.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.learning.explanations import EXPLAINED_COLUMNS, EXPLAINED_ROWS, compare_explanations
from benchmarks.learning.million import compare_million
from benchmarks.learning.quality import MeasuredFolds, compare_quality
from benchmarks.learning.tasks import read_tasks


def main() -> None:
    """Run the part that is named, and exit with 1 if the product misses one of its targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("quality", "million", "explain"), default="quality")
    parser.add_argument("--tables", type=Path, help="folder with TASKS.json")
    parser.add_argument("--only", default="", help="only tasks whose file name contains this")
    parser.add_argument("--repeats", type=int, default=10, help="cross-validations of each task, shuffled differently")
    parser.add_argument("--folds", type=int, default=5, help="folds of each cross-validation")
    parser.add_argument("--results", type=Path, help="file that keeps the scores of all folds, to continue a run")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the part `million`")
    options = parser.parse_args()

    if options.part == "explain":
        compare_explanations(EXPLAINED_ROWS, EXPLAINED_COLUMNS)
        return
    if options.part == "million":
        sys.exit(0 if compare_million(options.rows) else 1)

    tasks = [task for task in read_tasks(options.tables) if options.only in task.path.name]
    sys.exit(
        0 if compare_quality(tasks, MeasuredFolds(options.results), repeats=options.repeats, folds=options.folds) else 1
    )
