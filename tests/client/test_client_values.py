"""Arguments as notebooks have them: values of NumPy and pandas, and ids."""

import json
from datetime import date
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from tests.client.scripted import KINDS, Caller, Script, ok, refusal
from touchstone.client import TouchstoneError
from touchstone.client.json_values import json_value

for_both_kinds = pytest.mark.parametrize("kind", KINDS)
JOB_ID = UUID("b6fa8123-02e0-4e36-9fe5-66e48c66ce4d")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (pd.Series([1.5, None]), [1.5, None]),
        (pd.Index(["a", "b"]), ["a", "b"]),
        (pd.Timestamp("2024-03-01 10:30"), "2024-03-01T10:30:00"),
        (date(2024, 3, 1), "2024-03-01"),
        (np.datetime64("2024-03-01T10:30", "ns"), "2024-03-01T10:30:00"),
        (np.array(["2024-03-01T10:30"], "datetime64[ns]"), ["2024-03-01T10:30:00"]),
        (pd.Series([pd.Timestamp("2024-03-01")]).to_numpy(), ["2024-03-01T00:00:00"]),
        ({JOB_ID: np.int8(4)}, {str(JOB_ID): 4}),
        (float("nan"), None),
        (np.float64("nan"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (JOB_ID, str(JOB_ID)),
        ({"a": (np.int8(1), {"b": np.nan})}, {"a": [1, {"b": None}]}),
        ("text", "text"),
        (2**70, 2**70),
    ],
)
def test_values_of_notebooks_become_values_of_json(value: Any, expected: Any) -> None:
    """Numbers, arrays, dates and ids keep their values, and missing values become null."""
    converted = json_value(value)
    assert converted == expected
    assert json.loads(json.dumps(converted)) == expected


@for_both_kinds
def test_rows_of_a_data_frame_can_be_predicted(kind: str) -> None:
    """Missing cells of any column are sent as null."""
    table = pd.DataFrame({"age": [31, None], "job": ["clerk", None], "since": [pd.Timestamp("2020-01-02"), pd.NaT]})
    script = Script(ok({"predictions": []}))
    Caller(kind, script)("predict", JOB_ID, table.to_dict("records"))

    rows = json.loads(script.requests[0].content)["rows"]
    assert rows == [
        {"age": 31.0, "job": "clerk", "since": "2020-01-02T00:00:00"},
        {"age": None, "job": None, "since": None},
    ]


@for_both_kinds
def test_ids_and_bounds_may_come_from_a_table(kind: str) -> None:
    """Integers of NumPy and ids of other results are accepted in bodies and in queries."""
    refusals = [refusal(422, "invalid_value") for _ in range(3)]
    script = Script(*refusals)
    caller = Caller(kind, script)
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("train", (np.int64(7), "income"), {"project_id": JOB_ID}),
        ("compare_datasets", (np.array([3, 5]),), {}),
        ("list_datasets", (), {"task": pd.Series(["a,b"]), "year_min": np.int64(2020), "year_max": pd.NA}),
    ]
    for name, args, kwargs in calls:
        with pytest.raises(TouchstoneError):
            caller(name, *args, **kwargs)

    training, comparison, listing = script.requests
    assert json.loads(training.content) == {"dataset_id": 7, "target": "income", "project_id": str(JOB_ID)}
    assert json.loads(comparison.content)["ids"] == [3, 5]
    assert listing.url.query == b"skip=0&limit=100&task=a%2Cb&task=a%2Cb&year_min=2020"


@for_both_kinds
def test_infinity_is_not_sent(kind: str) -> None:
    """JSON has no infinity, and no other value means the same."""
    script = Script()
    with pytest.raises(ValueError, match="JSON"):
        Caller(kind, script)("predict", JOB_ID, [{"age": float("inf")}])
    assert script.requests == []


@for_both_kinds
def test_records_of_a_data_frame_can_be_imported(kind: str) -> None:
    """A bulk import converts the values of its records in the same way."""
    table = pd.DataFrame(
        {"name": ["a"], "year": pd.array([None], dtype="Int64"), "citations": [np.int64(4)]}, dtype=object
    )
    script = Script(refusal(422, "invalid_value"))
    with pytest.raises(TouchstoneError):
        Caller(kind, script)("import_bulk", table.to_dict("records"))
    assert json.loads(script.requests[0].content) == {"name": "a", "year": None, "citations": 4}


@for_both_kinds
def test_a_filter_that_is_not_a_number_is_refused(kind: str) -> None:
    """A bound that was computed as NaN, for example from an empty column, does not silently widen the answer."""
    with pytest.raises(ValueError, match="year_max is NaN"):
        Caller(kind, Script())("list_datasets", year_max=np.float64("nan"))


def test_durations_have_no_form_in_json() -> None:
    """Durations are refused by the encoder instead of becoming integers."""
    with pytest.raises(TypeError):
        json.dumps(json_value(np.timedelta64(3, "ns")))
