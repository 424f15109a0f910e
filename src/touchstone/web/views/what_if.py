"""The what-if form: the predictions of a model for a row and for the same row with changed values."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from touchstone.core.number_notation import NumberNotation
from touchstone.web.forms import parse_number
from touchstone.web.localizer import Localizer

_MAX_LISTED_VALUES: Final = 12  # known values in an error message

_NUMBER: Final = "number"
_BOOLEAN: Final = "boolean"

Feature = Mapping[str, Any]  # a column that the model uses: its name and kind, and known values or its notation
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
        """The effect of the change."""
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
        """Return both rows as the API expects them, the original one first."""
        original_row = {}
        changed_row = {}
        for feature in self.features:
            column = feature["name"]
            original_row[column] = _parse_original_cell(self.original[column], feature)
            changed_row[column] = parse_cell(self.changed[column], feature)
        return [original_row, changed_row]

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
        for column, value in changed_row.items():
            if original_row[column] != value:
                cells.append(ChangedCell(column, self.original[column], _format_cell(value)))
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


def entered_text(feature: Feature, text: str) -> str:
    """Return the value of an explained row as the form shows it.

    Numbers have a decimal comma if the data file has decimal commas, because the form reads numbers as in the file.
    """
    has_decimal_comma = feature["kind"] == _NUMBER and _notation(feature).decimal_comma
    return text.replace(".", ",") if has_decimal_comma else text


def restore_line_ends(entered: str, original: str) -> str:
    """Return a text from the form with line ends as in data files, or the original text if nothing else was changed.

    Browsers send the line ends of Windows, whatever the form contained.
    """
    entered = _with_unix_line_ends(entered)
    return original if entered == _with_unix_line_ends(original) else entered


def _with_unix_line_ends(text: str) -> str:
    """Return a text with the line ends of Unix instead of those of Windows and old Macs."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_cell(text: str, feature: Feature) -> CellValue:
    """Convert the string that a reader has entered for a column to its value.

    An empty string is a missing value. A number is read as in the file of the training, with its unit and its thousands
    separators, or else like any number on the pages. A string that is not a number is returned unchanged, because
    `field_errors` reports it.
    """
    if not text:
        return None
    if feature["kind"] != _NUMBER:
        return text

    with suppress(ValueError):
        number = _notation(feature).parse(text)
        if math.isfinite(number):
            return number
    with suppress(ValueError):
        return parse_number(text)
    return text


def _notation(feature: Feature) -> NumberNotation:
    """Return the notation of the numbers in a column, or the default if the training did not record it."""
    return NumberNotation(**feature.get("notation", {}))


def _parse_original_cell(text: str, feature: Feature) -> CellValue:
    """Convert a cell of the explained row to its value; numbers have neither a unit nor thousands separators."""
    if not text:
        return None
    return parse_number(text) if feature["kind"] == _NUMBER else text


def _format_cell(value: CellValue) -> str:
    """Format a value like the values of explained rows, so that readers see how it was understood."""
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, int | float) else value


def _field_error(feature: Feature, text: str, localizer: Localizer) -> str:
    """Return the error message for a value that a column does not accept, or "" for a valid value.

    A numeric column accepts numbers. A column with known categories only accepts the categories that the model has
    seen; the case of truth values does not matter. An empty string is a missing value, which every column accepts.
    """
    if not text:
        return ""
    if feature["kind"] == _NUMBER:
        is_number = not isinstance(parse_cell(text, feature), str)
        return "" if is_number else localizer.text("not_a_number")

    known_values = feature.get("values")
    category = text.lower() if feature["kind"] == _BOOLEAN else text
    if known_values is None or category in known_values:
        return ""

    listed_values = ", ".join(known_values[:_MAX_LISTED_VALUES])
    if len(known_values) > _MAX_LISTED_VALUES:
        listed_values += ", …"
    return localizer.text("not_a_category", value=text, known=listed_values, count=len(known_values))
