"""Warnings about scores that are too good to be true, and about the columns that may be the reason."""

from collections.abc import Iterator

from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.leakage.check_sample import draw_check_sample
from touchstone.learning.leakage.column_pairs import find_leaking_pair
from touchstone.learning.leakage.final_score import is_too_good
from touchstone.learning.leakage.single_columns import find_leaking_columns, find_leaking_texts, score_columns
from touchstone.learning.localized_text import localize
from touchstone.learning.request_choices import DEFAULT_METRIC, METRIC_BY_NAME
from touchstone.learning.splits.split_rule import SplitRule
from touchstone.learning.task_interface import Json
from touchstone.learning.training_warnings import warning
from touchstone.learning.trial_fitting import TrainingData


def leakage_warnings(
    data: TrainingData, rule: SplitRule, predictions: Predictions, validation: Predictions | None = None
) -> Iterator[Json]:
    """Yield warnings about columns and pairs that reveal the target, and about a nearly perfect score.

    `predictions` holds the predictions of the chosen model for the test rows, and `validation` holds out-of-fold
    predictions for training rows.
    """
    sample = draw_check_sample(data, rule)
    scores = score_columns(sample)
    leaking_columns = [*find_leaking_columns(sample, scores), *find_leaking_texts(sample)]
    for column in leaking_columns:
        yield warning("leakage_suspect", name=column.name, score=round(column.score, 3))

    pair = None if leaking_columns else find_leaking_pair(sample, scores)
    if pair is not None:
        first, second = pair.names
        yield warning("leakage_pair", first=first, second=second, score=round(pair.score, 3))

    if is_too_good(data.target, predictions, validation):
        metric = DEFAULT_METRIC[data.target.task]
        score = round(compute_metric(metric, predictions), 3)
        yield warning("too_good_to_be_true", metric=localize(METRIC_BY_NAME[metric].label), score=score)
