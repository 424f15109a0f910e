"""The public OpenAPI document: one row of the route table after another, described in its backend's own words."""

import asyncio
import copy
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from touchstone.core.errors import ServiceError
from touchstone.core.identity import InternalTokens
from touchstone.http.internal_client import InternalClient
from touchstone.http.upstream import Upstream
from touchstone.services.gateway.route_table import BACKENDS, PublicRoute

FRESH_SECONDS: Final = 60.0
# A backend that was down is asked again soon.
RETRY_SECONDS: Final = 2.0
_VALUE: Final = re.compile(r"\{[^}]*\}")
_SCHEMA_REF: Final = "#/components/schemas/"
_IDENTITY_PARAMETERS: Final = frozenset({"x-user-id", "x-user-email"})
Document = dict[str, Any]


class PublicDocument:
    """Puts the public document together, and keeps it for a while."""

    def __init__(
        self,
        routes: Iterable[PublicRoute],
        *,
        own: Callable[[], Document],
        upstreams: Mapping[str, Upstream],
        tokens: InternalTokens | None,
    ) -> None:
        self._routes = tuple(route for route in routes if route.is_documented)
        self._own = own
        self._asking = {name: InternalClient(upstream, tokens) for name, upstream in upstreams.items()}
        self._kept: Document = {}
        self._good_until = 0.0
        self._turn = asyncio.Lock()

    async def current(self) -> Document:
        """The document; what a backend that is down would add is left out."""
        async with self._turn:
            if time.monotonic() >= self._good_until:
                parts = await self._parts()
                self._kept = merged(self._routes, parts)
                is_whole = len(parts) == len(BACKENDS) + 1
                self._good_until = time.monotonic() + (FRESH_SECONDS if is_whole else RETRY_SECONDS)
            return self._kept

    async def _parts(self) -> dict[str | None, Document]:
        found = await asyncio.gather(*(self._part(name) for name in self._asking))
        return {None: self._own()} | {name: part for name, part in zip(self._asking, found, strict=True) if part}

    async def _part(self, name: str) -> Document | None:
        try:
            answer = await self._asking[name].get("/openapi.json", None)
        except ServiceError:
            return None
        return answer.value if answer.status == 200 else None


def merged(routes: Iterable[PublicRoute], parts: Mapping[str | None, Document]) -> Document:
    """One document out of the parts' own: each documented route at its canonical address, shared schemas once."""
    own = parts[None]
    renamed, schemas = _shared_schemas(parts)
    paths: Document = {}
    for route in routes:
        operation = _operation(parts.get(route.backend), route)
        if operation is not None:
            public = _public(operation, route, renamed[route.backend])
            paths.setdefault(route.path, {})[route.method.lower()] = public
    used = _reachable(paths, schemas)
    return {
        "openapi": own["openapi"],
        "info": {**own["info"], "title": "Touchstone"},
        "paths": paths,
        "components": {
            "schemas": {name: schemas[name] for name in sorted(used)},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"bearer": []}],
    }


def _operation(part: Document | None, route: PublicRoute) -> Document | None:
    shape = _VALUE.sub("{}", route.target)
    for path, operations in (part or {}).get("paths", {}).items():
        if _VALUE.sub("{}", path) == shape and route.method.lower() in operations:
            return _with_names(operations[route.method.lower()], _VALUE.findall(path), _VALUE.findall(route.path))
    return None


def _with_names(operation: Document, given: list[str], wanted: list[str]) -> Document:
    names = {old[1:-1].partition(":")[0]: new[1:-1] for old, new in zip(given, wanted, strict=True)}
    changed = copy.deepcopy(operation)
    for parameter in changed.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["name"] = names[parameter["name"]]
    return changed


def _public(operation: Document, route: PublicRoute, renamed: Mapping[str, str]) -> Document:
    public: Document = _with_schemas(operation, renamed)
    words = _VALUE.sub(lambda value: value[0][1:-1], route.path.removeprefix("/api/v1"))
    public["operationId"] = re.sub(r"\W+", "_", f"{route.method.lower()}{words}").strip("_")
    if "parameters" in public:
        public["parameters"] = [p for p in public["parameters"] if p["name"].lower() not in _IDENTITY_PARAMETERS]
    if route.is_open:
        public["security"] = []
    return public


def _shared_schemas(parts: Mapping[str | None, Document]) -> tuple[dict[str | None, dict[str, str]], Document]:
    """New names of each part's schemas: the same name stays shared only where it means the same thing."""
    schemas: Document = {}
    renamed: dict[str | None, dict[str, str]] = {}
    for part, document in parts.items():
        own = document.get("components", {}).get("schemas", {})
        clashing = {name for name, schema in own.items() if schemas.get(name, schema) != schema}
        # A schema that points to a renamed one is no longer the same either.
        while further := {n for n in own if n not in clashing and n in schemas and _refers(own[n], clashing)}:
            clashing |= further
        renamed[part] = {name: f"{(part or 'gateway').capitalize()}{name}" for name in clashing}
        for name, schema in own.items():
            schemas[renamed[part].get(name, name)] = _with_schemas(schema, renamed[part])
    return renamed, schemas


def _refers(value: Any, names: set[str]) -> bool:
    return not names.isdisjoint(_references(value))


def _references(value: Any) -> Iterator[str]:
    """The names of the schemas that `value` points to."""
    if isinstance(value, dict):
        ref = value.get("$ref")
        if isinstance(ref, str) and ref.startswith(_SCHEMA_REF):
            yield ref.removeprefix(_SCHEMA_REF)
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _references(item)


def _reachable(paths: Document, schemas: Document) -> set[str]:
    """The names of the schemas that the public paths need, directly or through others."""
    found: set[str] = set()
    ahead = set(_references(paths))
    while ahead:
        found |= ahead
        ahead = {name for known in ahead for name in _references(schemas[known])} - found
    return found


def _with_schemas(value: Any, renamed: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        changed = {key: _with_schemas(item, renamed) for key, item in value.items()}
        ref = changed.get("$ref")
        if isinstance(ref, str) and ref.startswith(_SCHEMA_REF):
            name = ref.removeprefix(_SCHEMA_REF)
            changed["$ref"] = _SCHEMA_REF + renamed.get(name, name)
        return changed
    return [_with_schemas(item, renamed) for item in value] if isinstance(value, list) else value
