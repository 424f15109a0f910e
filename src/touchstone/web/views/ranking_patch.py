"""JSON patches that update the ranking in a browser after a slider was moved.

Rankings are usually rendered as HTML. While a reader moves a slider, most of the HTML stays the same, because the next
ranking has the same number of rows and columns, and the same links and buttons. The server then sends a patch with the
contents of the rows, and `static/ranking_patch.js` writes them into the page. This takes a fraction of the time for
parsing the same rows as HTML.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from touchstone.core.text import replace_control_characters
from touchstone.web.localizer import Localizer
from touchstone.web.rank_state import RankState
from touchstone.web.static_files import content_digest
from touchstone.web.views.rank_table import RankedRow, RankTable, describe_result
from touchstone.web.views.weighted_criteria import WeightedCriterion, heat_map_classes

JsonArray: TypeAlias = list[Any]

_PATCH_SCRIPT: Final = "ranking_patch.js"
_DIGEST_BYTES: Final = 8


def layout_digest(
    state: RankState, used_criteria: Sequence[WeightedCriterion], table: RankTable, localizer: Localizer
) -> str:
    """Return a digest of everything on the rank page that a patch cannot change.

    A browser sends the digest of its present ranking with its next request. If the next ranking has the same digest, a
    patch is enough, and otherwise the browser needs new HTML. The digest of an empty ranking is an empty string, so an
    empty ranking is always sent as HTML.
    """
    if not table.rows:
        return ""

    layout = {
        "language": localizer.locale,
        "patch_script": content_digest(_PATCH_SCRIPT),
        # Filters, gates, view, page and pins. A patch may change the weights.
        "query": state.query(slider_positions={}, previous_ids=()),
        "total": table.total_count,
        "row_count": len(table.rows),
        "pins_outside_page": [pin for pin in state.pins if pin not in table.ids],
        "robustness": [row.robustness is not None for row in table.rows],
        "columns": _COLUMN_LAYOUTS[state.view](used_criteria),
    }
    return hashlib.blake2b(repr(layout).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def ranking_patch(state: RankState, table: RankTable, localizer: Localizer) -> dict[str, Any]:
    """Return the patch that updates the ranking in the browser, as a JSON-encodable mapping.

    It does not contain the shares and the column widths, because the browser computes them from the sliders.
    """
    return {
        "view": state.view,
        "announcement": describe_result(table, state, localizer),
        "lowered": table.lowered,
        "notes": table.notes,
        "robustness": table.robustness,
        "rows": [_row_patch(row, state.view, localizer) for row in table.rows],
    }


def _row_patch(row: RankedRow, view: str, localizer: Localizer) -> dict[str, Any]:
    """Return the contents of one row, which the browser writes into the row with the same number.

    The format of `cells` depends on the view. `static/ranking_patch.js` reads it.
    """
    name = replace_control_characters(row.dataset.dataset_name)
    return {
        "id": row.dataset.id,
        "place": row.place,
        "tie": row.tie,
        "reason": row.reason,
        "name": name,
        "pinLabel": localizer.text("pin_one", name=name),
        "keepLabel": localizer.text("keep_one", name=name),
        "pinned": row.is_pinned,
        "change": row.change,
        "score": row.score,
        "limit": row.limit_text(view),
        "limitTitle": row.score_range.limit,
        "evidence": row.evidence,
        "declarer": row.declarer,
        "gates": [(gate.state, gate.outcome) for gate in row.gates],
        "robustness": row.robustness,
        "cells": _CELL_PATCHES[view](row, localizer),
    }


def _heat_map_cells(row: RankedRow, _: Localizer) -> JsonArray:
    """Return the CSS classes, the unknown flag, the text and the tooltip of each cell."""
    return [(cell.css_classes, cell.is_unknown, cell.text, cell.title) for cell in row.cells]


def _bar_segments(row: RankedRow, _: Localizer) -> JsonArray:
    """Return the hatched part of a bar up to the highest possible score, followed by the segments.

    The hatched part has a position and a width. Each segment has a position, a width, an unknown flag and points.
    """
    cells: JsonArray = [(row.score_range.x, row.score_range.width)]
    cells.extend((cell.x, cell.width, cell.is_unknown, cell.points_text) for cell in row.cells)
    return cells


def _table_cells(row: RankedRow, localizer: Localizer) -> JsonArray:
    """Return the objective, followed by the text, the limit and the tooltip of each number.

    Only unknown numbers have a tooltip.
    """
    unknown_label = localizer.text("unknown")
    cells: JsonArray = [row.objective]
    for fact in row.facts:
        if fact.text is None:
            cells.append(("?", "", unknown_label))
        else:
            cells.append((fact.text, fact.limit, ""))
    return cells


def _heat_map_columns(used_criteria: Sequence[WeightedCriterion]) -> JsonArray:
    """Return the CSS classes of the heat map and of its columns, which depend on the widths."""
    columns: JsonArray = [heat_map_classes(used_criteria)]
    for criterion in used_criteria:
        columns.append((criterion.number, criterion.has_vertical_numbers, criterion.hides_percentage))
    return columns


def _bar_columns(used_criteria: Sequence[WeightedCriterion]) -> JsonArray:
    """Return the numbers of the criteria with a segment in the bars."""
    return [criterion.number for criterion in used_criteria]


def _table_columns(_: Sequence[WeightedCriterion]) -> JsonArray:
    """Return an empty list, because the columns of the table view do not depend on the weights."""
    return []


_COLUMN_LAYOUTS: Final[Mapping[str, Callable[[Sequence[WeightedCriterion]], JsonArray]]] = {
    "heat": _heat_map_columns,
    "bars": _bar_columns,
    "table": _table_columns,
}
_CELL_PATCHES: Final[Mapping[str, Callable[[RankedRow, Localizer], JsonArray]]] = {
    "heat": _heat_map_cells,
    "bars": _bar_segments,
    "table": _table_cells,
}
