"""The JSON of comparisons in the HTTP API, with sentences in the caller's language."""

from typing import Any

from touchstone.jobs.comparisons.assessment import AssessedDataset, assess
from touchstone.jobs.comparisons.comparison_records import ComparedDatasetRecord, Comparison
from touchstone.jobs.comparisons.summary import summarize
from touchstone.jobs.job_json import failure_json, progress_json
from touchstone.jobs.job_records import Json
from touchstone.jobs.job_states import FINAL_STATES
from touchstone.messages import job_error_text


def comparison_json(comparison: Comparison, locale: str) -> Json:
    """Return the JSON of a comparison, with the scores of its trainings and their assessment."""
    assessment = assess(comparison)
    record = comparison.record
    state = comparison.state
    return {
        "id": record.id,
        "name": record.name,
        "project_id": record.project_id,
        "status": state,
        "done": state in FINAL_STATES,
        "request": record.request,
        "created_at": record.created_at,
        "finished_at": comparison.finished_at,
        "datasets": [_dataset_json(dataset, locale) for dataset in assessment.datasets],
        "left_out": [_left_out_json(record, locale) for record in comparison.left_out],
        "best_dataset_id": assessment.best_dataset_id,
        "summary": summarize(comparison, assessment, locale),
    }


def _dataset_json(dataset: AssessedDataset, locale: str) -> Json:
    """Return the JSON of a dataset with its training and its score."""
    record = dataset.record
    return {
        **_identity_json(record),
        "job_id": record.job_id,
        "status": record.status,
        "done": record.is_done,
        "progress": progress_json(record.progress, locale),
        "error": failure_json(record.error, locale),
        "rows": record.inputs.rows if record.inputs else None,
        "columns": record.inputs.columns if record.inputs else None,
        "algorithm": record.algorithm,
        "algorithm_label": _localized(record.algorithm_label, locale),
        "score": dataset.score,
        "place": dataset.place,
        "tied_with": dataset.tied_with,
        "overlaps_best": dataset.overlaps_best,
        "warnings": [_warning_json(warning, locale) for warning in record.warnings or ()],
    }


def _left_out_json(record: ComparedDatasetRecord, locale: str) -> Json:
    """Return the JSON of a dataset of the ranking that could not be trained on, with the reason."""
    assert record.refusal is not None
    message = job_error_text(record.refusal.code, record.refusal.facts, locale)
    return {**_identity_json(record), "code": record.refusal.code, "message": message}


def _identity_json(record: ComparedDatasetRecord) -> Json:
    """Return the JSON members that identify a dataset and its target."""
    return {
        "dataset_id": record.dataset_id,
        "dataset_name": record.dataset_name,
        "rank": record.rank,
        "target": record.target,
    }


def _warning_json(warning: Json, locale: str) -> Json:
    """Return the JSON of a warning about a training, with its text in one language."""
    return {"code": warning.get("code"), "text": _localized(warning.get("text"), locale)}


def _localized(text: Any, locale: str) -> str | None:
    """Return one language of a text that a result contains in both languages."""
    return text.get(locale) if isinstance(text, dict) else text
