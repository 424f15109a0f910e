"""The public OpenAPI document, which is merged from the documents of the gateway and the backends.

The document of the gateway has the key None, those of the backends have their names.
"""

import asyncio
import copy
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.errors import ServiceError
from touchstone.core.identity import InternalTokens
from touchstone.http.internal_client import InternalClient
from touchstone.http.upstream import Upstream
from touchstone.services.gateway.public_routes import BACKENDS, PublicRoute

CACHE_SECONDS: Final = 60.0
# A document that lacks a backend is cached for a short time only.
INCOMPLETE_CACHE_SECONDS: Final = 2.0
_PLACEHOLDER: Final = re.compile(r"\{[^}]*\}")
_SCHEMA_REF_PREFIX: Final = "#/components/schemas/"
# Headers between the gateway and the backends, which clients cannot send.
_IDENTITY_PARAMETERS: Final = frozenset({"x-user-id", "x-user-email"})
Document = dict[str, Any]


class PublicDocument:
    """Builds the public document, and caches it."""

    def __init__(
        self,
        routes: Iterable[PublicRoute],
        *,
        gateway_document: Callable[[], Document],
        upstreams: Mapping[str, Upstream],
        tokens: InternalTokens | None,
    ) -> None:
        """Remember where the documents come from; `gateway_document` returns that of the gateway itself."""
        self._routes = tuple(route for route in routes if route.is_documented)
        self._gateway_document = gateway_document
        self._clients = {name: InternalClient(upstream, tokens) for name, upstream in upstreams.items()}
        self._cached_document: Document = {}
        self._cached_until = 0.0
        self._lock = asyncio.Lock()

    async def read(self) -> Document:
        """Return the public document, without the routes of backends that are down.

        It is built again when the cached one is older than `CACHE_SECONDS`, by one request at a time.
        """
        async with self._lock:
            if time.monotonic() >= self._cached_until:
                documents = await self._fetch_documents()
                self._cached_document = merge_documents(self._routes, documents)

                is_complete = len(documents) == len(BACKENDS) + 1
                cache_seconds = CACHE_SECONDS if is_complete else INCOMPLETE_CACHE_SECONDS
                self._cached_until = time.monotonic() + cache_seconds

            return self._cached_document

    async def _fetch_documents(self) -> dict[str | None, Document]:
        """Return the document of the gateway (under None) and those of the backends that respond."""
        fetches = [self._fetch_document(client) for client in self._clients.values()]
        backend_documents = await asyncio.gather(*fetches)

        named_documents = zip(self._clients, backend_documents, strict=True)
        documents: dict[str | None, Document] = {
            name: document for name, document in named_documents if document is not None
        }
        return {None: self._gateway_document()} | documents

    async def _fetch_document(self, client: InternalClient) -> Document | None:
        """Return the document of a backend, or None if the backend does not respond with one."""
        try:
            response = await client.get("/openapi.json", caller=None)
        except ServiceError:
            return None

        return response.value if response.status == 200 else None


@dataclass(frozen=True, slots=True)
class _SharedSchemas:
    """The schemas of all documents under unique names, and for each document the names that were changed."""

    schemas: Document
    new_names: Mapping[str | None, Mapping[str, str]]


def merge_documents(routes: Iterable[PublicRoute], documents: Mapping[str | None, Document]) -> Document:
    """Return one OpenAPI document with every route at its canonical public address.

    Routes whose backend has no document are left out. Schemas that are equal in several documents appear once, and
    schemas that no route refers to do not appear.
    """
    shared_schemas = _unify_schemas(documents)
    paths = _public_paths(routes, documents, shared_schemas)

    used_names = _reachable_schemas(paths, shared_schemas.schemas)
    used_schemas = {name: shared_schemas.schemas[name] for name in sorted(used_names)}

    gateway_document = documents[None]
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
    routes: Iterable[PublicRoute], documents: Mapping[str | None, Document], shared_schemas: _SharedSchemas
) -> Document:
    """Return the operations of all routes that are described, by public path and then by method."""
    paths: Document = {}
    for route in routes:
        document = documents.get(route.backend)
        operation = _find_operation(document, route) if document else None
        if operation is None:
            continue

        new_schema_names = shared_schemas.new_names[route.backend]
        operations = paths.setdefault(route.path, {})
        operations[route.method.lower()] = _publish_operation(operation, route, new_schema_names)

    return paths


def _find_operation(document: Document, route: PublicRoute) -> Document | None:
    """Return the operation of a route from the document of its backend, or None if the document lacks it.

    The names of path parameters may differ between the backend and the public path; the result has the public ones.
    """
    method = route.method.lower()
    target_shape = _PLACEHOLDER.sub("{}", route.target)

    for path, operations in document.get("paths", {}).items():
        path_shape = _PLACEHOLDER.sub("{}", path)
        if path_shape == target_shape and method in operations:
            return _rename_path_parameters(operations[method], path, route.path)
    return None


def _rename_path_parameters(operation: Document, path: str, public_path: str) -> Document:
    """Return a copy of an operation whose path parameters have the names that they have in the public path."""
    new_names: dict[str, str] = {}
    for placeholder, public_placeholder in zip(
        _PLACEHOLDER.findall(path), _PLACEHOLDER.findall(public_path), strict=True
    ):
        # A placeholder may specify a type, as in {name:path}.
        name, _, _ = placeholder[1:-1].partition(":")
        new_names[name] = public_placeholder[1:-1]

    renamed_operation = copy.deepcopy(operation)
    for parameter in renamed_operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["name"] = new_names[parameter["name"]]
    return renamed_operation


def _publish_operation(operation: Document, route: PublicRoute, new_schema_names: Mapping[str, str]) -> Document:
    """Return an operation of a backend as the public document describes it.

    References to schemas are renamed, the id is derived from the public path, parameters that only the gateway sends
    are removed, and open routes are marked as not needing a token.
    """
    public_operation: Document = _rename_schema_refs(operation, new_schema_names)
    public_operation["operationId"] = _operation_id(route)

    if "parameters" in public_operation:
        public_operation["parameters"] = [
            parameter
            for parameter in public_operation["parameters"]
            if parameter["name"].lower() not in _IDENTITY_PARAMETERS
        ]
    if route.is_open:
        public_operation["security"] = []
    return public_operation


def _operation_id(route: PublicRoute) -> str:
    """Return the unique id of a route's operation, for example `get_projects_project_id`."""
    short_path = route.path.removeprefix("/api/v1")
    path_without_braces = _PLACEHOLDER.sub(lambda match: match[0][1:-1], short_path)
    return re.sub(r"\W+", "_", f"{route.method.lower()}{path_without_braces}").strip("_")


def _unify_schemas(documents: Mapping[str | None, Document]) -> _SharedSchemas:
    """Collect the schemas of all documents, so that each name means one thing.

    Schemas that are equal in several documents are shared. A schema that has the name of a different one gets the name
    of its backend as a prefix.
    """
    schemas: Document = {}
    new_names: dict[str | None, dict[str, str]] = {}

    for backend, document in documents.items():
        own_schemas = document.get("components", {}).get("schemas", {})
        prefix = (backend or "gateway").capitalize()
        clashing_names = _find_clashes(own_schemas, schemas)
        new_names[backend] = {name: f"{prefix}{name}" for name in clashing_names}

        for name, schema in own_schemas.items():
            unique_name = new_names[backend].get(name, name)
            schemas[unique_name] = _rename_schema_refs(schema, new_names[backend])

    return _SharedSchemas(schemas, new_names)


def _find_clashes(own_schemas: Document, other_schemas: Document) -> set[str]:
    """Return the names of own schemas that mean something else among the other schemas.

    A name also clashes if its two schemas are written alike but refer to a name that clashes. The search is therefore
    repeated until it finds nothing new.
    """
    clashes = {name for name, schema in own_schemas.items() if other_schemas.get(name, schema) != schema}
    candidates = {name for name in own_schemas if name in other_schemas} - clashes

    while True:
        indirect_clashes = {
            name for name in candidates if not clashes.isdisjoint(_referenced_schemas(own_schemas[name]))
        }
        if not indirect_clashes:
            return clashes

        clashes |= indirect_clashes
        candidates -= indirect_clashes


def _reachable_schemas(paths: Document, schemas: Document) -> set[str]:
    """Return the names of the schemas that the paths refer to, directly or through other schemas."""
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
    """Yield the names of the schemas that a part of a document refers to, at any depth and with repetitions."""
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
    """Return a copy of a part of a document in which references lead to the new names of schemas.

    References to schemas without a new name stay as they are.
    """
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
    """Return the name of the schema that a JSON object refers to, or None if the object is not such a reference."""
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith(_SCHEMA_REF_PREFIX):
        return reference.removeprefix(_SCHEMA_REF_PREFIX)
    return None
