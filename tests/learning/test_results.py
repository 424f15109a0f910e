"""Results are JSON: they contain no types of the numeric libraries, whatever the table."""

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import explain, messy_table, model_of, train

SHORT = {"algorithms": ["linear"], "budget": {"max_trials": 1}}


def imbalanced_table(rows: int = 160) -> pd.DataFrame:
    """Return a table with a rare class, three frequent ones, a number, and a date."""
    rng = np.random.default_rng(0)
    return messy_table(rows).assign(
        rare=np.where(np.arange(rows) % 14 == 0, "yes", "no"),
        level=np.arange(rows) % 3,
        score=rng.normal(size=rows),
    )


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("rare", {}),
        ("rare", {"metric": "roc_auc", "sensitive_features": ["sex", "amount", "when"]}),
        ("rare", {"split": {"strategy": "kfold", "folds": 3}}),
        ("level", {"sensitive_features": ["sex"]}),
        ("level", {"split": {"strategy": "kfold", "folds": 3}}),
        ("score", {"sensitive_features": ["colour"]}),
        ("score", {"split": {"strategy": "kfold", "folds": 3}}),
        ("outcome", {"split": {"strategy": "time", "time_column": "when"}}),
    ],
)
def test_every_result_of_a_training_can_be_encoded(tmp_path: Path, target: str, body: dict[str, Any]) -> None:
    """A NumPy float in the result would make the job fail when the result is stored."""
    outcome = train(imbalanced_table(), target, tmp_path, **SHORT, **body)
    assert json.loads(msgspec.json.encode(outcome.result)) == outcome.result
    for options in ({}, {"scope": "local", "instances": {"rows": [0, 3]}}, {"instances": {"values": [{"amount": 3}]}}):
        result = explain(imbalanced_table(), model_of(outcome), tmp_path, **options)
        assert json.loads(msgspec.json.encode(result)) == result


def test_every_other_explanation_can_be_encoded(tmp_path: Path) -> None:
    """Counterfactuals, single methods and datasets without a model are stored in the same way."""
    frame = imbalanced_table()
    model = train(frame, "outcome", tmp_path, **SHORT)
    requests = [{"method": "counterfactual", "scope": "local"}, {"method": "shap"}, {"output": "log_odds"}]
    results = [explain(frame, model_of(model), tmp_path, **request) for request in requests]
    results += [
        explain(frame, None, tmp_path, target=target, sensitive_features=["sex", "amount"])
        for target in ("rare", "score", "when", None)
    ]
    assert all(json.loads(msgspec.json.encode(result)) == result for result in results)


def test_a_profile_counts_the_rows_that_repeat_an_earlier_one(tmp_path: Path) -> None:
    """Rows are equal if all of their cells are, missing ones included."""
    table = imbalanced_table()
    table.loc[1, "score"] = None
    repeated_table = pd.concat([table, table.iloc[[0, 1, 1]]])
    assert train(table, "level", tmp_path, **SHORT).result["profile"]["duplicate_rows"] == 0
    assert train(repeated_table, "level", tmp_path, **SHORT).result["profile"]["duplicate_rows"] == 3


def test_rows_that_differ_in_an_excluded_column_are_not_counted_as_duplicates(tmp_path: Path) -> None:
    """A model cannot tell such rows apart, but they are no copies of each other."""
    table = imbalanced_table()
    repeated_table = pd.concat([table, table.iloc[[0, 1, 1]]], ignore_index=True)
    repeated_table["note"] = "original"
    repeated_table.loc[len(table) + 1 :, "note"] = "copy"
    body = SHORT | {"features": {"exclude": ["note"]}}
    assert train(repeated_table, "level", tmp_path, **body).result["profile"]["duplicate_rows"] == 2
