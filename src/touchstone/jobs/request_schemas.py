"""The HTTP schemas of the requests that start jobs, derived from their definitions.

`learning/request_definitions.py` and `learning/comparison_request.py` define the fields, bounds and defaults. This
module builds Pydantic models from them. These models reject unknown fields with a suggestion, report all errors in a
body at once, and describe the body in the OpenAPI document.
"""

import math
from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from fastapi import Body
from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo
from pydantic import (
    AfterValidator,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from touchstone.core.errors import InvalidJobRequest
from touchstone.http.request_models import (
    Flag,
    Name,
    RequestModel,
    RowId,
    WholeFloatAsInt,
    is_clean_text,
    require_clean_text,
)
from touchstone.learning import request_definitions
from touchstone.learning.comparison_request import TrainingComparisonRequest
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_definitions import ExplanationRequest, TrainingRequest

RequestT = TypeVar("RequestT", bound=Struct)

MIN_INTEGER: Final = -(2**63)
MAX_INTEGER: Final = 2**63 - 1
MAX_CELL_LENGTH: Final = 10_000
MAX_COLUMN_NAME_LENGTH: Final = 1_000


def _single_error(error_type: str, message: str) -> WrapValidator:
    """Return a validator with a single error for a value that matches no member of a union type.

    Pydantic itself reports one error per member, which is not helpful for clients.

    Args:
        error_type: the key of the error.
        message: the English message of the error.
    """

    def validate_with_single_error(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        """Return the validated value, or raise the single error."""
        try:
            return validate(value)
        except ValidationError as error:
            raise PydanticCustomError(error_type, message) from error

    return WrapValidator(validate_with_single_error)


UuidText = Annotated[
    str,
    Field(pattern=r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", min_length=36, max_length=36),
    _single_error("uuid_parsing", "a UUID is expected"),
]
Cell = Annotated[
    Annotated[bool, Field(strict=True)]
    | Annotated[int, Field(strict=True, ge=MIN_INTEGER, le=MAX_INTEGER)]
    | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | Annotated[str, Field(max_length=MAX_CELL_LENGTH), AfterValidator(require_clean_text)]
    | None,
    Field(union_mode="left_to_right"),
    _single_error("cell", "a text, a finite number, true, false or null is expected"),
]
DatasetKey = Annotated[
    RowId | UuidText,
    _single_error("dataset_key", "the number or the UUID of a dataset is expected"),
]
CellRow = Annotated[
    dict[
        Annotated[str, Field(min_length=1, max_length=MAX_COLUMN_NAME_LENGTH), AfterValidator(require_clean_text)], Cell
    ],
    Field(max_length=request_definitions.MAX_NAMES),
]


def _are_valid_rows(rows: Any) -> bool:
    """Return whether a JSON value is a valid list of rows.

    This is much faster than the validation of the cells by Pydantic.
    """
    if not isinstance(rows, list) or len(rows) > request_definitions.MAX_INSTANCES:
        return False

    known_names: set[str] = set()
    for row in rows:
        if not isinstance(row, dict) or len(row) > request_definitions.MAX_NAMES:
            return False
        if not all(map(_is_valid_cell, row.values())):
            return False

        # Check each column name only once, because most rows have the same columns.
        new_names = row.keys() - known_names
        if not all(map(_is_valid_column_name, new_names)):
            return False
        known_names |= new_names

    return True


def _is_valid_column_name(name: str) -> bool:
    """Return whether a column name has a valid length and valid characters."""
    return 0 < len(name) <= MAX_COLUMN_NAME_LENGTH and is_clean_text(name)


def _is_valid_cell(cell: Any) -> bool:
    """Return whether a JSON value is a valid `Cell`."""
    if cell is None or isinstance(cell, bool):
        return True
    if isinstance(cell, float):
        return math.isfinite(cell)
    if isinstance(cell, int):
        return MIN_INTEGER <= cell <= MAX_INTEGER
    return isinstance(cell, str) and len(cell) <= MAX_CELL_LENGTH and is_clean_text(cell)


def _validate_rows(rows: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Return valid rows unchanged, or let Pydantic report each error."""
    return rows if _are_valid_rows(rows) else validate(rows)


CellRows = Annotated[list[CellRow], Field(max_length=request_definitions.MAX_INSTANCES), WrapValidator(_validate_rows)]
JobName = Annotated[Name, Field(description="A name for the job.")]

# The Pydantic types that replace a definition because they are more specific.
PYDANTIC_COUNTERPARTS: Final[tuple[tuple[Any, Any], ...]] = (
    (request_definitions.Cell, Cell),
    (request_definitions.CellRow, CellRow),
    (request_definitions.DatasetKey, DatasetKey),
    (request_definitions.JobName, JobName),
)


def pydantic_type(annotation: Any) -> Any:
    """Convert the type annotation of a request field to a Pydantic type.

    Annotations in `PYDANTIC_COUNTERPARTS` are replaced. All others are converted recursively, for example by converting
    each member of a union.
    """
    for definition, counterpart in PYDANTIC_COUNTERPARTS:
        if annotation == definition:
            return counterpart

    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Annotated:
        return _constrained_type(arguments[0], arguments[1])
    if origin in (Union, UnionType):
        return Union[tuple(pydantic_type(member) for member in arguments)]  # noqa: UP007
    if origin is tuple:
        return tuple[pydantic_type(arguments[0]), ...]  # type: ignore[misc]
    if origin is dict:
        return dict[pydantic_type(arguments[0]), pydantic_type(arguments[1])]  # type: ignore[misc]
    return _class_counterpart(annotation)


def _class_counterpart(definition: type) -> Any:
    """Convert an enumeration to a literal, a nested object to a model, and `bool` to a type that accepts only booleans.

    Other classes stay unchanged.
    """
    if definition is bool:
        return Flag
    if issubclass(definition, StrEnum):
        return Literal[tuple(member.value for member in definition)]
    if issubclass(definition, Struct):
        return request_model(definition)
    return definition


def _constrained_type(base: Any, meta: Meta) -> Any:
    """Convert a type with constraints, such as a maximum length, to a Pydantic type.

    Numbers are validated strictly, so that strings are not converted to numbers, but 3.0 is an integer. Strings must
    not contain characters that some databases cannot store.

    Args:
        base: the type without its constraints.
        meta: the constraints and the description.
    """
    field_options: dict[str, Any] = {}
    for name in ("ge", "le", "min_length", "max_length", "description"):
        option = getattr(meta, name)
        if option is not None:
            field_options[name] = option

    is_number = base in (int, float)
    field = Field(strict=True if is_number else None, json_schema_extra=meta.extra_json_schema, **field_options)
    if base is int:
        return Annotated[int, field, WholeFloatAsInt]
    if base is str:
        return Annotated[str, field, AfterValidator(require_clean_text)]
    return Annotated[pydantic_type(base), field]


def request_model(definition: type[Struct]) -> type[RequestModel]:
    """Build the Pydantic model of a request, or of an object inside a request, from its definition."""
    fields: dict[str, Any] = {
        field.name: (pydantic_type(field.type), _pydantic_default(field))
        for field in msgspec.structs.fields(definition)
    }
    return create_model(definition.__name__, __base__=RequestModel, __doc__=definition.__doc__, **fields)


def _pydantic_default(field: FieldInfo) -> Any:
    """Return the Pydantic default of a field, which is `...` for a required field."""
    if field.required:
        return ...

    # The only default factories are the classes of nested objects, whose fields all have defaults.
    if field.default_factory is not NODEFAULT:
        return request_model(field.default_factory)()

    if isinstance(field.default, StrEnum):
        return field.default.value
    return field.default


class RequestBody(Generic[RequestT]):
    """The annotation for a handler parameter that receives a request.

    FastAPI validates the body with the derived Pydantic model, and the handler receives the defined request.
    """

    def __init__(self, definition: type[RequestT]) -> None:
        self.definition = definition
        self.model = request_model(definition)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Make Pydantic validate a body with the model, and then build the request from it."""
        return core_schema.no_info_after_validator_function(self.build, handler.generate_schema(self.model))

    def build(self, body: RequestModel) -> RequestT:
        """Build the request from a valid body.

        Raises:
            InvalidJobRequest: the request contains an unknown name or contradictory options.
        """
        try:
            return msgspec.convert(body.model_dump(mode="json"), self.definition)
        except LearningError as error:
            raise InvalidJobRequest(error.code, field=error.field, facts=error.facts) from error


TrainingBody = Annotated[TrainingRequest, RequestBody(TrainingRequest), Body()]
ExplanationBody = Annotated[ExplanationRequest, RequestBody(ExplanationRequest), Body()]
ComparisonBody = Annotated[TrainingComparisonRequest, RequestBody(TrainingComparisonRequest), Body()]
