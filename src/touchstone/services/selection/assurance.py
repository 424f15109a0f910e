"""The parameter `assurance`: the weakest level of evidence that counts in filters, facets, sorting and ranking."""

from typing import Final

from touchstone.core.errors import ConflictingValues
from touchstone.core.evidence import Assurance
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType, ParameterValues

ASSURANCE: Final = Parameter(
    name="assurance",
    type=ParameterType.CHOICE,
    description="Count only claims of at least this level; attributes without one are unknown.",
    choices=tuple(assurance.value for assurance in Assurance),
    default=Assurance.DECLARED.value,
)
ASSURANCE_PARAMETERS: Final = ParameterTable(ASSURANCE)


def parse_assurance(values: ParameterValues) -> Assurance | None:
    """Return the assurance from parsed parameters, or None if it is not given."""
    value = values.get(ASSURANCE.name)
    return None if value is None else Assurance(str(value))


def parse_json_assurance(value: object, *location: str) -> Assurance | None:
    """Parse the assurance in a JSON object, or return None if it is null or missing.

    Raises:
        InvalidValue, UnknownName: the value is not an assurance.
    """
    parsed_value = ASSURANCE.parse_json(value, location)
    return None if parsed_value is None else Assurance(str(parsed_value))


def merge_assurances(in_query: Assurance | None, in_body: Assurance | None) -> Assurance:
    """Return the assurance from the query string or the body, or `declared` if neither contains one.

    Raises:
        ConflictingValues: both contain an assurance, and they differ.
    """
    if in_query and in_body and in_query is not in_body:
        raise ConflictingValues(at=("query", ASSURANCE.name), name=ASSURANCE.name, other=f"body.{ASSURANCE.name}")

    return in_query or in_body or Assurance.DECLARED
