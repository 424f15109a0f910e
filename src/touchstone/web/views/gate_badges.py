"""The badges of a dataset on the rank page: whether it passes a gate, fails it, or nothing is known about it."""

from dataclasses import dataclass
from typing import Final

from touchstone.client import ScoredDataset
from touchstone.web.localizer import Localizer
from touchstone.web.rank_gates import GATES, GateInput
from touchstone.web.rank_state import RankState
from touchstone.web.views.gate_form import gate_label, gate_value

# How each outcome is drawn: with the sign and the colour of a value that is true, false or unknown.
_OUTCOME_STATES: Final = {"passed": "yes", "failed": "no", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class GateBadge:
    """The badge that shows whether a dataset passes a gate.

    Attributes:
        label: What the gate is about.
        outcome: The outcome in words: passed, failed or unknown.
        state: The CSS class with the sign and the colour of the outcome.
    """

    label: str
    outcome: str
    state: str


def gate_badges(dataset: ScoredDataset, state: RankState, localizer: Localizer) -> tuple[GateBadge, ...]:
    """Return the badges of a dataset, one for each gate, which show whether the dataset passes it.

    A gate is a requirement that the reader has set, such as an accepted licence. The badges are in the order of the
    form. The outcome of a gate is unknown if the API has not returned any.
    """
    outcomes = dataset.gates or {}

    badges = []
    for name, text in state.gates.items():
        outcome = outcomes.get(name, "unknown")
        badge = GateBadge(
            label=_badge_label(name, text, localizer),
            outcome=localizer.text(f"gate_{outcome}"),
            state=_OUTCOME_STATES[outcome],
        )
        badges.append(badge)
    return tuple(badges)


def _badge_label(name: str, text: str, localizer: Localizer) -> str:
    """Return the label of a gate for a badge. Only bounds are labelled with their value, such as "Year ≥ 2015"."""
    label = gate_label(name, localizer)
    if GATES[name] is not GateInput.NUMBER:
        return label
    return f"{label} {gate_value(name, text, localizer)}"
