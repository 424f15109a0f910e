"""The badges of a dataset on the rank page, which show whether it passes each gate."""

from dataclasses import dataclass
from typing import Final

from touchstone.client import ScoredDataset
from touchstone.web.localizer import Localizer
from touchstone.web.rank_gates import GATES, GateInput
from touchstone.web.rank_state import RankState
from touchstone.web.views.gate_form import format_gate_value, gate_label

# The CSS class for each outcome, with the sign and the colour of a true, false or unknown value.
_CSS_CLASS_BY_OUTCOME: Final = {"passed": "yes", "failed": "no", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class GateBadge:
    """A badge that shows whether a dataset passes a gate.

    Attributes:
        label: The name of the gate for readers.
        outcome: The outcome in words: passed, failed or unknown.
        state: The CSS class with the sign and the colour of the outcome.
    """

    label: str
    outcome: str
    state: str


def gate_badges(dataset: ScoredDataset, state: RankState, localizer: Localizer) -> tuple[GateBadge, ...]:
    """Return one badge for each gate that the reader has set, in the order of the form.

    A gate is a requirement, such as an accepted licence. Its outcome is unknown if the API has not returned one.
    """
    outcomes = dataset.gates or {}

    badges = []
    for name, entered_value in state.gates.items():
        outcome = outcomes.get(name, "unknown")
        badge = GateBadge(
            label=_badge_label(name, entered_value, localizer),
            outcome=localizer.text(f"gate_{outcome}"),
            state=_CSS_CLASS_BY_OUTCOME[outcome],
        )
        badges.append(badge)
    return tuple(badges)


def _badge_label(name: str, entered_value: str, localizer: Localizer) -> str:
    """Return the label of a gate for a badge. Bounds also have their value, as in "Year ≥ 2015"."""
    label = gate_label(name, localizer)
    if GATES[name] is not GateInput.NUMBER:
        return label
    return f"{label} {format_gate_value(name, entered_value, localizer)}"
