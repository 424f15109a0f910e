"""The HTTP schemas of job requests, derived from `TrainingRequest` and `ExplanationRequest`.

`learning/requests.py` defines the fields, bounds and defaults. From these a pydantic model is built, which rejects
unknown fields with a suggestion, reports every fault of a body, and describes the body in the OpenAPI document.
"""

from enum import StrEnum
from types import UnionType
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from fastapi import Body
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType
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
from touchstone.http.request_models import Name, RequestModel, require_clean_text
from touchstone.learning import requests
from touchstone.learning.errors import LearningError
from touchstone.learning.requests import ExplanationRequest, TrainingRequest

R = TypeVar("R", bound=Struct)


def _require_finite(value: Any) -> Any:
    if isinstance(value, float) and not -1e300 <= value <= 1e300:
        raise PydanticCustomError("finite_number", "a finite number is expected")
    return value


def _single_error(kind: str, message: str) -> WrapValidator:
    """Return a validator that reports one error for a union, instead of one error per member."""

    def validate(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            raise PydanticCustomError(kind, message) from error

    return WrapValidator(validate)


UuidText = Annotated[
    str,
    Field(pattern=r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", min_length=36, max_length=36),
    _single_error("uuid_parsing", "a UUID is expected"),
]
Cell = Annotated[
    Annotated[bool, Field(strict=True)]
    | Annotated[int, Field(strict=True, ge=-(2**63), le=2**63 - 1)]
    | Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_require_finite)]
    | Annotated[str, Field(max_length=10_000), AfterValidator(require_clean_text)]
    | None,
    Field(union_mode="left_to_right"),
    _single_error("cell", "a text, a finite number, true, false or null is expected"),
]
DatasetKey = Annotated[
    Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | UuidText,
    _single_error("dataset_key", "the number or the UUID of a dataset is expected"),
]
CellRow = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(require_clean_text)], Cell],
    Field(max_length=requests.MAX_NAMES),
]
JobName = Annotated[Name, Field(description="A name of one's own for the job.")]

# The types whose HTTP schema says more than their definition; the others are derived from their annotation.
SCHEMA_TYPES: Final[tuple[tuple[Any, Any], ...]] = (
    (requests.Cell, Cell),
    (requests.CellRow, CellRow),
    (requests.DatasetKey, DatasetKey),
    (requests.JobName, JobName),
)


def schema_type(annotation: Any) -> Any:
    """Return the pydantic counterpart of the type of a request's field."""
    for definition, counterpart in SCHEMA_TYPES:
        if annotation == definition:
            return counterpart

    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _constrained_type(arguments[0], arguments[1])
    if origin in (Union, UnionType):
        return _union_type(arguments)
    if origin is tuple:
        return tuple[schema_type(arguments[0]), ...]  # type: ignore[misc]
    if issubclass(annotation, StrEnum):
        return Literal[tuple(member.value for member in annotation)]
    return schema_model(annotation) if issubclass(annotation, Struct) else annotation


def _union_type(members: tuple[Any, ...]) -> Any:
    """Return the pydantic counterpart of a union; JSON has nothing for `UNSET`, which is an absent field."""
    if UnsetType in members:
        return schema_type(Union[tuple(member for member in members if member is not UnsetType)])  # noqa: UP007
    return Union[tuple(schema_type(member) for member in members)]  # noqa: UP007


def _constrained_type(base: Any, meta: Meta) -> Any:
    """Return the pydantic counterpart of a type with bounds; strings must be clean text, numbers of the exact type."""
    bounds = {name: getattr(meta, name) for name in ("ge", "le", "min_length", "max_length", "description")}
    field = Field(
        strict=True if base in (int, float) else None,
        json_schema_extra=meta.extra_json_schema,
        **{name: bound for name, bound in bounds.items() if bound is not None},
    )
    if base is str:
        return Annotated[str, field, AfterValidator(require_clean_text)]
    return Annotated[schema_type(base), field]


def schema_model(definition: type[Struct]) -> type[RequestModel]:
    """Return the pydantic model of a request, or of an object inside one."""
    fields: dict[str, Any] = {
        field.name: (schema_type(field.type), _schema_default(field)) for field in msgspec.structs.fields(definition)
    }
    return create_model(definition.__name__, __base__=RequestModel, __doc__=definition.__doc__, **fields)


def _schema_default(field: FieldInfo) -> Any:
    if field.required:
        return ...
    if field.default is UNSET:
        return None
    if field.default_factory is not NODEFAULT:  # the default of a nested object is the object with its own defaults
        return schema_model(field.default_factory)()
    return field.default.value if isinstance(field.default, StrEnum) else field.default


class RequestBody(Generic[R]):
    """The annotation of a handler's parameter whose value is read from the body through the derived schema."""

    def __init__(self, definition: type[R]) -> None:
        self.definition = definition
        self.model = schema_model(definition)
        fields = msgspec.structs.fields(definition)
        self.optional_names = frozenset(field.name for field in fields if field.default is UNSET)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validate with the model, then build the request."""
        return core_schema.no_info_after_validator_function(self.build, handler.generate_schema(self.model))

    def build(self, body: RequestModel) -> R:
        """Return the request that a valid body describes.

        Raises:
            InvalidJobRequest: the request names something unknown or contradicts itself.
        """
        absent_names = self.optional_names - body.model_fields_set
        values = body.model_dump(mode="json", exclude=set(absent_names))
        try:
            return msgspec.convert(values, self.definition)
        except LearningError as error:
            raise InvalidJobRequest(error.code, field=error.field, facts=error.facts) from error


TrainingBody = Annotated[TrainingRequest, RequestBody(TrainingRequest), Body()]
ExplanationBody = Annotated[ExplanationRequest, RequestBody(ExplanationRequest), Body()]
