"""The response to an import: one result for each dataset or rejected document, within a size limit."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from touchstone.core.errors import FieldError, RecordQuotaExceeded, ServiceError, UnusableDocuments
from touchstone.messages import document_rejection_text
from touchstone.messages.document_rejections import MORE_REJECTIONS
from touchstone.metadata.documents import RejectedPart
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.encoded_records import encode_records
from touchstone.services.selection.evidence.claim_records import ClaimStatus
from touchstone.services.selection.evidence.schemas import claim_json
from touchstone.services.selection.imports.dataset_importer import ImportOutcome
from touchstone.services.selection.imports.document_imports import RECORD_QUOTA_EXCEEDED, ImportResult
from touchstone.services.selection.imports.schemas import ImportStatus
from touchstone.services.selection.response_size_limit import ByteBudget
from touchstone.services.selection.user_name_store import Pseudos

MAX_FIELD_ERRORS: Final = 200
_RESULTS_PER_STEP: Final = 20


def find_refusal(results: Sequence[ImportResult], *, quota_bytes: int) -> ServiceError | None:
    """Return the error for a request whose documents were all rejected, or None if any of them was not.

    The error lists at most `MAX_FIELD_ERRORS` rejections, and then says how many more there are.
    """
    if any(result.outcome.status is not ImportStatus.REJECTED for result in results):
        return None

    rejections = [(result.file, result.outcome.error) for result in results if result.outcome.error is not None]
    if any(error.code == RECORD_QUOTA_EXCEEDED for _file, error in rejections):
        return RecordQuotaExceeded(limit=quota_bytes)

    errors = [
        FieldError(("body", "files", file), error.code, error.facts) for file, error in rejections[:MAX_FIELD_ERRORS]
    ]
    unlisted_rejections = rejections[MAX_FIELD_ERRORS:]
    if unlisted_rejections:
        first_unlisted_file, _error = unlisted_rejections[0]
        location = ("body", "files", first_unlisted_file)
        errors.append(FieldError(location, MORE_REJECTIONS, {"count": len(unlisted_rejections)}))
    return UnusableDocuments(*errors)


async def encode_report(results: Sequence[ImportResult], pseudos: Pseudos, locale: str) -> bytes:
    """Encode the report of an import as JSON.

    The size of a response is limited. Once the limit is reached, the remaining results are encoded without details.

    Args:
        results: the results of the import.
        pseudos: the names of the users who made or reviewed claims.
        locale: the language of the messages.
    """
    budget = ByteBudget()
    has_room = True
    encoded_results: list[bytes] = []
    for start in range(0, len(results), _RESULTS_PER_STEP):
        step = results[start : start + _RESULTS_PER_STEP]
        bodies = _record_bodies(step) if has_room else {}
        for result in step:
            if has_room:
                encoded_result = msgspec.json.encode(_result_json(result, bodies, pseudos, locale))
                has_room = budget.try_reserve(len(encoded_result))
            if not has_room:
                encoded_result = msgspec.json.encode(_result_without_details(result, locale))
            encoded_results.append(encoded_result)

        await asyncio.sleep(0)  # A long report must not delay other requests.

    return b'{"total":%d,"results":[%b]}' % (len(results), b",".join(encoded_results))


def _record_bodies(results: Sequence[ImportResult]) -> dict[int, bytes]:
    """Return the JSON of all stored records in the results, keyed by id. Encoding them together is faster."""
    records: dict[int, DatasetRecord] = {}
    for result in results:
        outcome = result.outcome
        if outcome.record is not None and not outcome.is_new_in_dry_run:
            records[outcome.record.id] = outcome.record

    return {dataset_id: record.body for dataset_id, record in encode_records(list(records.values())).items()}


def _result_json(result: ImportResult, bodies: Mapping[int, bytes], pseudos: Pseudos, locale: str) -> dict[str, Any]:
    """Return a result with all details as a JSON object. `bodies` contains the encoded records, keyed by id."""
    outcome = result.outcome
    now = datetime.now(UTC)
    claims = [(claim.status, claim_json(claim, pseudos, now)) for claim in outcome.claims]
    return {
        **_result_without_details(result, locale),
        "dataset": _record_json(outcome, bodies),
        "evidence": [claim for status, claim in claims if status is ClaimStatus.ACTIVE],
        "proposals": [claim for status, claim in claims if status is ClaimStatus.PROPOSED],
        "unmapped": result.unmapped,
        "skipped": [_skipped_json(part, locale) for part in result.skipped],
        "details_omitted": False,
    }


def _result_without_details(result: ImportResult, locale: str) -> dict[str, Any]:
    """Return a result as a JSON object that only contains the ids and the name of its record."""
    outcome = result.outcome
    error = outcome.error
    record = outcome.record
    summary: dict[str, Any] | None = None
    if record is not None:
        is_stored = not outcome.is_new_in_dry_run
        summary = {
            "id": record.id if is_stored else None,
            "dataset_id": record.dataset_id if is_stored else None,
            "name": record.attributes["dataset_name"],
            "metadata_omitted": True,
        }
    return {
        "status": outcome.status,
        "document": result.document,
        "standard": result.standard,
        "key": result.key,
        "dataset": summary,
        "evidence": [],
        "proposals": [],
        "unmapped": [],
        "skipped": [],
        "error": None if error is None else _error_json(error, locale),
        "details_omitted": True,
    }


def _record_json(outcome: ImportOutcome, bodies: Mapping[int, bytes]) -> msgspec.Raw | dict[str, Any] | None:
    """Return the record of an outcome as JSON, or None if the dataset was rejected.

    A record that was created by a dry run does not exist, so its ids are null. `bodies` contains the encoded records,
    keyed by id.
    """
    record = outcome.record
    if record is None:
        return None

    if not outcome.is_new_in_dry_run:
        return msgspec.Raw(bodies[record.id])

    # A dry run rolls back each record, so several of them can have the same id and cannot be looked up by it.
    encoded_record = encode_records([record])[record.id]
    json_object: dict[str, Any] = msgspec.json.decode(encoded_record.body)
    return {**json_object, "id": None, "dataset_id": None}


def _error_json(error: RejectedPart, locale: str) -> dict[str, Any]:
    """Return the reason for a rejection as a JSON object."""
    return {
        "code": error.code,
        "detail": document_rejection_text(error.code, error.facts, locale),
        "place": error.place,
    }


def _skipped_json(part: RejectedPart, locale: str) -> dict[str, Any]:
    """Return a part that was not used as a JSON object."""
    return {**_error_json(part, locale), "facts": part.facts}
