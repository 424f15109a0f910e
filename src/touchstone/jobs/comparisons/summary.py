"""The sentences that say which dataset of a comparison trains best, and how sure that is."""

from collections.abc import Iterable

from touchstone.jobs.comparisons.assessment import AssessedDataset, Assessment, Score
from touchstone.jobs.comparisons.comparison_records import Comparison
from touchstone.jobs.job_records import Json
from touchstone.learning.request_choices import METRIC_BY_NAME
from touchstone.messages import comparison_text
from touchstone.messages.locales import LOCALES
from touchstone.messages.numbers import format_decimal


def summarize(comparison: Comparison, assessment: Assessment, locale: str) -> str:
    """Return the sentences that say which dataset trains best, and how sure that is."""
    return " ".join(_sentences(comparison, assessment, locale))


def _sentences(comparison: Comparison, assessment: Assessment, locale: str) -> Iterable[str]:
    """Yield the sentences of the summary: how many trainings have ended, and which dataset is the best one so far."""
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
    """Yield the sentences about the dataset with the best score, and the reasons to doubt that it is the best."""
    assert best.score is not None
    other_datasets = [dataset for dataset in assessment.datasets if dataset.score is not None and dataset is not best]

    key = "best" if other_datasets else "only_score"
    yield comparison_text(key, locale, name=best.dataset.dataset_name, **_score_facts(best.score, locale))

    overlapping_names = [other.dataset.dataset_name for other in other_datasets if other.overlaps_best]
    if overlapping_names:
        yield comparison_text("overlapping", locale, names=_enumerate(overlapping_names, locale))

    if best.score.baseline is not None and not best.score.beats_baseline:
        baseline = format_decimal(best.score.baseline, locale)
        yield comparison_text("not_better_than_baseline", locale, baseline=baseline)

    if best.dataset.warnings:
        yield comparison_text("with_warnings", locale, count=len(best.dataset.warnings))

    if other_datasets:
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
