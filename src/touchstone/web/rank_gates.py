"""The gates of the rank page, and the parsing of their entered values.

A gate is a requirement, such as an accepted licence. The ranking shows for each dataset whether it passes the gate. Its
score does not change, and datasets that fail are only hidden if the reader asks for that.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from touchstone.core.attributes import FLAGS
from touchstone.core.comma_lists import join_with_commas, split_at_commas
from touchstone.core.evidence import Assurance
from touchstone.web.rank_filters import METADATA_FIELDS, InvalidFilterValue, parse_bound

GATE_PREFIX: Final = "gate."
"""The prefix of gates in addresses, which distinguishes them from filters with the same names."""
WORD_GATES: Final = (*METADATA_FIELDS, "domain", "task")
RANGE_GATES: Final[Mapping[str, str]] = {
    "year": "year",
    "instances": "instances_number",
    "features": "features_number",
    "citations": "citations",
    "missing_values_percentage": "missing_values_percentage",
}
"""The ranges with one gate for each bound, and the attributes that the bounds apply to."""

GateValue = str | list[str] | bool | int | float


class GateInput(StrEnum):
    """How a gate is entered in the form."""

    LEVEL = "level"
    """The level of evidence at which an attribute must be true."""
    WORDS = "words"
    """Words separated by commas; a dataset needs at least one of them."""
    FLAG = "flag"
    NUMBER = "number"


def _list_gates() -> dict[str, GateInput]:
    """Return all gates of the API with their inputs, in the order of the form."""
    gates = dict.fromkeys(FLAGS, GateInput.LEVEL)
    gates["trainable"] = GateInput.FLAG
    gates |= dict.fromkeys(WORD_GATES, GateInput.WORDS)
    for name in RANGE_GATES:
        gates |= {f"{name}_min": GateInput.NUMBER, f"{name}_max": GateInput.NUMBER}
    return gates


def _list_aliases() -> dict[str, str]:
    """Return the names of gates in the form, by the alternative names that the API accepts."""
    aliases = {"split": "is_split", "is_anonymized": "anonymization_applied"}
    for name, attribute in RANGE_GATES.items():
        aliases |= {f"{attribute}_{bound}": f"{name}_{bound}" for bound in ("min", "max")}
    return aliases


GATES: Final[Mapping[str, GateInput]] = _list_gates()
_ALIASES: Final[Mapping[str, str]] = _list_aliases()


def canonical_gate_name(name: str) -> str:
    """Replace an alternative name of a gate by the name that the form uses."""
    return _ALIASES.get(name, name)


def parse_gate(name: str, entered_value: str) -> GateValue:
    """Convert the entered value of a gate to the value that the API expects.

    Raises:
        InvalidFilterValue: The gate does not accept the entered value.
    """
    gate_input = GATES[name]
    if gate_input is GateInput.NUMBER:
        return parse_bound(name, entered_value)
    if gate_input is GateInput.WORDS:
        return split_at_commas(entered_value)
    if gate_input is GateInput.FLAG and entered_value in ("true", "false"):
        return entered_value == "true"
    if gate_input is GateInput.LEVEL and entered_value in list(Assurance):
        return entered_value
    raise InvalidFilterValue(name)


def is_valid_gate(name: str, entered_value: str) -> bool:
    """Return whether a gate accepts the entered value."""
    try:
        parse_gate(name, entered_value)
    except InvalidFilterValue:
        return False
    return True


def gates_from_project(stored_gates: Mapping[str, Any]) -> dict[str, str]:
    """Convert the stored gates of a project to entered values by name, in the order of the form.

    Unknown gates and gates without a value are left out.
    """
    entered_value_by_name = {}
    for stored_name, value in stored_gates.items():
        name = canonical_gate_name(stored_name)
        entered_value = _to_entered_value(value)
        if name in GATES and entered_value:
            entered_value_by_name[name] = entered_value

    return {name: entered_value_by_name[name] for name in GATES if name in entered_value_by_name}


def _to_entered_value(value: Any) -> str:
    """Convert the stored value of a gate to the string that a reader would enter."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return join_with_commas(str(word) for word in value)
    if isinstance(value, str):
        return value
    # Fifteen significant digits survive in every float, and whole numbers have no decimal point in this format.
    return f"{value:.15g}"
