"""The preparation of source columns as ONNX operators, equivalent to `learning/preparation.py`.

Each column is an input of the graph. Numbers have 64 bits, with NaN for missing values. Dates are such numbers of
seconds (see `dates.py`). All other values are strings, which are empty if missing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from sklearn.compose import ColumnTransformer

from touchstone.learning.artifacts.onnx_export.dates import DateComponents
from touchstone.learning.artifacts.onnx_export.graph import ML_DOMAIN, Graph, Port
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx
from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.preparation import IMPUTE

Encoder = Callable[[Graph, Any, Sequence[str]], str]


def input_ports(columns: Sequence[ColumnSchema]) -> list[Port]:
    """Return an input for each source column, or raise `NotInOnnx` if there is a text column."""
    return [Port(column.name, _input_type(column), (None, 1)) for column in columns]


def _input_type(column: ColumnSchema) -> Any:
    """Return the element type of the input for a column."""
    if column.kind is ColumnKind.TEXT:
        raise NotInOnnx("text_column", name=column.name)
    return np.float64 if column.kind.is_ordered else np.object_


def encode_columns(graph: Graph, preparation: ColumnTransformer) -> str:
    """Add the operators of a fitted preparation, and return the name of the encoded matrix."""
    blocks = []
    for step, encoder, names in preparation.transformers_:
        if step == "remainder":
            continue

        kind = step.partition("_")[0]  # Steps for a single date are numbered.
        if kind not in ENCODERS:
            raise NotInOnnx("encoder", name=type(encoder).__name__)

        encode = ENCODERS[kind]
        column_names = [names] if isinstance(names, str) else list(names)
        blocks.append(encode(graph, encoder, column_names))
    return graph.apply("Concat", *blocks, axis=1)


def _encode_numbers(graph: Graph, encoder: Any, names: Sequence[str]) -> str:
    """Replace missing numbers by the median, flag them, and standardize all numbers."""
    return _scale_numbers(graph, encoder, graph.apply("Concat", *names, axis=1), np.float64)


def _encode_dates(graph: Graph, encoder: Any, names: Sequence[str]) -> str:
    """Split dates into their components, which are encoded like numbers, but with 32 bits as in skrub."""
    (name,) = names
    dates = DateComponents(graph, name)
    components = [dates.component(feature) for feature in encoder.named_steps["parts"].extracted_features_]
    return _scale_numbers(graph, encoder, graph.apply("Concat", *components, axis=1), np.float32)


def _scale_numbers(graph: Graph, encoder: Any, numbers: str, precision: type[np.floating[Any]]) -> str:
    """Replace missing numbers by the median, flag them, and standardize all, with the given precision."""
    imputer, scaler = encoder.named_steps[IMPUTE], encoder.named_steps["scale"]
    numbers = graph.cast(numbers, precision)
    is_missing = graph.apply("IsNaN", numbers)
    filled = graph.apply("Where", is_missing, graph.constant(imputer.statistics_, precision), numbers)

    flagged_columns = graph.constant(imputer.indicator_.features_, np.int64)
    flags = graph.cast(graph.apply("Gather", is_missing, flagged_columns, axis=1), precision)

    block = graph.apply("Concat", filled, flags, axis=1)
    centred = graph.apply("Sub", block, graph.constant(scaler.mean_, precision))
    scaled = graph.apply("Div", centred, graph.constant(scaler.scale_, precision))
    return graph.cast(scaled, np.float64)


def _encode_categories(graph: Graph, encoder: Any, names: Sequence[str]) -> str:
    """Add one indicator column per category. All are 0 for an unknown category."""
    blocks = []
    for name, categories in zip(names, encoder.categories_, strict=True):
        table = np.vstack([np.eye(len(categories)), np.zeros(len(categories))])
        blocks.append(_look_up(graph, name, categories, table))
    return graph.apply("Concat", *blocks, axis=1)


def _encode_targets(graph: Graph, encoder: Any, names: Sequence[str]) -> str:
    """Replace each category by the mean of the target among its rows (target encoding).

    Unknown categories are replaced by the mean over all rows. If there are more than two classes, there is a column for
    each class.
    """
    overall_means = np.atleast_1d(encoder.target_mean_)
    means_per_column = len(overall_means)

    blocks = []
    for position, (name, categories) in enumerate(zip(names, encoder.categories_, strict=True)):
        first = position * means_per_column
        means = np.column_stack(encoder.encodings_[first : first + means_per_column])
        blocks.append(_look_up(graph, name, categories, np.vstack([means, overall_means])))
    return graph.apply("Concat", *blocks, axis=1)


def _look_up(graph: Graph, name: str, categories: Sequence[Any], table: np.ndarray[Any, Any]) -> str:
    """Replace each category of a column by its row in a table, or by the last row if it is unknown."""
    keys = [str(category) for category in categories]
    cells = graph.apply("Reshape", name, graph.constant([-1], np.int64))
    row_numbers = graph.apply(
        "LabelEncoder",
        cells,
        domain=ML_DOMAIN,
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=len(keys),
    )
    return graph.apply("Gather", graph.constant(table), row_numbers, axis=0)


# The encoders of `learning/preparation.py` by step name. Text encoders have no equivalent in ONNX.
ENCODERS: Final[Mapping[str, Encoder]] = {
    "numbers": _encode_numbers,
    "categories": _encode_categories,
    "many": _encode_targets,
    "date": _encode_dates,
}
