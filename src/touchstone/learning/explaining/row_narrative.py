"""Explanations of single predictions in sentences, in French and English."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from touchstone.learning.decisions.decision_rule import EVEN_THRESHOLD
from touchstone.learning.explaining.narrative import sentence
from touchstone.learning.localized_text import (
    LocalizedText,
    format_cell,
    format_percentage,
    format_signed,
    format_tenths,
    join_texts,
    with_unit,
)
from touchstone.learning.request_choices import Output
from touchstone.learning.request_definitions import Cell
from touchstone.learning.task_interface import Json

PERCENT: Final = "%"
STRONGEST_COLUMNS: Final = 3
SMALLEST_TENTH: Final = 0.1  # Smaller numbers of percentage points are displayed with more than one decimal.
SMALLEST_THRESHOLD_SHIFT: Final = 5e-4  # Sentences show thresholds with one decimal of a percentage.
NOTABLE_SHARE: Final = 0.02  # Contributions below this share of the strongest one are not mentioned.
EQUAL_SHARE: Final = 1e-3  # A difference below this share of all contributions counts as none.


@dataclass(frozen=True, slots=True)
class ExplainedNumber:
    """The number explained for each row: the probability or log-odds of a class, or a predicted number.

    `positive_class` is the one of two classes that is predicted if its probability reaches the decision threshold.
    `units` maps columns to the units used in the data file.
    """

    target: str
    class_name: str | None
    output: Output
    positive_class: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """The unit of a predicted number, or an empty string if there is none."""
        return self.units.get(self.target, "") if self.class_name is None else ""

    @property
    def is_probability(self) -> bool:
        """Whether the number is a probability, which is displayed in percent."""
        return self.class_name is not None and self.output is Output.PROBABILITY

    def describe(self, row: Json) -> LocalizedText:
        """Return a phrase with the prediction for a row and the explained number."""
        value = self.format_value(row["prediction"])
        if self.class_name is None:
            return sentence("row_number", target=self.target, value=value)

        predicted = str(row["predicted"])
        if not self.is_probability:
            return sentence("row_log_odds", predicted=predicted, name=self.class_name, value=value)

        threshold: float | None = row.get("threshold")
        if threshold is None or math.isclose(threshold, EVEN_THRESHOLD, abs_tol=SMALLEST_THRESHOLD_SHIFT):
            return sentence("row_probability", predicted=predicted, name=self.class_name, value=value)
        return sentence(
            "row_probability_threshold",
            predicted=predicted,
            name=self.class_name,
            value=value,
            positive=self.positive_class,
            threshold=format_percentage(threshold),
        )

    def format_value(self, number: float) -> LocalizedText:
        """Format the explained number with its unit."""
        if self.is_probability:
            return format_percentage(number)
        return with_unit(sentence("number", number=number), self.unit)

    def format_prediction(self, prediction: Cell) -> LocalizedText:
        """Format a predicted class, or a predicted number with its unit."""
        if self.class_name is None and isinstance(prediction, int | float):
            return self.format_value(prediction)
        return format_cell(prediction)

    def format_difference(self, number: float) -> LocalizedText:
        """Format the absolute difference between two explained numbers with its unit.

        The difference between two percentages is in points.
        """
        if self.unit == PERCENT:
            return sentence("points", number=abs(number), count=abs(number))
        if self.is_probability:
            points = 100 * abs(number)
            return sentence("points", number=format_tenths(points, smallest=SMALLEST_TENTH), count=points)
        return with_unit(sentence("number", number=abs(number)), self.unit)

    def format_contribution(self, number: float) -> LocalizedText:
        """Format a contribution with its sign and its unit."""
        if self.unit == PERCENT:
            return sentence("points", number=format_signed(number), count=number)
        if self.is_probability:
            points = 100 * number
            sign = "+" if points > 0 else ""
            unsigned = format_tenths(points, smallest=SMALLEST_TENTH)
            signed = {locale: sign + text for locale, text in unsigned.items()}
            return sentence("points", number=signed, count=points)
        return with_unit(format_signed(number), self.unit)

    def format_column_value(self, column: str, value: str) -> LocalizedText:
        """Format the value of a column with its unit. An empty value is a missing one."""
        if not value:
            return sentence("missing_value")
        return with_unit(format_cell(value), self.units.get(column, ""))


@dataclass(frozen=True, slots=True)
class _Contribution:
    """The contribution of a column to the explained number, with the value of the column as text."""

    column: str
    value: str
    points: float


def row_sentence(row: Json, number: ExplainedNumber) -> LocalizedText:
    """Return a sentence that compares the prediction for a row with the base value and gives the reasons.

    The base value is the mean prediction. Contributions that are negligible or not significant are left out.
    """
    contributions = _notable_contributions(row)
    difference = row["prediction"] - row["base_value"]
    total_points = sum(abs(contribution.points) for contribution in contributions)
    is_equal = abs(difference) <= EQUAL_SHARE * max(total_points, abs(row["base_value"]))

    if is_equal:
        comparison = "row_equal"
        reasons = [
            _reason("row_raised", contributions, number, sign=1),
            _reason("row_lowered", contributions, number, sign=-1),
        ]
    else:
        sign = 1 if difference > 0 else -1
        comparison = "row_above" if difference > 0 else "row_below"
        reasons = [
            _reason("row_because", contributions, number, sign=sign),
            _reason("row_despite", contributions, number, sign=-sign),
        ]

    present_reasons = [reason for reason in reasons if reason is not None]
    if not present_reasons:
        present_reasons = [sentence("row_without_reason")]
    return sentence(
        comparison,
        row=str(row["row"]),
        prediction=number.describe(row),
        difference=number.format_difference(difference),
        base=number.format_value(row["base_value"]),
        reasons=join_texts(present_reasons, separator=", "),
    )


def counterfactual_sentences(row: Json, number: ExplainedNumber, immutable: Sequence[str]) -> list[LocalizedText]:
    """Return a sentence for each counterfactual of a row, or one that says that none was found.

    The list is empty if counterfactuals were not requested. `immutable` lists the columns that must not change.
    """
    if "counterfactuals" not in row:
        return []

    row_number = str(row["row"])
    if not row["counterfactuals"]:
        if not immutable:
            return [sentence("counterfactual_none", row=row_number)]
        names = [sentence("named", name=name) for name in immutable]
        return [sentence("counterfactual_none_with", row=row_number, names=names)]

    sentences = []
    for counterfactual in row["counterfactuals"]:
        changes = [
            sentence("change", name=change["column"], value=number.format_column_value(change["column"], change["to"]))
            for change in counterfactual["changes"]
        ]
        prediction = number.format_prediction(counterfactual["prediction"])
        if number.class_name is not None:
            prediction = sentence("named", name=prediction)
        sentences.append(sentence("counterfactual", row=row_number, prediction=prediction, changes=changes))
    return sentences


def _notable_contributions(row: Json) -> list[_Contribution]:
    """Return the significant and notable contributions to a prediction, the strongest first."""
    values: Mapping[str, str] = row["values"]
    contributions = [
        _Contribution(column, values.get(column, ""), points)
        for column, points in row["attributions"].items()
        if points != 0 and column not in row["uncertain"]
    ]
    strongest = max((abs(contribution.points) for contribution in contributions), default=0.0)
    notable = [contribution for contribution in contributions if abs(contribution.points) >= NOTABLE_SHARE * strongest]
    return sorted(notable, key=lambda contribution: abs(contribution.points), reverse=True)


def _reason(
    key: str, contributions: Sequence[_Contribution], number: ExplainedNumber, *, sign: int
) -> LocalizedText | None:
    """Return a phrase with the strongest contributions of the given sign, or None if there are none."""
    phrases = [
        sentence(
            "contribution",
            name=contribution.column,
            value=number.format_column_value(contribution.column, contribution.value),
            points=number.format_contribution(contribution.points),
        )
        for contribution in contributions
        if contribution.points * sign > 0
    ]
    return sentence(key, names=phrases[:STRONGEST_COLUMNS]) if phrases else None
