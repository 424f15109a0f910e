"""Download the ranking: all ranks as CSV, or one page of the heat map as SVG or PNG."""

import csv
import io
from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Ranking, ScoredDataset
from touchstone.core.errors import NotFound
from touchstone.web.api_queries import read_rank_state
from touchstone.web.forms import invalid_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_state import RankState
from touchstone.web.routes.ranking import RankPage, load_rank_page
from touchstone.web.views.color_scale import LIGHT

_MEDIA_TYPES: Final = {"csv": "text/csv; charset=utf-8", "svg": "image/svg+xml", "png": "image/png"}
_CSV_ENCODING: Final = "utf-8-sig"  # with a byte order mark, which tells spreadsheets that the file is UTF-8
_CSV_HEADERS: Final = ("rank", "place", "id", "dataset_id", "dataset_name", "score", "highest_score")
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


async def export_ranking(ctx: PageContext) -> Response:
    """Return the ranking as a file to download.

    The address ends with the file type. The CSV file contains all ranks, and the pictures show one page of the ranking.
    Unknown or invalid parameters and missing weights lead to an error page, because a file cannot say that a parameter
    was ignored.
    """
    file_type = ctx.path_params["file_type"]
    if file_type not in _MEDIA_TYPES:
        raise NotFound

    state = await read_rank_state(ctx)
    page = await load_rank_page(ctx, state, with_filters=False)
    if page.ignored_parameters:
        raise invalid_field(" ".join(page.ignored_parameters))
    if page.filter_problem:
        raise invalid_field(page.filter_problem)
    if not page.state.weights:
        raise invalid_field(ctx.text("weights_none"))

    if file_type == "csv":
        ranking = await _fetch_whole_ranking(ctx, page.state)
        content = ranking_csv(ranking)
    elif file_type == "svg":
        content = _render_svg(ctx, page).encode()
    else:
        svg = _render_svg(ctx, page)
        content = await ctx.state.svg_converter.to_png(svg)

    headers = {"content-disposition": f'attachment; filename="touchstone-ranking.{file_type}"'}
    return Response(content, media_type=_MEDIA_TYPES[file_type], headers=headers)


async def _fetch_whole_ranking(ctx: PageContext, state: RankState) -> Ranking:
    """Return all pages of the ranking that the state describes."""
    return await ctx.api.score_datasets(**state.ranking_arguments(), explain=True)


def _render_svg(ctx: PageContext, page: RankPage) -> str:
    """Return the heat map of one page of the ranking as SVG, in the colours of the light theme."""
    return ctx.state.templates.render("rank_picture.svg", ctx.locale, palette=LIGHT, **page.variables())


def ranking_csv(ranking: Ranking) -> bytes:
    """Return a ranking as a CSV file that spreadsheets open correctly.

    It has one line for each dataset, with the value, the weight and the points of each criterion, the level of evidence
    that the ranking requires, and the outcome of each gate. The weights and the level are repeated on every line,
    because a spreadsheet would take lines above the header for data. Unknown values are empty fields, because 0 would
    be a statement about the dataset.
    """
    criterion_names = [weight.criterion_name for weight in ranking.effective_weights]
    weight_headers = [f"weight_{name}" for name in criterion_names]
    points_headers = [f"points_{name}" for name in criterion_names]
    need = [ranking.assurance.value, *(weight.weight for weight in ranking.effective_weights)]

    # All datasets have outcomes for the same gates.
    gate_names: list[str] = []
    if ranking.datasets:
        gate_names = list(ranking.datasets[0].gates or {})
    gate_headers = [f"gate_{name}" for name in gate_names]

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*_CSV_HEADERS, *criterion_names, *points_headers, "assurance", *weight_headers, *gate_headers])

    for dataset in ranking.datasets:
        outcomes_by_gate = dataset.gates or {}
        outcomes = [outcomes_by_gate[name] for name in gate_names]
        writer.writerow([*_csv_fields(dataset, criterion_names), *need, *outcomes])

    return text.getvalue().encode(_CSV_ENCODING)


def _csv_fields(dataset: ScoredDataset, criterion_names: Sequence[str]) -> list[Any]:
    """Return the CSV fields of a dataset itself, with its values and points; unknown values are empty."""
    unknown_names = dataset.unknown or ()
    criterion_scores = dataset.criterion_scores or {}
    values = {name: score for name, score in criterion_scores.items() if name not in unknown_names}
    points = dataset.points or {}
    best_case = dataset.best_case

    return [
        dataset.rank,
        dataset.place,
        dataset.id,
        dataset.dataset_id,
        _escape_formula(dataset.dataset_name),
        dataset.score,
        best_case.score if best_case is not None else "",
        *(values.get(name, "") for name in criterion_names),
        *(points.get(name, "") for name in criterion_names),
    ]


def _escape_formula(name: str) -> str:
    """Put an apostrophe before a name that spreadsheets would execute as a formula."""
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


ROUTES: Final = (Route("/app/ranking.{file_type:str}", page_endpoint(export_ranking)),)
