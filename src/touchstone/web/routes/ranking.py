"""The rank page, its live part, its exports, and the comparison of pinned datasets."""

import asyncio
import csv
import io
from typing import Any, Final

import anyio.to_thread
import vl_convert
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Ranking, TouchstoneError
from touchstone.core.errors import Invalid, NotFound
from touchstone.web.state import SHOWN, NotANumber, RankState
from touchstone.web.views import comparing, filtering
from touchstone.web.views import ranking as view
from touchstone.web.views.shades import LIGHT
from touchstone.web.visiting import Visit, page

_NO_FACETS: Final[dict[str, Any]] = {"values": {}, "flags": {}, "ranges": {}, "total_count": 0}
_PICTURE_SCALE: Final = 2.0


async def read_state(visit: Visit) -> RankState:
    """The state in the address."""
    return RankState.read(visit.pairs, await visit.vocabulary())


async def _rank(visit: Visit) -> Response:
    state = await read_state(visit)
    asked = visit.request.url.query
    if asked and f"?{asked}" != state.query():
        return visit.go(f"/app/{state.query()}")
    return await visit.page("rank.html", **await _shown(visit, state, with_facets=True))


async def _live(visit: Visit) -> Response:
    state = await read_state(visit)
    also = visit.request.query_params.getlist("also")
    context = await _shown(visit, state, with_facets="filters" in also)
    answer = visit.part("rank_live.html", also=also, **context)
    answer.headers["x-address"] = f"/app/{state.change(was=()).query()}"
    return answer


async def _shown(visit: Visit, state: RankState, *, with_facets: bool) -> dict[str, Any]:
    criteria = view.criteria(await visit.criteria(), state, visit.speech)
    problem: str | None = None
    found, facets = _nothing(), _NO_FACETS
    try:
        found, facets = await asyncio.gather(_score(visit, state), _facets(visit, state, wanted=with_facets))
    except NotANumber as wrong:
        label = filtering.label_of(str(wrong).removesuffix("_min").removesuffix("_max"), visit.speech)
        problem = visit.speech.text("rank_not_a_number", name=label)
    except TouchstoneError as refusal:
        if refusal.status != Invalid.status:
            raise
        problem = refusal.detail
    return {
        "state": state,
        "criteria": criteria,
        "used": [one for one in criteria if one.share > 0],
        "profiles": (await visit.criteria())["profiles"],
        "groups": filtering.groups(state, facets, visit.speech) if with_facets else (),
        "chips": filtering.chips(state, visit.speech),
        "ranking": view.ranking(found, criteria, state),
        "problem": problem,
        "spoken": view.spoken,
    }


async def _score(visit: Visit, state: RankState) -> Ranking:
    filters = state.filter_body()
    if not state.weights:
        return _nothing()
    skip = (state.page - 1) * SHOWN
    return await visit.api.score_datasets(
        filters,  # type: ignore[arg-type]
        weights=state.weight_body(),
        limit=SHOWN,
        skip=skip,
        explain=True,
    )


async def _facets(visit: Visit, state: RankState, *, wanted: bool) -> dict[str, Any]:
    return await visit.api.get_facets(**state.filter_body()) if wanted else _NO_FACETS


def _nothing() -> Ranking:
    return Ranking(datasets=[], total_count=0, effective_weights=[])


async def _export(visit: Visit) -> Response:
    """The ranking as a file: all places as CSV, the picture as SVG or PNG."""
    kind = visit.request.path_params["kind"]
    if kind not in ("csv", "svg", "png"):
        raise NotFound
    state = await read_state(visit)
    if kind == "csv":
        everything = await visit.api.score_datasets(
            state.filter_body(),  # type: ignore[arg-type]
            weights=state.weight_body(),
            explain=True,
        )
        return _file(_csv(everything), "csv", "text/csv; charset=utf-8")
    context = await _shown(visit, state, with_facets=False)
    drawn = visit.desk.pages.render("rank_picture.svg", visit.locale, palette=LIGHT, **context)
    if kind == "svg":
        return _file(drawn.encode(), "svg", "image/svg+xml")
    png = await anyio.to_thread.run_sync(lambda: vl_convert.svg_to_png(drawn, scale=_PICTURE_SCALE))
    return _file(png, "png", "image/png")


def _csv(found: Ranking) -> bytes:
    names = [weight.criterion_name for weight in found.effective_weights]
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["rank", "id", "dataset_id", "dataset_name", "score", *names, *(f"points_{name}" for name in names)])
    for one in found.datasets:
        values, points = one.criterion_scores or {}, one.points or {}
        unknown = set(one.unknown or ())
        facts = ["" if name in unknown else values.get(name, "") for name in names]
        name = _plain(one.dataset_name)
        rows.writerow([one.rank, one.id, one.dataset_id, name, one.score, *facts, *(points.get(n, "") for n in names)])
    # The mark tells spreadsheets that the file is UTF-8.
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def _plain(name: str) -> str:
    # A spreadsheet would run a cell that begins like this as a formula.
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def _file(content: bytes, ending: str, media_type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="touchstone-ranking.{ending}"'}
    return Response(content, media_type=media_type, headers=headers)


async def _compare(visit: Visit) -> Response:
    state = await read_state(visit)
    found = await asyncio.gather(*(_pinned(visit, pin) for pin in state.pins))
    datasets = [one for one in found if one is not None]
    scored = await asyncio.gather(*(place_of(visit, state, one) for one in datasets))
    criteria = view.criteria(await visit.criteria(), state, visit.speech)
    compared = comparing.compare(datasets, scored, criteria)
    return await visit.page("compare.html", state=state, compared=compared, criteria=criteria)


async def _pinned(visit: Visit, dataset_id: int) -> Dataset | None:
    try:
        return await visit.api.get_dataset(dataset_id)
    except TouchstoneError as problem:
        if problem.status != NotFound.status:
            raise
        return None


async def place_of(visit: Visit, state: RankState, dataset: Dataset) -> comparing.Scored | None:
    """The score of one record under the weights of the state, found among its namesakes; None without weights."""
    if not state.weights:
        return None
    found = await visit.api.score_datasets(
        {"dataset_name": dataset.dataset_name}, weights=state.weight_body(), limit=1000, explain=True
    )
    return next((one for one in found.datasets if one.id == dataset.id), None)


ROUTES: Final = (
    Route("/app/", page(_rank)),
    Route("/app/parts/ranking", page(_live)),
    Route("/app/ranking.{kind:str}", page(_export)),
    Route("/app/compare", page(_compare)),
)
