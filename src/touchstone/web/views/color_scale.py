"""The sequential palette of the heat map, which maps values in 0-1 to shades."""

from typing import Final

from touchstone.core.colours import SHADES_DARK, SHADES_LIGHT

LIGHT: Final = SHADES_LIGHT
DARK: Final = SHADES_DARK
DARKEST_SHADE: Final = len(SHADES_LIGHT) - 1


def shade(value: float) -> int:
    """Return the shade of a value in 0-1, between 0 and `DARKEST_SHADE`."""
    return min(DARKEST_SHADE, max(0, round(value * DARKEST_SHADE)))
