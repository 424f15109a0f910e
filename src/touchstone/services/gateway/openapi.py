"""The public OpenAPI document, merged from the documents of the gateway and the backends."""

import asyncio
import copy
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.errors import ServiceError
from touchstone.core.internal_tokens import InternalTokens
from touchstone.http.internal_client import InternalClient
from touchstone.http.upstream import Upstream
from touchstone.services.gateway.public_routes import API, BACKENDS, PublicRoute

CACHE_SECONDS: Final = 60.0
# A document without all backends is only cached for a short time.
INCOMPLETE_CACHE_SECONDS: Final = 2.0
# The key of the gateway's own document among the documents of the backends.
GATEWAY: Final = "gateway"
_PLACEHOLDER: Final = re.compile(r"\{[^}]*\}")
_SCHEMA_REF_PREFIX: Final = "#/components/schemas/"
# Headers that only the gateway sends to the backends.
_IDENTITY_PARAMETERS: Final = frozenset({"x-user-id", "x-user-email"})
Document = dict[str, Any]


class PublicDocument:
    """The OpenAPI document of the whole public API, built on first use and cached for a minute."""

    def __init__(
        self,
        routes: Iterable[PublicRoute],
        *,
        build_gateway_document: Callable[[], Document],
        upstreams: Mapping[str, Upstream],
        tokens: InternalTokens | None,
    ) -> None:
        """Prepare the document without fetching anything yet.

        Args:
            routes: the public routes.
            build_gateway_document: returns the OpenAPI document of the gateway's own routes.
            upstreams: the backends by name, whose OpenAPI documents are fetched.
            tokens: signs the requests to backends in other processes, or None if there is no internal key.
        """
        self._routes = [route for route in routes if route.is_documented]
        self._build_gateway_document = build_gateway_document
        self._clients = {name: InternalClient(upstream, tokens) for name, upstream in upstreams.items()}
        self._cached_document: Document = {}
        self._cached_until = 0.0
        self._lock = asyncio.Lock()

    async def read(self) -> Document:
        """Return the public document, without the routes of backends that are unavailable.

        It is cached for `CACHE_SECONDS`, or for `INCOMPLETE_CACHE_SECONDS` if a backend is missing.
        """
        async with self._lock:
            if time.monotonic() < self._cached_until:
                return self._cached_document

            documents = await self._collect_documents()
            self._cached_document = merge_documents(self._routes, documents)

            is_complete = all(backend in documents for backend in BACKENDS)
            cache_seconds = CACHE_SECONDS if is_complete else INCOMPLETE_CACHE_SECONDS
            self._cached_until = time.monotonic() + cache_seconds
            return self._cached_document

    async def _collect_documents(self) -> dict[str, Document]:
        """Return the documents of the gateway and of the available backends, keyed by name."""
        fetches = [self._fetch_document(client) for client in self._clients.values()]
        fetched_documents = await asyncio.gather(*fetches)

        documents_by_backend = zip(self._clients, fetched_documents, strict=True)
        backend_documents = {name: document for name, document in documents_by_backend if document is not None}
        return {GATEWAY: self._build_gateway_document(), **backend_documents}

    async def _fetch_document(self, client: InternalClient) -> Document | None:
        """Return the document of a backend, or None if the backend is unavailable."""
        try:
            response = await client.get("/openapi.json", caller=None)
        except ServiceError:
            return None

        return response.value if response.status == 200 else None


@dataclass(frozen=True, slots=True)
class _SharedSchemas:
    """The schemas of all documents under unique names.

    Attributes:
        schemas: the schemas, keyed by unique name.
        new_names: for each document, the new names of its renamed schemas, keyed by their old names.
    """

    schemas: Document
    new_names: Mapping[str, Mapping[str, str]]


def merge_documents(routes: Iterable[PublicRoute], documents: Mapping[str, Document]) -> Document:
    """Merge the OpenAPI documents of the gateway and the backends into the public document.

    Routes are described at their public paths. Routes of backends without a document are omitted. Equal schemas in
    several documents are included once, and unused schemas are omitted.
    """
    shared_schemas = _unify_schemas(documents)
    paths = _public_paths(routes, documents, shared_schemas)

    used_names = _reachable_schemas(paths, shared_schemas.schemas)
    used_schemas = {name: shared_schemas.schemas[name] for name in sorted(used_names)}

    gateway_document = documents[GATEWAY]
    return {
        "openapi": gateway_document["openapi"],
        "info": {**gateway_document["info"], "title": "Touchstone"},
        "paths": paths,
        "components": {
            "schemas": used_schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"bearer": []}],
    }


def _public_paths(
    routes: Iterable[PublicRoute], documents: Mapping[str, Document], shared_schemas: _SharedSchemas
) -> Document:
    """Return the descriptions of all routes by public path and method.

    A route is omitted if its backend is unavailable or does not describe it.
    """
    paths: Document = {}
    for route in routes:
        service = route.backend or GATEWAY
        document = documents.get(service)
        if document is None:
            continue

        operation = _find_operation(document, route)
        if operation is None:
            continue

        operations = paths.setdefault(route.path, {})
        operations[route.method.lower()] = _to_public_operation(operation, route, shared_schemas.new_names[service])

    return paths


def _find_operation(document: Document, route: PublicRoute) -> Document | None:
    """Return the description of a route in the document of its backend, or None if it is not included.

    Path parameters in the result have the same names as in the public path.
    """
    method = route.method.lower()
    target_shape = _PLACEHOLDER.sub("{}", route.target)

    for path, operations in document.get("paths", {}).items():
        path_shape = _PLACEHOLDER.sub("{}", path)
        if path_shape == target_shape and method in operations:
            return _rename_path_parameters(operations[method], path, route.path)
    return None


def _rename_path_parameters(operation: Document, path: str, public_path: str) -> Document:
    """Return a copy of an operation with the names of path parameters as in the public path."""
    names = _PLACEHOLDER.findall(path)
    public_names = _PLACEHOLDER.findall(public_path)

    new_names: dict[str, str] = {}
    for placeholder, public_placeholder in zip(names, public_names, strict=True):
        # A placeholder may specify a type, as in {name:path}.
        name, _colon, _type = placeholder.strip("{}").partition(":")
        new_names[name] = public_placeholder.strip("{}")

    renamed_operation = copy.deepcopy(operation)
    for parameter in renamed_operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["name"] = new_names[parameter["name"]]
    return renamed_operation


def _to_public_operation(operation: Document, route: PublicRoute, new_schema_names: Mapping[str, str]) -> Document:
    """Convert the backend's description of a route to the public description.

    Renamed schemas get their new names, parameters that only the gateway sends are removed, and routes that need no
    token are marked.
    """
    public_operation: Document = _rename_schema_refs(operation, new_schema_names)
    public_operation["operationId"] = _operation_id(route)

    if "parameters" in public_operation:
        public_operation["parameters"] = [
            parameter
            for parameter in public_operation["parameters"]
            if parameter["name"].lower() not in _IDENTITY_PARAMETERS
        ]

    # An empty list overrides the default of the document, which requires a token.
    if route.is_open:
        public_operation["security"] = []
    return public_operation


def _operation_id(route: PublicRoute) -> str:
    """Return the unique id of a route's operation, for example `get_projects_project_id`."""
    short_path = route.path.removeprefix(API)
    return re.sub(r"\W+", "_", f"{route.method.lower()}{short_path}").strip("_")


def _unify_schemas(documents: Mapping[str, Document]) -> _SharedSchemas:
    """Collect the schemas of all documents under unique names.

    Equal schemas in several documents are shared. If two documents have different schemas with the same name, the later
    one is prefixed with the name of its service, for example `TrainingJobView`.
    """
    schemas: Document = {}
    new_names_by_service: dict[str, dict[str, str]] = {}

    for service, document in documents.items():
        own_schemas = document.get("components", {}).get("schemas", {})
        prefix = service.capitalize()
        new_names = {name: f"{prefix}{name}" for name in _find_clashes(own_schemas, schemas)}
        new_names_by_service[service] = new_names

        for name, schema in own_schemas.items():
            unique_name = new_names.get(name, name)
            schemas[unique_name] = _rename_schema_refs(schema, new_names)

    return _SharedSchemas(schemas, new_names_by_service)


def _find_clashes(own_schemas: Document, other_schemas: Document) -> set[str]:
    """Return the names that have different schemas in the two sets.

    Two schemas with equal definitions are still different if they refer to a name with different schemas. The search is
    therefore repeated until it finds no further names.
    """
    common_names = own_schemas.keys() & other_schemas.keys()
    clashes = {name for name in common_names if own_schemas[name] != other_schemas[name]}
    candidates = common_names - clashes

    while True:
        indirect_clashes: set[str] = set()
        for name in candidates:
            referenced_names = set(_referenced_schemas(own_schemas[name]))
            if referenced_names & clashes:
                indirect_clashes.add(name)

        if not indirect_clashes:
            return clashes
        clashes |= indirect_clashes
        candidates -= indirect_clashes


def _reachable_schemas(paths: Document, schemas: Document) -> set[str]:
    """Return the names of the schemas that the paths use, directly or through other schemas."""
    reachable_names: set[str] = set()
    new_names = set(_referenced_schemas(paths))

    while new_names:
        reachable_names |= new_names
        referenced_names: set[str] = set()
        for name in new_names:
            referenced_names.update(_referenced_schemas(schemas[name]))
        new_names = referenced_names - reachable_names

    return reachable_names


def _referenced_schemas(value: Any) -> Iterator[str]:
    """Yield the names of all schemas referenced in a part of a document, possibly with duplicates."""
    if isinstance(value, dict):
        name = _schema_ref_name(value)
        if name is not None:
            yield name
        for item in value.values():
            yield from _referenced_schemas(item)
    elif isinstance(value, list):
        for item in value:
            yield from _referenced_schemas(item)


def _rename_schema_refs(value: Any, new_names: Mapping[str, str]) -> Any:
    """Return a copy of a part of a document with new names in references to renamed schemas."""
    if isinstance(value, list):
        return [_rename_schema_refs(item, new_names) for item in value]
    if not isinstance(value, dict):
        return value

    renamed = {key: _rename_schema_refs(item, new_names) for key, item in value.items()}
    name = _schema_ref_name(renamed)
    if name is not None:
        new_name = new_names.get(name, name)
        renamed["$ref"] = _SCHEMA_REF_PREFIX + new_name
    return renamed


def _schema_ref_name(value: Document) -> str | None:
    """Return the name of the schema that a JSON object refers to, or None if it is no reference."""
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith(_SCHEMA_REF_PREFIX):
        return reference.removeprefix(_SCHEMA_REF_PREFIX)
    return None
