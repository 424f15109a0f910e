"""The summary of a comparison in sentences about the best datasets and the certainty of the result."""

from collections.abc import Iterable, Sequence
from typing import Final

from touchstone.jobs.comparisons.assessment import AssessedDataset, Assessment, Score
from touchstone.jobs.comparisons.comparison_records import Comparison
from touchstone.jobs.job_records import Json
from touchstone.learning.request_choices import METRIC_BY_NAME, Task
from touchstone.messages import comparison_text
from touchstone.messages.locales import in_language
from touchstone.messages.numbers import format_decimal
from touchstone.messages.reason_phrases import enumeration

SIMILAR_BASELINES: Final = 0.05  # Scores of models that ignore every column may differ by this much without a remark.


def summarize(comparison: Comparison, assessment: Assessment, locale: str) -> str:
    """Return sentences about the best datasets of a comparison and the certainty of the result."""
    return " ".join(_summary_sentences(comparison, assessment, locale))


def _summary_sentences(comparison: Comparison, assessment: Assessment, locale: str) -> Iterable[str]:
    """Yield the sentences about the progress of the trainings and the best datasets so far."""
    done_count = sum(1 for dataset in comparison.trained if dataset.is_done)
    total_count = len(comparison.trained)
    if done_count < total_count:
        yield comparison_text("in_progress", locale, done=done_count, total=total_count)

    deleted_count = sum(1 for dataset in comparison.trained if dataset.is_deleted)
    if deleted_count > 0:
        yield comparison_text("deleted", locale, count=deleted_count)

    if len(assessment.metrics) > 1:
        labels = ", ".join(_metric_label(metric, locale) for metric in assessment.metrics)
        yield comparison_text("different_metrics", locale, metrics=labels)
    elif assessment.best:
        yield from _best_sentences(assessment, locale)
        yield from _caveats(assessment.best, locale)
        yield from _comparability_sentences(_scored_datasets(assessment), locale)
    elif assessment.metrics:
        yield comparison_text("unit_of_target", locale, metric=_metric_label(assessment.metrics[0], locale))
    elif done_count == total_count and deleted_count < total_count:
        yield comparison_text("none_succeeded" if deleted_count == 0 else "no_other_succeeded", locale)


def _scored_datasets(assessment: Assessment) -> Sequence[AssessedDataset]:
    """Return the datasets whose models have a score."""
    return [dataset for dataset in assessment.datasets if dataset.score is not None]


def _best_sentences(assessment: Assessment, locale: str) -> Iterable[str]:
    """Yield the sentences about the best datasets, and about datasets that may be equally good."""
    score = assessment.best[0].score
    assert score is not None, "the best datasets have a score"
    if len(assessment.best) > 1:
        names = _enumerate(assessment.best, locale)
        yield comparison_text("shared_best", locale, names=names, **_score_facts(score, locale))
    else:
        key = "best" if len(_scored_datasets(assessment)) > 1 else "only_score"
        name = assessment.best[0].record.dataset_name
        yield comparison_text(key, locale, name=name, **_score_facts(score, locale))

    overlapping_datasets = [dataset for dataset in assessment.datasets if dataset.overlaps_best]
    if overlapping_datasets:
        yield comparison_text("overlapping", locale, names=_enumerate(overlapping_datasets, locale))


def _comparability_sentences(datasets: Sequence[AssessedDataset], locale: str) -> Iterable[str]:
    """Yield the sentences about the limits of a comparison of several scores."""
    if len(datasets) < 2:
        return
    yield comparison_text("own_rows", locale)

    yield from _difficulty_sentences(datasets, locale)

    strategies = sorted({dataset.record.split_strategy for dataset in datasets if dataset.record.split_strategy})
    if len(strategies) > 1:
        ways = ", ".join(comparison_text(f"split_{strategy}", locale) for strategy in strategies)
        yield comparison_text("different_splits", locale, ways=ways)


def _difficulty_sentences(datasets: Sequence[AssessedDataset], locale: str) -> Iterable[str]:
    """Yield a sentence if the targets may not be equally difficult to predict, for the most obvious reason."""
    class_counts = sorted({len(dataset.record.classes or ()) for dataset in datasets})
    targets = {str(dataset.record.target).casefold(): str(dataset.record.target) for dataset in datasets}
    baselines = list(_class_baselines(datasets))

    if len(class_counts) > 1:
        yield comparison_text("different_class_counts", locale, counts=", ".join(map(str, class_counts)))
    elif len(targets) > 1:
        names = ", ".join(comparison_text("quoted_name", locale, name=target) for target in targets.values())
        yield comparison_text("different_targets", locale, names=names)
    elif baselines and max(baselines) - min(baselines) > SIMILAR_BASELINES:
        low = format_decimal(min(baselines), locale)
        high = format_decimal(max(baselines), locale)
        yield comparison_text("different_baselines", locale, low=low, high=high)


def _class_baselines(datasets: Iterable[AssessedDataset]) -> Iterable[float]:
    """Yield the known baselines of classifications.

    The baselines of regressions say nothing about the difficulty of the target: by R², they are about 0 for every
    target, and lower where the test rows differ from the training rows.
    """
    for dataset in datasets:
        score = dataset.score
        if score is None or score.baseline is None:
            continue
        if METRIC_BY_NAME[score.metric].task is Task.CLASSIFICATION:
            yield score.baseline


def _caveats(best_datasets: Sequence[AssessedDataset], locale: str) -> Iterable[str]:
    """Yield the caveats about the best models, with the name of the dataset if there are several."""
    for dataset in best_datasets:
        sentences = list(_model_caveats(dataset, locale))
        if sentences and len(best_datasets) > 1:
            yield comparison_text("about_model", locale, name=dataset.record.dataset_name)
        yield from sentences


def _model_caveats(dataset: AssessedDataset, locale: str) -> Iterable[str]:
    """Yield the caveats about a model: no clear gain over the baseline, or warnings about its training."""
    score = dataset.score
    if score is not None and score.baseline is not None and not score.beats_baseline:
        baseline = format_decimal(score.baseline, locale)
        yield comparison_text("not_better_than_baseline", locale, baseline=baseline)

    if dataset.record.warnings:
        yield comparison_text("with_warnings", locale, count=len(dataset.record.warnings))


def _score_facts(score: Score, locale: str) -> Json:
    """Return the placeholder values for a sentence about a score."""
    return {
        "metric": _metric_label(score.metric, locale),
        "value": format_decimal(score.value, locale),
        "low": "?" if score.low is None else format_decimal(score.low, locale),
        "high": "?" if score.high is None else format_decimal(score.high, locale),
    }


def _metric_label(metric: str, locale: str) -> str:
    """Return the displayed name of a metric."""
    return in_language(METRIC_BY_NAME[metric].label, locale)


def _enumerate(datasets: Iterable[AssessedDataset], locale: str) -> str:
    """Return the names of datasets in the quotation marks of the language, with "and" before the last one."""
    names = [comparison_text("quoted_name", locale, name=dataset.record.dataset_name) for dataset in datasets]
    return enumeration(names, locale)
