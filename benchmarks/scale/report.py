"""The table of the benchmark: each figure next to its counterpart and its target."""

from dataclasses import dataclass
from typing import Final

MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should not exceed, or should reach if `is_minimum`."""

    amount: float
    is_minimum: bool = False

    def is_met(self, value: float) -> bool:
        """Return whether a figure meets the target."""
        return value >= self.amount if self.is_minimum else value <= self.amount


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that was measured.

    Attributes:
        counterpart: what the same work takes elsewhere, in words; empty if there is nothing to compare with.
        target: what the acceptance of the product asks for; None if it asks for nothing.
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
    """Print a title, and the head of a table of figures below it."""
    print(f"\n## {title}\n\n| | measured | next to it | target |\n|---|---:|---|---|", flush=True)


def print_figure(figure: Figure) -> None:
    """Print a figure as soon as it is known, because a run takes long."""
    print(figure.table_row(), flush=True)
