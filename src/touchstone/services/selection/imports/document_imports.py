"""Import of documents, which are read in a sandboxed process and written one dataset at a time."""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from itertools import chain
from typing import Final

import msgspec

from touchstone.core.confined_process import ProcessLimits
from touchstone.core.fair_slots import FairSlots
from touchstone.core.identity import Caller
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.metadata.documents import RejectedPart
from touchstone.metadata.reading_process import read_documents
from touchstone.metadata.reading_protocol import ReadDataset, RejectedDataset, UploadedDocument
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.evidence.claim_editor import ClaimLimits, read_claim_names
from touchstone.services.selection.imports.dataset_importer import (
    DocumentImporter,
    ImportedFile,
    ImportLimits,
    ImportOutcome,
)
from touchstone.services.selection.imports.schemas import ImportOrder, ImportStatus
from touchstone.services.selection.user_name_store import Pseudos

CONCURRENT_READINGS: Final = 2
MAX_WAIT_SECONDS: Final = 5.0
# Datasets that are not written by then are rejected, so that the response arrives before a gateway times out.
MAX_SECONDS: Final = 25.0
NOT_WRITTEN_IN_TIME: Final = "not_written_in_time"
RECORD_QUOTA_EXCEEDED: Final = "record_quota_exceeded"


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one dataset, or for a document that cannot be used.

    Attributes:
        file: the index of the document in the request.
        document: the name of the document.
        standard: the key of the metadata standard, or None if it is unknown.
        outcome: the outcome for the dataset.
        key: the identifier of the dataset in its source.
        unmapped: the paths of fields that records have no attribute for.
        skipped: the parts that were not used, with reasons.
    """

    file: int
    document: str
    standard: str | None
    outcome: ImportOutcome
    key: str | None = None
    unmapped: tuple[str, ...] = ()
    skipped: tuple[RejectedPart, ...] = ()


class DocumentImports:
    """Imports documents, and limits how many are read at a time in this process."""

    def __init__(self, settings: Settings, database: Database, catalog: LiveCatalog) -> None:
        self.max_bytes = settings.upload_max_bytes
        self.limits = ImportLimits(settings.record_quota_bytes, ClaimLimits().open_proposals)
        self._database = database
        self._catalog = catalog
        self._process_limits = ProcessLimits(
            memory_bytes=settings.profile_memory_bytes,
            cpu_seconds=max(1, round(settings.document_seconds)),
            wall_seconds=settings.document_seconds,
        )
        self._slots = FairSlots(CONCURRENT_READINGS, max_wait_seconds=MAX_WAIT_SECONDS)

    async def run(
        self, documents: Sequence[UploadedDocument], caller: Caller | None, order: ImportOrder
    ) -> list[ImportResult]:
        """Import documents, and return one result for each dataset and each unusable document.

        Every dataset is written in a separate transaction. Once a dataset exceeds the quota of the caller, or the time
        limit of the request has passed, all further datasets are rejected.

        Args:
            documents: the documents in the order of the request.
            caller: the user who imports them, or None for the service itself.
            order: the options of the import.

        Raises:
            Overloaded: other documents are being read, and do not end in time.
        """
        deadline = time.monotonic() + MAX_SECONDS
        async with self._slots.occupy(caller.id if caller else None):
            reply = await read_documents(documents, order.format, self._process_limits)

        files = [await asyncio.to_thread(_describe_file, document) for document in documents]
        importer = DocumentImporter(self._database, self._catalog, caller, order, self.limits)
        refusal: RejectedPart | None = None

        results: list[ImportResult] = []
        for line in reply.lines():
            if isinstance(line, RejectedDataset):
                results.append(_rejected_result(line, files[line.file]))
                continue

            if results and time.monotonic() > deadline:
                refusal = refusal or RejectedPart("", NOT_WRITTEN_IN_TIME)
            if refusal is not None:
                outcome = ImportOutcome(status=ImportStatus.REJECTED, error=refusal)
            else:
                outcome = await importer.put(line, files[line.file])
                if outcome.error is not None and outcome.error.code == RECORD_QUOTA_EXCEEDED:
                    refusal = outcome.error
            results.append(_dataset_result(line, files[line.file], outcome))
        return results

    async def read_names(self, results: Sequence[ImportResult]) -> Pseudos:
        """Return the names of the users who made or reviewed the claims in the results."""
        claims = chain.from_iterable(result.outcome.claims for result in results)
        async with self._database.reading() as connection:
            return await read_claim_names(connection, claims)


def _describe_file(document: UploadedDocument) -> ImportedFile:
    """Return the name and the digest of a document."""
    return ImportedFile(name=document.name, sha256=hashlib.sha256(document.content).hexdigest())


def _rejected_result(line: RejectedDataset, file: ImportedFile) -> ImportResult:
    """Return the result for a document that cannot be used, or for an unusable dataset in it."""
    error = RejectedPart(line.place, line.code, line.facts)
    outcome = ImportOutcome(status=ImportStatus.REJECTED, error=error)
    return ImportResult(file=line.file, document=file.name, standard=line.standard, outcome=outcome)


def _dataset_result(line: ReadDataset, file: ImportedFile, outcome: ImportOutcome) -> ImportResult:
    """Return the result for a dataset that could be read."""
    dataset = line.dataset
    return ImportResult(
        file=line.file,
        document=file.name,
        standard=dataset.standard,
        key=dataset.key,
        outcome=outcome,
        unmapped=tuple(dataset.unmapped),
        skipped=(*dataset.rejected, *outcome.skipped),
    )
