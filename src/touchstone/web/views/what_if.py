"""The what-if form: the predictions of a model for a row and for the same row with changed values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from touchstone.web.forms import parse_number
from touchstone.web.localizer import Localizer

_MAX_LISTED_VALUES: Final = 12  # known values in an error message

Feature = Mapping[str, Any]  # a column that the model uses, with its name, its kind and its known values
CellValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """A changed value in a column; an empty string is a missing value."""

    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class PredictionChange:
    """A probability or a predicted number, for the original row and for the changed row."""

    label: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """Return the effect of the change."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """The effect of the changes in the what-if form, or the reasons why there is no prediction.

    Attributes:
        failure: the reason why the prediction failed; empty if it did not fail.
        field_errors: the messages about invalid values, by column.
        changes: the changed cells.
        prediction_changes: the predictions for the original and the changed row.
        predicted_classes: the classes predicted for the original and the changed row; None for a model that predicts
            numbers.
        threshold: a sentence about the decision threshold of the positive class; empty if there is none.
    """

    failure: str = ""
    field_errors: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[ChangedCell, ...] = ()
    prediction_changes: tuple[PredictionChange, ...] = ()
    predicted_classes: tuple[str, str] | None = None
    threshold: str = ""


@dataclass(frozen=True, slots=True)
class WhatIfRows:
    """The cells of a row before and after the change.

    Attributes:
        features: the columns that the model uses.
        original: the cells of the explained row as strings, by column.
        changed: the values entered in the form as strings, by column.
    """

    features: Sequence[Feature]
    original: Mapping[str, str]
    changed: Mapping[str, str]

    def field_errors(self, localizer: Localizer) -> dict[str, str]:
        """Return the messages about invalid values, by column."""
        errors = {}
        for feature in self.features:
            column = feature["name"]
            error = _field_error(feature, self.changed[column], localizer)
            if error:
                errors[column] = error
        return errors

    def to_api_rows(self) -> list[dict[str, CellValue]]:
        """Return the original and the changed row as the API expects them."""
        return [self._parse_row(self.original), self._parse_row(self.changed)]

    def _parse_row(self, entered_values: Mapping[str, str]) -> dict[str, CellValue]:
        """Convert the strings in a row to values, by column."""
        values = {}
        for feature in self.features:
            column = feature["name"]
            values[column] = parse_cell(entered_values[column], feature["kind"])
        return values

    def compare_predictions(self, response: Mapping[str, Any], localizer: Localizer) -> WhatIfResult:
        """Compare the predictions for the original and the changed row.

        If the model predicts classes, the result compares the probability of each class, and otherwise the predicted
        numbers. If the model has not seen values like the changed ones, its prediction would be a guess. The result
        then has messages about these values instead.

        Args:
            response: the predictions of the API for the rows of `to_api_rows`.
            localizer: the reader's language.
        """
        changes = self._changed_cells()
        before, after = response["predictions"]

        warnings = after.get("warnings") or ()
        warning_result = _report_unseen_values(changes, warnings, localizer)
        if warning_result is not None:
            return warning_result

        classes = response.get("classes")
        if not classes:
            label = localizer.text("prediction")
            number_change = PredictionChange(label, before["prediction"], after["prediction"])
            return WhatIfResult(changes=changes, prediction_changes=(number_change,))

        probabilities = zip(classes, before["probabilities"], after["probabilities"], strict=True)
        probability_changes = [
            PredictionChange(name, probability_before, probability_after)
            for name, probability_before, probability_after in probabilities
        ]
        predicted_classes = (str(before["prediction"]), str(after["prediction"]))
        return WhatIfResult(
            changes=changes,
            prediction_changes=tuple(probability_changes),
            predicted_classes=predicted_classes,
            threshold=_describe_threshold(response, localizer),
        )

    def _changed_cells(self) -> tuple[ChangedCell, ...]:
        """Return the cells with different values; `1.0` instead of `1` does not change a number."""
        original_row, changed_row = self.to_api_rows()

        cells = []
        for name, text in self.changed.items():
            if original_row[name] != changed_row[name]:
                cells.append(ChangedCell(name, self.original[name], text))
        return tuple(cells)


def _describe_threshold(response: Mapping[str, Any], localizer: Localizer) -> str:
    """Describe the decision threshold of the positive class, or return "" if there is none.

    The threshold may differ from 0.5. Without this sentence, the predicted class might then seem to contradict the
    probabilities.
    """
    positive_class = response.get("positive_class")
    if positive_class is None:
        return ""

    threshold = response.get("threshold")
    if threshold is None:
        return localizer.text("what_if_threshold_by_group", name=str(positive_class))
    return localizer.text("what_if_threshold", name=str(positive_class), threshold=localizer.number(threshold, 3))


def _report_unseen_values(
    changes: Sequence[ChangedCell], warnings: Sequence[Mapping[str, Any]], localizer: Localizer
) -> WhatIfResult | None:
    """Return the messages about changed values that the model has not seen, or None if there are none.

    Args:
        changes: the cells that the reader has changed; warnings about other cells are ignored.
        warnings: the warnings of the API about the changed row.
        localizer: the reader's language.
    """
    changed_columns = {cell.column for cell in changes}

    field_errors = {}
    for warning in warnings:
        column = warning["column"]
        message = str(warning["text"][localizer.locale])

        # A warning without a column is about the whole row.
        if column is None and changed_columns:
            return WhatIfResult(failure=message)
        if column in changed_columns:
            field_errors[column] = message

    return WhatIfResult(field_errors=field_errors) if field_errors else None


def parse_cell(text: str, kind: str) -> CellValue:
    """Convert the entered string for a cell to its value.

    An empty string is a missing value. A string that is not a number is returned unchanged even in a numeric column,
    because `field_errors` reports it.
    """
    if not text:
        return None
    if kind != "number":
        return text
    try:
        return parse_number(text)
    except ValueError:
        return text


def _field_error(feature: Feature, text: str, localizer: Localizer) -> str:
    """Return the error message for a value that a column does not accept, or "" for a valid value.

    A numeric column accepts numbers, and a column with known categories accepts only these categories. An empty string
    is a missing value, which every column accepts.
    """
    if not text:
        return ""
    if feature["kind"] == "number":
        is_number = not isinstance(parse_cell(text, "number"), str)
        return "" if is_number else localizer.text("not_a_number")

    known_values = feature.get("values")
    if known_values is None or text in known_values:
        return ""

    listed_values = ", ".join(known_values[:_MAX_LISTED_VALUES])
    if len(known_values) > _MAX_LISTED_VALUES:
        listed_values += ", …"
    return localizer.text("not_a_category", value=text, known=listed_values, count=len(known_values))
