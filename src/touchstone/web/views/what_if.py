"""The what-if form: a row beside the same row with other values, and the model's prediction for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from touchstone.web.forms import parse_number
from touchstone.web.localization import Localizer

_MAX_LISTED_VALUES: Final = 12  # known values that an error message lists

Feature = Mapping[str, Any]  # a column that the model learned from: name, kind, known values
CellValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """A column whose value was changed; an empty text is a missing value."""

    column: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class PredictionChange:
    """A probability or a predicted number, before and after the change of the row."""

    label: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """Return the effect of the change."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """The result of the form.

    Attributes:
        problem: Why the model gave no prediction; empty if it did.
        errors: Why a field has an invalid value, by column.
        changes: The cells that were changed.
        answers: The predictions before and after.
        predicted: The predicted class before and after; None for a model that predicts numbers.
    """

    problem: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[ChangedCell, ...] = ()
    answers: tuple[PredictionChange, ...] = ()
    predicted: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class WhatIfRows:
    """The cells of a row before and after the change, as texts by column."""

    features: Sequence[Feature]
    original: Mapping[str, str]
    changed: Mapping[str, str]

    def field_errors(self, localizer: Localizer) -> dict[str, str]:
        """Return why a field has an invalid value, by column."""
        errors = {}
        for feature in self.features:
            error = _field_error(feature, self.changed[feature["name"]], localizer)
            if error:
                errors[feature["name"]] = error
        return errors

    def to_predict(self) -> list[dict[str, CellValue]]:
        """Return both rows as the API expects them, the original one first."""
        return [
            {feature["name"]: parse_cell(row[feature["name"]], feature["kind"]) for feature in self.features}
            for row in (self.original, self.changed)
        ]

    def result(self, answer: Mapping[str, Any], localizer: Localizer) -> WhatIfResult:
        """Return the model's predictions for both rows side by side."""
        original_row, changed_row = self.to_predict()
        changes = tuple(
            ChangedCell(name, self.original[name], text)
            for name, text in self.changed.items()
            if original_row[name] != changed_row[name]
        )

        before, after = answer["predictions"]
        classes = answer.get("classes") or ()
        if not classes:
            number = PredictionChange(localizer.text("prediction"), before["prediction"], after["prediction"])
            return WhatIfResult(changes=changes, answers=(number,))

        probabilities = zip(classes, before["probabilities"], after["probabilities"], strict=True)
        return WhatIfResult(
            changes=changes,
            answers=tuple(PredictionChange(*probability) for probability in probabilities),
            predicted=(str(before["prediction"]), str(after["prediction"])),
        )


def parse_cell(text: str, kind: str) -> CellValue:
    """Return the value that a field stands for: a number in a numeric column, None if the field is empty."""
    if not text:
        return None
    if kind != "number":
        return text
    try:
        return parse_number(text)
    except ValueError:
        return text


def _field_error(feature: Feature, text: str, localizer: Localizer) -> str:
    """Return why a text is no value of the column; empty if it is one."""
    if not text:
        return ""
    if feature["kind"] == "number":
        return localizer.text("not_a_number") if isinstance(parse_cell(text, "number"), str) else ""

    known = feature.get("values")
    if known is None or text in known:
        return ""
    listed = ", ".join(known[:_MAX_LISTED_VALUES])
    if len(known) > _MAX_LISTED_VALUES:
        listed += ", …"
    return localizer.text("not_a_category", value=text, known=listed, count=len(known))
