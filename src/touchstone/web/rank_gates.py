"""The gates of the rank page: requirements that are reported for each dataset, and how their values are entered.

A gate does not change the scores of datasets, as weights do, and only hides datasets if the reader asks for that.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from touchstone.core.attributes import FLAGS
from touchstone.core.comma_lists import join_with_commas, split_at_commas
from touchstone.core.evidence import Assurance
from touchstone.web.rank_filters import LABELS, InvalidFilterValue, parse_bound

GATE_PREFIX: Final = "gate."
"""The beginning of the parameters of gates in addresses, because filters have the same names."""
WORD_GATES: Final = (*LABELS, "domain", "task")
RANGE_GATES: Final[Mapping[str, str]] = {
    "year": "year",
    "instances": "instances_number",
    "features": "features_number",
    "citations": "citations",
    "missing_values_percentage": "missing_values_percentage",
}
"""The ranges that have a gate for each bound, with the attribute that the bound is about."""

GateValue = str | list[str] | bool | int | float


class GateInput(StrEnum):
    """How a gate is entered in the form."""

    LEVEL = "level"
    """The level of evidence at which an attribute must be true."""
    WORDS = "words"
    """Words separated by commas, at least one of them being required."""
    FLAG = "flag"
    NUMBER = "number"


def _list_gates() -> dict[str, GateInput]:
    """Return the kind of input of each gate of the API, by name, in the order of the form."""
    gates = dict.fromkeys(FLAGS, GateInput.LEVEL)
    gates["trainable"] = GateInput.FLAG
    gates |= dict.fromkeys(WORD_GATES, GateInput.WORDS)
    for name in RANGE_GATES:
        gates |= {f"{name}_min": GateInput.NUMBER, f"{name}_max": GateInput.NUMBER}
    return gates


def _list_aliases() -> dict[str, str]:
    """Return the names of gates by the alternative names that the API also accepts, and projects may have stored."""
    aliases = {"split": "is_split", "is_anonymized": "anonymization_applied"}
    for name, attribute in RANGE_GATES.items():
        aliases |= {f"{attribute}_{bound}": f"{name}_{bound}" for bound in ("min", "max")}
    return aliases


GATES: Final[Mapping[str, GateInput]] = _list_gates()
_ALIASES: Final[Mapping[str, str]] = _list_aliases()


def gate_name(name: str) -> str:
    """Return the form's name for a gate, resolving the alternative names that the API accepts."""
    return _ALIASES.get(name, name)


def parse_gate(name: str, text: str) -> GateValue:
    """Return the value of a gate as the API expects it, from the text that a reader has entered.

    Raises:
        InvalidFilterValue: The gate does not accept the string.
    """
    gate_input = GATES[name]
    if gate_input is GateInput.NUMBER:
        return parse_bound(name, text)
    if gate_input is GateInput.WORDS:
        return split_at_commas(text)
    if gate_input is GateInput.FLAG and text in ("true", "false"):
        return text == "true"
    if gate_input is GateInput.LEVEL and text in list(Assurance):
        return text
    raise InvalidFilterValue(name)


def is_valid_gate(name: str, text: str) -> bool:
    """Return whether a gate accepts the entered string."""
    try:
        parse_gate(name, text)
    except InvalidFilterValue:
        return False
    return True


def gates_of_project(stored_gates: Mapping[str, Any]) -> dict[str, str]:
    """Return the stored gates of a project as a reader would enter them, by name, in the order of the form.

    Gates that the form does not have, and gates without a value, are left out.
    """
    texts_by_name = {}
    for stored_name, value in stored_gates.items():
        name = gate_name(stored_name)
        text = _gate_text(value)
        if name in GATES and text:
            texts_by_name[name] = text

    return {name: texts_by_name[name] for name in GATES if name in texts_by_name}


def _gate_text(value: Any) -> str:
    """Return the stored value of a gate as a reader would enter it, or an empty string if there is none."""
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
