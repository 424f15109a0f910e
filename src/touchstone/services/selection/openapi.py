"""How the routes here describe themselves: their parameters and bodies are read by hand, and documented by these."""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.weight_profiles import PROFILES
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.parameters import Parameters
from touchstone.services.selection.schemas import (
    TAGS,
    DatasetChange,
    DatasetWanted,
    ProjectChange,
    ProjectWanted,
    SearchCriteria,
)

TOTAL_COUNT = {"X-Total-Count": {"description": "How many match in all.", "schema": {"type": "integer", "minimum": 0}}}
ETAG = {"ETag": {"description": "Version of what is answered.", "schema": {"type": "string"}}}
LOCATION = {"Location": {"description": "Address of what was made.", "schema": {"type": "string"}}}
UNCHANGED = {"description": "The reader has this version already."}
BODIES: tuple[type[BaseModel], ...] = (DatasetWanted, DatasetChange, ProjectWanted, ProjectChange, SearchCriteria)


def described(
    parameters: Parameters | None = None, *, body: str | None = None, conditional: str | None = None
) -> dict[str, Any]:
    """The parts of an operation's description: query parameters, the schema of its body, a precondition header."""
    found: dict[str, Any] = {"parameters": parameters.openapi() if parameters else []}
    if conditional:
        header = {"name": conditional, "in": "header", "required": False, "schema": {"type": "string"}}
        found["parameters"].append(header)
    if body:
        schema = {"$ref": f"#/components/schemas/{body}"}
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return found


def describe_bodies(app: FastAPI) -> None:
    """Add the schemas of the bodies to the application's OpenAPI document."""
    made: Callable[[], dict[str, Any]] = app.openapi

    def openapi() -> dict[str, Any]:
        document = made()
        document.setdefault("components", {}).setdefault("schemas", {}).update(_schemas())
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _schemas() -> dict[str, Any]:
    template = "#/components/schemas/{model}"
    _, found = models_json_schema([(model, "validation") for model in BODIES], ref_template=template)
    schemas: dict[str, Any] = found["$defs"]
    for schema in schemas.values():
        for member in schema.get("properties", {}).values():
            # None stands for "left out" in our models; a client that sent it would clear the field.
            if member.get("default", ...) is None:
                del member["default"]
    for name in ("DatasetCreate", "DatasetChange"):
        # Accepted where it equals `name`, which a schema cannot say.
        del schemas[name]["properties"]["dataset_name"]
    for name in ("ProjectWanted", "ProjectChange"):
        schemas[name]["properties"] |= {"criteria": _nullable(_ref("Filters")), "weights": _nullable(_weights())}
    schemas["SearchCriteria"]["properties"]["ethical_tags"] = _nullable(
        _array({"type": "string", "enum": sorted(TAGS)})
    )
    return schemas | {"Filters": FILTER_PARAMETERS.json_schema(), "Weight": _weight(), "ScoringRequest": _scoring()}


def _scoring() -> dict[str, Any]:
    members = {
        "filters": _ref("Filters"),
        "criteria": _ref("Filters") | {"description": "Another name of `filters`."},
        "weights": _nullable(_weights()) | {"description": "Empty or left out: the balanced profile."},
        "profile": _nullable({"type": "string", "enum": list(PROFILES)}) | {"description": "Instead of `weights`."},
    }
    return {"type": "object", "properties": members, "additionalProperties": False}


def _weight() -> dict[str, Any]:
    members = {
        "criterion_name": {"type": "string", "enum": list(CRITERION_NAMES)},
        "weight": {"type": "number", "minimum": 0, "description": "Not all may be zero."},
    }
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _weights() -> dict[str, Any]:
    return _array(_ref("Weight")) | {"description": "Each criterion at most once."}


def _array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    forms: Sequence[dict[str, Any]] = (schema, {"type": "null"})
    return {"anyOf": list(forms)}
