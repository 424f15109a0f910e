"""The rank page, its live part, its exports, and the comparison of pinned datasets."""

import asyncio
import csv
import io
from collections.abc import Collection, Mapping
from typing import Any, Final

import anyio.to_thread
import msgspec
import vl_convert
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Dataset, Ranking, TouchstoneError
from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.errors import Invalid, NotFound
from touchstone.web import cookies
from touchstone.web.forms import misfit
from touchstone.web.page_context import Visit, page
from touchstone.web.rank_state import FILTERS, MAX_PINS, SHOWN, FilterKind, RankState, integer
from touchstone.web.views import comparison, filter_form
from touchstone.web.views import rank_table as view
from touchstone.web.views.color_scale import LIGHT
from touchstone.web.views.live_figures import figures, shape

_NO_FACETS: Final[dict[str, Any]] = {"values": {}, "flags": {}, "ranges": {}, "total_count": 0}
_PANELS: Final = ("weights", "filters")
_PICTURE_SCALE: Final = 2.0
_LONGEST_SEARCH: Final = 200
_NAMESAKES: Final = 1000  # records alike that are asked for at once


async def read_state(visit: Visit) -> RankState:
    """The state in the address, without the picture before: only the rank page itself compares with that."""
    return (await _read(visit)).change(was=())


async def _read(visit: Visit) -> RankState:
    return RankState.read(visit.pairs, await visit.vocabulary())


async def _rank(visit: Visit) -> Response:
    state = await _read(visit)
    context = await _shown(visit, state, with_facets=True)
    asked, pins = visit.request.url.query, await _existing(visit, context)
    address = context["state"].query(pins=pins)
    # An address with too many pins stays for once: its page says so.
    if asked and f"?{asked}" != address and not (context["crowded"] and pins == state.pins):
        return visit.go(f"/app/{address}")
    answer = await visit.page("rank.html", ranking_address=f"/app/{address}", **context)
    cookies.keep_ranking(answer, visit.request, address)
    return answer


async def _existing(visit: Visit, context: Mapping[str, Any]) -> tuple[int, ...]:
    """The pins whose dataset is still there; those in the picture are."""
    shown = {line.dataset.id for line in context["ranking"].lines}
    pins = context["state"].pins
    found = await asyncio.gather(*(_pinned(visit, pin) for pin in pins if pin not in shown))
    shown.update(one.id for one in found if one is not None)
    return tuple(pin for pin in pins if pin in shown)


async def _live(visit: Visit) -> Response:
    asked = visit.request.query_params.getlist("also")
    also = [panel for panel in _PANELS if panel in asked]
    context = await _shown(visit, await _read(visit), with_facets="filters" in also)
    if context["shape"] and context["shape"] == visit.request.query_params.get("shape"):
        # The browser has this picture but for its figures.
        drawn = figures(context["state"], context["ranking"], visit.speech)
        answer = Response(msgspec.json.encode(drawn), media_type="application/json")
    else:
        answer = visit.part("rank_live.html", also=also, **context)
    cookies.keep_ranking(answer, visit.request, context["state"].query(was=()))
    answer.headers["x-address"] = f"/app/{context['state'].query(was=())}"
    answer.headers["x-profile"] = context["state"].profile or ""
    return answer


async def _shown(visit: Visit, state: RankState, *, with_facets: bool) -> dict[str, Any]:
    criteria = view.criteria(await visit.criteria(), state, visit.speech)
    found, misfits, problem = await _found(visit, state)
    if found.total_count and not found.datasets:
        state = state.change(page=view.last_page(found))
        found = await _score(visit, state)
    facets = await _facets(visit, state, misfits) if with_facets else _NO_FACETS
    used, ranking = view.weighing(criteria), view.ranking(found, criteria, state, visit.speech)
    return {
        "state": state,
        "criteria": criteria,
        "used": used,
        "shares_said": view.shares_said(used, visit.speech),
        "breadth": view.BREADTH,
        "fineness": view.fineness(used),
        "profiles": (await visit.criteria())["profiles"],
        "groups": filter_form.groups(state, facets, visit.speech) if with_facets else (),
        "chips": filter_form.chips(state, visit.speech),
        "ranking": ranking,
        "shape": shape(state, used, ranking, visit.speech),
        "announcement": "" if problem else view.announcement(ranking, state, visit.speech),
        "problem": problem,
        "field_problems": {name: filter_form.misfit_said(name, visit.speech) for name in misfits},
        "crowded": len(set(visit.request.query_params.getlist("pin"))) > MAX_PINS,
        "spoken": view.spoken,
    }


async def _found(visit: Visit, state: RankState) -> tuple[Ranking, tuple[str, ...], str | None]:
    """The ranking; or none, the filters that do not fit, and a sentence about them."""
    if misfits := state.misfits:
        return _nothing(), misfits, " ".join(filter_form.misfit_said(name, visit.speech) for name in misfits)
    try:
        return await _score(visit, state), (), None
    except TouchstoneError as refusal:
        if refusal.status != Invalid.status:
            raise
        blamed = {str(part) for error in refusal.errors for part in error.get("loc", ())}
        return _nothing(), tuple(name for name in state.filters if name in blamed), refusal.detail


async def _score(visit: Visit, state: RankState) -> Ranking:
    if not state.weights:
        return _nothing()
    return await visit.api.score_datasets(
        state.filter_body(),  # type: ignore[arg-type]
        weights=state.weight_body(),
        limit=SHOWN,
        skip=(state.page - 1) * SHOWN,
        explain=True,
    )


async def _facets(visit: Visit, state: RankState, misfits: Collection[str]) -> dict[str, Any]:
    """What the filters leave to choose from; those that do not fit hide nothing."""
    fitting = state.keeping(name for name in state.filters if name not in misfits)
    return await visit.api.get_facets(**fitting.filter_body())


async def _values(visit: Visit) -> Response:
    """All values of one filter, to search and to tick; the rest of the state goes along in the form."""
    name = visit.request.path_params["name"]
    if FILTERS.get(name) is not FilterKind.WORDS:
        raise NotFound
    state, query = await read_state(visit), visit.request.query_params
    others = state.keeping(other for other in state.filters if other != name)
    search = filter_form.ValueSearch(
        name=name,
        text="" if "search_all" in query else query.get("search", "").strip()[:_LONGEST_SEARCH],
        number=integer(query.get("values_page", "")) or 1,
    )
    values = filter_form.value_list(search, state, await _facets_of_fitting(visit, others), visit.speech)
    return await visit.page("values.html", values=values, state=state, fields=others.change(page=1).pairs)


async def _facets_of_fitting(visit: Visit, state: RankState) -> dict[str, Any]:
    """What the filters leave to choose from; all there is when the API refuses one of them."""
    try:
        return await _facets(visit, state, state.misfits)
    except TouchstoneError as refusal:
        if refusal.status != Invalid.status:
            raise
        return await visit.api.get_facets()


def _nothing() -> Ranking:
    return Ranking(datasets=[], total_count=0, effective_weights=[])


async def _export(visit: Visit) -> Response:
    """The ranking as a file: all places as CSV, the picture as SVG or PNG."""
    kind = visit.request.path_params["kind"]
    if kind not in ("csv", "svg", "png"):
        raise NotFound
    state = await read_state(visit)
    # A file cannot say that a filter does not fit: a page does.
    context = await _shown(visit, state, with_facets=False)
    if problem := context["problem"] or (None if state.weights else visit.speech.text("weights_none")):
        raise misfit(problem)
    if kind == "csv":
        everything = await visit.api.score_datasets(
            state.filter_body(),  # type: ignore[arg-type]
            weights=state.weight_body(),
            explain=True,
        )
        return _file(_csv(everything), "csv", "text/csv; charset=utf-8")
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
    gone = len(found) - len(datasets)
    state = state.change(pins=tuple(one.id for one in datasets))
    scored = await asyncio.gather(*(place_of(visit, state, one) for one in datasets))
    criteria = view.criteria(await visit.criteria(), state, visit.speech)
    compared = comparison.compare(datasets, scored, criteria, visit.speech)
    return await visit.page("compare.html", state=state, compared=compared, criteria=criteria, gone=gone)


async def _pinned(visit: Visit, dataset_id: int) -> Dataset | None:
    try:
        return await visit.api.get_dataset(dataset_id)
    except TouchstoneError as problem:
        if problem.status != NotFound.status:
            raise
        return None


async def place_of(visit: Visit, state: RankState, dataset: Dataset) -> comparison.Scored | None:
    """The score of one record under the weights of the state; None without weights.

    The API ranks what passes filters: it is asked for the records that are as this one is, page by page until found.
    """
    if not state.weights:
        return None
    skip, total = 0, 1
    while skip < total:
        found = await visit.api.score_datasets(
            _alike(dataset),  # type: ignore[arg-type]
            weights=state.weight_body(),
            limit=_NAMESAKES,
            skip=skip,
            explain=True,
        )
        for one in found.datasets:
            if one.id == dataset.id:
                return one
        skip, total = skip + _NAMESAKES, found.total_count
    return None


def _alike(dataset: Dataset) -> dict[str, Any]:
    """Filters that this record passes, and few others do: its name, and whatever is known of its numbers and flags."""
    numbers, flags = ({a.name for a in ATTRIBUTES if a.kind is kind} for kind in (Kind.INTEGER, Kind.FLAG))
    known = {name: value for name in (*numbers, *flags) if (value := getattr(dataset, name)) is not None}
    bounds = {f"{name}_{end}": value for name, value in known.items() if name in numbers for end in ("min", "max")}
    return {"dataset_name": dataset.dataset_name, **bounds, **{n: v for n, v in known.items() if n in flags}}


ROUTES: Final = (
    Route("/app/", page(_rank)),
    Route("/app/parts/ranking", page(_live)),
    Route("/app/ranking.{kind:str}", page(_export)),
    Route("/app/values/{name:str}", page(_values)),
    Route("/app/compare", page(_compare)),
)
