"""The sequential palette: which shade a value in 0-1 gets.

Lightness falls (or, in the dark, rises) steadily from pale gold to slate, so that the order is seen by every kind of
eye; each shade comes with the ink that is readable on it, at a contrast of 4.5 or more. `tokens.css` has the same.
"""

from typing import Final

STEPS: Final = 10
LIGHT: Final = (
    ("#fdf6e3", "#10161c"),
    ("#f7e1ab", "#10161c"),
    ("#f0cc6c", "#10161c"),
    ("#ddaf4f", "#10161c"),
    ("#c9922e", "#10161c"),
    ("#a68241", "#10161c"),
    ("#7d6a45", "#ffffff"),
    ("#5b5a52", "#ffffff"),
    ("#39485a", "#ffffff"),
    ("#2b3847", "#ffffff"),
    ("#1d2935", "#ffffff"),
)
DARK: Final = (
    ("#27323c", "#ffffff"),
    ("#37414b", "#ffffff"),
    ("#47505a", "#ffffff"),
    ("#615d53", "#ffffff"),
    ("#756647", "#ffffff"),
    ("#a28142", "#10161c"),
    ("#b5852f", "#10161c"),
    ("#cd9e3e", "#10161c"),
    ("#e6b84e", "#10161c"),
    ("#f1cf80", "#10161c"),
    ("#fbe6ac", "#10161c"),
)


def shade(value: float) -> int:
    """The shade of a value in 0-1: 0 for the lowest, `STEPS` for the highest."""
    return min(STEPS, max(0, round(value * STEPS)))
