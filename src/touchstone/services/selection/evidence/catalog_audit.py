"""Audit of the evidence in a catalog, which checks that the quote of every effective claim occurs in its source."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

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
        stored_texts = {dataset_id: texts_of_imports(metadata) for dataset_id, (_, metadata) in records.items()}
        for claim in claims:
            if not claim.is_effective(now):
                continue
            dataset_name, _ = records[claim.dataset_id]
            check_claim(audit, claim, dataset_name, library, stored_texts[claim.dataset_id])

    return audit


def check_claim(
    audit: EvidenceAudit,
    claim: ClaimRecord,
    dataset_name: str,
    library: SourceLibrary,
    stored_texts: Mapping[str, Sequence[str]],
) -> None:
    """Check the evidence of one claim, and add the result to an audit.

    Args:
        audit: the audit to update.
        claim: the claim to check.
        dataset_name: the name of the dataset that the claim is about.
        library: the available source documents.
        stored_texts: the texts of imported documents that the record stores, by the digest of the document.
    """
    audit.claims[claim.effective_level] += 1
    faults = find_faults(claim)

    digest = claim.source.sha256 if claim.source else None
    if claim.quote and digest:
        source_texts = library.texts(digest)
        available_texts = (stored_texts.get(digest, ()), source_texts or ())
        if any(contains_quote(texts, claim.quote) for texts in available_texts):
            audit.verified += 1
        elif source_texts is None:
            audit.unverified += 1
        else:
            faults.append(EvidenceFault.QUOTE_NOT_IN_SOURCE)

    for fault in faults:
        faulty_claim = FaultyClaim(claim.dataset_id, dataset_name, claim.attribute, claim.quote or "", fault)
        audit.faulty.append(faulty_claim)


def texts_of_imports(metadata: Mapping[str, Any] | None) -> Mapping[str, Sequence[str]]:
    """Return the texts of imported documents that a record stores, by the digest of the document."""
    imports = (metadata or {}).get("imported")
    entries = imports if isinstance(imports, list) else []
    documents = [document for document in entries if isinstance(document, Mapping)]
    return {str(document.get("sha256")): tuple(texts_in(document)) for document in documents}
