"""The form that sets the gates on the rank page, and the chips that remove them.

A gate is a requirement. The ranking shows for each dataset whether it passes, and its score does not change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.core.attributes import ETHICAL, FLAGS
from touchstone.core.comma_lists import split_at_commas
from touchstone.core.evidence import Assurance
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import METADATA_FIELDS, parse_bound
from touchstone.web.rank_gates import GATE_PREFIX, GATES, RANGE_GATES, WORD_GATES, GateInput, is_valid_gate
from touchstone.web.rank_state import RankState
from touchstone.web.views.filter_form import FilterChip, RangeField, TextField

_OTHER_FLAGS: Final = tuple(name for name in FLAGS if name not in ETHICAL)
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "ethics": ETHICAL,
    "subject": WORD_GATES,
    "size": tuple(RANGE_GATES),
    "quality": ("trainable", *_OTHER_FLAGS),
}


@dataclass(frozen=True, slots=True)
class GateOption:
    """One value in the list of a gate; the empty value does not set the gate."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class SelectField:
    """The field of a gate with a list of values to select one from."""

    name: str
    label: str
    options: tuple[GateOption, ...]
    kind: str = "select"


GateField = SelectField | TextField | RangeField


@dataclass(frozen=True, slots=True)
class GateGroup:
    """A group of fields that the reader folds and unfolds together.

    Attributes:
        name: The name of the group; its heading has the message key `group_<name>`.
        fields: The fields in their order.
        active_count: The number of gates that are set in the group.
    """

    name: str
    fields: tuple[GateField, ...]
    active_count: int


def gate_groups(state: RankState, localizer: Localizer) -> tuple[GateGroup, ...]:
    """Build the gate form, filled in with the gates of a state."""
    groups = []
    for group_name, field_names in _GROUPS.items():
        fields = tuple(_build_field(name, state, localizer) for name in field_names)
        active_count = sum(_field_name(gate) in field_names for gate in state.gates)
        groups.append(GateGroup(group_name, fields, active_count))

    return tuple(groups)


def _field_name(gate: str) -> str:
    """Return the name of the form field of a gate. Both bounds of a range share one field."""
    if GATES[gate] is not GateInput.NUMBER:
        return gate
    return gate.removesuffix("_min").removesuffix("_max")


def _build_field(name: str, state: RankState, localizer: Localizer) -> GateField:
    """Build the form field of a gate, or of a range with a gate for each bound.

    Ranges have two numbers, and gates with words have a text field. For other gates, readers select a value.
    """
    field_name = GATE_PREFIX + name
    label = _field_label(name, localizer)

    if name in RANGE_GATES:
        minimum = state.gates.get(f"{name}_min", "")
        maximum = state.gates.get(f"{name}_max", "")
        return RangeField(field_name, label, minimum, maximum, low=None, high=None)

    entered_value = state.gates.get(name, "")
    if GATES[name] is GateInput.WORDS:
        return TextField(field_name, label, entered_value)
    return SelectField(field_name, label, _gate_options(name, entered_value, localizer))


def _gate_options(name: str, chosen_value: str, localizer: Localizer) -> tuple[GateOption, ...]:
    """Return the values to select for a gate, beginning with the empty value that does not set it."""
    requires_level = GATES[name] is GateInput.LEVEL
    values = [level.value for level in Assurance] if requires_level else ["true"]

    options = [GateOption("", localizer.text("gate_any"), is_chosen=not chosen_value)]
    for value in values:
        label = format_gate_value(name, value, localizer)
        options.append(GateOption(value, label, is_chosen=value == chosen_value))
    return tuple(options)


def _field_label(name: str, localizer: Localizer) -> str:
    """Return the label of a form field, which is usually the label of the attribute."""
    if name in METADATA_FIELDS or name == "trainable":
        return localizer.text(f"rank_{name}")
    return localizer.attribute(RANGE_GATES.get(name, name))


def format_gate_value(name: str, entered_value: str, localizer: Localizer) -> str:
    """Format the value of a gate for readers, and return an invalid value unchanged."""
    if not is_valid_gate(name, entered_value):
        return entered_value

    gate_input = GATES[name]
    if gate_input is GateInput.LEVEL:
        return localizer.text(f"assurance_{entered_value}")
    if gate_input is GateInput.FLAG:
        return localizer.text("yes" if entered_value == "true" else "no")
    if gate_input is GateInput.WORDS:
        return localizer.text("gate_or").join(split_at_commas(entered_value))

    # A year has no separator between thousands.
    is_year = _field_name(name) == "year"
    return entered_value if is_year else localizer.number(parse_bound(name, entered_value))


def gate_label(name: str, localizer: Localizer) -> str:
    """Return the label of a gate. Bounds have a sign, as in "Year ≥"."""
    label = _field_label(_field_name(name), localizer)
    if GATES[name] is not GateInput.NUMBER:
        return label
    return f"{label} ≥" if name.endswith("_min") else f"{label} ≤"


def gate_chips(state: RankState, localizer: Localizer) -> tuple[FilterChip, ...]:
    """Return one chip for each active gate, which is a link above the ranking that removes the gate."""
    chips = []
    for name, entered_value in state.gates.items():
        state_without_gate = state.without_gate(name)
        chip = FilterChip(
            label=gate_label(name, localizer),
            value=format_gate_value(name, entered_value, localizer),
            removal_query=state_without_gate.query(),
            key=GATE_PREFIX + name,
        )
        chips.append(chip)
    return tuple(chips)


def invalid_gate_message(name: str, localizer: Localizer) -> str:
    """Return the message below the field of a gate with an invalid value."""
    key = "rank_not_a_number" if GATES[name] is GateInput.NUMBER else "rank_not_a_choice"
    return localizer.text(key, name=_field_label(_field_name(name), localizer))
