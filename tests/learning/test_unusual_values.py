"""Values that were probably meant otherwise than they are read have a warning."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import csv_file
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.table_reader import read_table
from touchstone.learning.target import read_target
from touchstone.learning.task_interface import Json
from touchstone.learning.training_warnings import data_warnings


def warnings_about(cells: Any, target: Any = None, code: str = "repeated_outlier") -> list[Json]:
    """Return the facts of the warnings with a code about a table with a column of cells and a target."""
    classes = np.arange(len(cells)) % 2 if target is None else target
    table = read_table(csv_file(pd.DataFrame({"x": cells, "y": classes})))
    warnings = data_warnings(table, read_target(table, "y"))
    return [warning["facts"] for warning in warnings if warning["code"] == code]


@pytest.mark.parametrize(("mark", "text"), [(-999, "-999"), (9999.5, "9999.5")])
def test_a_number_that_may_mark_missing_values_has_a_warning(mark: float, text: str) -> None:
    """It is repeated, and further from all other numbers than these are from each other."""
    temperatures = np.linspace(-5, 30, 100).round(1)
    temperatures[::20] = mark
    [facts] = warnings_about(temperatures)
    assert facts == {"name": "x", "value": text, "rows": 5, "low": "-4.6", "high": "30"}


def test_a_date_that_may_mark_missing_values_has_a_warning() -> None:
    """The end of a contract that has none is often far in the future."""
    dates = [*pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d"), *["9999-12-31"] * 5]
    [facts] = warnings_about(dates)
    assert facts == {"name": "x", "value": "9999-12-31", "rows": 5, "low": "2020-01-01", "high": "2020-02-29"}


def test_the_first_day_of_the_computer_calendar_may_mark_missing_dates() -> None:
    """Programs write a missing time as 1970-01-01, which they count as 0."""
    dates = [*pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d"), *["1970-01-01"] * 5]
    [facts] = warnings_about(dates)
    assert (facts["value"], facts["rows"]) == ("1970-01-01", 5)


@pytest.mark.parametrize(
    "numbers",
    [
        np.where(np.arange(100) % 2, 0, np.linspace(500, 600, 100)),  # amounts, of which many are zero
        np.where(np.arange(100) == 7, 9999, np.arange(100) % 10),  # a single outlier
        np.where(np.arange(100) % 10, np.arange(100), -50),  # not far enough
        np.where(np.arange(100) % 3, np.arange(100) % 2, 100),  # a few codes
        np.full(100, np.nan),
    ],
)
def test_other_numbers_have_no_such_warning(numbers: Any) -> None:
    """Zeros, single outliers, near numbers and codes are ordinary numbers."""
    assert warnings_about(numbers) == []


def test_times_that_are_read_as_categories_have_a_warning() -> None:
    """A model learns nothing about the order of many different times, but something about each of a few."""
    times = [f"{minute // 60:02d}:{minute % 60:02d}" for minute in range(0, 1_000, 10)]
    assert warnings_about(times, code="clock_times") == [{"name": "x", "example": "00:00"}]
    assert warnings_about([f"{time}:30" for time in times], code="clock_times") != []
    assert warnings_about(times[:20] * 5, code="clock_times") == []
    assert warnings_about([f"version {time}" for time in times], code="clock_times") == []


@pytest.mark.parametrize(
    "notation", ["{year}-Q{part}", "T{part} {year}", "{year}W0{part}", "May {year}", "0{part}/{year}", "{part}-{year}"]
)
def test_periods_have_a_warning(notation: str) -> None:
    """Quarters, weeks and months are categories, which do not order the rows in time."""
    periods = [notation.format(year=2000 + number, part=number % 4 + 1) for number in range(20)] * 5
    [facts] = warnings_about(periods, code="periods")
    assert facts == {"name": "x", "example": periods[0]}
    assert warnings_about([f"model {period}" for period in periods], code="periods") == []


@pytest.mark.parametrize(
    "months",
    [
        "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
        "Janvier Février Mars Avril Mai Juin Juillet Août Septembre Octobre Novembre Décembre",
        "january february march april may june july august september october november december",
    ],
)
def test_names_of_months_have_a_warning(months: str) -> None:
    """Months are recognized by their French and English names."""
    periods = [f"{month} {year}" for year in (2023, 2024) for month in months.split()]
    assert warnings_about(periods * 5, code="periods") == [{"name": "x", "example": periods[0]}]


def test_months_with_a_short_year_have_a_warning() -> None:
    """Spreadsheets write months in this way; codes of three letters and two digits are no months."""
    months = [f"{month}-{year}" for year in (23, 24) for month in ("Jan", "Feb", "Mar", "Apr")]
    assert warnings_about(months * 5, code="periods") == [{"name": "x", "example": "Jan-23"}]
    assert warnings_about([f"ABC-{number}" for number in range(10, 20)] * 5, code="periods") == []


def test_words_among_numbers_have_a_warning() -> None:
    """Numbers with footnotes are categories, which a person would not expect; codes and other words are no numbers."""
    numbers = [f"{number / 4}*" if number % 7 == 3 else f"{number / 4}" for number in range(100)]
    assert warnings_about(numbers, code="words_among_numbers") == [{"name": "x", "example": "0.75*"}]
    assert warnings_about(["0123", *numbers[1:]], code="words_among_numbers") == []
    assert warnings_about(numbers[:20] * 5, code="words_among_numbers") == []
    assert warnings_about([f"{text}*" for text in numbers], code="words_among_numbers") == []


def test_classes_that_differ_in_case_have_a_warning() -> None:
    """They count as different classes, although the same was probably meant. Rare ones are named, too."""
    labels = ["Spam", "ham", "other"] * 30 + ["HAM"] * 10 + ["SPAM"]
    [facts] = warnings_about(range(len(labels)), labels, code="classes_differ_in_case")
    assert facts == {"names": ["HAM", "ham", "SPAM", "Spam"]}
    assert warnings_about(range(90), ["Spam", "ham", "other"] * 30, code="classes_differ_in_case") == []


def test_the_rows_of_rare_classes_are_counted() -> None:
    """The warning says how many rows the training does not use."""
    labels = ["a", "b"] * 30 + ["c", "c", "d"]
    [facts] = warnings_about(range(len(labels)), labels, code="rare_classes_left_out")
    assert facts == {"names": ["c", "d"], "rows": 3}


def test_several_spaces_separate_two_words() -> None:
    """Categories are not taken for texts because of the width of the space between their words."""
    table = read_table(csv_file(pd.DataFrame({"x": [f"city     {number % 60}" for number in range(120)]})))
    assert table.columns["x"].kind is ColumnKind.CATEGORY


def test_words_may_be_separated_by_line_breaks() -> None:
    """A text with one word on each line is a text, not a category."""
    words = ["good", "bad", "fine", "poor", "very", "so"]
    texts = ["\n".join(np.random.default_rng(seed).choice(words, 6)) for seed in range(100)]
    table = read_table(csv_file(pd.DataFrame({"x": texts})))
    assert table.columns["x"].kind is ColumnKind.TEXT
