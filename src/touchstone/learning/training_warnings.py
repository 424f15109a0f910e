"""The warnings that a careful colleague would give about a training."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from touchstone.learning.column_types import Column, Kind
from touchstone.learning.evaluation import Measured, measure
from touchstone.learning.interfaces import Json
from touchstone.learning.model_search import Material
from touchstone.learning.number_format import LOCALES, Said, say
from touchstone.learning.requests import DEFAULT_METRIC, Strategy, TrainingRequest
from touchstone.learning.splits import Part
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Target
from touchstone.messages.labels import MISSING_VALUE
from touchstone.messages.training_warnings import WARNINGS

FEW_ROWS: Final = 200
RARE_SHARE: Final = 0.1
MOSTLY_MISSING: Final = 0.5
LEAKAGE_SCORE: Final = 0.98
LEAKAGE_ROWS: Final = 2_000
LEAKAGE_COLUMNS: Final = 500
MOST_NAMES: Final = 20


def warning(code: str, **facts: Any) -> Json:
    """One warning: its code, the facts, and the sentence in both languages."""
    return {"code": code, "text": say(WARNINGS[code], **facts), "facts": facts}


def about_data(table: Table, target: Target, order: TrainingRequest) -> Iterator[Json]:
    """Warnings about the table and its target."""
    yield from _about_target(target)
    yield from _about_columns([table.columns[name] for name in table.frame.columns], len(table.frame))
    if table.renamed:
        yield warning("columns_renamed", names=sorted(table.renamed)[:MOST_NAMES])
    repeated = int(table.frame.duplicated().sum())
    if repeated:
        yield warning("duplicate_rows", rows=repeated)
    dates = [column.name for column in table.columns.values() if column.kind is Kind.DATE]
    if dates and order.split.strategy is not Strategy.TIME:
        yield warning("dates_split_at_random", name=dates[0])


def _about_target(target: Target) -> Iterator[Json]:
    rows = len(target.values)
    if rows < FEW_ROWS:
        yield warning("few_rows", rows=rows)
    if target.missing:
        yield warning("target_missing", rows=target.missing)
    if target.left_out:
        yield warning("rare_classes_left_out", names=[str(name) for name, _rows in target.left_out][:MOST_NAMES])
    if target.classification:
        counts = np.bincount(target.values)
        rarest = int(counts.argmin())
        if counts[rarest] < RARE_SHARE * rows and counts[rarest] * len(counts) < rows / 2:
            few = int(counts[rarest])
            share = round(100 * few / rows, 1)
            yield warning("class_imbalance", name=str(target.classes[rarest]), rows=few, percent=share)


def about_parts(target: Target, parts: Sequence[Part]) -> Iterator[Json]:
    """A warning when rows are measured whose class was never learned, as happens when classes come with time."""
    unseen: set[int] = set()
    for part in parts if target.classification else ():
        unseen |= set(target.values[part.test].tolist()) - set(target.values[part.train].tolist())
    if unseen:
        yield warning(
            "classes_never_learned", names=[str(target.classes[code]) for code in sorted(unseen)][:MOST_NAMES]
        )


def _about_columns(columns: Sequence[Column], rows: int) -> Iterator[Json]:
    for column in columns:
        if column.mixed:
            yield warning("mixed_column", name=column.name, cells=column.mixed)
        if column.infinite:
            yield warning("infinite_values", name=column.name, cells=column.infinite)
        if MOSTLY_MISSING * rows < column.missing < rows and column.kind is not Kind.UNSUPPORTED:
            yield warning("mostly_missing", name=column.name, percent=round(100 * column.missing / rows))


def about_features(material: Material, left_out: Sequence[str]) -> Iterator[Json]:
    """Warnings about what is learned from: columns left out, and single columns that know the answer."""
    if left_out:
        yield warning("columns_left_out", names=list(left_out)[:MOST_NAMES])
    for column in material.columns[:LEAKAGE_COLUMNS]:
        score = _alone(material, column)
        if score >= LEAKAGE_SCORE:
            yield warning("leakage_suspect", name=column.name, score=round(score, 3))


def _alone(material: Material, column: Column) -> float:
    """How well a shallow tree on this column alone predicts rows that it has not seen."""
    if column.kind is Kind.TEXT or column.distinct < 2:
        return 0.0
    target, cells = material.target, material.frame[column.name]
    rows = np.random.default_rng(0).permutation(len(target.values))[:LEAKAGE_ROWS]
    codes, half = _as_numbers(column, cells.iloc[rows]), len(rows) // 2
    family = DecisionTreeClassifier if target.classification else DecisionTreeRegressor
    tree = family(max_depth=8, max_leaf_nodes=32, random_state=0).fit(codes[:half], target.values[rows[:half]])
    guess = tree.predict(codes[half:])
    found = Measured(target.values[rows[half:]], guess, len(target.classes))
    return measure(DEFAULT_METRIC[target.task], found)


def _as_numbers(column: Column, cells: "pd.Series[Any]") -> Floats:
    if column.kind in (Kind.NUMBER, Kind.DATE):
        return np.nan_to_num(cells.to_numpy().astype(np.float64), nan=-1e9)[:, None]
    return pd.factorize(cells, sort=True)[0].astype(np.float64)[:, None]


def about_result(metrics: Json, groups: Sequence[Json], *, metric: str, greater_is_better: bool) -> Iterator[Json]:
    """Warnings about the figures: no clear gain over the baseline, groups too small, groups treated unequally."""
    own = metrics.get("holdout") or metrics["folds"]
    naive = metrics["baseline"][metric]
    border = own[metric]["low" if greater_is_better else "high"]
    level = naive.get("value", naive.get("mean"))
    if None not in (border, level) and (border <= level if greater_is_better else border >= level):
        yield warning("not_better_than_baseline")
    for column in groups:
        yield from _about_groups(column)


def _small_groups_text(column: str, groups: Sequence[Json]) -> Said:
    names = [{locale: _group_text(group, locale) for locale in LOCALES} for group in groups]
    return say(WARNINGS["small_groups"], name=column, names=names)


def _group_text(group: Json, locale: str) -> str:
    name = say(MISSING_VALUE)[locale] if group["group"] is None else group["group"]
    return f"{name} ({group['rows']})"


def _about_groups(column: Json) -> Iterator[Json]:
    small = [group for group in column["groups"] if group["too_small"]]
    if small:
        facts = {"name": column["column"], "names": [_group_text(group, "en") for group in small]}
        yield warning("small_groups", **facts) | {"text": _small_groups_text(column["column"], small)}
    gap = column["gaps"].get("accuracy", {})
    if gap.get("certain"):
        yield warning("group_gap", name=column["column"], difference=gap["difference"])
