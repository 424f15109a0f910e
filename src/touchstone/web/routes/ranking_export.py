"""Download the ranking: all ranks as CSV, or one page of the heat map as SVG or PNG."""

import csv
import io
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Final

import httpx2
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Ranking, ScoredDataset
from touchstone.client.export_calls import RankedDatasets, stream_ranking
from touchstone.client.spreadsheet_formulas import escape_formulas
from touchstone.core.errors import NotFound
from touchstone.http.responses import ContentStream
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
    if not page.state.has_weights:
        raise invalid_field(ctx.text("weights_none"))

    headers = {"content-disposition": f'attachment; filename="touchstone-ranking.{file_type}"'}
    media_type = _MEDIA_TYPES[file_type]
    if file_type == "csv":
        return ContentStream(await _open_csv(ctx, page.state), media_type=media_type, headers=headers)

    svg = _render_svg(ctx, page)
    content = svg.encode() if file_type == "svg" else await ctx.state.svg_converter.to_png(svg)
    return Response(content, media_type=media_type, headers=headers)


def _render_svg(ctx: PageContext, page: RankPage) -> str:
    """Return the heat map of one page of the ranking as SVG, in the colours of the light theme."""
    return ctx.state.templates.render("rank_picture.svg", ctx.locale, palette=LIGHT, **page.variables())


class RankingCsv:
    """A ranking as a CSV file that spreadsheets open correctly.

    It has one line for each dataset, with the value, the weight and the points of each criterion, the level of evidence
    that the ranking requires, and the outcome of each gate. The weights and the level are repeated on every line,
    because a spreadsheet would take lines above the header for data. Unknown values are empty fields, because 0 would
    be a statement about the dataset.
    """

    def __init__(self, ranking: Ranking) -> None:
        """Prepare to write the ranking of which `ranking` is a part."""
        self._criterion_names = [weight.criterion_name for weight in ranking.effective_weights]
        self._need = [ranking.assurance.value, *(weight.weight for weight in ranking.effective_weights)]
        # All datasets have outcomes for the same gates.
        self._gate_names = list(ranking.datasets[0].gates or {}) if ranking.datasets else []

    def header(self) -> str:
        """Return the line with the names of the columns."""
        weight_headers = [f"weight_{name}" for name in self._criterion_names]
        points_headers = [f"points_{name}" for name in self._criterion_names]
        gate_headers = [f"gate_{name}" for name in self._gate_names]
        return _to_csv(
            [[*_CSV_HEADERS, *self._criterion_names, *points_headers, "assurance", *weight_headers, *gate_headers]]
        )

    def lines(self, datasets: Iterable[ScoredDataset]) -> str:
        """Return the lines of datasets."""
        return _to_csv(self._fields(dataset) for dataset in datasets)

    def _fields(self, dataset: ScoredDataset) -> list[Any]:
        """Return the fields of a dataset in the order of the header."""
        unknown_names = dataset.unknown or ()
        criterion_scores = dataset.criterion_scores or {}
        values = {name: score for name, score in criterion_scores.items() if name not in unknown_names}
        points = dataset.points or {}
        best_case = dataset.best_case
        gate_outcomes = dataset.gates or {}

        return [
            dataset.rank,
            dataset.place,
            dataset.id,
            dataset.dataset_id,
            escape_formulas(dataset.dataset_name),
            dataset.score,
            best_case.score if best_case is not None else "",
            *(values.get(name, "") for name in self._criterion_names),
            *(points.get(name, "") for name in self._criterion_names),
            *self._need,
            *(gate_outcomes[name] for name in self._gate_names),
        ]


async def _open_csv(ctx: PageContext, state: RankState) -> AsyncIterator[bytes]:
    """Return all ranks as a CSV file, which is written while the ranking arrives, because it may be very long.

    Raises:
        TouchstoneError: the ranking is refused.
    """
    ranking = {**state.ranking_arguments(), "explain": True}
    first_rank = await ctx.api.score_datasets(**ranking, limit=1)
    response = await ctx.api.run(stream_ranking(**ranking))
    return _write_csv(RankingCsv(first_rank), response)


async def _write_csv(file: RankingCsv, response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield a CSV file in chunks while a response with its ranking arrives. Close the response at the end."""
    datasets = RankedDatasets()
    async with aclosing(response):
        yield file.header().encode(_CSV_ENCODING)
        async for chunk in response.aiter_bytes():
            yield file.lines(datasets.read_chunk(chunk)).encode()
    datasets.check_completeness()


def _to_csv(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as lines of a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


ROUTES: Final = (Route("/app/ranking.{file_type:str}", page_endpoint(export_ranking)),)
