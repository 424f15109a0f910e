"""The client, the command line and the start form agree with the one definition of each request."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

from touchstone import web
from touchstone.cli.job_options import EXPLAIN_PATHS, EXPLAINING, TRAIN_PATHS, TRAINING
from touchstone.client.fields import ExplainOptions, TrainOptions
from touchstone.jobs.request_schemas import CellRows, RequestBody, request_model
from touchstone.learning.request_definitions import ExplanationRequest, TrainingRequest

START_FORM = Path(web.__file__).parent / "templates" / "train.html"
DEFINITIONS = (TrainingRequest, ExplanationRequest)


def bare_type(annotation: Any) -> Any:
    """Return a type without its bounds, and without the None of an optional field."""
    if get_origin(annotation) is Annotated:
        return bare_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        return bare_type(members[0]) if len(members) == 1 else annotation
    return annotation


def is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


def field_types(definition: type[Struct]) -> dict[tuple[str, ...], Any]:
    """Return the types of all fields by their path, with the fields of nested objects in place of the objects."""
    types: dict[tuple[str, ...], Any] = {}
    for field in msgspec.structs.fields(definition):
        annotation = bare_type(field.type)
        if is_struct(annotation):
            types |= {(field.name, *path): inner_type for path, inner_type in field_types(annotation).items()}
        else:
            types[field.name,] = annotation
    return types


@pytest.mark.parametrize(
    ("options", "definition", "arguments"),
    [(TrainOptions, TrainingRequest, {"dataset_id", "target"}), (ExplainOptions, ExplanationRequest, set())],
)
def test_client_takes_the_defined_fields(options: type, definition: type[Struct], arguments: set[str]) -> None:
    """The client's keyword arguments are the fields of the definition, with the same choices and nested names."""
    hints = get_type_hints(options)
    fields = {field.name: bare_type(field.type) for field in msgspec.structs.fields(definition)}
    assert set(hints) | arguments == set(fields)

    for name, hint in hints.items():
        annotation = fields[name]
        origin, parameters = get_origin(hint), get_args(hint)
        if origin is Literal:
            assert set(parameters) == {member.value for member in annotation}, name
        elif origin is Mapping and get_origin(parameters[0]) is Literal:
            assert set(get_args(parameters[0])) == {field.name for field in msgspec.structs.fields(annotation)}, name
        elif origin is Sequence:
            assert get_origin(annotation) is tuple, name
        elif hint in (int, str):
            accepted_types = get_args(annotation) or annotation.__mro__
            assert hint in accepted_types, name


@pytest.mark.parametrize(
    ("group", "paths", "definition"),
    [(TRAINING, TRAIN_PATHS, TrainingRequest), (EXPLAINING, EXPLAIN_PATHS, ExplanationRequest)],
)
def test_command_line_options_fill_defined_fields(
    group: Any, paths: Mapping[str, tuple[str, ...]], definition: type[Struct]
) -> None:
    """Each option of `train` and `explain` goes to a field of the definition that takes its type."""
    types = field_types(definition)
    for option in group.options:
        annotation = types[paths.get(option.name, (option.name,))]
        assert option.is_repeatable == (get_origin(annotation) is tuple), option.name
        accepted_type = bare_type(get_args(annotation)[0]) if option.is_repeatable else annotation
        if isinstance(accepted_type, type) and issubclass(accepted_type, StrEnum):
            accepted_type = str
        is_json_text = get_origin(accepted_type) is dict and option.value_type is str
        assert is_json_text or option.value_type in (get_args(accepted_type) or (accepted_type,)), option.name


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_http_schema_has_the_defined_bounds_and_defaults(definition: type[Struct]) -> None:
    """The HTTP schema has the fields of the definition with their bounds and defaults."""
    schema = request_model(definition).model_json_schema()
    nested_schemas = [schema, *schema.get("$defs", {}).values()]
    structs = [definition, *(bare_type(field.type) for field in msgspec.structs.fields(definition))]
    for struct in filter(is_struct, structs):
        struct_schema = next(candidate for candidate in nested_schemas if candidate["title"] == struct.__name__)
        assert set(struct_schema["properties"]) == set(struct.__struct_fields__)
        for field in msgspec.structs.fields(struct):
            field_schema = struct_schema["properties"][field.name]
            assert (field.name in struct_schema.get("required", ())) == field.required, field.name
            if isinstance(field.default, int | float | str | StrEnum):
                assert field_schema["default"] == field.default, field.name
            if get_origin(field.type) is Annotated:
                (meta,) = field.type.__metadata__
                bounds = {"minimum": meta.ge, "maximum": meta.le}
                assert {name: field_schema.get(name) for name in bounds} == bounds, field.name


def test_start_form_has_a_field_for_every_option() -> None:
    """Every option of a training can be set on the form, whose fields are read by `read_training_options`."""
    form_source = START_FORM.read_text()
    field_names = {"features": "exclude", "sensitive_features": "sensitive", "algorithms": "algorithm"}
    field_names |= {"split": "strategy", "budget": "max_trials", "threshold": "threshold_metric"}
    for field in msgspec.structs.fields(TrainingRequest):
        field_name = field_names.get(field.name, field.name)
        written_names = (f'name="{field_name}"', f"select('{field_name}'", f"number('{field_name}'")
        assert any(name in form_source for name in written_names), field.name


def test_cells_of_rows_are_any_finite_numbers() -> None:
    """Even the largest number is accepted, in valid rows and beside a fault, and only infinite ones are refused."""
    adapter: TypeAdapter[Any] = TypeAdapter(CellRows)
    largest_numbers = [{"a": 1e307, "b": -1.7e308}]
    assert adapter.validate_python(largest_numbers) == largest_numbers
    for infinite in (float("inf"), float("-inf"), float("nan")):
        with pytest.raises(ValidationError) as error_info:
            adapter.validate_python([*largest_numbers, {"a": infinite}])
        assert [error["loc"] for error in error_info.value.errors()] == [(1, "a")]


@pytest.mark.parametrize("value", ["yes", "off", "false", 1, 0, 1.0, None])
def test_flags_take_only_booleans(value: object) -> None:
    """Words and numbers are no booleans, because a client that sends them is mistaken about the field."""
    body = {"dataset_id": 1, "target": "a", "refit": value}
    with pytest.raises(ValidationError, match="refit"):
        request_model(TrainingRequest).model_validate(body)


def test_whole_floats_are_integers() -> None:
    """Every integer may be written as a float without a fraction, as JSON Schema says; the request has an integer."""
    body = {
        "dataset_id": 3.0,
        "target": "a",
        "seed": 5.0,
        "budget": {"max_trials": 2.0},
        "split": {"strategy": "kfold", "folds": 3.0},
    }
    request = RequestBody(TrainingRequest).build(request_model(TrainingRequest).model_validate(body))
    integers = (request.dataset_id, request.seed, request.budget.max_trials, request.split.folds)
    assert integers == (3, 5, 2, 3)
    assert {type(value) for value in integers} == {int}

    explanation = {"job_id": "a", "background": {"size": 50.0}, "instances": {"rows": [1.0]}}
    explanation_request = RequestBody(ExplanationRequest).build(
        request_model(ExplanationRequest).model_validate(explanation)
    )
    assert explanation_request.instances.rows == (1,)
    for fraction in (2.5, float("inf"), "2", True):
        with pytest.raises(ValidationError, match="seed"):
            request_model(TrainingRequest).model_validate(body | {"seed": fraction})
