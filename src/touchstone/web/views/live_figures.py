"""What a move of a slider changes in a picture that keeps its shape: words and numbers, written for one reader.

The templates draw every picture. When the next one differs in nothing but these figures, the browser writes them into
the picture that stands (static/picture.js); that takes it a fraction of what reading the same rows as HTML does.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from touchstone.core.text import replace_control_characters
from touchstone.web.rank_state import RankState
from touchstone.web.rendering import Speech, digest
from touchstone.web.views.rank_table import Criterion, Line, RankingView, announcement, fineness

Figures: TypeAlias = list[Any]


def shape(state: RankState, used: Sequence[Criterion], ranking: RankingView, speech: Speech) -> str:
    """All that is not a figure, in short: pictures of one shape differ in their figures alone. Empty: none is alike.

    The language and the script that would write the figures are part of it: they may have changed since the page.
    """
    if not ranking.lines:
        return ""
    absent = [pin for pin in state.pins if pin not in ranking.ids]
    frame = (speech.locale, digest("picture.js"), state.query(weights={}, was=()))
    whole = (frame, ranking.total, len(ranking.lines), absent, _COLUMNS[state.view](used))
    return hashlib.blake2b(repr(whole).encode(), digest_size=8).hexdigest()


def figures(state: RankState, ranking: RankingView, speech: Speech) -> dict[str, Any]:
    """The figures of a picture, row by row. What follows from the weights alone, the browser knows already."""
    return {
        "view": state.view,
        "announcement": announcement(ranking, state, speech),
        "lines": [_line(line, _CELLS[state.view], speech) for line in ranking.lines],
    }


def _line(line: Line, cells: Callable[[Line, Speech], Figures], speech: Speech) -> dict[str, Any]:
    dataset = line.dataset
    return {
        "id": dataset.id,
        "rank": line.rank,
        "name": replace_control_characters(dataset.dataset_name),
        "pin": speech.text("pin_one", name=replace_control_characters(dataset.dataset_name)),
        "keep": speech.text("keep_one", name=replace_control_characters(dataset.dataset_name)),
        "pinned": line.pinned,
        "moved": line.moved,
        "score": line.score,
        "cells": cells(line, speech),
    }


def _heat(line: Line, _: Speech) -> Figures:
    return [(cell.look, cell.unknown, cell.text, cell.title) for cell in line.cells]


def _bars(line: Line, _: Speech) -> Figures:
    return [(cell.x, cell.width, cell.unknown, cell.part) for cell in line.cells]


def _table(line: Line, speech: Speech) -> Figures:
    unknown = speech.text("unknown")
    return [line.objective, *(("?", unknown) if fact is None else (fact, "") for fact in line.facts)]


_COLUMNS: Final[Mapping[str, Callable[[Sequence[Criterion]], Figures]]] = {
    "heat": lambda used: [fineness(used), *((one.number, one.upright, one.thin, one.unsaid) for one in used)],
    "bars": lambda used: [one.number for one in used],
    "table": lambda _: [],
}
_CELLS: Final[Mapping[str, Callable[[Line, Speech], Figures]]] = {"heat": _heat, "bars": _bars, "table": _table}
