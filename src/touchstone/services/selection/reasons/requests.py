"""Parsing of questions about a ranking.

Each request body has the keys of a scoring request, which describe the ranking, and additional keys for the question.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.attributes import INT32_MAX, INT53_MAX
from touchstone.core.errors import FieldError, Invalid, InvalidValue
from touchstone.core.identity import parse_uuid
from touchstone.http.spelling_suggestions import unknown_name_error
from touchstone.ranking.reasons.stability import StabilityOptions
from touchstone.services.selection.datasets.scoring_request import SCORE_KEYS, ScoringRequest, parse_scoring_request
from touchstone.services.selection.parameters import MAX_REPORTED_NAME_LENGTH, Parameter, ParameterTable, ParameterType

MIN_COMPARED: Final = 2
MAX_COMPARED: Final = 5

_IDS: Final = "ids"
_TARGET_RANK: Final = Parameter(
    name="rank",
    type=ParameterType.INTEGER,
    description="The rank that the smallest set of attributes has to reach.",
    minimum=1,
    maximum=INT53_MAX,
)
_K: Final = Parameter(
    name="k",
    type=ParameterType.INTEGER,
    description="The number of first places to examine.",
    minimum=1,
    maximum=100,
    default=10,
)
_SAMPLES: Final = Parameter(
    name="samples",
    type=ParameterType.INTEGER,
    description="The number of random sets of weights.",
    minimum=1,
    maximum=500,
    default=100,
)
_SPREAD: Final = Parameter(
    name="spread",
    type=ParameterType.NUMBER,
    description="The maximum change of each weight, as a share of it.",
    minimum=0,
    maximum=1,
    default=0.2,
)
_SEED: Final = Parameter(
    name="seed",
    type=ParameterType.INTEGER,
    description="The seed of the random weights. The same seed gives the same weights.",
    minimum=0,
    maximum=INT53_MAX,
    default=0,
)
_UNKNOWN_RANKS: Final = Parameter(
    name="unknown_ranks",
    type=ParameterType.FLAG,
    description="Add the ranks that the unknown ethical attributes allow.",
    default=False,
)
COMPARISON_PROPERTIES: Final[dict[str, Any]] = {
    _IDS: {
        "type": "array",
        "items": {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": INT32_MAX},
                {"type": "string", "format": "uuid"},
            ]
        },
        "minItems": MIN_COMPARED,
        "maxItems": MAX_COMPARED,
        "uniqueItems": True,
        "description": "The datasets to compare.",
    }
}
"""The JSON Schema of the keys that a comparison adds to a scoring request."""
LIFT_PARAMETERS: Final = ParameterTable(_TARGET_RANK)
STABILITY_PARAMETERS: Final = ParameterTable(_K, _SAMPLES, _SPREAD, _SEED, _UNKNOWN_RANKS)


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """The keys of the datasets to compare (integer ids or UUIDs), and the ranking that contains them."""

    keys: tuple[str, ...]
    scoring: ScoringRequest


@dataclass(frozen=True, slots=True)
class LiftsRequest:
    """A question about the possible rise of a dataset, with an optional rank to reach, and the ranking."""

    target_rank: int | None
    scoring: ScoringRequest


@dataclass(frozen=True, slots=True)
class StabilityRequest:
    """A question about the stability of a ranking, with the options of the measurement."""

    options: StabilityOptions
    includes_unknown_ranks: bool
    scoring: ScoringRequest


def parse_comparison_request(body: object) -> ComparisonRequest:
    """Parse the JSON body of a comparison.

    Raises:
        Invalid: the body is invalid; the subclass identifies the problem.
    """
    question, ranking = _split_body(body, (_IDS,))
    return ComparisonRequest(_parse_ids(question.get(_IDS)), parse_scoring_request(ranking))


def parse_lifts_request(body: object) -> LiftsRequest:
    """Parse the JSON body of a question about the possible rise of a dataset.

    Raises:
        Invalid: the body is invalid; the subclass identifies the problem.
    """
    question, ranking = _split_body(body, LIFT_PARAMETERS.by_name)
    values = LIFT_PARAMETERS.parse_json(question, "body")

    target_rank = _TARGET_RANK.integer_in(values) if _TARGET_RANK.name in values else None
    return LiftsRequest(target_rank, parse_scoring_request(ranking))


def parse_stability_request(body: object) -> StabilityRequest:
    """Parse the JSON body of a question about stability.

    Raises:
        Invalid: the body is invalid; the subclass identifies the problem.
    """
    question, ranking = _split_body(body, STABILITY_PARAMETERS.by_name)
    values = STABILITY_PARAMETERS.parse_json(question, "body")

    options = StabilityOptions(
        k=_K.integer_in(values),
        samples=_SAMPLES.integer_in(values),
        spread=_SPREAD.number_in(values),
        seed=_SEED.integer_in(values),
    )
    return StabilityRequest(options, _UNKNOWN_RANKS.flag_in(values), parse_scoring_request(ranking))


def _split_body(body: object, question_keys: Collection[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a JSON object into the part that asks the question and the part that describes the ranking.

    Raises:
        Invalid: the body is not a JSON object.
        UnknownName: the body has an unknown key.
    """
    if not isinstance(body, dict):
        raise Invalid(FieldError(("body",), "dict_type"))

    known_keys = (*question_keys, *SCORE_KEYS)
    for key in body:
        if key not in known_keys:
            raise unknown_name_error(key, known_keys, "body", key[:MAX_REPORTED_NAME_LENGTH])

    question = {key: value for key, value in body.items() if key in question_keys}
    ranking = {key: value for key, value in body.items() if key in SCORE_KEYS}
    return question, ranking


def _parse_ids(ids: object) -> tuple[str, ...]:
    """Return the ids of the datasets to compare, as strings.

    Raises:
        InvalidValue: the value is not a list of `MIN_COMPARED` to `MAX_COMPARED` different ids.
    """
    if not isinstance(ids, list):
        raise InvalidValue(FieldError(("body", _IDS), "list_type"))
    if len(ids) < MIN_COMPARED:
        raise InvalidValue(FieldError(("body", _IDS), "too_short", {"min_length": MIN_COMPARED}))
    if len(ids) > MAX_COMPARED:
        raise InvalidValue(FieldError(("body", _IDS), "too_long", {"max_length": MAX_COMPARED}))

    keys: list[str] = []
    for index, dataset_id in enumerate(ids):
        if not _is_dataset_id(dataset_id):
            raise InvalidValue(FieldError(("body", _IDS, index), "dataset_id_expected"))
        if str(dataset_id) in keys:
            raise InvalidValue(FieldError(("body", _IDS, index), "dataset_repeated"))
        keys.append(str(dataset_id))
    return tuple(keys)


def _is_dataset_id(value: object) -> bool:
    """Return whether a JSON value is an integer id or the UUID of a dataset."""
    if isinstance(value, str):
        return parse_uuid(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= INT32_MAX


def check_distinct_datasets(ids: Sequence[int]) -> None:
    """Check that no dataset occurs twice, for example by its integer id and by its UUID.

    Raises:
        InvalidValue: a dataset occurs twice.
    """
    for index, dataset_id in enumerate(ids):
        if dataset_id in ids[:index]:
            raise InvalidValue(FieldError(("body", _IDS, index), "dataset_repeated"))
