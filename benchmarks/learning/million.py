"""A training on a million rows, compared with LightGBM alone: both read the same file and hold out the same share."""

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from benchmarks.learning.product import train
from touchstone.learning.task_interface import DataFile

MILLION_ROWS: Final = 1_000_000
NUMBERS: Final = 18
CATEGORIES: Final = 2
MAX_RATIO: Final = 1.5
ROUNDS: Final = 5


def write_table(path: Path, row_count: int) -> None:
    """Write a table of numbers and categories with a class that depends on some of them, and on chance."""
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(row_count, NUMBERS))
    table = pd.DataFrame(numbers.round(4), columns=[f"x{index}" for index in range(NUMBERS)])
    codes = generator.integers(0, 12, size=(row_count, CATEGORIES))
    for index in range(CATEGORIES):
        table[f"c{index}"] = pd.Series(codes[:, index]).map(lambda code: f"kind {code}")

    signal = numbers[:, 0] * numbers[:, 1] + np.sin(2 * numbers[:, 2]) + 0.7 * numbers[:, 3] + 0.3 * (codes[:, 0] % 3)
    noise = generator.normal(scale=1.5, size=row_count)
    table["y"] = np.where(signal + noise > 1.0, "yes", "no")
    table.to_csv(path, index=False)


def compare_million(row_count: int) -> bool:
    """Print the seconds and the scores of both, and return whether the product takes at most 1.5 times as long.

    Both are trained alternately, and their median times are compared, because the speed of a machine varies.
    """
    trainings = {"LightGBM alone": _train_lightgbm, "product": _train_product}
    seconds: dict[str, list[float]] = {name: [] for name in trainings}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.csv"
        write_table(path, row_count)

        for _round in range(ROUNDS):
            for name, train_and_score in trainings.items():
                started_at = time.perf_counter()
                score = train_and_score(path)
                seconds[name].append(time.perf_counter() - started_at)
                print(f"{name}: {seconds[name][-1]:.1f} s, balanced accuracy {score:.4f}", flush=True)

    ratio = median(seconds["product"]) / median(seconds["LightGBM alone"])
    print(f"ratio of the medians: {ratio:.2f}, at most {MAX_RATIO}: {'pass' if ratio <= MAX_RATIO else 'missed'}")
    return ratio <= MAX_RATIO


def _train_product(path: Path) -> float:
    """Train with default settings on a part of the rows, and return the balanced accuracy on the others."""
    with path.open("rb") as stream:
        result, _model = train(DataFile(stream, "csv"), "y", split={"strategy": "holdout"})
    return float(result["metrics"]["holdout"]["balanced_accuracy"]["value"])


def _train_lightgbm(path: Path) -> float:
    """Read, split and fit with pandas and LightGBM on all cores, and return the balanced accuracy."""
    table = pd.read_csv(path)
    categories = table.select_dtypes(exclude="number").columns.drop("y")
    features = table.drop(columns="y").astype(dict.fromkeys(categories, "category"))
    train_features, test_features, train_values, test_values = train_test_split(
        features, table["y"], test_size=0.2, stratify=table["y"], random_state=0
    )
    model = LGBMClassifier(class_weight="balanced", verbose=-1).fit(train_features, train_values)
    return float(balanced_accuracy_score(test_values, model.predict(test_features)))
