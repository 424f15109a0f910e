"""The gates on the rank page: the form that sets them, and the chips that remove them.

A gate is a requirement that is reported for each dataset, and does not change its score.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.core.attributes import ETHICAL, FLAGS
from touchstone.core.comma_lists import split_at_commas
from touchstone.core.evidence import Assurance
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import LABELS, parse_bound
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
    """One value in the list of a gate. An empty `value` means that the gate is not set."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class SelectField:
    """The field of a gate whose value is selected from a list."""

    name: str
    label: str
    options: tuple[GateOption, ...]
    kind: str = "select"


GateField = SelectField | TextField | RangeField


@dataclass(frozen=True, slots=True)
class GateGroup:
    """A group of fields that is folded and unfolded together. `active` counts its gates that are set."""

    name: str
    fields: tuple[GateField, ...]
    active: int


def gate_groups(state: RankState, localizer: Localizer) -> tuple[GateGroup, ...]:
    """Return the form for gates, filled in with the gates of a state."""
    groups = []
    for group_name, field_names in _GROUPS.items():
        fields = tuple(_build_field(name, state, localizer) for name in field_names)
        active_count = sum(_field_name(gate) in field_names for gate in state.gates)
        groups.append(GateGroup(group_name, fields, active_count))

    return tuple(groups)


def _field_name(gate: str) -> str:
    """Return the name of a gate's form field. Both bounds of a range share one field."""
    if GATES[gate] is not GateInput.NUMBER:
        return gate
    return gate.removesuffix("_min").removesuffix("_max")


def _build_field(name: str, state: RankState, localizer: Localizer) -> GateField:
    """Build the form field for a gate, that is, for a requirement for datasets.

    A range has a field for two numbers, and words have a text field. For all other gates, readers select one of a few
    values.
    """
    field_name = GATE_PREFIX + name
    label = _field_label(name, localizer)

    if name in RANGE_GATES:
        minimum = state.gates.get(f"{name}_min", "")
        maximum = state.gates.get(f"{name}_max", "")
        return RangeField(field_name, label, minimum, maximum, low=None, high=None)

    text = state.gates.get(name, "")
    if GATES[name] is GateInput.WORDS:
        return TextField(field_name, label, text)
    return SelectField(field_name, label, _gate_options(name, text, localizer))


def _gate_options(name: str, chosen_value: str, localizer: Localizer) -> tuple[GateOption, ...]:
    """Return the values in the list of a gate, after an empty one that does not set the gate."""
    requires_level = GATES[name] is GateInput.LEVEL
    values = [level.value for level in Assurance] if requires_level else ["true"]

    unset = GateOption("", localizer.text("gate_any"), chosen=not chosen_value)
    options = [GateOption(value, gate_value(name, value, localizer), chosen=value == chosen_value) for value in values]
    return (unset, *options)


def _field_label(name: str, localizer: Localizer) -> str:
    """Return the label of a field, which is usually the one of the attribute that its gate is about."""
    if name in LABELS or name == "trainable":
        return localizer.text(f"rank_{name}")
    return localizer.attribute(RANGE_GATES.get(name, name))


def gate_value(name: str, text: str, localizer: Localizer) -> str:
    """Return the value of a gate in words, or an invalid value as the reader entered it."""
    if not is_valid_gate(name, text):
        return text

    gate_input = GATES[name]
    if gate_input is GateInput.LEVEL:
        return localizer.text(f"assurance_{text}")
    if gate_input is GateInput.FLAG:
        return localizer.text("yes" if text == "true" else "no")
    if gate_input is GateInput.WORDS:
        return localizer.text("gate_or").join(split_at_commas(text))

    # Years have no separator between thousands.
    is_year = _field_name(name) == "year"
    return text if is_year else localizer.number(parse_bound(name, text))


def gate_label(name: str, localizer: Localizer) -> str:
    """Return the subject of a gate. Bounds end with their sign, such as "Year ≥"."""
    label = _field_label(_field_name(name), localizer)
    if GATES[name] is not GateInput.NUMBER:
        return label
    return f"{label} ≥" if name.endswith("_min") else f"{label} ≤"


def gate_chips(state: RankState, localizer: Localizer) -> tuple[FilterChip, ...]:
    """Return the chips above the ranking: small links that each show an active gate and remove it."""
    chips = []
    for name, text in state.gates.items():
        state_without_gate = state.without_gate(name)
        chip = FilterChip(
            label=gate_label(name, localizer),
            value=gate_value(name, text, localizer),
            remove=state_without_gate.query(),
            key=GATE_PREFIX + name,
        )
        chips.append(chip)
    return tuple(chips)


def invalid_gate_message(name: str, localizer: Localizer) -> str:
    """Return the message below the field of a gate that does not accept its value: what to enter instead."""
    key = "rank_not_a_number" if GATES[name] is GateInput.NUMBER else "rank_not_a_choice"
    return localizer.text(key, name=_field_label(_field_name(name), localizer))
