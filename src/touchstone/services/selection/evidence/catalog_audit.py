"""Audit of the evidence in a catalog, which checks that the quote of every effective claim occurs in its source."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from touchstone.core.evidence import EvidenceLevel
from touchstone.database.engine import StreamingReader
from touchstone.demo.packaged_records import read_excerpts
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.verbatim_quotes import contains_quote, document_texts, texts_in
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.evidence import store
from touchstone.services.selection.evidence.claim_records import ClaimRecord
from touchstone.services.selection.evidence.evidence_faults import EvidenceFault, find_faults

CLAIMS_PER_CHUNK: Final = 5000


@dataclass(frozen=True, slots=True)
class FaultyClaim:
    """A claim with one fault in its evidence."""

    dataset_id: int
    dataset_name: str
    attribute: str
    quote: str
    fault: EvidenceFault


@dataclass
class EvidenceAudit:
    """The result of an audit.

    Attributes:
        records: the number of records in the catalog.
        claims: the number of effective claims, by level.
        verified: the number of quotes that were found in their source.
        unverified: the number of quotes that could not be checked because their source is not available.
        faulty: one entry for each fault. A claim can have several faults.
    """

    records: int = 0
    claims: Counter[EvidenceLevel] = field(default_factory=Counter)
    verified: int = 0
    unverified: int = 0
    faulty: list[FaultyClaim] = field(default_factory=list)

    def count_of(self, fault: EvidenceFault) -> int:
        """Return the number of claims that have the given fault."""
        return sum(claim.fault is fault for claim in self.faulty)


class ImportedTexts(NamedTuple):
    """The texts of imported documents that a record stores.

    Attributes:
        by_digest: the texts of a document, by its digest.
        by_claim: the texts of the document that makes a claim, by the id of the claim. A record stores the last version
            of a document, and a claim that this version still makes names the version in which it was found first.
    """

    by_digest: Mapping[str, Sequence[str]]
    by_claim: Mapping[str, Sequence[str]]

    def contain_quote(self, claim: ClaimRecord, quote: str, digest: str) -> bool:
        """Return whether the document of a claim contains its quote.

        Args:
            claim: the claim.
            quote: its quote.
            digest: the digest of the document that it names.
        """
        available_texts = (self.by_digest.get(digest, ()), self.by_claim.get(str(claim.id), ()))
        return any(contains_quote(texts, quote) for texts in available_texts)


class SourceLibrary:
    """The available source documents: files below a folder, and the excerpts included in the demo catalog."""

    def __init__(self, excerpts: Mapping[str, Sequence[str]], documents: Path | None = None) -> None:
        self._excerpts = excerpts
        self._paths = {} if documents is None else paths_by_digest(documents)
        self._last_digest = ""
        self._last_texts: Sequence[str] = ()

    def texts(self, digest: str) -> Sequence[str] | None:
        """Return the texts of the source with the given digest, or None if it is not available.

        Files take precedence over excerpts.
        """
        path = self._paths.get(digest)
        if path is None:
            return self._excerpts.get(digest)

        # Claims about the same record are checked consecutively, and often have the same source.
        if digest != self._last_digest:
            self._last_texts = document_texts(SourceDocument(path.read_bytes(), path.name))
            self._last_digest = digest
        return self._last_texts


def paths_by_digest(folder: Path) -> dict[str, Path]:
    """Return the paths of all files below a folder, by the SHA-256 digest of their content."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in paths}


async def audit_catalog(connection: StreamingReader, documents: Path | None) -> EvidenceAudit:
    """Check the evidence of all effective claims in the catalog.

    Quotes are searched for in the parts of imported documents that the records store, in the files below `documents`,
    and in the excerpts included in the demo catalog.

    Args:
        connection: a connection to the database of the catalog.
        documents: a folder with source documents, which are identified by their digests, or None.
    """
    now = datetime.now(UTC)
    library = SourceLibrary(read_excerpts(), documents)
    audit = EvidenceAudit(records=await dataset_store.count_datasets(connection))

    async for claims in store.stream_active_claims(connection, CLAIMS_PER_CHUNK):
        dataset_ids = sorted({claim.dataset_id for claim in claims})
        records = await dataset_store.names_and_metadata(connection, dataset_ids)
        imported_texts = {dataset_id: texts_of_imports(record.metadata) for dataset_id, record in records.items()}
        for claim in claims:
            if claim.is_effective(now):
                dataset_name = records[claim.dataset_id].dataset_name
                check_claim(audit, claim, dataset_name, library, imported_texts[claim.dataset_id])

    return audit


def check_claim(
    audit: EvidenceAudit,
    claim: ClaimRecord,
    dataset_name: str,
    library: SourceLibrary,
    imported_texts: ImportedTexts,
) -> None:
    """Check the evidence of one claim, and add the result to an audit.

    Args:
        audit: the audit to update.
        claim: the claim to check.
        dataset_name: the name of the dataset that the claim is about.
        library: the available source documents.
        imported_texts: the texts of imported documents that the record stores.
    """
    audit.claims[claim.effective_level] += 1
    faults = find_faults(claim)

    digest = claim.source.sha256 if claim.source else None
    if claim.quote and digest:
        source_texts = library.texts(digest)
        is_stored = imported_texts.contain_quote(claim, claim.quote, digest)
        if is_stored or contains_quote(source_texts or (), claim.quote):
            audit.verified += 1
        elif source_texts is None:
            audit.unverified += 1
        else:
            faults.append(EvidenceFault.QUOTE_NOT_IN_SOURCE)

    for fault in faults:
        faulty_claim = FaultyClaim(claim.dataset_id, dataset_name, claim.attribute, claim.quote or "", fault)
        audit.faulty.append(faulty_claim)


def texts_of_imports(metadata: Mapping[str, Any] | None) -> ImportedTexts:
    """Return the texts of imported documents that a record stores."""
    imports = (metadata or {}).get("imported")
    entries = imports if isinstance(imports, list) else []
    documents = [document for document in entries if isinstance(document, Mapping)]

    by_digest: dict[str, Sequence[str]] = {}
    by_claim: dict[str, Sequence[str]] = {}
    for document in documents:
        texts = tuple(texts_in(document))
        by_digest[str(document.get("sha256"))] = texts
        claim_ids = document.get("claims")
        by_claim |= {str(claim_id): texts for claim_id in claim_ids} if isinstance(claim_ids, list) else {}
    return ImportedTexts(by_digest, by_claim)
