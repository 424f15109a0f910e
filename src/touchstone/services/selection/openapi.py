"""Descriptions of operations for the OpenAPI document.

Handlers of this backend parse their parameters and bodies themselves, so FastAPI cannot derive the descriptions.
"""

from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.weight_profiles import PROFILES
from touchstone.services.selection.assurance import ASSURANCE
from touchstone.services.selection.datasets.schemas import (
    TAGS,
    DatasetChange,
    DatasetCreate,
    HidingChange,
    SearchCriteria,
)
from touchstone.services.selection.evidence.schemas import ClaimCreate, ReviewCreate
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.gates import GATE_PARAMETERS
from touchstone.services.selection.parameters import ParameterTable
from touchstone.services.selection.projects.schemas import ProjectChange, ProjectCreate
from touchstone.services.selection.projects.snapshot_schemas import SnapshotCreate
from touchstone.services.selection.reasons.requests import (
    COMPARISON_PROPERTIES,
    LIFT_PARAMETERS,
    STABILITY_PARAMETERS,
)

TOTAL_COUNT: Final = {
    "X-Total-Count": {"description": "The number of all matches.", "schema": {"type": "integer", "minimum": 0}}
}
LINK: Final = {"Link": {"description": "Addresses of further parts of the list.", "schema": {"type": "string"}}}
LOCATION: Final = {"Location": {"description": "URL of the created resource.", "schema": {"type": "string"}}}
BODIES: Final[tuple[type[BaseModel], ...]] = (
    DatasetCreate,
    DatasetChange,
    ProjectCreate,
    ProjectChange,
    SnapshotCreate,
    SearchCriteria,
    ClaimCreate,
    ReviewCreate,
    HidingChange,
)


def describe_operation(
    parameters: ParameterTable | None = None,
    *,
    body: str | None = None,
    is_body_required: bool = True,
    conditional_header: str | None = None,
) -> dict[str, Any]:
    """Describe the parameters and the body of an operation for the OpenAPI document.

    Handlers that parse their requests themselves pass the result to FastAPI as `openapi_extra`.

    Args:
        parameters: the query parameters.
        body: the name of the schema of the JSON body.
        is_body_required: whether a request without a body is refused.
        conditional_header: `If-Match` or `If-None-Match`, if the handler evaluates it.
    """
    parameter_descriptions = parameters.openapi() if parameters else []
    if conditional_header:
        header = {"name": conditional_header, "in": "header", "required": False, "schema": {"type": "string"}}
        parameter_descriptions.append(header)

    operation: dict[str, Any] = {"parameters": parameter_descriptions}
    if body:
        content = {"application/json": {"schema": _reference(body)}}
        operation["requestBody"] = {"required": is_body_required, "content": content}
    return operation


def add_body_schemas(app: FastAPI) -> None:
    """Add the schemas of the request bodies to the OpenAPI document of an application.

    This replaces the method `openapi` of the application, as the documentation of FastAPI recommends.
    """
    build_document: Callable[[], dict[str, Any]] = app.openapi

    def openapi() -> dict[str, Any]:
        """Return FastAPI's document with the schemas of the request bodies added."""
        document = build_document()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.update(_body_schemas())
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _body_schemas() -> dict[str, Any]:
    """Return the JSON Schemas of all request bodies, keyed by name, for the OpenAPI document.

    Most of them are generated from Pydantic models. The others are written by hand, because rankings are requested so
    often that their requests are parsed without Pydantic.
    """
    lift_properties = LIFT_PARAMETERS.json_schema()["properties"]
    stability_properties = STABILITY_PARAMETERS.json_schema()["properties"]
    return {
        **_model_schemas(),
        "Filters": FILTER_PARAMETERS.json_schema(),
        "Gates": GATE_PARAMETERS.json_schema(),
        "Weight": _weight_schema(),
        "ScoringRequest": _scoring_request_schema(),
        "ComparisonRequest": _extended_scoring_request_schema(COMPARISON_PROPERTIES, required=("ids",)),
        "LiftsRequest": _extended_scoring_request_schema(lift_properties),
        "StabilityRequest": _extended_scoring_request_schema(stability_properties),
    }


def _model_schemas() -> dict[str, Any]:
    """Return the schemas that Pydantic generates, with more precise ones for members that models cannot describe."""
    _schemas_by_model, definitions = models_json_schema(
        [(model, "validation") for model in BODIES], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, Any] = definitions["$defs"]
    _remove_null_defaults(schemas)

    for name in ("DatasetCreate", "DatasetChange"):
        # The handlers accept `dataset_name` only if it equals `name`, which a schema cannot express.
        del schemas[name]["properties"]["dataset_name"]

    for name in ("ProjectCreate", "ProjectChange"):
        schemas[name]["properties"] |= {
            "criteria": _nullable(_reference("Filters")),
            "weights": _nullable(_weight_list_schema()),
            "gates": _nullable(_reference("Gates")),
        }

    tag_list = {"type": "array", "items": {"type": "string", "enum": sorted(TAGS)}}
    schemas["SearchCriteria"]["properties"]["ethical_tags"] = _nullable(tag_list)
    return schemas


def _remove_null_defaults(schemas: dict[str, Any]) -> None:
    """Remove the default null from all members of schemas, in place.

    In the models, the default None represents a field that is left out. Clients, however, send null to clear a field.
    """
    for schema in schemas.values():
        for member in schema.get("properties", {}).values():
            if "default" in member and member["default"] is None:
                del member["default"]


def _scoring_request_schema() -> dict[str, Any]:
    """Return the schema of the body of a scoring request."""
    properties = {
        "filters": _reference("Filters"),
        "criteria": _reference("Filters") | {"description": "Another name of `filters`."},
        "weights": _nullable(_weight_list_schema()) | {"description": "Empty or left out: the balanced profile."},
        "profile": _nullable({"type": "string", "enum": list(PROFILES)}) | {"description": "Instead of `weights`."},
        "assurance": _nullable(ASSURANCE.schema()) | ASSURANCE.documentation(ASSURANCE.name),
        "gates": _nullable(_reference("Gates")) | {"description": "Requirements that do not affect the score."},
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _extended_scoring_request_schema(
    additional_properties: dict[str, Any], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the schema of a request that extends a scoring request by additional properties."""
    properties = additional_properties | _scoring_request_schema()["properties"]
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | {"required": list(required)} if required else schema


def _weight_schema() -> dict[str, Any]:
    """Return the schema of the weight of one criterion."""
    properties = {
        "criterion_name": {"type": "string", "enum": list(CRITERION_NAMES)},
        "weight": {"type": "number", "minimum": 0, "description": "Not all may be zero."},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _weight_list_schema() -> dict[str, Any]:
    """Return the schema of a list of weights."""
    return {"type": "array", "items": _reference("Weight"), "description": "Each criterion at most once."}


def _reference(name: str) -> dict[str, Any]:
    """Return a reference to the named schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that also accepts null."""
    return {"anyOf": [schema, {"type": "null"}]}
