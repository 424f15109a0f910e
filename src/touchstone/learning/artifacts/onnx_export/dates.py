"""The components of dates as ONNX operators, equivalent to skrub's `DatetimeEncoder`.

ONNX has no date type. A date input holds the seconds since 1970-01-01T00:00 UTC, with NaN for a missing date.
"""

from typing import Final

from touchstone.learning.artifacts.onnx_export.graph import Graph
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx

SECONDS_PER_HOUR: Final = 3_600.0
SECONDS_PER_DAY: Final = 86_400.0
DAYS_FROM_YEAR_0: Final = 719_468.0  # from 1 March of the year 0 to 1970-01-01
DAYS_PER_ERA: Final = 146_097.0  # An era has 400 years, after which the calendar repeats itself.


class DateComponents:
    """The components of a date column, as columns of 64-bit numbers with NaN for missing dates."""

    # The values of an ONNX graph have names. Each method adds operators, and returns the name of their result.

    def __init__(self, graph: Graph, seconds: str) -> None:
        self._graph = graph
        self._seconds = seconds
        self._days = self._floor_divide(seconds, SECONDS_PER_DAY)

    def component(self, name: str) -> str:
        """Add the component that `DatetimeEncoder` calls `name`, or raise `NotInOnnx` if it is unknown."""
        if name in ("year", "month", "day"):
            return self._calendar_component(name)
        if name == "hour":
            return self._floor_divide(self._remainder(self._seconds, SECONDS_PER_DAY), SECONDS_PER_HOUR)
        if name == "total_seconds":
            return self._seconds
        if name == "weekday":  # 1970-01-01 was a Thursday, and Monday is 1.
            return self._add(self._remainder(self._add(self._days, 3.0), 7.0), 1.0)
        raise NotInOnnx("encoder", name=name)

    def _calendar_component(self, name: str) -> str:
        """Add the component `year`, `month` or `day`.

        The algorithm is `civil_from_days` by Hinnant (2013). Its years begin in March, so that a leap day is the last
        day of its year. With `//` for a division that is rounded down, it computes

            shifted_month = (5 * day_of_year + 2) // 153, from 0 for March to 11 for February
            next_year = shifted_month // 10, which is 1 for January and February
            day = day_of_year - (153 * shifted_month + 2) // 5 + 1
            month = shifted_month + 3 - 12 * next_year
            year = year_of_era + 400 * era + next_year
        """
        day_number = self._add(self._days, DAYS_FROM_YEAR_0)
        era = self._floor_divide(day_number, DAYS_PER_ERA)
        day_of_era = self._remainder(day_number, DAYS_PER_ERA)
        year_of_era = self._year_of_era(day_of_era)
        day_of_year = self._subtract(day_of_era, self._days_before_year(year_of_era))

        shifted_month = self._floor_divide(self._add(self._multiply(day_of_year, 5.0), 2.0), 153.0)
        if name == "day":
            days_before_month = self._floor_divide(self._add(self._multiply(shifted_month, 153.0), 2.0), 5.0)
            return self._add(self._subtract(day_of_year, days_before_month), 1.0)

        # January and February belong to the next calendar year.
        next_year = self._floor_divide(shifted_month, 10.0)
        if name == "month":
            return self._subtract(self._add(shifted_month, 3.0), self._multiply(next_year, 12.0))
        return self._sum(year_of_era, self._multiply(era, 400.0), next_year)

    def _year_of_era(self, day_of_era: str) -> str:
        """Return the year within an era, from 0 to 399.

        It is (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365.
        """
        leap_days = self._floor_divide(day_of_era, 1_460.0)
        century_days = self._floor_divide(day_of_era, 36_524.0)
        last_day = self._floor_divide(day_of_era, 146_096.0)
        ordinary_days = self._subtract(self._sum(day_of_era, century_days), self._sum(leap_days, last_day))
        return self._floor_divide(ordinary_days, 365.0)

    def _days_before_year(self, year_of_era: str) -> str:
        """Return the number of days between the beginning of an era and the beginning of a year.

        It is 365 * year_of_era + year_of_era // 4 - year_of_era // 100.
        """
        leap_days = self._floor_divide(year_of_era, 4.0)
        days = self._sum(self._multiply(year_of_era, 365.0), leap_days)
        return self._subtract(days, self._floor_divide(year_of_era, 100.0))

    def _sum(self, *values: str) -> str:
        """Return the sum of several columns."""
        return self._graph.apply("Sum", *values)

    def _add(self, value: str, number: float) -> str:
        """Return the sum of a column and a number."""
        return self._graph.apply("Add", value, self._graph.constant(number))

    def _subtract(self, value: str, other: str) -> str:
        """Return the difference of two columns."""
        return self._graph.apply("Sub", value, other)

    def _multiply(self, value: str, number: float) -> str:
        """Return the product of a column and a number."""
        return self._graph.apply("Mul", value, self._graph.constant(number))

    def _floor_divide(self, value: str, divisor: float) -> str:
        """Return the quotient of a column and a number, rounded down."""
        return self._graph.apply("Floor", self._graph.apply("Div", value, self._graph.constant(divisor)))

    def _remainder(self, value: str, divisor: float) -> str:
        """Return the remainder of a division that is rounded down."""
        return self._subtract(value, self._multiply(self._floor_divide(value, divisor), divisor))
