"""The public OpenAPI document, which is merged from the documents of the gateway and the backends."""

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
from touchstone.services.gateway.route_table import BACKENDS, PublicRoute

CACHE_SECONDS: Final = 60.0
# A document that lacks a backend is cached for a short time only.
INCOMPLETE_CACHE_SECONDS: Final = 2.0
_PLACEHOLDER: Final = re.compile(r"\{[^}]*\}")
_SCHEMA_REF_PREFIX: Final = "#/components/schemas/"
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
        self._routes = tuple(route for route in routes if route.is_documented)
        self._gateway_document = gateway_document
        self._clients = {name: InternalClient(upstream, tokens) for name, upstream in upstreams.items()}
        self._cached_document: Document = {}
        self._cached_until = 0.0
        self._lock = asyncio.Lock()

    async def read(self) -> Document:
        """Return the document, without the routes of backends that are down."""
        async with self._lock:
            if time.monotonic() >= self._cached_until:
                documents = await self._fetch_documents()
                self._cached_document = merge_documents(self._routes, documents)

                is_complete = len(documents) == len(BACKENDS) + 1
                seconds = CACHE_SECONDS if is_complete else INCOMPLETE_CACHE_SECONDS
                self._cached_until = time.monotonic() + seconds
            return self._cached_document

    async def _fetch_documents(self) -> dict[str | None, Document]:
        """Return the document of the gateway (under None) and those of the backends that respond."""
        backend_documents = await asyncio.gather(*(self._fetch_document(client) for client in self._clients.values()))

        documents: dict[str | None, Document] = {
            name: document
            for name, document in zip(self._clients, backend_documents, strict=True)
            if document is not None
        }
        return {None: self._gateway_document()} | documents

    async def _fetch_document(self, client: InternalClient) -> Document | None:
        try:
            response = await client.get("/openapi.json", None)
        except ServiceError:
            return None
        return response.value if response.status == 200 else None


@dataclass(frozen=True, slots=True)
class _SharedSchemas:
    """The schemas of all documents under unique names, and for each document the names that were changed."""

    schemas: Document
    new_names: Mapping[str | None, Mapping[str, str]]


def merge_documents(routes: Iterable[PublicRoute], documents: Mapping[str | None, Document]) -> Document:
    """Return one document with every route at its canonical address, and with each shared schema once."""
    shared_schemas = _unify_schemas(documents)

    paths: Document = {}
    for route in routes:
        document = documents.get(route.backend)
        operation = _find_operation(document, route) if document else None
        if operation is not None:
            public_operation = _publish_operation(operation, route, shared_schemas.new_names[route.backend])
            paths.setdefault(route.path, {})[route.method.lower()] = public_operation

    used_names = _reachable_schemas(paths, shared_schemas.schemas)
    gateway_document = documents[None]
    return {
        "openapi": gateway_document["openapi"],
        "info": {**gateway_document["info"], "title": "Touchstone"},
        "paths": paths,
        "components": {
            "schemas": {name: shared_schemas.schemas[name] for name in sorted(used_names)},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"bearer": []}],
    }


def _find_operation(document: Document, route: PublicRoute) -> Document | None:
    """Return the operation of the route, with path parameters named as in the public path."""
    method = route.method.lower()
    target_shape = _PLACEHOLDER.sub("{}", route.target)

    for path, operations in document.get("paths", {}).items():
        if _PLACEHOLDER.sub("{}", path) == target_shape and method in operations:
            return _rename_path_parameters(operations[method], path, route.path)
    return None


def _rename_path_parameters(operation: Document, path: str, public_path: str) -> Document:
    placeholders = zip(_PLACEHOLDER.findall(path), _PLACEHOLDER.findall(public_path), strict=True)
    # A placeholder may specify a type, as in {name:path}.
    new_names = {old[1:-1].partition(":")[0]: new[1:-1] for old, new in placeholders}

    renamed_operation = copy.deepcopy(operation)
    for parameter in renamed_operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["name"] = new_names[parameter["name"]]
    return renamed_operation


def _publish_operation(operation: Document, route: PublicRoute, new_schema_names: Mapping[str, str]) -> Document:
    """Return the operation as the public document describes it."""
    public_operation: Document = _rename_schema_refs(operation, new_schema_names)

    path_words = _PLACEHOLDER.sub(lambda match: match[0][1:-1], route.path.removeprefix("/api/v1"))
    public_operation["operationId"] = re.sub(r"\W+", "_", f"{route.method.lower()}{path_words}").strip("_")

    if "parameters" in public_operation:
        public_operation["parameters"] = [
            parameter
            for parameter in public_operation["parameters"]
            if parameter["name"].lower() not in _IDENTITY_PARAMETERS
        ]
    if route.is_open:
        public_operation["security"] = []
    return public_operation


def _unify_schemas(documents: Mapping[str | None, Document]) -> _SharedSchemas:
    """Rename schemas that have the same name but differ between documents; equal schemas are shared."""
    schemas: Document = {}
    new_names: dict[str | None, dict[str, str]] = {}

    for backend, document in documents.items():
        own_schemas = document.get("components", {}).get("schemas", {})
        prefix = (backend or "gateway").capitalize()
        clashes = _find_clashes(own_schemas, schemas)
        new_names[backend] = {name: f"{prefix}{name}" for name in clashes}

        for name, schema in own_schemas.items():
            unique_name = new_names[backend].get(name, name)
            schemas[unique_name] = _rename_schema_refs(schema, new_names[backend])

    return _SharedSchemas(schemas, new_names)


def _find_clashes(own_schemas: Document, other_schemas: Document) -> set[str]:
    """Return the names that mean something else in `other_schemas`, directly or through a schema they refer to."""
    clashes = {name for name, schema in own_schemas.items() if other_schemas.get(name, schema) != schema}
    while True:
        indirect_clashes = {
            name
            for name, schema in own_schemas.items()
            if name in other_schemas and name not in clashes and not clashes.isdisjoint(_referenced_schemas(schema))
        }
        if not indirect_clashes:
            return clashes
        clashes |= indirect_clashes


def _reachable_schemas(paths: Document, schemas: Document) -> set[str]:
    """Return the names of the schemas that the paths refer to, directly or through other schemas."""
    reachable: set[str] = set()
    pending = set(_referenced_schemas(paths))
    while pending:
        reachable |= pending
        pending = {reference for name in pending for reference in _referenced_schemas(schemas[name])} - reachable
    return reachable


def _referenced_schemas(value: Any) -> Iterator[str]:
    """Yield the names of the schemas that a part of a document refers to."""
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
    """Return a copy of a part of a document with its references to schemas renamed."""
    if isinstance(value, list):
        return [_rename_schema_refs(item, new_names) for item in value]
    if not isinstance(value, dict):
        return value

    renamed = {key: _rename_schema_refs(item, new_names) for key, item in value.items()}
    name = _schema_ref_name(renamed)
    if name is not None:
        renamed["$ref"] = _SCHEMA_REF_PREFIX + new_names.get(name, name)
    return renamed


def _schema_ref_name(value: Document) -> str | None:
    """Return the name of the schema that an object refers to, or None if it is not a reference."""
    ref = value.get("$ref")
    if isinstance(ref, str) and ref.startswith(_SCHEMA_REF_PREFIX):
        return ref.removeprefix(_SCHEMA_REF_PREFIX)
    return None
