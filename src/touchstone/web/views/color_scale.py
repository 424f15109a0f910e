"""The sequential palette: which shade a value in 0-1 gets."""

from typing import Final

from touchstone.core.colours import SHADES_DARK, SHADES_LIGHT

LIGHT: Final = SHADES_LIGHT
DARK: Final = SHADES_DARK
STEPS: Final = len(SHADES_LIGHT) - 1


def shade(value: float) -> int:
    """The shade of a value in 0-1: 0 for the lowest, `STEPS` for the highest."""
    return min(STEPS, max(0, round(value * STEPS)))
