"""Documents that a catalog like this one has exported: the exact values in them go before those of the standard."""

from dataclasses import replace
from typing import Any, Final

import msgspec
from msgspec import UNSET

from touchstone.core.attributes import BY_NAME, Kind
from touchstone.core.evidence import CLAIMED_ATTRIBUTES
from touchstone.metadata.documents import (
    Claim,
    DatasetDocument,
    DocumentSource,
    ImportedDocument,
    RejectedPart,
    Scope,
    Section,
)
from touchstone.metadata.exact_values import POINTER, ExactValues
from touchstone.metadata.exported_dataset import (
    FOREIGN_MEASUREMENT,
    RECORD_FIELDS,
    SERVICE_KEYS,
    ClaimSource,
    ExportedClaim,
)
from touchstone.metadata.parsing import DocumentError, parse_json
from touchstone.metadata.readers import hf_card
from touchstone.metadata.readers.builder import MAX_TERM_LENGTH, MAX_TERMS, is_possible
from touchstone.metadata.readers.data_package import imported_sections

MAX_TEXT_LENGTH: Final = 100_000
_TEXT_LIMITS: Final = {"dataset_name": 255, "file_path": 4096, "file_type": 255}


def restore_exact_values(document: DatasetDocument) -> DatasetDocument:
    """Replace what was read from an exported document by the exact values that this service has written into it.

    A standard cannot express everything that a record holds, so an export also contains the record, its claims and the
    imported fields as they are. A document without such values is returned unchanged. If they are damaged, the
    document is read by its standard alone.
    """
    if POINTER not in document.unmapped:
        return document

    try:
        values = msgspec.convert(document.unmapped[POINTER], ExactValues)
        documents = values.documents(document.unmapped)
    except (msgspec.ValidationError, DocumentError):
        damaged = RejectedPart(POINTER, "invalid_exact_values")
        return replace(document, rejected=(*document.rejected, damaged))

    record, rejected = _restore_record(values.record)
    claims, contradictory = _restore_claims(values.claims, record)
    original, earlier = _split_documents(documents, document.standard)
    unmapped = {**values.added_fields(document.unmapped), **_imported_fields(values, original)}
    return replace(
        document,
        standard_version=original.standard_version if original else document.standard_version,
        key=values.key or document.key,
        record={**record, "dataset_name": record.get("dataset_name", document.record["dataset_name"])},
        claims=claims,
        sections=imported_sections(_sections_of_source(document, values.claims, original), unmapped),
        unmapped=unmapped,
        rejected=(*document.rejected, *rejected, *contradictory),
        earlier=earlier,
    )


def _sections_of_source(
    document: DatasetDocument, claims: tuple[ExportedClaim, ...], original: ImportedDocument | None
) -> tuple[Section, ...]:
    """Return the prose of an exported document without the passages that were made from its claims.

    What the extractor finds in them would otherwise look as if a document of the source stated it.
    """
    quotes = sorted((" ".join(claim.quote.split()) for claim in claims if claim.quote), key=len, reverse=True)
    has_evidence_heading = document.standard == hf_card.STANDARD and (
        original is None or hf_card.BODY not in original.unmapped
    )

    sections: list[Section] = []
    for section in document.sections:
        text = " ".join(section.text.split())
        for quote in quotes:
            text = text.replace(quote, "")
        is_made_from_claims = not any(character.isalnum() for character in text)
        is_evidence = has_evidence_heading and section.path[-1:] == (hf_card.EVIDENCE_HEADING,)
        if not is_made_from_claims and not is_evidence:
            sections.append(section)
    return tuple(sections)


def _split_documents(
    documents: tuple[ImportedDocument, ...], standard: str
) -> tuple[ImportedDocument | None, tuple[ImportedDocument, ...]]:
    """Return the imported document that this one continues, which has the same standard, and all others."""
    if documents and documents[-1].standard == standard:
        return documents[-1], documents[:-1]
    return None, documents


def _imported_fields(values: ExactValues, original: ImportedDocument | None) -> dict[str, Any]:
    """Return the fields without a place in a record: those that were imported, and another catalog's measurement."""
    fields = dict(original.unmapped) if original else {}
    if values.measured:
        fields[FOREIGN_MEASUREMENT] = values.measured
    return fields


def _restore_record(stated: dict[str, Any]) -> tuple[dict[str, Any], list[RejectedPart]]:
    """Return the values of a record that a record can have, and the others as rejected parts."""
    record: dict[str, Any] = {}
    rejected: list[RejectedPart] = []
    for name, value in stated.items():
        metadata = _restore_metadata(value) if name == "metadata" else None
        if metadata is not None:
            record[name] = {key: member for key, member in metadata.items() if key not in SERVICE_KEYS}
        elif name in RECORD_FIELDS and _is_storable(name, value):
            record[name] = value
        else:
            rejected.append(RejectedPart(f"{POINTER}/record/{name}", "implausible_value", {"attribute": name}))
    return record, rejected


def _restore_metadata(value: Any) -> dict[str, Any] | None:
    """Return the metadata of a record, which may be the text of a JSON object, or None if they are something else."""
    if isinstance(value, str):
        try:
            value = parse_json(value).data
        except DocumentError:
            return None
    return value if isinstance(value, dict) else None


def _is_storable(name: str, value: Any) -> bool:
    """Return whether a field of a record can have this value: a number or flag, a list of words, or a text."""
    if name in CLAIMED_ATTRIBUTES:
        return isinstance(value, bool | int | float) and is_possible(name, value)

    if name in BY_NAME and BY_NAME[name].kind is Kind.WORDS:
        is_short_list = isinstance(value, list) and len(value) <= MAX_TERMS
        return is_short_list and all(
            isinstance(word, str) and 0 < len(word.strip()) <= MAX_TERM_LENGTH for word in value
        )

    if not isinstance(value, str):
        return False
    is_empty_name = name == "dataset_name" and not value.strip()
    return not is_empty_name and len(value) <= _TEXT_LIMITS.get(name, MAX_TEXT_LENGTH)


def _restore_claims(
    stated: tuple[ExportedClaim, ...], record: dict[str, Any]
) -> tuple[tuple[Claim, ...], list[RejectedPart]]:
    """Return the claims of the other catalog, and those that contradict the values of its record as rejected parts.

    Claims lose their level when they are imported, so the importing catalog cannot resolve contradictions as the
    exporting one did. The value of the record is what the claims amounted to there, or what somebody has changed it
    to since. A value without any claim becomes a claim.
    """
    claims: list[Claim] = []
    rejected: list[RejectedPart] = []
    for position, claim in enumerate(stated):
        if not _is_valid(claim):
            continue
        if _contradicts(claim, record):
            place = f"{POINTER}/claims/{position}"
            rejected.append(RejectedPart(place, "contradicts_record", {"attribute": claim.attribute}))
        else:
            claims.append(_restore_claim(claim))

    claimed = {claim.attribute for claim in claims if claim.scope is not Scope.ANNOTATORS}
    unclaimed = [name for name in CLAIMED_ATTRIBUTES if name in record and name not in claimed]
    claims += [Claim(name, record[name], is_restated=True) for name in unclaimed]
    return tuple(claims), rejected


def _contradicts(claim: ExportedClaim, record: dict[str, Any]) -> bool:
    """Return whether a claim that counts gives an attribute another value than the record."""
    if claim.attribute not in record or claim.scope is Scope.ANNOTATORS:
        return False
    return claim.value is None or claim.value != record[claim.attribute]


def _is_valid(claim: ExportedClaim) -> bool:
    """Return whether a claim is about an attribute that can have its value."""
    if claim.attribute not in CLAIMED_ATTRIBUTES:
        return False
    if claim.value is None:
        return claim.not_applicable
    return is_possible(claim.attribute, claim.value)


def _first_source(source: ClaimSource) -> DocumentSource:
    """Return the document that a claim was first taken from, however often it was exported since."""
    return source.original or DocumentSource(kind=source.kind, name=source.name, url=source.url, sha256=source.sha256)


def _restore_claim(claim: ExportedClaim) -> Claim:
    """Return a claim as a reader states it: without its level, which only the importing catalog decides."""
    return Claim(
        attribute=claim.attribute,
        value=claim.value,
        quote=claim.quote,
        place=claim.place,
        field=claim.field,
        scope=claim.scope,
        is_not_applicable=claim.not_applicable,
        note=claim.note,
        until=claim.until,
        is_restated=True,
        original_source=UNSET if claim.source is None else _first_source(claim.source),
    )
