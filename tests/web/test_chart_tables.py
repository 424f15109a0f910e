"""The values of charts are tables, too, for readers who do not see the drawing."""

from typing import Any

import pytest

from touchstone.web.localizer import Localizer
from touchstone.web.views.chart_table import MAX_ROWS, build_chart_table

X_AXIS = {"field": "value", "type": "nominal", "axis": {"title": "status"}}
MEANS: dict[str, Any] = {
    "layer": [
        {"data": {"values": [{"value": "a", "level": 0.5, "row": 0}]}, "encoding": {"x": X_AXIS}},
        {
            "data": {"values": [{"value": "a", "mean": 0.25}, {"value": "b", "mean": 1234.5}]},
            "encoding": {"x": X_AXIS, "y": {"field": "mean", "type": "quantitative", "axis": {"title": "Moyenne"}}},
        },
    ]
}
CONFUSION: dict[str, Any] = {
    "data": {"values": [{"true": "1", "predicted": "2", "rows": 104, "share": 0.75}]},
    "encoding": {
        "x": {"field": "predicted", "type": "nominal", "axis": {"title": "Predicted class"}},
        "y": {"field": "true", "type": "nominal", "axis": {"title": "True class"}},
    },
    "layer": [
        {"encoding": {"color": {"field": "share", "type": "quantitative", "title": "Share"}}},
        {"encoding": {"text": {"field": "rows"}, "color": {"value": "black"}}},
    ],
}


def test_the_main_series_of_a_chart_in_the_language_of_the_reader() -> None:
    table = build_chart_table("dependence_1", MEANS, Localizer("fr"))
    assert table is not None
    assert [column.title for column in table.columns] == ["status", "Moyenne"]
    assert table.rows == (("a", "0,25"), ("b", "1\u202f234,5"))
    assert [column.is_number for column in table.columns] == [False, True]


def test_several_layers_of_the_same_data_are_one_table() -> None:
    table = build_chart_table("confusion", CONFUSION, Localizer("en"))
    assert table is not None
    assert [column.title for column in table.columns] == ["Predicted class", "True class", "Share", "Rows"]
    assert table.rows == (("2", "1", "0.75", "104"),)


@pytest.mark.parametrize(
    ("name", "specification"),
    [
        ("waterfall_1", MEANS),
        ("confusion", {**CONFUSION, "data": {"values": CONFUSION["data"]["values"] * (MAX_ROWS + 1)}}),
        ("confusion", {}),
    ],
)
def test_long_and_other_charts_have_no_table(name: str, specification: dict[str, Any]) -> None:
    assert build_chart_table(name, specification, Localizer("en")) is None
