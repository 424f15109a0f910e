"""Documents that a catalog like this one has exported. The exact values in them replace the values of the standard."""

from collections.abc import Sequence
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
    PRIVATE,
    RECORD_FIELDS,
    SERVICE_KEYS,
    ClaimSource,
    ExportedClaim,
)
from touchstone.metadata.parsing import DocumentError, parse_json
from touchstone.metadata.prose import on_one_line
from touchstone.metadata.readers import hf_card
from touchstone.metadata.readers.builder import MAX_TERM_LENGTH, MAX_TERMS, is_possible
from touchstone.metadata.readers.data_package import imported_sections

MAX_TEXT_LENGTH: Final = 100_000
_TEXT_LIMITS: Final = {"dataset_name": 255, "file_path": 4096, "file_type": 255}


def restore_exact_values(document: DatasetDocument) -> DatasetDocument:
    """Return a dataset with its exact values if its document is an export, and unchanged otherwise.

    A standard cannot express everything in a record, so an export also contains the record, its claims and the imported
    fields as they are. If these exact values are damaged, the dataset remains as it was read by the standard.
    """
    if POINTER not in document.unmapped:
        return document

    try:
        values = msgspec.convert(document.unmapped[POINTER], ExactValues)
        documents = values.documents(document.unmapped)
    except (msgspec.ValidationError, DocumentError):
        damaged_part = RejectedPart(POINTER, "invalid_exact_values")
        return replace(document, rejected=(*document.rejected, damaged_part))

    record, invalid_parts = _restore_record(values.record)
    record.setdefault("dataset_name", document.record["dataset_name"])
    claims, contradictory_parts = _restore_claims(values.claims, record)
    original, earlier_documents = _split_documents(documents, document.standard)
    unmapped = {**values.added_fields(document.unmapped), **_imported_fields(values, original)}
    sections = _sections_of_source(document, values.claims, original)
    return replace(
        document,
        standard_version=original.standard_version if original else document.standard_version,
        key=values.key or document.key,
        record=record,
        claims=claims,
        sections=imported_sections(sections, unmapped),
        unmapped=unmapped,
        rejected=(*document.rejected, *invalid_parts, *contradictory_parts),
        earlier=earlier_documents,
        is_private=values.visibility == PRIVATE,
    )


def _sections_of_source(
    document: DatasetDocument, claims: tuple[ExportedClaim, ...], original: ImportedDocument | None
) -> tuple[Section, ...]:
    """Return the prose of an exported document without the passages that the export created from claims.

    Claims that the extractor proposes from these passages would look as if the original source contained them.
    """
    # Longer quotes come first, because a quote can contain another one.
    quotes = sorted((on_one_line(claim.quote) for claim in claims if claim.quote), key=len, reverse=True)
    has_imported_card = original is not None and hf_card.BODY in original.unmapped
    has_evidence_heading = document.standard == hf_card.STANDARD and not has_imported_card

    sections: list[Section] = []
    for section in document.sections:
        is_evidence = has_evidence_heading and section.path[-1:] == (hf_card.EVIDENCE_HEADING,)
        if not is_evidence and not _consists_of(section.text, quotes):
            sections.append(section)
    return tuple(sections)


def _consists_of(text: str, quotes: Sequence[str]) -> bool:
    """Return whether a passage has no letters or digits outside the given quotes."""
    remaining_text = on_one_line(text)
    for quote in quotes:
        remaining_text = remaining_text.replace(quote, "")
    return not any(character.isalnum() for character in remaining_text)


def _split_documents(
    documents: tuple[ImportedDocument, ...], standard: str
) -> tuple[ImportedDocument | None, tuple[ImportedDocument, ...]]:
    """Separate the last imported document from the others if it has the given standard.

    An export repeats the fields of this document. All others were imported earlier, or in other standards.
    """
    if documents and documents[-1].standard == standard:
        return documents[-1], documents[:-1]
    return None, documents


def _imported_fields(values: ExactValues, original: ImportedDocument | None) -> dict[str, Any]:
    """Return the fields that a record cannot contain: imported fields, and another catalog's measurement."""
    fields = dict(original.unmapped) if original else {}
    if values.measured:
        fields[FOREIGN_MEASUREMENT] = values.measured
    return fields


def _restore_record(exported_values: dict[str, Any]) -> tuple[dict[str, Any], list[RejectedPart]]:
    """Separate the valid values of an exported record from the invalid ones, which become rejected parts."""
    record: dict[str, Any] = {}
    rejected_parts: list[RejectedPart] = []
    for name, value in exported_values.items():
        metadata = _restore_metadata(value) if name == "metadata" else None
        if metadata is not None:
            # Only this service may write its own members.
            record[name] = {key: member for key, member in metadata.items() if key not in SERVICE_KEYS}
        elif name in RECORD_FIELDS and _is_storable(name, value):
            record[name] = value
        else:
            rejected_parts.append(RejectedPart(f"{POINTER}/record/{name}", "implausible_value", {"attribute": name}))
    return record, rejected_parts


def _restore_metadata(value: Any) -> dict[str, Any] | None:
    """Return the metadata of a record, or None if they are neither a JSON object nor a string with one.

    An export serializes metadata that could be mistaken for JSON-LD.
    """
    if isinstance(value, str):
        try:
            value = parse_json(value).data
        except DocumentError:
            return None
    return value if isinstance(value, dict) else None


def _is_storable(name: str, value: Any) -> bool:
    """Return whether a field of a record can have this value: a number or flag, a list of terms, or a string."""
    if name in CLAIMED_ATTRIBUTES:
        return isinstance(value, bool | int | float) and is_possible(name, value)
    if name in BY_NAME and BY_NAME[name].kind is Kind.WORDS:
        return isinstance(value, list) and len(value) <= MAX_TERMS and all(map(_is_term, value))

    if not isinstance(value, str):
        return False
    is_empty_name = name == "dataset_name" and not value.strip()
    return not is_empty_name and len(value) <= _TEXT_LIMITS.get(name, MAX_TEXT_LENGTH)


def _is_term(value: Any) -> bool:
    """Return whether a value is a string of acceptable length."""
    return isinstance(value, str) and 0 < len(value.strip()) <= MAX_TERM_LENGTH


def _restore_claims(
    exported_claims: tuple[ExportedClaim, ...], record: dict[str, Any]
) -> tuple[tuple[Claim, ...], list[RejectedPart]]:
    """Return the claims to import, and the parts with claims that contradict the exported record.

    An imported claim loses its level of evidence, so this catalog cannot resolve contradictions as the exporting one
    did. Instead, the value in the record decides: it was resolved from the claims there, or edited later. A value
    without any claim becomes a claim. Claims with an impossible value are skipped.
    """
    claims: list[Claim] = []
    rejected_parts: list[RejectedPart] = []
    for position, claim in enumerate(exported_claims):
        if not _is_valid(claim):
            continue
        if _contradicts(claim, record):
            pointer = f"{POINTER}/claims/{position}"
            rejected_parts.append(RejectedPart(pointer, "contradicts_record", {"attribute": claim.attribute}))
        else:
            claims.append(_restore_claim(claim))

    claimed_names = {claim.attribute for claim in claims if claim.scope is not Scope.ANNOTATORS}
    unclaimed_names = [name for name in CLAIMED_ATTRIBUTES if name in record and name not in claimed_names]
    claims += [Claim(name, record[name], is_restated=True) for name in unclaimed_names]
    return tuple(claims), rejected_parts


def _contradicts(claim: ExportedClaim, record: dict[str, Any]) -> bool:
    """Return whether a claim about the data themselves, not about annotators, has another value than the record."""
    if claim.attribute not in record or claim.scope is Scope.ANNOTATORS:
        return False
    return claim.value is None or claim.value != record[claim.attribute]


def _is_valid(claim: ExportedClaim) -> bool:
    """Return whether a claim is about a known attribute, which can have the claimed value."""
    if claim.attribute not in CLAIMED_ATTRIBUTES:
        return False
    if claim.value is None:
        return claim.not_applicable
    return is_possible(claim.attribute, claim.value)


def _first_source(source: ClaimSource) -> DocumentSource:
    """Return the document that a claim was first taken from, however often it was exported since."""
    return source.original or DocumentSource(kind=source.kind, name=source.name, url=source.url, sha256=source.sha256)


def _restore_claim(claim: ExportedClaim) -> Claim:
    """Convert an exported claim. Its level of evidence is dropped, because the importing catalog decides it."""
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
