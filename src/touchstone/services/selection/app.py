"""The selection backend as an ASGI application, with the services that it opens once per process."""

import asyncio
import contextlib
from typing import Final, Self

from touchstone.core.internal_tokens import InternalTokens
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.app import create_app
from touchstone.http.backend_auth import BackendAuthMiddleware
from touchstone.http.health import Resource
from touchstone.http.routing import AllowedMethodsMiddleware, FastPathMiddleware, TrailingSlashMiddleware
from touchstone.services.selection.bulk import routes as bulk_routes
from touchstone.services.selection.bulk.bulk_import import BulkImporter, BulkLimits
from touchstone.services.selection.bulk.parquet_body import ParquetBodies
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_tokens import CatalogTokens
from touchstone.services.selection.context import SelectionServices
from touchstone.services.selection.datasets import catalog_export_routes, export_routes, hiding_routes
from touchstone.services.selection.datasets import routes as dataset_routes
from touchstone.services.selection.datasets.background_measurement import BackgroundMeasurer
from touchstone.services.selection.datasets.catalog_export import CatalogExport
from touchstone.services.selection.datasets.editor import DatasetEditor
from touchstone.services.selection.datasets.hiding import HidingEditor
from touchstone.services.selection.datasets.response_cache import ResponseCache
from touchstone.services.selection.demo_loader import load_demo
from touchstone.services.selection.evidence import proposal_routes
from touchstone.services.selection.evidence import routes as evidence_routes
from touchstone.services.selection.evidence.claim_editor import EvidenceEditor
from touchstone.services.selection.files import routes as file_routes
from touchstone.services.selection.files.data_files import DataFiles
from touchstone.services.selection.files.measurement import FileMeasurer
from touchstone.services.selection.files.uploads import Uploads
from touchstone.services.selection.imports import routes as import_routes
from touchstone.services.selection.imports.document_imports import DocumentImports
from touchstone.services.selection.openapi import add_body_schemas
from touchstone.services.selection.projects import choice_routes, snapshot_routes
from touchstone.services.selection.projects import routes as project_routes
from touchstone.services.selection.projects.editor import ProjectEditor
from touchstone.services.selection.projects.snapshot_replay import SnapshotReplayer
from touchstone.services.selection.projects.snapshots import SnapshotEditor
from touchstone.services.selection.reasons import routes as reason_routes
from touchstone.services.selection.report import routes as report_routes
from touchstone.services.selection.report.facts_reader import ReportReader
from touchstone.services.selection.report.pdf import PdfRenderer

NAME: Final = "selection"
# The only path that is registered with a trailing slash.
SLASHED_PATHS: Final = frozenset({"/datasets"})


class Selection:
    """The selection backend, with its ASGI application and its background tasks.

    The tasks apply the writes of other processes, withdraw expired claims, and measure large data files.
    """

    def __init__(self, services: SelectionServices, database: Database, tokens: InternalTokens | None) -> None:
        """Build the application, and start the background tasks.

        Args:
            services: the services that the handlers use.
            database: the database, whose health is reported.
            tokens: the tokens that the gateway sends with its requests, or None to accept requests from anywhere.
        """
        self.services = services
        self.resources = (Resource("database", database.ping), Resource("catalog", services.catalog.ping))

        routers = (
            import_routes.router,
            bulk_routes.router,
            reason_routes.router,
            catalog_export_routes.router,
            dataset_routes.router,
            export_routes.router,
            evidence_routes.router,
            proposal_routes.router,
            hiding_routes.router,
            file_routes.router,
            project_routes.router,
            choice_routes.router,
            snapshot_routes.router,
            report_routes.router,
        )
        api = create_app(NAME, *routers, resources=self.resources)
        api.state.services = services
        add_body_schemas(api)

        # The last layer is the outermost one, which receives a request first.
        checked_api = TrailingSlashMiddleware(AllowedMethodsMiddleware(api, *routers), SLASHED_PATHS)
        fast_api = FastPathMiddleware(checked_api, api, *routers)
        self.app = BackendAuthMiddleware(fast_api, tokens)

        self._tasks = (
            asyncio.ensure_future(services.catalog.follow()),
            asyncio.ensure_future(services.evidence.withdraw_expired_claims()),
            asyncio.ensure_future(services.background_measurer.run()),
            asyncio.ensure_future(services.uploads.delete_abandoned_regularly()),
        )

    @classmethod
    async def open(cls, settings: Settings, database: Database, tokens: InternalTokens | None) -> Self:
        """Load the catalog into memory, create the services, and start the background tasks.

        A large catalog may still be loading when this returns. Until it is complete, requests that need it are refused.
        With the setting `demo`, the demo records are inserted into a catalog that has never been written.
        """
        if settings.demo:
            await load_demo(database)
        catalog = LiveCatalog(database, snapshot_path=settings.index_file)
        await catalog.open()
        catalog_tokens = await CatalogTokens.load(database)

        data_files = DataFiles(settings, database)
        measurer = FileMeasurer(settings, data_files)
        background_measurer = BackgroundMeasurer(database, catalog, measurer)
        evidence = EvidenceEditor(database, catalog)
        bulk_limits = BulkLimits(line_bytes=settings.body_max_bytes, quota_bytes=settings.record_quota_bytes)
        services = SelectionServices(
            catalog=catalog,
            catalog_tokens=catalog_tokens,
            datasets=DatasetEditor(catalog, measurer, background_measurer, quota_bytes=settings.record_quota_bytes),
            background_measurer=background_measurer,
            catalog_export=CatalogExport(database, catalog),
            evidence=evidence,
            hiding=HidingEditor(database, catalog),
            projects=ProjectEditor(database, catalog, catalog_tokens, quota_bytes=settings.project_quota_bytes),
            snapshots=SnapshotEditor(database, catalog, quota_bytes=settings.project_quota_bytes),
            replayer=SnapshotReplayer(database, catalog),
            data_files=data_files,
            uploads=Uploads(settings, database),
            imports=DocumentImports(settings, database, catalog),
            bulk=BulkImporter(database, catalog, bulk_limits),
            parquet_bodies=ParquetBodies(settings, database),
            response_cache=ResponseCache(),
            reports=ReportReader(database, catalog, evidence),
            pdf_renderer=PdfRenderer(),
        )
        return cls(services, database, tokens)

    async def close(self) -> None:
        """Stop the background tasks and close the catalog. The caller has to close the database."""
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.services.catalog.close()
