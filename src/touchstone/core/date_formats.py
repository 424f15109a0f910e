"""The supported date formats. A column is parsed with the first format that matches its dates."""

from typing import Final

ISO_8601: Final = "ISO8601"
DATE_FORMATS: Final = (
    ISO_8601,
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
