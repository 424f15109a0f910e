"""Parameters and response of the route for suggestions while typing."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from pydantic import BaseModel

from touchstone.ranking.catalog.suggestions import Suggestion
from touchstone.services.selection.filters import MAX_SEARCH_TEXT_LENGTH
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType, ParameterValues

_Q: Final = Parameter(
    name="q",
    type=ParameterType.TEXT,
    max_length=MAX_SEARCH_TEXT_LENGTH,
    description="The text typed so far. Each of its words must begin a word of the name, domain or task.",
)
_LIMIT: Final = Parameter(
    name="limit",
    type=ParameterType.INTEGER,
    description="The maximum number of suggestions.",
    minimum=1,
    maximum=50,
    default=10,
)
SUGGEST_PARAMETERS: Final = ParameterTable(_Q, _LIMIT)


class SuggestionView(BaseModel):
    """A name, a domain or a task; `count` is the number of records that have it."""

    kind: str
    text: str
    count: int


class SuggestionsView(BaseModel):
    """Suggestions, the best first."""

    suggestions: list[SuggestionView]


def parse_suggest_options(values: ParameterValues) -> tuple[str, int]:
    """Return the text to complete, which may be empty, and the maximum number of suggestions."""
    return _Q.text_in(values, default=""), _LIMIT.integer_in(values)


def suggestions_json(suggestions: Sequence[Suggestion]) -> dict[str, Any]:
    """Convert suggestions to JSON."""
    return {"suggestions": [asdict(suggestion) for suggestion in suggestions]}
