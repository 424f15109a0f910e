"""The table of gates, which are requirements that are reported for each dataset without changing its score.

A dataset passes or fails a gate, or the outcome is unknown because the catalog lacks the value to decide. By default,
rankings also contain datasets that do not pass.

Scoring requests, projects, recommendations, OpenAPI, documentation and tests all use this table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

import numpy as np

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.evidence import Assurance
from touchstone.core.vocabulary import comparison_key
from touchstone.metadata.licences import UNKNOWN_LICENCE
from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import AnyWord, FlagEquals, Predicate, Range
from touchstone.services.selection.filters import FILTERS, FLAG_ALIASES
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType, ParameterValues

GateOutcomes: TypeAlias = dict[str, "GateOutcome"]
"""The outcome of each gate for one dataset, by the name of the gate."""

FILTERS_AS_GATES: Final = (
    "license",
    "language",
    "source",
    "trainable",
    "domain",
    "task",
    "year_min",
    "year_max",
    "instances_min",
    "instances_max",
    "features_min",
    "features_max",
    "citations_min",
    "citations_max",
    "missing_values_percentage_min",
    "missing_values_percentage_max",
)
"""The filters that are also gates, with the same values and aliases."""


class GateOutcome(StrEnum):
    """The outcome of a gate for a dataset."""

    PASSED = "passed"
    FAILED = "failed"
    """The dataset has a known value that does not meet the requirement."""
    UNKNOWN = "unknown"
    """The value that decides about the requirement is unknown."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A requirement for datasets.

    Attributes:
        parameter: the name of the gate in JSON objects, and its possible values.
        predicate: a function that converts the value of the gate to the condition for passing it.
    """

    parameter: Parameter
    predicate: Callable[[Any], Predicate]


def _flag_gate(name: str, label: str) -> Gate:
    """Return the gate that requires a flag to be true. Its value is the weakest level of evidence that counts."""
    parameter = Parameter(
        name=name,
        type=ParameterType.CHOICE,
        description=f"{label}: must be true, by evidence of at least this level.",
        aliases=FLAG_ALIASES.get(name, ()),
        choices=tuple(assurance.value for assurance in Assurance),
    )
    return Gate(parameter, lambda level: FlagEquals(name, value=True, assurance=Assurance(level)))


_FILTERS_BY_NAME: Final = {catalog_filter.parameter.name: catalog_filter for catalog_filter in FILTERS}

GATES: Final[tuple[Gate, ...]] = (
    *(_flag_gate(attribute.name, attribute.label_en) for attribute in ATTRIBUTES if attribute.kind is Kind.FLAG),
    *(Gate(_FILTERS_BY_NAME[name].parameter, _FILTERS_BY_NAME[name].predicate) for name in FILTERS_AS_GATES),
)
GATE_PARAMETERS: Final = ParameterTable(*(gate.parameter for gate in GATES))
_PREDICATES: Final = {gate.parameter.name: gate.predicate for gate in GATES}


def parse_gates(value: object, *location: str) -> ParameterValues:
    """Parse a JSON object with the values of gates by name. Null is treated as an empty object.

    Args:
        value: the JSON value.
        location: the path of the value in the request, for error messages.

    Raises:
        Invalid: the value is not a valid object of gates; the subclass identifies the problem.
    """
    return {} if value is None else GATE_PARAMETERS.parse_json(value, *location)


def gate_predicates(gates: ParameterValues) -> tuple[Predicate, ...]:
    """Return the conditions for passing the gates, in the same order."""
    return tuple(_PREDICATES[name](value) for name, value in gates.items())


def judge_gates(view: View, positions: Ints, gates: ParameterValues) -> list[GateOutcomes]:
    """Return the outcomes of all gates for each record at `positions`, by the name of the gate.

    Gates for flags use the level of evidence in their value. All other gates use the assurance of the view.
    """
    if not gates:
        return [{} for _ in positions]

    # Array operations evaluate one gate at a time for all records.
    outcomes_by_gate: list[list[GateOutcome]] = []
    for predicate in gate_predicates(gates):
        judge = _JUDGES[type(predicate)]
        passes, is_known = judge(view, positions, predicate)
        failed_or_unknown = np.where(is_known, GateOutcome.FAILED, GateOutcome.UNKNOWN)
        outcomes = np.where(passes, GateOutcome.PASSED, failed_or_unknown)
        outcomes_by_gate.append([GateOutcome(outcome) for outcome in outcomes.tolist()])

    outcomes_by_record = zip(*outcomes_by_gate, strict=True)
    return [dict(zip(gates, outcomes, strict=True)) for outcomes in outcomes_by_record]


def _judge_flag(view: View, positions: Ints, predicate: FlagEquals) -> tuple[Bools, Bools]:
    """Return two masks over `positions`: the flag has the required value, and the flag is known."""
    view_at_level = view.at(predicate.assurance or view.assurance)
    flags = view_at_level.attribute(predicate.column, positions)
    # 1 is true, 0 is false, and an unknown value is negative.
    return flags == int(predicate.value), flags >= 0


def _judge_number(view: View, positions: Ints, predicate: Range) -> tuple[Bools, Bools]:
    """Return two masks over `positions`: the number is in the required range, and the number is known."""
    numbers = view.attribute(predicate.column, positions)
    is_known = ~np.isnan(numbers)
    is_high_enough = True if predicate.low is None else numbers >= predicate.low
    is_low_enough = True if predicate.high is None else numbers <= predicate.high
    return is_known & is_high_enough & is_low_enough, is_known


def _judge_words(view: View, positions: Ints, predicate: AnyWord) -> tuple[Bools, Bools]:
    """Return two masks over `positions`: one of the required words occurs, and any word is known.

    The licence "unknown" does not count as a known word.
    """
    required_words = {comparison_key(predicate.column, word) for word in predicate.words}
    word_lists = view.words(predicate.column, positions)

    passes = [not required_words.isdisjoint(words) for words in word_lists]
    is_known = [len(words) > 0 and words != (UNKNOWN_LICENCE,) for words in word_lists]
    return np.array(passes, np.bool_), np.array(is_known, np.bool_)


_JUDGES: Final[Mapping[type[Any], Callable[[View, Ints, Any], tuple[Bools, Bools]]]] = {
    FlagEquals: _judge_flag,
    Range: _judge_number,
    AnyWord: _judge_words,
}
