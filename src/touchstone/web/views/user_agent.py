"""The browser and the system behind a User-Agent header, for the list of sessions."""

from typing import Final

# In this order, because most browsers also name the ones further down.
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
    """Return the common names of the browser and the system; empty if neither is known."""
    names = []
    for table in (_BROWSERS, _SYSTEMS):
        name = next((name for marker, name in table if marker in (user_agent or "")), None)
        if name is not None:
            names.append(name)
    return " · ".join(names)
