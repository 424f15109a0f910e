"""Reweighing of training rows so that group and class become independent (Kamiran and Calders 2012)."""

from dataclasses import replace

import numpy as np
import pandas as pd

from touchstone.learning.experiment import Experiment
from touchstone.learning.fairness.group_thresholds import name_groups
from touchstone.learning.fairness.groups import Labels
from touchstone.learning.fairness.sensitive_columns import sensitive_columns, sensitive_frame
from touchstone.learning.request_choices import Mitigation
from touchstone.learning.target import Floats, Indices
from touchstone.learning.trial_fitting import TrainingData


def training_data(experiment: Experiment, rows: Indices) -> TrainingData:
    """Return the training data, with weights for the given rows if reweighing was requested.

    The weights are computed from these rows only, because other rows must not influence the model.
    """
    if experiment.request.mitigation is not Mitigation.REWEIGHING:
        return experiment.data

    data = experiment.data
    own_weights = np.ones(len(data.target.values)) if data.weights is None else data.weights
    groups = name_groups(sensitive_columns(experiment), sensitive_frame(experiment, rows))
    factors = independence_factors(groups, data.target.values[rows], own_weights[rows])

    weights = np.zeros(len(own_weights))
    weights[rows] = own_weights[rows] * factors
    return replace(data, weights=weights)


def independence_factors(groups: Labels, classes: Indices, weights: Floats) -> Floats:
    """Return the weight factor of each row, which makes group and class independent.

    The factor is the expected frequency of the combination of group and class, divided by its observed frequency. The
    total weights of all groups and of all classes stay the same.
    """
    table = pd.DataFrame({"group": groups, "class": classes, "weight": weights})
    weight_of_group = table.groupby("group")["weight"].transform("sum")
    weight_of_class = table.groupby("class")["weight"].transform("sum")
    weight_of_both = table.groupby(["group", "class"])["weight"].transform("sum")
    factors = weight_of_group * weight_of_class / (weight_of_both * weights.sum())
    return np.asarray(factors, dtype=np.float64)
