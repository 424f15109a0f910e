"""The JSON of comparisons, as the HTTP interface defines it, with sentences in the caller's language."""

from collections.abc import Iterable
from typing import Any

from touchstone.jobs.job_json import failure_json, progress_json
from touchstone.jobs.job_records import Json
from touchstone.jobs.job_states import FINAL_STATES
from touchstone.learning.request_choices import METRIC_BY_NAME
from touchstone.messages import comparison_text, job_error_text
from touchstone.messages.locales import LOCALES
from touchstone.messages.numbers import format_decimal
from touchstone.services.training.comparison.assessment import AssessedDataset, Assessment, Score, assess
from touchstone.services.training.comparison.comparison_records import ComparedDatasetRecord, Comparison


def comparison_json(comparison: Comparison, locale: str) -> Json:
    """Return the JSON of a comparison: its trainings with their scores side by side, and what follows from them."""
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
        "datasets": [_dataset_json(item, locale) for item in assessment.datasets],
        "left_out": [_left_out_json(dataset, locale) for dataset in comparison.left_out],
        "best_dataset_id": assessment.best.dataset.dataset_id if assessment.best else None,
        "summary": " ".join(_summary(comparison, assessment, locale)),
    }


def _dataset_json(item: AssessedDataset, locale: str) -> Json:
    """Return the JSON of a dataset with its training and its score."""
    dataset = item.dataset
    return {
        **_identity_json(dataset),
        "job_id": dataset.job_id,
        "status": dataset.status,
        "done": dataset.is_done,
        "progress": progress_json(dataset.progress, locale),
        "error": failure_json(dataset.error, locale),
        "rows": dataset.inputs.rows if dataset.inputs else None,
        "columns": dataset.inputs.columns if dataset.inputs else None,
        "algorithm": dataset.algorithm,
        "algorithm_label": _localized(dataset.algorithm_label, locale),
        "score": item.score,
        "place": item.place,
        "overlaps_best": item.overlaps_best,
        "warnings": [_warning_json(warning, locale) for warning in dataset.warnings or ()],
    }


def _left_out_json(dataset: ComparedDatasetRecord, locale: str) -> Json:
    """Return the JSON of a dataset of the ranking that could not be trained on, with the reason."""
    assert dataset.refusal is not None
    message = job_error_text(dataset.refusal.code, dataset.refusal.facts, locale)
    return {**_identity_json(dataset), "code": dataset.refusal.code, "message": message}


def _identity_json(dataset: ComparedDatasetRecord) -> Json:
    """Return the JSON members that say which dataset it is, and what is to be predicted from it."""
    return {
        "dataset_id": dataset.dataset_id,
        "dataset_name": dataset.dataset_name,
        "rank": dataset.rank,
        "target": dataset.target,
    }


def _warning_json(warning: Json, locale: str) -> Json:
    """Return a warning of a training with its text in one language."""
    return {"code": warning.get("code"), "text": _localized(warning.get("text"), locale)}


def _localized(text: Any, locale: str) -> str | None:
    """Return a text of a result, which has both languages, in one of them."""
    return text.get(locale) if isinstance(text, dict) else text


def _summary(comparison: Comparison, assessment: Assessment, locale: str) -> Iterable[str]:
    """Yield the sentences that say which dataset trains best, and how sure that is."""
    done_count = sum(1 for dataset in comparison.trained if dataset.is_done)
    total_count = len(comparison.trained)
    if done_count < total_count:
        yield comparison_text("in_progress", locale, done=done_count, total=total_count)

    if len(assessment.metrics) > 1:
        labels = ", ".join(_metric_label(metric, locale) for metric in assessment.metrics)
        yield comparison_text("different_metrics", locale, metrics=labels)
    elif assessment.best is not None:
        yield from _best_sentences(assessment, assessment.best, locale)
    elif done_count == total_count:
        yield comparison_text("none_succeeded", locale)


def _best_sentences(assessment: Assessment, best: AssessedDataset, locale: str) -> Iterable[str]:
    """Yield the sentences about the dataset with the best score, and about what makes it doubtful."""
    assert best.score is not None
    others = [item for item in assessment.datasets if item.score is not None and item is not best]
    key = "best" if others else "only_score"
    yield comparison_text(key, locale, name=best.dataset.dataset_name, **_score_facts(best.score, locale))

    overlapping = [item.dataset.dataset_name for item in others if item.overlaps_best]
    if overlapping:
        yield comparison_text("overlapping", locale, names=_enumerate(overlapping, locale))
    if best.score.baseline is not None and not best.score.beats_baseline:
        baseline = format_decimal(best.score.baseline, locale)
        yield comparison_text("not_better_than_baseline", locale, baseline=baseline)
    if best.dataset.warnings:
        yield comparison_text("with_warnings", locale, count=len(best.dataset.warnings))
    if others:
        yield comparison_text("own_rows", locale)


def _score_facts(score: Score, locale: str) -> Json:
    """Return the facts of a sentence about a score."""
    return {
        "metric": _metric_label(score.metric, locale),
        "value": format_decimal(score.value, locale),
        "low": "?" if score.low is None else format_decimal(score.low, locale),
        "high": "?" if score.high is None else format_decimal(score.high, locale),
    }


def _metric_label(metric: str, locale: str) -> str:
    """Return the displayed name of a metric, as it stands within a sentence."""
    return METRIC_BY_NAME[metric].label[LOCALES.index(locale)]


def _enumerate(names: Iterable[str], locale: str) -> str:
    """Return names of datasets in the quotation marks of a language, with commas between them."""
    return ", ".join(comparison_text("quoted_name", locale, name=name) for name in names)
