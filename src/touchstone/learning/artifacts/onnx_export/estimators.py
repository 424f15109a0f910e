"""Fitted models as ONNX operators.

All functions add operators to a graph and return the name of their result. The result of a classifier is a matrix of
probabilities with a column for each class, and the result of a regression is a matrix with a single column.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from sklearn.base import is_classifier
from sklearn.isotonic import IsotonicRegression

from touchstone.learning.artifacts.onnx_export.features import transform_features
from touchstone.learning.artifacts.onnx_export.graph import Graph
from touchstone.learning.artifacts.onnx_export.trees import (
    convert_histogram_boosting_tree,
    convert_lightgbm_tree,
    convert_scikit_learn_tree,
    sum_trees,
)
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx
from touchstone.learning.target import Floats

Converter = Callable[[Graph, Any, str], str]


def add_model(graph: Graph, model: Any, matrix: str) -> str:
    """Add the predictions of a fitted model for the rows of an encoded matrix.

    Raises:
        NotInOnnx: there is no converter for this class of models.
    """
    name = type(model).__name__
    if name not in CONVERTERS:
        raise NotInOnnx("model", name=name)
    return CONVERTERS[name](graph, model, matrix)


def _add_linear(graph: Graph, model: Any, matrix: str) -> str:
    """Add a ridge regression, a logistic regression or a linear discriminant analysis."""
    coefficients = np.atleast_2d(model.coef_)
    products = graph.apply("MatMul", matrix, graph.constant(coefficients.T))
    scores = graph.apply("Add", products, graph.constant(np.atleast_1d(model.intercept_)))
    if not is_classifier(model):
        return scores
    return _add_probabilities(graph, scores, class_count=len(model.classes_))


def _add_pipeline(graph: Graph, model: Any, matrix: str) -> str:
    """Add a pipeline that computes features from the encoded columns."""
    *transformers, final_model = [step for _name, step in model.steps]
    for transformer in transformers:
        matrix = transform_features(graph, transformer, matrix)
    return add_model(graph, final_model, matrix)


def _add_constant(graph: Graph, model: Any, matrix: str) -> str:
    """Add a model that always predicts the same class shares or the same number."""
    constants = model.class_prior_ if is_classifier(model) else np.ravel(model.constant_)
    # The product of the matrix and zeros has a row of zeros for each row to predict.
    zero_coefficients = graph.constant(np.zeros((model.n_features_in_, len(constants))))
    zeros = graph.apply("MatMul", matrix, zero_coefficients)
    return graph.apply("Add", zeros, graph.constant(constants))


def _add_forest(graph: Graph, model: Any, matrix: str) -> str:
    """Add a decision tree, or a forest as the mean of its trees."""
    trees = getattr(model, "estimators_", [model])
    output_count = trees[0].tree_.value.shape[2]

    # scikit-learn compares 32-bit features with 64-bit thresholds.
    rounded_matrix = graph.cast(graph.cast(matrix, np.float32), np.float64)
    converted_trees = [convert_scikit_learn_tree(tree, share=1 / len(trees)) for tree in trees]
    return sum_trees(graph, rounded_matrix, converted_trees, base=np.zeros(output_count))


def _add_histogram_boosting(graph: Graph, model: Any, matrix: str) -> str:
    """Add a histogram-based gradient boosting model."""
    base = np.ravel(model._baseline_prediction)
    trees = []
    for predictors_of_round in model._predictors:
        for output, predictor in enumerate(predictors_of_round):
            trees.append(convert_histogram_boosting_tree(predictor, output, len(base)))
    scores = sum_trees(graph, matrix, trees, base)
    if is_classifier(model):
        return _add_probabilities(graph, scores, class_count=len(model.classes_))
    return _apply_link(graph, scores, model.loss)


def _add_lightgbm(graph: Graph, model: Any, matrix: str) -> str:
    """Add a LightGBM model."""
    description = model.booster_.dump_model()
    if description["average_output"]:
        raise NotInOnnx("model", name=f"LightGBM ({model.boosting_type})")

    # Each boosting round adds one tree for each output, in the order of the outputs.
    output_count = description["num_tree_per_iteration"]
    trees = [
        convert_lightgbm_tree(tree["tree_structure"], tree["tree_index"] % output_count, output_count)
        for tree in description["tree_info"]
    ]
    scores = sum_trees(graph, matrix, trees, base=np.zeros(output_count))
    if is_classifier(model):
        return _add_probabilities(graph, scores, class_count=len(model.classes_))
    return _apply_link(graph, scores, description["objective"])


# The operator that converts the score of a regression to its prediction, by loss.
LINK_OPERATORS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("squared_error", "absolute_error", "regression", "regression_l1", "huber"), "Identity"),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), "Exp"),
}


def _apply_link(graph: Graph, scores: str, loss: str) -> str:
    """Convert the scores of a regression to its predictions."""
    name, *parameters = loss.split()  # LightGBM appends parameters to the name of a loss.
    if name not in LINK_OPERATORS or "sqrt" in parameters:
        raise NotInOnnx("model", name=loss)
    return graph.apply(LINK_OPERATORS[name], scores)


def _add_probabilities(graph: Graph, scores: str, class_count: int) -> str:
    """Convert scores to probabilities. Two classes have a single score, the log-odds of the second class."""
    if class_count > 2:
        return graph.apply("Softmax", scores, axis=1)
    return _add_complement(graph, graph.apply("Sigmoid", scores))


def _add_complement(graph: Graph, positive: str) -> str:
    """Add the probabilities of two classes, given the probability of the positive class."""
    negative = graph.apply("Sub", graph.constant(1.0), positive)
    return graph.apply("Concat", negative, positive, axis=1)


def _add_average(graph: Graph, model: Any, matrix: str) -> str:
    """Add a weighted average of several models."""
    members = model.estimators_
    weights = np.ones(len(members)) if model.weights is None else np.asarray(model.weights)
    shares = weights / weights.sum()

    weighted_predictions = [
        graph.apply("Mul", add_model(graph, member, matrix), graph.constant(share))
        for member, share in zip(members, shares, strict=True)
    ]
    return graph.apply("Sum", *weighted_predictions)


def _add_frozen(graph: Graph, model: Any, matrix: str) -> str:
    """Add the model inside a `FrozenEstimator`."""
    return add_model(graph, model.estimator, matrix)


def _add_calibrated(graph: Graph, model: Any, matrix: str) -> str:
    """Add a calibrated model, with one curve per class, or only for the positive one of two classes."""
    (calibrated_classifier,) = model.calibrated_classifiers_
    probabilities = add_model(graph, calibrated_classifier.estimator, matrix)
    class_count = len(model.classes_)
    calibrators = calibrated_classifier.calibrators
    if class_count == 2:
        positive = _select_column(graph, probabilities, 1)
        return _add_complement(graph, _add_calibrator(graph, calibrators[0], positive))

    curves = [
        _add_calibrator(graph, calibrator, _select_column(graph, probabilities, position))
        for position, calibrator in enumerate(calibrators)
    ]
    return _normalize(graph, graph.apply("Concat", *curves, axis=1), class_count)


def _normalize(graph: Graph, values: str, class_count: int) -> str:
    """Divide the values of each row by their sum, or make all classes equally probable if it is 0."""
    totals = graph.apply("ReduceSum", values, graph.constant([1], np.int64), keepdims=1)
    is_zero = graph.apply("Equal", totals, graph.constant(0.0))
    divisors = graph.apply("Where", is_zero, graph.constant(1.0), totals)
    shares = graph.apply("Div", values, divisors)
    return graph.apply("Where", is_zero, graph.constant(1 / class_count), shares)


def _add_calibrator(graph: Graph, calibrator: Any, values: str) -> str:
    """Add a calibration curve, which is either logistic or piecewise linear."""
    if isinstance(calibrator, IsotonicRegression):
        return _interpolate(graph, calibrator.X_thresholds_, calibrator.y_thresholds_, values)

    products = graph.apply("Mul", values, graph.constant(-calibrator.a_))
    return graph.apply("Sigmoid", graph.apply("Add", products, graph.constant(-calibrator.b_)))


def _interpolate(graph: Graph, positions: Floats, heights: Floats, values: str) -> str:
    """Add a piecewise linear curve through the given points, which is constant outside of their range."""
    if len(positions) == 1:  # A second point makes the constant curve a segment like any other.
        positions, heights = np.append(positions, positions + 1), np.append(heights, heights)

    # The segment of a value begins at the last point that does not exceed the value.
    clipped = graph.apply("Max", values, graph.constant(positions[0]))
    clipped = graph.apply("Min", clipped, graph.constant(positions[-1]))
    is_reached = graph.apply("GreaterOrEqual", clipped, graph.constant(positions[1:-1]))
    segments = graph.apply("ReduceSum", graph.cast(is_reached, np.int64), graph.constant([1], np.int64), keepdims=1)

    slopes = np.diff(heights) / np.diff(positions)
    start = graph.apply("Gather", graph.constant(positions), segments)
    height = graph.apply("Gather", graph.constant(heights), segments)
    slope = graph.apply("Gather", graph.constant(slopes), segments)
    rise = graph.apply("Mul", graph.apply("Sub", clipped, start), slope)
    return graph.apply("Add", height, rise)


def _select_column(graph: Graph, matrix: str, position: int) -> str:
    """Select one column of a matrix, as a matrix."""
    return graph.apply("Gather", matrix, graph.constant([position], np.int64), axis=1)


# The converters by class name, so that optional packages need not be imported.
CONVERTERS: Final[Mapping[str, Converter]] = {
    "CalibratedClassifierCV": _add_calibrated,
    "DecisionTreeClassifier": _add_forest,
    "DecisionTreeRegressor": _add_forest,
    "DummyClassifier": _add_constant,
    "DummyRegressor": _add_constant,
    "ExtraTreesClassifier": _add_forest,
    "ExtraTreesRegressor": _add_forest,
    "FrozenEstimator": _add_frozen,
    "HistGradientBoostingClassifier": _add_histogram_boosting,
    "HistGradientBoostingRegressor": _add_histogram_boosting,
    "LGBMClassifier": _add_lightgbm,
    "LGBMRegressor": _add_lightgbm,
    "LinearDiscriminantAnalysis": _add_linear,
    "LogisticRegression": _add_linear,
    "Pipeline": _add_pipeline,
    "RandomForestClassifier": _add_forest,
    "RandomForestRegressor": _add_forest,
    "Ridge": _add_linear,
    "VotingClassifier": _add_average,
    "VotingRegressor": _add_average,
}
