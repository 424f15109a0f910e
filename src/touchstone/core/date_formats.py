"""The supported date formats. A column is parsed with the first format that matches its dates.

If both the day and the month could come first, the day does.
"""

from typing import Final

ISO_8601: Final = "ISO8601"
_DAYS_IN_DIGITS: Final = ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y", "%Y/%m/%d")
_DAY_WITH_MONTH_NAME: Final = "%d-%b-%Y"
_TIMES: Final = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
DATE_FORMATS: Final = (
    ISO_8601,
    *_DAYS_IN_DIGITS,
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    *(f"{day} {time}" for day in (*_DAYS_IN_DIGITS, _DAY_WITH_MONTH_NAME) for time in _TIMES),
    "%Y-%m-%d %H:%M:%S UTC",
    "%d %b %Y",
    _DAY_WITH_MONTH_NAME,
    "%d-%b-%y",
    "%d %B %Y",
    "%d. %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
