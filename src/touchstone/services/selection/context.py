"""The context of a request for handlers: the services, the caller, the body and the record named in the path."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

from pydantic import ValidationError, WithJsonSchema
from starlette.requests import Request

from touchstone.core.attributes import INT32_MAX
from touchstone.core.errors import AdministratorsOnly, DatasetNotFound
from touchstone.core.identity import Caller, parse_uuid
from touchstone.http.backend_auth import caller_of, require_caller
from touchstone.http.error_responses import invalid_body, request_locale
from touchstone.http.json_body import parse_json
from touchstone.http.request_models import RequestModel
from touchstone.services.selection.bulk.bulk_import import BulkImporter
from touchstone.services.selection.bulk.parquet_body import ParquetBodies
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_tokens import CatalogTokens
from touchstone.services.selection.datasets.background_measurement import BackgroundMeasurer
from touchstone.services.selection.datasets.catalog_export import CatalogExport
from touchstone.services.selection.datasets.editor import DatasetEditor
from touchstone.services.selection.datasets.encoded_records import EncodedRecord
from touchstone.services.selection.datasets.hiding import HidingEditor
from touchstone.services.selection.datasets.response_cache import ResponseCache
from touchstone.services.selection.evidence.claim_editor import EvidenceEditor
from touchstone.services.selection.files.data_files import DataFiles
from touchstone.services.selection.files.uploads import Uploads
from touchstone.services.selection.imports.document_imports import DocumentImports
from touchstone.services.selection.projects.editor import ProjectEditor
from touchstone.services.selection.projects.snapshot_replay import SnapshotReplayer
from touchstone.services.selection.projects.snapshots import SnapshotEditor
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.report.facts_reader import ReportReader
from touchstone.services.selection.report.pdf import PdfRenderer

BodyModel = TypeVar("BodyModel", bound=RequestModel)

DatasetKey = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "format": "uuid"}]}),
]
ProjectKey = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
_ROW_ID: Final = re.compile(r"[1-9][0-9]{0,9}")


@dataclass(frozen=True, slots=True)
class SelectionServices:
    """The services of this backend, opened once per process."""

    catalog: LiveCatalog
    catalog_tokens: CatalogTokens
    datasets: DatasetEditor
    background_measurer: BackgroundMeasurer
    catalog_export: CatalogExport
    evidence: EvidenceEditor
    hiding: HidingEditor
    projects: ProjectEditor
    snapshots: SnapshotEditor
    replayer: SnapshotReplayer
    data_files: DataFiles
    uploads: Uploads
    imports: DocumentImports
    bulk: BulkImporter
    parquet_bodies: ParquetBodies
    response_cache: ResponseCache
    reports: ReportReader
    pdf_renderer: PdfRenderer


class RequestContext:
    """A request to this backend, with the services of the backend."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.services: SelectionServices = request.app.state.services
        self.caller: Caller | None = caller_of(request.scope)

    @property
    def catalog(self) -> LiveCatalog:
        """The catalog in memory."""
        return self.services.catalog

    @property
    def viewer(self) -> UUID | None:
        """The id of the caller, or None for an anonymous one."""
        return self.caller.id if self.caller else None

    @property
    def locale(self) -> str:
        """The language in which to answer, `fr` or `en`."""
        return request_locale(self.request.scope)

    @property
    def query_string(self) -> bytes:
        """The query string as it was sent."""
        query_string: bytes = self.request.scope["query_string"]
        return query_string

    def require_caller(self) -> Caller:
        """Return the caller of a request that needs a user.

        Raises:
            InvalidUserId: the caller is anonymous.
        """
        return require_caller(self.request.scope)

    def require_administrator(self) -> Caller:
        """Return the caller of a request that only administrators may make.

        Raises:
            InvalidUserId: the caller is anonymous.
            AdministratorsOnly: the caller is not an administrator.
        """
        caller = self.require_caller()
        if not caller.is_admin:
            raise AdministratorsOnly
        return caller

    def require_owner(self) -> UUID:
        """Return the id of the caller as the owner of the requested projects or files.

        Raises:
            InvalidUserId: the caller is anonymous.
        """
        return self.require_caller().id

    async def body(self, model: type[BodyModel], parse: Callable[[bytes], Any] = parse_json) -> BodyModel:
        """Return the body of the request, parsed as JSON and validated against a model.

        Raises:
            NotJson: the body is not JSON.
            Invalid: the body does not match the model.
        """
        raw_body = await self.request.body()
        value = parse(raw_body)

        try:
            return model.model_validate(value)
        except ValidationError as error:
            raise invalid_body(error) from None

    async def load_record(self, key: str) -> EncodedRecord:
        """Return the dataset record with the given integer id or UUID from a URL path.

        Raises:
            DatasetNotFound: the key is not an id, or the record does not exist or is not visible to the caller.
        """
        row_id = await self._find_row_id(key)
        if row_id is None:
            raise DatasetNotFound

        records = await self.catalog.records.encoded_records([row_id], self.viewer)
        if not records:
            raise DatasetNotFound
        return records[0]

    async def load_project(self, project_id: str) -> ProjectRecord:
        """Return the caller's project with the given id from a URL path.

        Raises:
            InvalidUserId: the caller is anonymous.
            ProjectNotFound: the id is malformed, or the caller has no such project.
        """
        return await self.services.projects.load(project_id, self.require_owner())

    async def _find_row_id(self, key: str) -> int | None:
        """Convert the integer id or UUID in a URL path to an integer id. An integer id is not checked.

        Returns:
            None if the key is not an id, or if no record with this UUID is visible to the caller.
        """
        row_id = parse_row_id(key)
        if row_id is not None:
            return row_id

        uuid = parse_uuid(key)
        if uuid is None:
            return None
        return await self.catalog.records.find_id_of_uuid(uuid, self.viewer)


def parse_row_id(key: str) -> int | None:
    """Parse the integer id of a record in a URL path, or return None for any other string."""
    is_row_id = _ROW_ID.fullmatch(key) is not None and int(key) <= INT32_MAX
    return int(key) if is_row_id else None
