"""The feature transformations of a kernel model, as ONNX operators."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from touchstone.learning.artifacts.onnx_export.graph import Graph
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx

Converter = Callable[[Graph, Any, str], str]


def transform_features(graph: Graph, transformer: Any, matrix: str) -> str:
    """Add the output of a fitted transformer, or raise `NotInOnnx` if there is no converter for its class."""
    name = type(transformer).__name__
    if name not in CONVERTERS:
        raise NotInOnnx("model", name=name)
    return CONVERTERS[name](graph, transformer, matrix)


def _concatenate_transformers(graph: Graph, union: Any, matrix: str) -> str:
    """Concatenate the outputs of several transformers for the same matrix, each multiplied by its weight."""
    weights = union.transformer_weights or {}
    blocks = []
    for name, transformer in union.transformer_list:
        block = transform_features(graph, transformer, matrix)
        blocks.append(graph.apply("Mul", block, graph.constant(weights.get(name, 1.0))))
    return graph.apply("Concat", *blocks, axis=1)


def _pass_through(graph: Graph, transformer: Any, matrix: str) -> str:
    """Return the matrix unchanged."""
    if transformer.func is not None:
        raise NotInOnnx("model", name=type(transformer).__name__)
    return matrix


def _add_similarities(graph: Graph, transformer: Any, matrix: str) -> str:
    """Add the features of a Nyström approximation, which compares rows with a sample of the training rows."""
    if transformer.kernel != "rbf":
        raise NotInOnnx("model", name=f"Nystroem ({transformer.kernel})")
    gamma = transformer.gamma or 1 / transformer.n_features_in_
    similarities = _gaussian_similarities(graph, matrix, transformer.components_, gamma)
    return graph.apply("MatMul", similarities, graph.constant(transformer.normalization_.T))


def _gaussian_similarities(graph: Graph, matrix: str, rows: np.ndarray[Any, Any], gamma: float) -> str:
    """Add the Gaussian kernel exp(-gamma d²), where d is the distance to each of the given rows."""
    column_axis = graph.constant([1], np.int64)
    squares = graph.apply("ReduceSum", graph.apply("Mul", matrix, matrix), column_axis, keepdims=1)
    row_squares = graph.constant((rows**2).sum(axis=1))
    products = graph.apply("MatMul", matrix, graph.constant(2 * rows.T))

    squared_distances = graph.apply("Sub", graph.apply("Add", squares, row_squares), products)
    return graph.apply("Exp", graph.apply("Mul", squared_distances, graph.constant(-gamma)))


CONVERTERS: Final[Mapping[str, Converter]] = {
    "FeatureUnion": _concatenate_transformers,
    "FunctionTransformer": _pass_through,
    "Nystroem": _add_similarities,
}
