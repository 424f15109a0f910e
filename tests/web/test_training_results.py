"""What the pages of trainings and explanations say in words about a score, a threshold, and a group of people."""

from typing import Any

import pytest

from touchstone.messages import text
from touchstone.web.localizer import Localizer
from touchstone.web.views.job_view import group_tables
from touchstone.web.views.mitigation_view import mitigation_table
from touchstone.web.views.training_headline import headline
from touchstone.web.views.what_if import WhatIfRows, entered_text, restore_line_ends

AT_CHANCE = {"value": 0.5, "low": 0.47, "high": 0.54}
BASELINE = {"value": 0.5, "low": 0.5, "high": 0.5}


def result_at_chance(metric: str = "balanced_accuracy", requested: Any = None) -> dict[str, Any]:
    """Return the result of a training whose model is no better than chance by its metric."""
    metrics = {"metric": metric, "holdout": {metric: AT_CHANCE}, "baseline": {metric: BASELINE}}
    return {"metrics": metrics, "decision": {"requested": requested}}


@pytest.mark.parametrize(
    ("metric", "requested", "english", "french"),
    [
        (
            "balanced_accuracy",
            None,
            "not clearly better than the baseline",
            "pas nettement mieux que la référence",
        ),
        (
            "balanced_accuracy",
            {"cost": {"fp": 1.0, "fn": 5.0}},
            "not clearly better than the baseline at the chosen threshold",
            "pas nettement mieux que la référence au seuil choisi",
        ),
        (
            "roc_auc",
            {"cost": {"fp": 1.0, "fn": 5.0}},
            "not clearly better than the baseline",
            "pas nettement mieux que la référence",
        ),
    ],
)
def test_a_score_at_chance_says_nothing_about_what_was_learned(
    metric: str, requested: Any, english: str, french: str
) -> None:
    """A threshold that serves the costs can make the decisions no better than chance by the metric."""
    result = result_at_chance(metric, requested)
    verdicts = {locale: headline(result, Localizer(locale)) for locale in ("en", "fr")}
    assert {locale: verdict and verdict.verdict for locale, verdict in verdicts.items()} == {
        "en": english,
        "fr": french,
    }


def test_the_headline_compares_as_the_warning_does() -> None:
    """An interval of R² that begins below 0 is no clear gain over a baseline that is lower by chance."""
    metrics = {
        "metric": "r2",
        "holdout": {"r2": {"value": 0.389, "low": -0.320, "high": 1.0}},
        "baseline": {"r2": {"value": -0.411, "low": -2.0, "high": 0.0}},
    }
    english = headline({"metrics": metrics, "decision": None}, Localizer("en"))
    assert english is not None
    assert english.is_better is False
    assert english.verdict == "not clearly better than the baseline"


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        (
            {"classes": ["good", "bad"], "positive_class": "bad", "threshold": 0.339},
            "“bad” is the answer if its probability is at least 0.339.",
        ),
        (
            {"classes": ["good", "bad"], "positive_class": "bad", "threshold": None},
            "“bad” is the answer if its probability reaches a threshold that depends on the group.",
        ),
        ({"classes": ["good", "bad", "ugly"], "positive_class": None, "threshold": None}, ""),
    ],
)
def test_what_if_says_from_which_probability_a_class_is_predicted(description: dict[str, Any], sentence: str) -> None:
    """Beside probabilities of 0.501 and 0.499, the answer of the less probable class would seem to be a mistake."""
    probabilities = [0.501, 0.499, 0.0][: len(description["classes"])]
    prediction = {"prediction": "bad", "probabilities": probabilities, "warnings": []}
    rows = WhatIfRows(({"name": "income", "kind": "number"},), {"income": "1"}, {"income": "2"})
    result = rows.compare_predictions({"predictions": [prediction, prediction], **description}, Localizer("en"))
    assert result.threshold == sentence


@pytest.mark.parametrize(
    ("notation", "text", "value"),
    [
        ({"thousands": ",", "unit": "$"}, "$20,000.00", 20_000),
        ({"thousands": ".", "decimal_comma": True, "unit": "€"}, "20.000,5 €", 20_000.5),
        ({"unit": "kg"}, "90 kg", 90),
        ({"unit": "kg"}, "90,5", 90.5),
        ({}, "1\u202f000", 1_000),
        ({}, "90 kg", None),
        ({}, "inf", None),
    ],
)
def test_what_if_reads_numbers_as_the_file_writes_them(
    notation: dict[str, Any], text: str, value: float | None
) -> None:
    """Values may be entered with the unit and the separators of the column, and pages still read a decimal comma."""
    feature = {"name": "price", "kind": "number", "notation": notation}
    rows = WhatIfRows((feature,), {"price": "1.5"}, {"price": text})
    assert bool(rows.field_errors(Localizer("en"))) == (value is None)
    if value is not None:
        original, changed = rows.to_api_rows()
        assert (original["price"], changed["price"]) == (1.5, value)


@pytest.mark.parametrize(("is_comma", "shown"), [(True, "1,234"), (False, "1.234")])
def test_what_if_shows_numbers_so_that_it_reads_them_again(is_comma: bool, shown: str) -> None:
    """A field that nobody has changed keeps its value, also if a point separates thousands in the file."""
    notation = {"decimal_comma": True, "thousands": "."} if is_comma else {"thousands": ","}
    feature = {"name": "price", "kind": "number", "notation": notation}
    assert entered_text(feature, "1.234") == shown
    original, unchanged = WhatIfRows((feature,), {"price": "1.234"}, {"price": shown}).to_api_rows()
    assert original == unchanged == {"price": 1.234}


@pytest.mark.parametrize("original", ["one\ntwo", "one\r\ntwo", "one\rtwo"])
def test_what_if_keeps_texts_of_several_lines(original: str) -> None:
    """Browsers send other line ends than the file has, which is no change; a changed text has those of Unix."""
    assert restore_line_ends("one\r\ntwo", original) == original
    assert restore_line_ends("one\r\nthree", original) == "one\nthree"


def test_what_if_reads_truth_values_in_upper_case() -> None:
    """`TRUE` is the same value as `true`, as in files."""
    feature = {"name": "smoker", "kind": "boolean", "values": ["false", "true"]}
    assert WhatIfRows((feature,), {"smoker": "false"}, {"smoker": "TRUE"}).field_errors(Localizer("en")) == {}
    assert WhatIfRows((feature,), {"smoker": "false"}, {"smoker": "maybe"}).field_errors(Localizer("en"))


def test_the_threshold_without_a_request_is_that_before_calibration() -> None:
    """Calibration moves the threshold of 0.5, so the form must not promise that it applies."""
    assert text("threshold_default", "en") == "nothing: 0.5 before calibration"
    assert text("threshold_default", "fr") == "rien\u00a0: 0,5 avant calibration"


def test_more_than_two_classes_have_tables_of_their_rates() -> None:
    """Accuracies alone would hide which class a model fails to recognize in a group, before and after a mitigation."""
    rate = {"value": 0.5, "low": 0.4, "high": 0.6, "rows": 90}
    gap = {"difference": 0.25, "ratio": 0.5, "certain": True, "lowest": "a", "highest": "b"}
    groups = [
        {"group": name, "rows": 90, "metrics": {"accuracy": rate}, "classes": {"low": {"selection_rate": rate}}}
        for name in ("a", "b")
    ]
    class_gaps = {"low": {"selection_rate": gap}}
    entry = {"column": "sex", "groups": groups, "gaps": {"accuracy": gap}, "class_gaps": class_gaps}
    (table,) = group_tables({"group_metrics": [entry]}, Localizer("en"))
    assert list(table.metrics) == ["accuracy"]
    assert table.class_tables["low"].metrics == {"selection_rate": "Rate of positive predictions"}
    assert table.class_tables["low"].gaps == class_gaps["low"]

    state = {"metrics": {"metric": "accuracy", "holdout": {"accuracy": rate}}, "group_metrics": [entry]}
    mitigation = {"text": {"en": "Weighted."}, "before": state, "after": state}
    effect = mitigation_table({"mitigation": mitigation}, Localizer("en"))
    assert effect is not None
    assert effect.rows[-1].label == "Rate of positive predictions of “low”, largest gap"


def test_the_name_of_a_column_needs_no_elision() -> None:
    """French would write `d’âge`, but `de sexe`, and a column may have any name."""
    assert text("by_group", "fr", column="âge") == "Qualité par groupe\u00a0: âge"
