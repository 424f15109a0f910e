"""The colours of the pages and charts, in the light and the dark theme.

Each colour has one meaning, which is also conveyed by a sign, a word, a dash or a number. The colours of `ROLES` are
from Okabe and Ito (2008), and the colours of `CLASSES` from Tol's muted scheme (2021). Both can be distinguished with
all common forms of colour blindness. The style sheet applies a filter to charts in the dark theme, and the dark
variants are the results of this filter, so that charts and tables match.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour with its variants for the light and the dark theme."""

    light: str
    dark: str


RAISES: Final = Colour("#d55e00", "#e07c2d")
LOWERS: Final = Colour("#0072b2", "#4cace2")
DATA: Final = Colour("#4a6274", "#8b9fae")
DATA_PALE: Final = Colour("#b8b8b8", "#505050")
REFERENCE: Final = Colour("#767676", "#878787")
RESULT: Final = Colour("#10161c", "#d5dadf")

ROLES: Final[Mapping[str, Colour]] = {
    "raises": RAISES,  # a contribution above zero, a column whose high values raise the prediction
    "lowers": LOWERS,  # a contribution below zero
    "data": DATA,  # a figure without a direction: counts, distributions, measured quality
    "data-pale": DATA_PALE,  # single rows behind their mean, values without an order
    "reference": REFERENCE,  # what a figure is compared with: base value, baseline, chance
    "result": RESULT,  # the prediction as the sum of the contributions
}

CLASSES: Final[tuple[Colour, ...]] = (
    Colour("#332288", "#cabcff"),
    Colour("#117733", "#5eb37a"),
    Colour("#882255", "#f9a3ce"),
    Colour("#999933", "#767621"),
    Colour("#aa4499", "#d883ca"),
    Colour("#2a8c7e", "#479a8e"),
)

# The colours of the twelve criteria. Neighbours also differ in lightness.
CRITERIA: Final[tuple[Colour, ...]] = (
    Colour("#26445c", "#7fb2d6"),
    Colour("#d29b25", "#f0c65c"),
    Colour("#4f8a8b", "#3f8f90"),
    Colour("#b4542f", "#e58a66"),
    Colour("#8fb8d8", "#c5dff2"),
    Colour("#6a4c7d", "#a98bc0"),
    Colour("#e6c98a", "#8a6b1d"),
    Colour("#2f6b47", "#6cc08f"),
    Colour("#c58fb0", "#e9bdd6"),
    Colour("#70563a", "#b39a7c"),
    Colour("#9fbf6b", "#c8e39a"),
    Colour("#7b8791", "#8f9ca7"),
)

# The shades for values between 0 and 1, each with a text colour of sufficient contrast (at least 4.5). The lightness
# changes monotonically, so that the order is visible without colour vision.
SHADES_LIGHT: Final = (
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
SHADES_DARK: Final = (
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
