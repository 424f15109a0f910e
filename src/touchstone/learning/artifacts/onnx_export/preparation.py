"""The preparation of source columns for a model, as ONNX operators: the counterpart of `learning/preparation.py`.

Each column is an input of the graph: a number in 64 bits, where a missing one is NaN; a date as such a number, of
seconds (see `dates.py`); or a text, where a missing one is empty.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from sklearn.compose import ColumnTransformer

from touchstone.learning.artifacts.onnx_export.dates import CalendarParts
from touchstone.learning.artifacts.onnx_export.graph import ML, Graph, Port
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx
from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.preparation import IMPUTE

Encoder = Callable[[Graph, Any, Sequence[str]], str]


def input_ports(columns: Sequence[ColumnSchema]) -> list[Port]:
    """Return an input for each source column. Raises `NotInOnnx` for texts that are divided into words."""
    return [Port(column.name, _input_type(column), (None, 1)) for column in columns]


def _input_type(column: ColumnSchema) -> Any:
    """Return the type of the values of an input."""
    if column.kind is ColumnKind.TEXT:
        raise NotInOnnx("text_column", name=column.name)
    return np.float64 if column.kind in (ColumnKind.NUMBER, ColumnKind.DATE) else np.object_


def encode_columns(graph: Graph, preparation: ColumnTransformer) -> str:
    """Add what a fitted preparation does with the source columns, and return the name of the encoded matrix."""
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
    """Replace missing numbers by the median, flag them, and standardise all numbers."""
    return _scale_numbers(graph, encoder, graph.apply("Concat", *names, axis=1), np.float64)


def _encode_dates(graph: Graph, encoder: Any, names: Sequence[str]) -> str:
    """Divide dates into their parts, which are treated like numbers, but with 32 bits as in skrub."""
    (name,) = names
    dates = CalendarParts(graph, name)
    parts = [dates.part(part) for part in encoder.named_steps["parts"].extracted_features_]
    return _scale_numbers(graph, encoder, graph.apply("Concat", *parts, axis=1), np.float32)


def _scale_numbers(graph: Graph, encoder: Any, numbers: str, precision: type[np.floating[Any]]) -> str:
    """Replace missing numbers by the median, flag them, and standardise all, computed in a certain precision."""
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
    """Make one column per category; an unknown category has none."""
    blocks = []
    for name, categories in zip(names, encoder.categories_, strict=True):
        table = np.vstack([np.eye(len(categories)), np.zeros(len(categories))])
        blocks.append(_look_up(graph, name, categories, table))
    return graph.apply("Concat", *blocks, axis=1)


def _encode_many_categories(graph: Graph, encoder: Any, names: Sequence[str]) -> str:
    """Replace each category by the mean of the target among its rows; an unknown one by the mean of all rows.

    If there are more than two classes, there is a column for each class.
    """
    means_of_all_rows = np.atleast_1d(encoder.target_mean_)
    means_per_column = len(means_of_all_rows)

    blocks = []
    for position, (name, categories) in enumerate(zip(names, encoder.categories_, strict=True)):
        first = position * means_per_column
        means = np.column_stack(encoder.encodings_[first : first + means_per_column])
        blocks.append(_look_up(graph, name, categories, np.vstack([means, means_of_all_rows])))
    return graph.apply("Concat", *blocks, axis=1)


def _look_up(graph: Graph, name: str, categories: Sequence[Any], table: np.ndarray[Any, Any]) -> str:
    """Replace each category of a column by its row in a table, whose last row is that of unknown categories."""
    texts = [str(category) for category in categories]
    cells = graph.apply("Reshape", name, graph.constant([-1], np.int64))
    row_numbers = graph.apply(
        "LabelEncoder",
        cells,
        domain=ML,
        keys_strings=texts,
        values_int64s=list(range(len(texts))),
        default_int64=len(texts),
    )
    return graph.apply("Gather", graph.constant(table), row_numbers, axis=0)


# The encoders of `learning/preparation.py` by the name of their step; those of texts have no equivalent.
ENCODERS: Final[Mapping[str, Encoder]] = {
    "numbers": _encode_numbers,
    "categories": _encode_categories,
    "many": _encode_many_categories,
    "date": _encode_dates,
}
