"""The figures of a ranking that keeps its shape: what a moved slider changes in the page that is shown.

The templates render every ranking. If the next one differs from it in nothing but these figures, the browser writes
them into the page (static/picture.js), which takes it a fraction of the time for parsing the same rows as HTML.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from touchstone.core.text import replace_control_characters
from touchstone.web.localization import Localizer
from touchstone.web.rank_state import RankState
from touchstone.web.static_files import content_digest
from touchstone.web.views.rank_table import (
    RankedRow,
    RankTable,
    WeightedCriterion,
    describe_result,
    narrow_column_class,
)

JsonArray: TypeAlias = list[Any]


def shape_digest(state: RankState, used: Sequence[WeightedCriterion], table: RankTable, localizer: Localizer) -> str:
    """Return a digest of everything but the figures; empty for an empty ranking.

    It covers the language and the version of the script that writes the figures, because both may have changed since
    the page was loaded.
    """
    if not table.rows:
        return ""

    pins_elsewhere = [pin for pin in state.pins if pin not in table.ids]
    address = state.query(weights={}, previous_ids=())
    shape = (
        (localizer.locale, content_digest("picture.js"), address),
        table.total,
        len(table.rows),
        pins_elsewhere,
        _COLUMN_SHAPES[state.view](used),
    )
    return hashlib.blake2b(repr(shape).encode(), digest_size=8).hexdigest()


def live_figures(state: RankState, table: RankTable, localizer: Localizer) -> dict[str, Any]:
    """Return the figures as JSON, row by row, without those that the browser derives from the weights itself."""
    return {
        "view": state.view,
        "announcement": describe_result(table, state, localizer),
        "rows": [_row_figures(row, state.view, localizer) for row in table.rows],
    }


def _row_figures(row: RankedRow, view: str, localizer: Localizer) -> dict[str, Any]:
    name = replace_control_characters(row.dataset.dataset_name)
    return {
        "id": row.dataset.id,
        "rank": row.rank,
        "name": name,
        "pinLabel": localizer.text("pin_one", name=name),
        "keepLabel": localizer.text("keep_one", name=name),
        "pinned": row.pinned,
        "change": row.change,
        "score": row.score,
        "cells": _CELL_FIGURES[view](row, localizer),
    }


def _heat_cells(row: RankedRow, _: Localizer) -> JsonArray:
    return [(cell.css_classes, cell.unknown, cell.text, cell.title) for cell in row.cells]


def _bar_cells(row: RankedRow, _: Localizer) -> JsonArray:
    return [(cell.x, cell.width, cell.unknown, cell.points_text) for cell in row.cells]


def _table_cells(row: RankedRow, localizer: Localizer) -> JsonArray:
    unknown = localizer.text("unknown")
    facts = [("?", unknown) if fact is None else (fact, "") for fact in row.facts]
    return [row.objective, *facts]


def _heat_columns(used: Sequence[WeightedCriterion]) -> JsonArray:
    columns = [(column.number, column.upright, column.thin, column.hides_percentage) for column in used]
    return [narrow_column_class(used), *columns]


def _bar_columns(used: Sequence[WeightedCriterion]) -> JsonArray:
    return [criterion.number for criterion in used]


def _table_columns(_: Sequence[WeightedCriterion]) -> JsonArray:
    return []  # the columns of the table never depend on the weights


_COLUMN_SHAPES: Final[Mapping[str, Callable[[Sequence[WeightedCriterion]], JsonArray]]] = {
    "heat": _heat_columns,
    "bars": _bar_columns,
    "table": _table_columns,
}
_CELL_FIGURES: Final[Mapping[str, Callable[[RankedRow, Localizer], JsonArray]]] = {
    "heat": _heat_cells,
    "bars": _bar_cells,
    "table": _table_cells,
}
