"""The gates on the rank page: the form that sets them, the chips that remove them, and what datasets make of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.client import ScoredDataset
from touchstone.core.attributes import ETHICAL, FLAGS
from touchstone.core.evidence import Assurance
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import LABELS, parse_bound
from touchstone.web.rank_gates import GATE_PREFIX, GATES, RANGE_GATES, WORD_GATES, GateInput, is_valid_gate, split_words
from touchstone.web.rank_state import RankState
from touchstone.web.views.filter_form import FilterChip, RangeField, TextField

_OTHER_FLAGS: Final = tuple(name for name in FLAGS if name not in ETHICAL)
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "ethics": ETHICAL,
    "subject": WORD_GATES,
    "size": tuple(RANGE_GATES),
    "quality": ("trainable", *_OTHER_FLAGS),
}
# How each outcome is drawn: with the sign and the colour of a value that is true, false or unknown.
_OUTCOME_STATES: Final = {"passed": "yes", "failed": "no", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class GateOption:
    """One value of a gate that is selected from a list; `value` is empty for "no requirement"."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class SelectField:
    """A gate that is selected from a list."""

    name: str
    label: str
    options: tuple[GateOption, ...]
    kind: str = "select"


GateField = SelectField | TextField | RangeField


@dataclass(frozen=True, slots=True)
class GateGroup:
    """A group of gates that is folded and unfolded together; `active` counts those that are set."""

    name: str
    fields: tuple[GateField, ...]
    active: int


@dataclass(frozen=True, slots=True)
class GateBadge:
    """What one gate says of one dataset.

    Attributes:
        label: What the gate is about.
        outcome: `passed`, `failed` or `unknown`, in words.
        state: The CSS class with the sign and the colour of the outcome.
    """

    label: str
    outcome: str
    state: str


def gate_groups(state: RankState, localizer: Localizer) -> tuple[GateGroup, ...]:
    """Return the whole form of the gates."""
    groups = []
    for group_name, field_names in _GROUPS.items():
        fields = tuple(_build_field(name, state, localizer) for name in field_names)
        active_count = sum(_field_of(gate) in field_names for gate in state.gates)
        groups.append(GateGroup(group_name, fields, active_count))
    return tuple(groups)


def _field_of(gate: str) -> str:
    """Return the name of the field in which a gate is entered: both bounds of a range have the same one."""
    return gate.removesuffix("_min").removesuffix("_max") if GATES[gate] is GateInput.NUMBER else gate


def _build_field(name: str, state: RankState, localizer: Localizer) -> GateField:
    """Return the field with which a gate, or the two bounds of a range, are entered."""
    field_name = GATE_PREFIX + name
    label = _field_label(name, localizer)
    if name in RANGE_GATES:
        minimum, maximum = (state.gates.get(f"{name}_{bound}", "") for bound in ("min", "max"))
        return RangeField(field_name, label, minimum, maximum, low=None, high=None)

    text = state.gates.get(name, "")
    if GATES[name] is GateInput.WORDS:
        return TextField(field_name, label, text)

    values = [level.value for level in Assurance] if GATES[name] is GateInput.LEVEL else ["true"]
    options = [GateOption("", localizer.text("gate_any"), chosen=not text)]
    options.extend(GateOption(value, _value_text(name, value, localizer), value == text) for value in values)
    return SelectField(field_name, label, tuple(options))


def _field_label(name: str, localizer: Localizer) -> str:
    """Return the label of the field of a gate: that of the attribute that it is about."""
    if name in LABELS or name == "trainable":
        return localizer.text(f"rank_{name}")
    return localizer.attribute(RANGE_GATES.get(name, name))


def _value_text(name: str, text: str, localizer: Localizer) -> str:
    """Return the value of a gate as readers see it; a text that the gate does not accept stays as it is."""
    if not is_valid_gate(name, text):
        return text

    gate_input = GATES[name]
    if gate_input is GateInput.LEVEL:
        return localizer.text(f"assurance_{text}")
    if gate_input is GateInput.FLAG:
        return localizer.text("yes" if text == "true" else "no")
    if gate_input is GateInput.WORDS:
        return localizer.text("gate_or").join(split_words(text))

    # Years have no separator between thousands.
    is_year = _field_of(name) == "year"
    return text if is_year else localizer.number(parse_bound(name, text))


def gate_label(name: str, localizer: Localizer) -> str:
    """Return what a gate is about, with a sign after it if it is the bound of a range."""
    label = _field_label(_field_of(name), localizer)
    if GATES[name] is not GateInput.NUMBER:
        return label
    return f"{label} ≥" if name.endswith("_min") else f"{label} ≤"


def gate_chips(state: RankState, localizer: Localizer) -> tuple[FilterChip, ...]:
    """Return the chips above the ranking: small links, each of which shows a gate that is set and removes it."""
    return tuple(
        FilterChip(
            label=gate_label(name, localizer),
            value=_value_text(name, text, localizer),
            remove=state.without_gate(name).query(),
            key=GATE_PREFIX + name,
        )
        for name, text in state.gates.items()
    )


def gate_badges(dataset: ScoredDataset, state: RankState, localizer: Localizer) -> tuple[GateBadge, ...]:
    """Return what each gate of a state says of a dataset, in the order of the form."""
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
    """Return what a gate is about in a few words: a bound with its number, any other gate without its value."""
    label = gate_label(name, localizer)
    return f"{label} {_value_text(name, text, localizer)}" if GATES[name] is GateInput.NUMBER else label


def invalid_gate_message(name: str, localizer: Localizer) -> str:
    """Return what to enter into a gate that does not accept its value."""
    key = "rank_not_a_number" if GATES[name] is GateInput.NUMBER else "rank_not_a_choice"
    return localizer.text(key, name=_field_label(_field_of(name), localizer))
