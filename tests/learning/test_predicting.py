"""Predictions with a trained model: their warnings, faster ways to compute them, and models that stay loaded."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

from tests.learning.small_tables import explain, messy_table, model_of, train
from touchstone.learning.artifacts import example, model_artifact
from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.few_rows_prediction.encoders import FewRowsEncoder
from touchstone.learning.few_rows_prediction.models import FewRowsModel
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.model_cache import ModelCache
from touchstone.learning.prediction import predict
from touchstone.learning.preparation import encode_frame
from touchstone.learning.row_values import build_frame, read_rows
from touchstone.learning.task_interface import ModelFile
from touchstone.learning.trial_fitting import suppress_numeric_warnings

BODY: dict[str, Any] = {"algorithms": ["decision_tree"], "budget": {"max_trials": 1}}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Return a model that predicts `outcome` from columns of every kind."""
    return model_artifact.load(model_of(train(messy_table(120), "outcome", tmp_path_factory.mktemp("model"), **BODY)))


def test_the_columns_of_a_model_are_read_once(model: LoadedModel) -> None:
    """Explanations ask for them thousands of times, which would take minutes with two thousand columns."""
    assert model.columns is model.columns


def warnings_about(model: LoadedModel, row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return the code and the column of each warning about a row."""
    (prediction,) = predict(model, [row])["predictions"]
    return [(warning["code"], warning["column"]) for warning in prediction["warnings"]]


def test_rows_like_those_learned_from_have_no_warnings(model: LoadedModel) -> None:
    """Rows of the training table, and rows that only lack some values, are predicted without a warning."""
    frame = messy_table(120)
    low, high = (float(model.observed_values["amount"][end]) for end in ("low", "high"))
    assert low < high
    assert warnings_about(model, {"amount": low, "colour": "red", "when": "2020-01-09"}) == []
    assert warnings_about(model, {"amount": str(high), "city": None}) == []
    assert set(model.observed_values["colour"]["categories"]) == set(frame["colour"]) - {"NA"}


@pytest.mark.parametrize(
    ("row", "code", "column"),
    [
        ({"amount": 1e6}, "value_out_of_range", "amount"),
        ({"amount": -3}, "value_out_of_range", "amount"),
        ({"amount": 1e35}, "value_out_of_range", "amount"),
        ({"amount": -1.7e308}, "value_out_of_range", "amount"),
        ({"amount": "1e400"}, "value_out_of_range", "amount"),
        ({"when": "2031-01-01"}, "value_out_of_range", "when"),
        ({"colour": "purple"}, "category_unseen", "colour"),
        ({}, "row_without_values", None),
        ({"amount": None, "colour": "NA"}, "row_without_values", None),
    ],
)
def test_values_that_the_model_has_not_seen_have_warnings(
    model: LoadedModel, row: dict[str, Any], code: str, column: str | None
) -> None:
    """A value out of range, an unseen category and a row without values are answered with a warning."""
    assert warnings_about(model, row) == [(code, column)]


def test_warnings_quote_the_values_in_both_languages(model: LoadedModel) -> None:
    """The sentence names the column, the value and the range; the warning belongs to the row that it is about."""
    first, second = predict(model, [{"colour": "red"}, {"amount": 1234.5, "when": "2031-01-01"}])["predictions"]
    assert first["warnings"] == []
    number, date = second["warnings"]
    assert "1234.5" in number["text"]["en"]
    assert "1234,5" in number["text"]["fr"]
    assert date["facts"] == {"value": "2031-01-01", **model.observed_values["when"]}
    assert model.observed_values["when"]["low"].startswith("2020-01-")


def test_numbers_too_large_to_compute_with_are_the_largest_ones(model: LoadedModel) -> None:
    """They are no missing values, whose prediction would be that of a medium number."""
    rows: list[dict[str, Any]] = [{"amount": amount} for amount in (1e300, -1e300, 1e30, -1e30)]
    high, low, largest, smallest = (entry["probabilities"] for entry in predict(model, rows)["predictions"])
    assert (high, low) == (largest, smallest)
    assert high != low


def test_few_rows_are_encoded_as_the_preparation_does(model: LoadedModel) -> None:
    """The faster way to encode a few rows gives the same matrix, for columns of every kind."""
    rows = json.loads(messy_table(120).drop(columns="outcome").tail(30).to_json(orient="records", date_format="iso"))
    cells = read_rows(model.columns, [*rows, {}, {"colour": "never seen"}], ignored=model.other_columns)
    with suppress_numeric_warnings():
        matrix = FewRowsEncoder.from_preparation(model.preparation).encode(cells, row_count=len(rows) + 2)
    assert np.array_equal(matrix, encode_frame(model.preparation, pd.DataFrame(cells)))


@pytest.mark.parametrize("class_count", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_averages_and_calibrated_models_answer_as_scikit_learn_does(class_count: int, method: str) -> None:
    """The faster way to ask a model gives exactly the same probabilities, also for models that consist of others."""
    rng = np.random.default_rng(0)
    matrix, classes = rng.normal(size=(90, 4)), np.arange(90) % class_count
    members = [("forest", RandomForestClassifier(5)), ("boosting", HistGradientBoostingClassifier(max_iter=5))]
    average = VotingClassifier([*members, ("tree", DecisionTreeClassifier())], voting="soft", weights=[0.5, 0.3, 0.2])
    calibrated = CalibratedClassifierCV(average, method=method, cv=2, ensemble=False).fit(matrix, classes)
    assert np.array_equal(FewRowsModel(calibrated).predict_proba(matrix), calibrated.predict_proba(matrix))


def test_averages_of_numbers_are_those_of_scikit_learn() -> None:
    """The faster way to ask a regression gives exactly the same numbers."""
    rng = np.random.default_rng(0)
    matrix, numbers = rng.normal(size=(90, 4)), rng.normal(size=90)
    members = [("forest", RandomForestRegressor(5)), ("linear", Ridge())]
    average = VotingRegressor(members, weights=[0.7, 0.3]).fit(matrix, numbers)
    assert np.array_equal(FewRowsModel(average).predict(matrix), average.predict(matrix))


def test_dates_are_read_in_every_way_of_their_column() -> None:
    """Dates in the format of the column, in ISO 8601 or with spaces around them are read, and missing ones stay so."""
    column = ColumnSchema("day", ColumnKind.DATE, distinct=9, missing=0, date_format="%d/%m/%Y")
    texts = ["09/01/2020", "2020-01-09", " 09/01/2020 ", None, "?"]
    frame = build_frame([column], [{"day": text} for text in texts])
    assert [str(cell) for cell in frame["day"]] == ["2020-01-09 00:00:00"] * 3 + ["NaT"] * 2
    assert frame["day"].dtype == "datetime64[us]"
    with pytest.raises(LearningError, match="row_value_invalid"):
        build_frame([column], [{"day": "someday"}])


def test_words_that_were_missing_in_the_file_are_missing_in_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row of the file is predicted and explained although it has words for a number and a date, with a warning."""
    frame = messy_table(120).assign(sum=np.arange(120) / 7)
    frame = frame.astype({"sum": object, "when": str})
    frame.loc[3, ["sum", "when"]] = ["see note", "some day"]
    model_file = model_of(train(frame, "outcome", tmp_path, **BODY, split={"strategy": "holdout"}))
    words = {"colour": "red", "sum": "see note", "when": "some day"}
    blanks = {"colour": "red", "sum": " ? ", "when": None}

    model = model_artifact.load(model_file)
    with_words, without = predict(model, [words, blanks])["predictions"]
    assert with_words["probabilities"] == without["probabilities"]
    unreadable = [(entry["code"], entry["column"], entry["facts"]["value"]) for entry in with_words["warnings"]]
    assert unreadable == [("value_unreadable", "when", "some day"), ("value_unreadable", "sum", "see note")]
    assert without["warnings"] == []

    model_file.stream.seek(0)
    body = {"scope": "local", "instances": {"values": [words]}}
    [explained] = explain(frame, model_file, tmp_path, **body)["local"]
    assert explained["warnings"] == with_words["warnings"]

    pipeline, record = example.load_model(tmp_path / "model.skops")
    first, second = example.predict(pipeline, record, [words, blanks])
    assert first["probabilities"] == second["probabilities"]
    assert "The column sum has numbers, but 'see note' is none. It counts as missing" in capsys.readouterr().err


def test_loaded_models_are_kept_until_others_need_the_memory(tmp_path: Path) -> None:
    """A model is loaded only once while there is enough memory, and a damaged file is never loaded."""
    frame = messy_table(120)
    files = []
    for seed in (0, 1):
        artifact = train(frame, "outcome", tmp_path, **BODY, seed=seed).artifacts[0]
        files.append((artifact.path.read_bytes(), artifact.sha256))

    def open_file(number: int) -> ModelFile:
        content, digest = files[number]
        return ModelFile(io.BytesIO(content), digest)

    cache = ModelCache(max_bytes=sum(len(content) for content, _digest in files))
    model = cache.load(open_file(0))
    assert cache.load(open_file(1)) is not model
    assert cache.load(open_file(0)) is model

    small_cache = ModelCache(max_bytes=len(files[1][0]))
    model = small_cache.load(open_file(0))
    small_cache.load(open_file(1))
    reloaded_model = small_cache.load(open_file(0))
    assert reloaded_model is not model
    rows = json.loads(frame.drop(columns=["outcome", "when"]).head(3).to_json(orient="records"))
    assert reloaded_model.predict(rows) == model.predict(rows)

    content, digest = files[0]
    with pytest.raises(LearningError, match="artifact_damaged"):
        ModelCache().load(ModelFile(io.BytesIO(content[:-1]), digest))
