"""What every handler here begins with: the parts of this backend, who is asking, and the body."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError, WithJsonSchema
from starlette.requests import Request

from touchstone.core.attributes import INT32_MAX
from touchstone.core.errors import DatasetNotFound
from touchstone.core.identity import parse_uuid
from touchstone.http.backend_auth import caller_of, require_caller
from touchstone.http.json_body import parse_json, parse_json_allowing_infinity
from touchstone.http.request_models import RequestModel
from touchstone.services.selection.datasets.answer_cache import RememberedAnswers
from touchstone.services.selection.datasets.editor import Recording
from touchstone.services.selection.datasets.records import Entry
from touchstone.services.selection.files.data_files import DataFiles
from touchstone.services.selection.files.uploads import Uploading
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.parameters import Parameters, Values
from touchstone.services.selection.projects.editor import Projects

_ROW_ID: Final = re.compile(r"[1-9][0-9]{0,9}")
DatasetKey = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "format": "uuid"}]}),
]
ProjectKey = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]


@dataclass(frozen=True, slots=True)
class Parts:
    """What this backend has opened."""

    catalog: LiveCatalog
    recording: Recording
    projects: Projects
    data_files: DataFiles
    uploading: Uploading
    answers: RememberedAnswers


def parts_of(request: Request) -> Parts:
    """The parts of the backend that a request has come to."""
    found: Parts = request.app.state.parts
    return found


def viewer_of(request: Request) -> UUID | None:
    """Who is looking; None for nobody in particular."""
    caller = caller_of(request.scope)
    return caller.id if caller else None


def owner_of(request: Request) -> UUID:
    """Whose projects and files these are.

    Raises:
        InvalidUserId: nobody is known.
    """
    return require_caller(request.scope).id


def query_values(request: Request, parameters: Parameters) -> Values:
    """The values in the query string. Raises what `Parameters.from_query` raises."""
    return parameters.from_query(request.scope["query_string"])


async def json_body(request: Request) -> Any:
    """The body as a JSON value, its numbers not yet known to be finite. Raises what `parse_json` raises."""
    return parse_json_allowing_infinity(await request.body())


async def body_of(request: Request, model: type[RequestModel]) -> Mapping[str, Any]:
    """The fields that the body gives, validated.

    Raises:
        NotJson, RequestValidationError: it is not JSON, or does not fit the model.
    """
    return _fitting(parse_json(await request.body()), model)


async def weighted_body_of(request: Request, model: type[RequestModel]) -> Mapping[str, Any]:
    """As `body_of`, for a body with weights and criteria, whose readers name a number that is not finite."""
    return _fitting(await json_body(request), model)


def _fitting(value: Any, model: type[RequestModel]) -> Mapping[str, Any]:
    try:
        return model.model_validate(value).provided_fields()
    except ValidationError as problem:
        errors = [{**error, "loc": ("body", *error["loc"])} for error in problem.errors(include_input=False)]
        raise RequestValidationError(errors) from None


async def visible_entry(request: Request, key: str) -> Entry:
    """Return the record with the id in a path, which may be either of a record's two ids.

    Raises:
        DatasetNotFound: it is neither kind of id, or the caller may see no record with it.
    """
    catalog, viewer = parts_of(request).catalog, viewer_of(request)
    if _ROW_ID.fullmatch(key) and int(key) <= INT32_MAX:
        row_id: int | None = int(key)
    else:
        uuid = parse_uuid(key)
        row_id = await catalog.id_of(uuid, viewer) if uuid else None
    found = await catalog.entries([row_id], viewer) if row_id else []
    if not found:
        raise DatasetNotFound
    return found[0]
