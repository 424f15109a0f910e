"""The tables of the benchmark, in which figures have a counterpart and a target."""

from dataclasses import dataclass
from typing import Final

MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """The largest amount that a figure should have, or the smallest one if `is_minimum`."""

    amount: float
    is_minimum: bool = False

    def is_met(self, value: float) -> bool:
        """Return whether a figure meets the target."""
        if self.is_minimum:
            return value >= self.amount
        return value <= self.amount


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that was measured.

    Attributes:
        counterpart: a sentence with a figure to compare this one with, or an empty string.
        target: the target that the product has to meet; None if there is none.
    """

    name: str
    value: float
    unit: str
    counterpart: str = ""
    target: Target | None = None

    def table_row(self) -> str:
        """Return the figure as a row of a table in Markdown."""
        return f"| {self.name} | {self._amount(self.value)} | {self.counterpart} | {self._verdict()} |"

    def _amount(self, value: float) -> str:
        """Return an amount with its unit, to three significant digits."""
        digits = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
        return f"{digits} {self.unit}".strip()

    def _verdict(self) -> str:
        """Return the target, and whether the figure meets it."""
        if self.target is None:
            return ""

        relation = "≥" if self.target.is_minimum else "≤"
        verdict = "pass" if self.target.is_met(self.value) else "missed"
        return f"{relation} {self._amount(self.target.amount)}: {verdict}"


def print_heading(title: str) -> None:
    """Print a title and the header of a table of figures."""
    print(f"\n## {title}\n\n| | measured | next to it | target |\n|---|---:|---|---|", flush=True)


def print_figure(figure: Figure) -> None:
    """Print a figure immediately, because a complete run takes long."""
    print(figure.table_row(), flush=True)
