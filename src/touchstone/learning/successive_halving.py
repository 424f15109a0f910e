"""The comparison of trials by successive halving (Jamieson and Talwalkar 2016).

All trials are compared on little data, and only the better ones again on more data. The comparison uses inner folds of
the training rows. The outer test rows are not used for choosing a trial, only for the reported scores.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from operator import attrgetter
from typing import Final

import numpy as np

from touchstone.learning.algorithms import BASELINE, MANY_ROWS, Trial, average_settings
from touchstone.learning.evaluation import Predictions, compute_metric, concatenate, metric_sign
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.splits.folds import Fold, inner_folds
from touchstone.learning.splits.split_rule import SplitRule
from touchstone.learning.target import Indices
from touchstone.learning.trial_fitting import (
    EncodedFold,
    TrainingData,
    encode_fold,
    fit_trial,
    fit_with_early_stopping,
    has_single_class,
    predict_fold,
)
from touchstone.learning.trial_score import selection_score

FEW_ROWS: Final = 600  # With up to this many rows, a part of them is too small to reject a trial.
FIRST_SAMPLE: Final = 5_000
SECOND_SAMPLE: Final = 20_000
LAST_SAMPLE: Final = 50_000
SURVIVING_SHARE: Final = 1 / 3
MIN_SURVIVORS: Final = 3
MIN_PROCESSOR_SECONDS: Final = 1e-3  # the shortest measurable time


@dataclass(frozen=True, slots=True)
class Stage:
    """A round of the comparison, which scores the remaining trials on its folds.

    `extends_previous` is set if the folds divide the same rows as the previous stage, so that the scores of both stages
    are combined.
    """

    folds: tuple[Fold, ...]
    extends_previous: bool = False


@dataclass(frozen=True, slots=True)
class FoldScore:
    """The score of a trial on the test rows of one inner fold.

    Attributes:
        trial: the trial with the settings found by the fit, such as the number of boosting rounds. Another fit with
            these settings gives an equivalent model without needing the test rows.
        score: the metric on the test rows.
        rows: the test rows, as positions in the target's values.
        predictions: the predictions for the test rows.
        seconds_per_row: the duration of the fit per training row, for estimating the duration of later fits.
        slowdown: the ratio of elapsed to processor time, which exceeds 1 if other programs use the cores.
    """

    trial: Trial
    score: float
    rows: Indices = field(repr=False)
    predictions: Predictions = field(repr=False)
    seconds_per_row: float
    slowdown: float = 1.0


@dataclass(frozen=True, slots=True)
class ScoredTrial:
    """A trial with its scores in the last stage that it reached.

    Attributes:
        position: the position of the trial among the planned trials.
        stage: the number of the stage, from 0.
        fold_scores: the scores on the folds of the stage.
    """

    position: int
    stage: int
    fold_scores: tuple[FoldScore, ...]

    @property
    def score(self) -> float:
        """The mean score over the folds."""
        return float(np.mean([fold.score for fold in self.fold_scores]))

    @property
    def rows(self) -> Indices:
        """The rows on which the trial was scored."""
        return np.concatenate([fold.rows for fold in self.fold_scores])

    @property
    def predictions(self) -> Predictions:
        """The predictions for these rows, each by a model that did not learn from the row."""
        return concatenate([fold.predictions for fold in self.fold_scores])

    @property
    def seconds_per_row(self) -> float:
        """The mean duration of a fit per training row."""
        return float(np.mean([fold.seconds_per_row for fold in self.fold_scores]))

    @property
    def slowdown(self) -> float:
        """The mean ratio of elapsed to processor time of the fits."""
        return float(np.mean([fold.slowdown for fold in self.fold_scores]))

    @property
    def tuned_trial(self) -> Trial:
        """The trial for a fit on all training rows, with the mean of the best numbers of boosting rounds."""
        return average_settings([fold.trial for fold in self.fold_scores])


def plan_stages(rule: SplitRule, train: Indices) -> list[Stage]:
    """Return the stages for comparing trials on the training rows.

    A short table is divided into a few folds. All trials are scored on the first fold, and the better ones also on the
    others. A long table is sampled instead, with a larger sample for each stage.
    """
    if len(train) > 2 * FIRST_SAMPLE:
        # Few algorithms are tried on many rows, so the stage with the medium sample would take longer than it saves.
        has_many_rows = len(rule.target.values) > MANY_ROWS
        sizes = (FIRST_SAMPLE, LAST_SAMPLE) if has_many_rows else (FIRST_SAMPLE, SECOND_SAMPLE, LAST_SAMPLE)
        return [Stage(inner_folds(rule, train, limit=size)[:1]) for size in sizes if size < len(train)]

    folds = inner_folds(rule, train, limit=len(train))
    if len(train) <= FEW_ROWS or len(folds) == 1:
        return [Stage(folds)]
    return [Stage(folds[:1]), Stage(folds[1:], extends_previous=True)]


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """The scored trials in their planned order, and whether there was time for all of them."""

    scored_trials: tuple[ScoredTrial, ...]
    is_complete: bool

    @property
    def finalists(self) -> list[ScoredTrial]:
        """The trials that reached the last stage."""
        last_stage = max(trial.stage for trial in self.scored_trials)
        return [trial for trial in self.scored_trials if trial.stage == last_stage]

    @property
    def slowdown(self) -> float:
        """The mean ratio of elapsed to processor time of all fits, but at least 1."""
        return max(1.0, float(np.mean([trial.slowdown for trial in self.scored_trials])))


@dataclass(frozen=True, slots=True)
class TrialComparison:
    """A comparison of trials within a time limit.

    Attributes:
        data: the training data.
        trials: the planned trials.
        pool: the threads for the fits.
        deadline: the time on the clock of `time.monotonic` after which no fit starts. The first trial is always scored.
        on_trial_scored: a function that is called after each trial of the first stage.
    """

    data: TrainingData
    trials: Sequence[Trial]
    pool: FittingPool
    deadline: float
    on_trial_scored: Callable[[], None]

    def run(self, stages: Sequence[Stage]) -> ComparisonResult:
        """Score all trials in the first stage, and the better trials of each stage in the next one."""
        scored_trials = self._score_first_stage(stages[0])
        is_complete = len(scored_trials) == len(self.trials)

        for number, stage in enumerate(stages[1:], start=1):
            survivors = self._choose_survivors(scored_trials)
            if not is_complete or not self._has_time_for(stage, survivors):
                return ComparisonResult(tuple(scored_trials), is_complete=False)

            advanced_trials = self._score_survivors(number, stage, survivors)
            is_complete = len(advanced_trials) == len(survivors)
            scored_trials = _replace_trials(scored_trials, advanced_trials)

        # A fit that was interrupted by the deadline may have made too few rounds.
        is_in_time = time.monotonic() <= self.deadline
        return ComparisonResult(tuple(scored_trials), is_complete and is_in_time)

    def _score_first_stage(self, stage: Stage) -> list[ScoredTrial]:
        """Score as many trials as there is time for."""
        scored_trials = []
        scores_of_trials = self._score_trials(range(len(self.trials)), stage, required_position=0)
        for position, fold_scores in enumerate(scores_of_trials):
            if fold_scores is not None:
                scored_trials.append(ScoredTrial(position, 0, fold_scores))
            self.on_trial_scored()
        return scored_trials

    def _score_survivors(self, number: int, stage: Stage, survivors: Sequence[ScoredTrial]) -> list[ScoredTrial]:
        """Score as many survivors of the previous stage as there is time for.

        The longest fits start first, so that the other threads do not have to wait for one of them at the end. If time
        runs out, the quickest trials are therefore the ones that are missing.
        """
        longest_first = sorted(survivors, key=attrgetter("seconds_per_row"), reverse=True)
        positions = [survivor.position for survivor in longest_first]
        scored_trials = []
        for survivor, fold_scores in zip(longest_first, self._score_trials(positions, stage), strict=True):
            if fold_scores is not None:
                earlier_scores = survivor.fold_scores if stage.extends_previous else ()
                scored_trials.append(ScoredTrial(survivor.position, number, (*earlier_scores, *fold_scores)))
        return scored_trials

    def _score_trials(
        self, positions: Sequence[int], stage: Stage, required_position: int | None = None
    ) -> Iterator[tuple[FoldScore, ...] | None]:
        """Yield the scores of each trial on the folds of a stage, or None if there was no time for all folds.

        The trial at `required_position` is scored regardless of the deadline.
        """

        def score(fit: tuple[int, EncodedFold]) -> FoldScore | None:
            position, encoded = fit
            return self._score_in_time(position, encoded, is_required=position == required_position)

        encoded_folds = list(self.pool.map(lambda fold: encode_fold(self.data, fold), stage.folds))
        scores = self.pool.map(score, product(positions, encoded_folds))

        for _position in positions:
            scores_of_trial = islice(scores, len(encoded_folds))
            fold_scores = tuple(fold_score for fold_score in scores_of_trial if fold_score is not None)
            yield fold_scores if len(fold_scores) == len(encoded_folds) else None

    def _score_in_time(self, position: int, encoded: EncodedFold, *, is_required: bool) -> FoldScore | None:
        """Fit and score a trial on one fold, or return None after the deadline unless the score is required."""
        if time.monotonic() > self.deadline and not is_required:
            return None
        return score_trial(self.data, self.trials[position], encoded, self.deadline)

    def _choose_survivors(self, scored_trials: Sequence[ScoredTrial]) -> list[ScoredTrial]:
        """Return the best trials of the latest stage, in the order in which they were planned."""
        latest_stage = max(trial.stage for trial in scored_trials)
        candidates = [trial for trial in scored_trials if trial.stage == latest_stage]
        count = max(MIN_SURVIVORS, math.ceil(SURVIVING_SHARE * len(candidates)))

        best_first = sort_by_score(self.data.metric, candidates)
        return sorted(best_first[:count], key=attrgetter("position"))

    def _has_time_for(self, stage: Stage, survivors: Sequence[ScoredTrial]) -> bool:
        """Estimate whether the survivors can be scored on the folds of a stage before the deadline."""
        rows = sum(len(fold.train) for fold in stage.folds)
        expected_seconds = sum(survivor.seconds_per_row for survivor in survivors) * rows / self.pool.thread_count
        return time.monotonic() + expected_seconds < self.deadline


def score_trial(data: TrainingData, trial: Trial, encoded: EncodedFold, deadline: float = math.inf) -> FoldScore:
    """Fit a trial on the training rows of a fold, and score it on the test rows.

    Boosting stops at the deadline. An undefined score counts as the worst possible score.
    """
    started = time.monotonic()
    processor_time_before = time.thread_time()
    if has_single_class(data.target, encoded.fold):
        # Nothing can be learned from a single class, so use the baseline, which always predicts it.
        model, tuned_trial = fit_trial(data, BASELINE, encoded), trial
    else:
        model, tuned_trial = fit_with_early_stopping(data, trial, encoded, deadline)

    predictions = predict_fold(data, model, encoded)
    score = compute_metric(data.metric, predictions)
    worst_score = -metric_sign(data.metric) * math.inf
    seconds = time.monotonic() - started
    processor_seconds = time.thread_time() - processor_time_before
    return FoldScore(
        trial=tuned_trial,
        score=score if math.isfinite(score) else worst_score,
        rows=encoded.fold.test,
        predictions=predictions,
        seconds_per_row=seconds / len(encoded.fold.train),
        slowdown=seconds / max(processor_seconds, MIN_PROCESSOR_SECONDS),
    )


def sort_by_score(metric: str, trials: Sequence[ScoredTrial]) -> list[ScoredTrial]:
    """Sort trials by descending selection score. Ties keep their order."""
    return sorted(trials, key=lambda trial: -selection_score(metric, trial.predictions))


def _replace_trials(trials: Sequence[ScoredTrial], replacements: Sequence[ScoredTrial]) -> list[ScoredTrial]:
    """Replace the trials that have reached the next stage."""
    replacement_by_position = {trial.position: trial for trial in replacements}
    return [replacement_by_position.get(trial.position, trial) for trial in trials]
