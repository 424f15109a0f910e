"""The browser and the operating system in a User-Agent header, for the list of sessions."""

from collections.abc import Sequence
from typing import Final

# The first match in this order decides, because most browsers also send the markers of other browsers.
_BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("python", "Python"),
    ("curl/", "curl"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def describe_user_agent(user_agent: str | None) -> str:
    """Return the names of the browser and the system, such as `Firefox · Linux`, or "" if unknown."""
    browser = _find_name(_BROWSERS, user_agent or "")
    system = _find_name(_SYSTEMS, user_agent or "")
    return " · ".join(name for name in (browser, system) if name)


def _find_name(names_by_marker: Sequence[tuple[str, str]], user_agent: str) -> str:
    """Return the name for the first marker in the header, or an empty string if there is none."""
    for marker, name in names_by_marker:
        if marker in user_agent:
            return name
    return ""
