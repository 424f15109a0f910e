"""The summary of a comparison says how far its scores can be compared."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from touchstone.jobs.comparisons.assessment import assess
from touchstone.jobs.comparisons.comparison_records import ComparedDatasetRecord, Comparison, ComparisonRecord
from touchstone.jobs.comparisons.summary import summarize
from touchstone.jobs.job_states import JobState
from touchstone.learning.request_choices import Strategy
from touchstone.messages import comparison_text
from touchstone.messages.locales import LOCALES


def scored(value: float, *, baseline: float, metric: str = "accuracy") -> dict[str, Any]:
    """Return the metrics of a training."""
    estimate = {"value": value, "low": value - 0.1, "high": value + 0.1}
    baseline_estimate = {"value": baseline, "low": baseline - 0.1, "high": baseline + 0.1}
    return {"metric": metric, "holdout": {metric: estimate}, "baseline": {metric: baseline_estimate}}


def compared_dataset(name: str, **columns: Any) -> ComparedDatasetRecord:
    """Return a dataset whose training has succeeded with an accuracy of 0.8, unless `columns` differ."""
    row = dict.fromkeys(ComparedDatasetRecord.__struct_fields__) | {
        "comparison_id": UUID(int=1),
        "dataset_id": len(name),
        "dataset_name": name,
        "target": "y",
        "job_id": uuid4(),
        "status": JobState.SUCCEEDED,
        "metrics": scored(0.8, baseline=0.5),
        "classes": ["no", "yes"],
        "split_strategy": "holdout",
    }
    return ComparedDatasetRecord.from_row(row | columns)


def compare(*datasets: ComparedDatasetRecord) -> Comparison:
    """Return a comparison of datasets."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    record = ComparisonRecord(id=UUID(int=1), name=None, project_id=None, request={}, created_at=moment)
    return Comparison(record=record, datasets=datasets)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({}, None),
        ({"target": "Y"}, None),
        ({"target": "z"}, "The targets are different (“y”, “z”), so a score may only be better"),
        ({"classes": ["a", "b", "c"]}, "The targets have different numbers of classes (2, 3), so a score may only"),
        ({"target": "z", "classes": ["a", "b", "c"]}, "The targets have different numbers of classes (2, 3)"),
        ({"metrics": scored(0.9, baseline=0.52)}, None),
        ({"metrics": scored(0.9, baseline=0.85)}, "A model that ignores every column scores 0.5 to 0.85, depending"),
        ({"split_strategy": "time"}, "The test rows were chosen in different ways (at random, the most recent ones)"),
    ],
)
def test_targets_and_splits_that_differ_are_mentioned(columns: dict[str, Any], sentence: str | None) -> None:
    """With two classes a model is right more often by chance than with three, and the future is hard to predict."""
    comparison = compare(compared_dataset("First"), compared_dataset("Second", **columns))
    summary = summarize(comparison, assess(comparison), "en")
    if sentence is None:
        assert summary.endswith("Each score was measured on rows of its own table.")
    else:
        assert sentence in summary


def test_baselines_of_regressions_say_nothing_about_the_difficulty() -> None:
    """By R², the mean of the training rows scores below 0 where the test rows differ from them."""
    baselines = (0.0, -0.4)
    comparison = compare(
        *(compared_dataset("Data", metrics=scored(0.8, baseline=value, metric="r2"), classes=[]) for value in baselines)
    )
    assert "A model that ignores" not in summarize(comparison, assess(comparison), "en")


@pytest.mark.parametrize("strategy", [strategy for strategy in Strategy if strategy is not Strategy.AUTO])
@pytest.mark.parametrize("locale", LOCALES)
def test_each_way_to_choose_test_rows_has_a_name(strategy: Strategy, locale: str) -> None:
    """The summary can name the split of any training."""
    assert comparison_text(f"split_{strategy}", locale)


def test_deleted_trainings_do_not_count_as_failed() -> None:
    """Of a deleted training nobody knows the result, and what is said about the others says so."""
    deleted = compared_dataset("Deleted", job_id=None, status=None, metrics=None, classes=None)
    failed = compared_dataset("Failed", status=JobState.FAILED, metrics=None, classes=None)
    cancelled = compared_dataset("Cancelled", status=JobState.CANCELLED, metrics=None, classes=None)
    assert compare(deleted, deleted).state is JobState.CANCELLED
    assert compare(deleted, cancelled).state is JobState.CANCELLED
    assert compare(deleted, failed).state is JobState.FAILED
    assert compare(cancelled, failed).state is JobState.FAILED

    comparison = compare(deleted, failed)
    assert summarize(comparison, assess(comparison), "fr") == (
        "1 entraînement a été supprimé\u00a0: son résultat manque dans cette comparaison. "
        "Aucun autre entraînement n’a abouti\u00a0: il n’y a rien à comparer."
    )
