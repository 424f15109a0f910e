"""Ensembles: several trials whose predictions are averaged, because their errors partly cancel out.

The members are selected greedily by their predictions on the validation rows (Caruana et al. 2004). Each round adds the
trial that improves the average most. A trial may be added several times, which increases its weight. For regressions on
few rows, see `few_rows_average.py`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.preprocessing import LabelEncoder
from threadpoolctl import threadpool_limits

from touchstone.learning.algorithms import Trial, average_settings, build_model
from touchstone.learning.evaluation import Predictions
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.request_choices import ENSEMBLE
from touchstone.learning.successive_halving import ScoredTrial, sort_by_score
from touchstone.learning.target import Floats
from touchstone.learning.trial_fitting import EncodedFold, TrainingData, fit_trial
from touchstone.learning.trial_score import selection_score

SELECTION_ROUNDS: Final = 10
MAX_MEMBERS: Final = 4
ScoreFunction = Callable[[Predictions], float]


@dataclass(frozen=True, slots=True)
class EnsembleMember:
    """A trial in an ensemble.

    Attributes:
        position: the position of the trial among the planned trials.
        trial: the trial with the settings found by training, such as the number of boosting rounds.
        weight: the weight of its predictions in the average; the weights of all members add up to 1.
    """

    position: int
    trial: Trial
    weight: float


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The trials that are averaged by a model. With a single member, the model is that trial alone."""

    members: tuple[EnsembleMember, ...]

    @property
    def algorithm(self) -> str:
        """The algorithm of the only member, or `ensemble`."""
        return self.members[0].trial.algorithm if len(self.members) == 1 else ENSEMBLE

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the only member, or an empty dictionary if there are several members."""
        return dict(self.members[0].trial.settings) if len(self.members) == 1 else {}

    @property
    def is_balanced(self) -> bool:
        """Whether all members are trained with balanced class weights."""
        return all(member.trial.is_balanced for member in self.members)


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """An ensemble, and its predictions for the rows on which its members were compared.

    `is_simpler_choice` is set if it was preferred to a more complex model that was hardly better.
    """

    ensemble: Ensemble
    predictions: Predictions = field(repr=False)
    is_simpler_choice: bool = False


def choose_best_trial(metric: str, trials: Sequence[ScoredTrial]) -> ChosenModel:
    """Return the trial with the best score as an ensemble of one. Ties go to the first trial."""
    return average_equally(sort_by_score(metric, trials)[:1])


def choose_ensemble(metric: str, trials: Sequence[ScoredTrial]) -> ChosenModel:
    """Choose up to `MAX_MEMBERS` trials with the best average on their common validation rows."""
    return select_greedily(sort_by_score(metric, trials), partial(selection_score, metric))


def average_equally(trials: Sequence[ScoredTrial]) -> ChosenModel:
    """Return the average of all given trials with equal weights."""
    return _average(trials, range(len(trials)))


def select_greedily(candidates: Sequence[ScoredTrial], score: ScoreFunction) -> ChosenModel:
    """Choose up to `MAX_MEMBERS` trials whose average has the best score.

    Args:
        candidates: the trials to choose from, best first.
        score: the function that scores the predictions of an average, where higher is better.
    """
    chosen_positions: list[int] = []
    best_positions: list[int] = []
    best_score = -np.inf

    for _round in range(SELECTION_ROUNDS):
        # A trial that has already been chosen may be chosen again, which increases its weight.
        has_room = len(set(chosen_positions)) < MAX_MEMBERS
        possible_additions = range(len(candidates)) if has_room else sorted(set(chosen_positions))
        averages = [
            _average_predictions([candidates[position] for position in [*chosen_positions, addition]])
            for addition in possible_additions
        ]
        scores = [score(average) for average in averages]
        best = int(np.argmax(scores))
        chosen_positions.append(possible_additions[best])

        # Among equally good averages, prefer the smallest. Without any defined score, take the first candidate.
        if scores[best] > best_score or not best_positions:
            best_score = scores[best]
            best_positions = list(chosen_positions)
    return _average(candidates, best_positions)


def _average(candidates: Sequence[ScoredTrial], chosen_positions: Sequence[int]) -> ChosenModel:
    """Return the average of the candidates at the chosen positions.

    A candidate that was chosen twice has twice the weight.
    """
    members = []
    for position, count in sorted(Counter(chosen_positions).items()):
        candidate = candidates[position]
        members.append(EnsembleMember(candidate.position, candidate.tuned_trial, weight=count / len(chosen_positions)))

    averaged_predictions = _average_predictions([candidates[position] for position in chosen_positions])
    return ChosenModel(Ensemble(tuple(members)), averaged_predictions)


def _average_predictions(trials: Sequence[ScoredTrial]) -> Predictions:
    """Average the predicted numbers of the trials, or the predicted probabilities of the classes."""
    predictions = [trial.predictions for trial in trials]
    first = predictions[0]
    if not first.class_count:
        return first.with_predicted(np.mean([each.predicted for each in predictions], axis=0))

    probabilities = np.mean([each.probabilities for each in predictions], axis=0)
    return first.with_probabilities(probabilities).with_predicted(probabilities.argmax(axis=1))


def combine_ensembles(ensembles: Sequence[Ensemble]) -> Ensemble:
    """Combine the ensembles chosen on several folds into one.

    It consists of the members with the largest total weight, and is no larger than the largest of the ensembles.
    """
    weights: defaultdict[int, float] = defaultdict(float)
    trials_by_position: defaultdict[int, list[Trial]] = defaultdict(list)
    for ensemble in ensembles:
        for member in ensemble.members:
            weights[member.position] += member.weight
            trials_by_position[member.position].append(member.trial)

    max_members = max(len(ensemble.members) for ensemble in ensembles)
    heaviest_first = sorted(weights, key=lambda position: (-weights[position], position))
    positions = sorted(heaviest_first[:max_members])
    total_weight = sum(weights[position] for position in positions)

    members = []
    for position in positions:
        trial = average_settings(trials_by_position[position])
        members.append(EnsembleMember(position, trial, weights[position] / total_weight))
    return Ensemble(tuple(members))


def fit_ensemble(
    data: TrainingData,
    ensemble: Ensemble,
    encoded: EncodedFold,
    pool: FittingPool,
    *,
    weights: Floats | None = None,
) -> Any:
    """Fit the members of an ensemble in parallel on the training rows of a fold, and return their average.

    A single member may use all threads. For `weights`, see `fit_trial`.
    """
    if len(ensemble.members) == 1:
        with threadpool_limits(pool.thread_count, user_api="openmp"):
            return fit_trial(data, ensemble.members[0].trial, encoded, weights=weights)

    models = pool.map(lambda member: fit_trial(data, member.trial, encoded, weights=weights), ensemble.members)
    return average_models(data, ensemble, list(models), encoded)


def fit_ensemble_on_one_thread(data: TrainingData, ensemble: Ensemble, encoded: EncodedFold) -> Any:
    """Fit an ensemble like `fit_ensemble`, but on the calling thread only."""
    models = [fit_trial(data, member.trial, encoded) for member in ensemble.members]
    return models[0] if len(models) == 1 else average_models(data, ensemble, models, encoded)


def average_models(data: TrainingData, ensemble: Ensemble, models: Sequence[Any], encoded: EncodedFold) -> Any:
    """Return a model that averages the fitted models of an ensemble's members.

    The voting model is assembled from fitted members, because its own `fit` method stores each member three times, and
    the model file would contain all copies.
    """
    unfitted_models = [
        (f"member_{number}", build_model(member.trial, data.options))
        for number, member in enumerate(ensemble.members, start=1)
    ]
    member_weights = [member.weight for member in ensemble.members]

    if data.target.is_classification:
        average = VotingClassifier(unfitted_models, voting="soft", weights=member_weights)
    else:
        average = VotingRegressor(unfitted_models, weights=member_weights)
    set_fitted_members(average, models, data.target.values[encoded.fold.train])
    return average


def set_fitted_members(
    average: VotingClassifier | VotingRegressor, models: Sequence[Any], values: npt.NDArray[Any]
) -> None:
    """Make an unfitted voting model average the given fitted models.

    `values` holds the target values of their training rows, which are integer codes for classes.
    """
    average.estimators_ = list(models)
    if isinstance(average, VotingClassifier):
        average.le_ = LabelEncoder().fit(values)
        average.classes_ = average.le_.classes_
