"""One rule says whether a model is clearly better than the baseline, and it allows for chance in both scores."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import train
from touchstone.learning.baseline_comparison import is_better_than_baseline


def measured(metric: str, model: tuple[float, ...], baseline: tuple[float, ...], where: str = "holdout") -> Any:
    """Return metrics as they are in a result, from the value, the lower and the upper end of both intervals."""
    names = ("mean" if where == "folds" else "value", "low", "high")
    return {
        "metric": metric,
        where: {metric: dict(zip(names, model, strict=True))},
        "baseline": {metric: dict(zip(names, baseline, strict=True))},
    }


@pytest.mark.parametrize("where", ["holdout", "folds"])
@pytest.mark.parametrize(
    ("metric", "model", "baseline", "expected"),
    [
        ("r2", (0.389, -0.320, 1.0), (-0.411, -2.0, -0.01), False),  # The mean of the test rows may be as good.
        ("r2", (0.389, 0.120, 0.6), (-0.411, -2.0, -0.01), True),
        ("balanced_accuracy", (0.70, 0.51, 0.80), (0.5, 0.5, 0.5), True),
        ("balanced_accuracy", (0.70, 0.49, 0.80), (0.5, 0.5, 0.5), False),
        ("rmse", (4.0, 3.0, 5.0), (6.0, 5.0, 7.0), True),
        ("rmse", (4.0, 3.0, 6.5), (6.0, 5.0, 7.0), False),
        ("rmse", (4.0, 3.0, 5.0), (6.0, 3.5, 9.0), False),  # The baseline may have had bad luck with these rows.
        ("accuracy", (0.92, 0.88, 0.96), (0.86, 0.80, 0.93), False),
    ],
)
def test_neither_value_lies_within_the_interval_of_the_other(
    where: str, metric: str, model: tuple[float, ...], baseline: tuple[float, ...], expected: bool
) -> None:
    """Otherwise the difference may be chance; R² is never compared with a baseline below 0, which is only chance."""
    assert is_better_than_baseline(measured(metric, model, baseline, where)) is expected


@pytest.mark.parametrize(
    ("classes", "expected"), [(None, True), ([2], False), ([4], True), ([1], False), ([3, 4], True), ([1, 2], False)]
)
def test_a_baseline_whose_class_is_not_tested_makes_no_model_good(classes: list[int] | None, expected: bool) -> None:
    """With k classes to evaluate, any constant that is one of them has a balanced accuracy of 1/k, not 0."""
    metrics = measured("balanced_accuracy", (0.50, 0.40, 0.60), (0.0, 0.0, 0.0))
    assert is_better_than_baseline(metrics | {"evaluated_classes": classes}) is expected


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {"metric": "unheard_of"},
        {"metric": "r2", "holdout": {}},
        {"metric": "r2", "holdout": {"r2": {"value": None, "low": None, "high": None}}, "baseline": {}},
    ],
)
def test_what_was_not_measured_is_unknown(metrics: dict[str, Any]) -> None:
    """Without two measured values, nothing is said for or against the model."""
    assert is_better_than_baseline(metrics) is None


def test_a_baseline_below_zero_by_chance_makes_no_model_good(tmp_path: Path) -> None:
    """On six test rows, an interval of R² from below 0 on is no clear gain, although the baseline has even less."""
    rng = np.random.default_rng(63)
    x = rng.normal(size=30)
    frame = pd.DataFrame({"x": x, "y": x + 0.8 * rng.normal(size=30)})
    result = train(frame, "y", tmp_path, algorithms=["linear"], budget={"max_trials": 1}).result
    metrics = result["metrics"]
    assert metrics["baseline"]["r2"]["value"] < metrics["holdout"]["r2"]["low"] < 0

    (warning,) = [warning for warning in result["warnings"] if warning["code"] == "not_better_than_baseline"]
    assert warning["text"]["en"] == "The model is not clearly better than the naive baseline (R²)."
