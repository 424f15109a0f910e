"""The rank page, its live updates, and the page with all values of a filter."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Ranking, TouchstoneError
from touchstone.core.errors import Invalid, NotFound
from touchstone.web import cookies
from touchstone.web.addresses import HOME
from touchstone.web.api_queries import EMPTY_RANKING, fetch_ranking, find_datasets, read_rank_state
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page
from touchstone.web.rank_filters import FILTERS, FilterInput
from touchstone.web.rank_state import MAX_PINS, RankState, parse_small_integer
from touchstone.web.views import rank_table as view
from touchstone.web.views.filter_form import (
    FilterChip,
    FilterGroup,
    ValueSearch,
    filter_chips,
    filter_groups,
    invalid_filter_message,
    list_values,
)
from touchstone.web.views.live_figures import live_figures, shape_digest

_NO_FACETS: Final[Mapping[str, Any]] = {"values": {}, "flags": {}, "ranges": {}, "total_count": 0}
_PANELS: Final = ("weights", "filters")
_MAX_SEARCH_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class RankedState:
    """A state with its ranking.

    Attributes:
        state: The state, on an existing page.
        ranking: The ranking; empty if the filters are invalid.
        invalid_filters: The names of the filters with invalid values.
        problem: A sentence about the invalid filters; empty if there are none.
    """

    state: RankState
    ranking: Ranking
    invalid_filters: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RankPage:
    """The variables of the templates of the rank page."""

    state: RankState
    criteria: tuple[view.WeightedCriterion, ...]
    used: tuple[view.WeightedCriterion, ...]
    shares_text: str
    ranking: view.RankTable
    narrow_column_class: str
    criteria_width: int
    profiles: list[dict[str, Any]]
    groups: tuple[FilterGroup, ...]
    chips: tuple[FilterChip, ...]
    shape: str
    announcement: str
    filter_problem: str
    field_problems: Mapping[str, str]
    too_many_pins: bool

    def variables(self) -> dict[str, Any]:
        """Return the variables by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


async def rank_page(ctx: PageContext) -> Response:
    """Show the ranking; an address that is not the canonical one of its state is redirected to that."""
    state = RankState.from_pairs(ctx.query_pairs, await ctx.weight_profiles())
    rank = await load_rank_page(ctx, state, with_filters=True)

    pins = await _existing_pins(ctx, rank)
    address = rank.state.query(pins=pins)
    query = ctx.request.url.query
    # An address with too many pins is kept once, because its page says so.
    keeps_address = rank.too_many_pins and pins == state.pins
    if query and f"?{query}" != address and not keeps_address:
        return ctx.redirect(f"{HOME}{address}")

    response = await ctx.render(
        "rank.html", ranking_address=f"{HOME}{address}", localized_label=view.localized_label, **rank.variables()
    )
    cookies.write_last_ranking(response, ctx.request, address)
    return response


async def live_ranking(ctx: PageContext) -> Response:
    """Return the next ranking of an open page: its figures as JSON if the shape stays the same, else as HTML."""
    query = ctx.request.query_params
    panels = [panel for panel in _PANELS if panel in query.getlist("also")]
    state = RankState.from_pairs(ctx.query_pairs, await ctx.weight_profiles())
    rank = await load_rank_page(ctx, state, with_filters="filters" in panels)

    response: Response
    if rank.shape and rank.shape == query.get("shape"):
        content = msgspec.json.encode(live_figures(rank.state, rank.ranking, ctx.localizer))
        response = Response(content, media_type="application/json")
    else:
        response = ctx.render_template(
            "rank_live.html", panels=panels, localized_label=view.localized_label, **rank.variables()
        )

    address = rank.state.query(previous_ids=())
    cookies.write_last_ranking(response, ctx.request, address)
    response.headers["x-address"] = f"{HOME}{address}"
    response.headers["x-profile"] = rank.state.profile or ""
    return response


async def filter_values_page(ctx: PageContext) -> Response:
    """Show all values of a filter, to search and to tick; the form carries the rest of the state."""
    name = ctx.path_params["name"]
    if FILTERS.get(name) is not FilterInput.WORDS:
        raise NotFound

    query = ctx.request.query_params
    search = ValueSearch(
        name=name,
        text="" if "search_all" in query else query.get("search", "").strip()[:_MAX_SEARCH_LENGTH],
        page=parse_small_integer(query.get("values_page", "")) or 1,
    )
    state = await read_rank_state(ctx)
    other_filters = state.with_filters_only(filter_name for filter_name in state.filters if filter_name != name)
    facets = await _fetch_facets_leniently(ctx, other_filters)

    return await ctx.render(
        "values.html",
        values=list_values(search, state, facets, ctx.localizer),
        state=state,
        fields=other_filters.change(page=1).pairs,
    )


async def load_rank_page(ctx: PageContext, state: RankState, *, with_filters: bool) -> RankPage:
    """Return everything that the rank page shows; without the filter form unless `with_filters`."""
    localizer = ctx.localizer
    ranked = await _rank(ctx, state)
    state = ranked.state
    facets = await _fetch_facets(ctx, state, ranked.invalid_filters) if with_filters else _NO_FACETS

    description = await ctx.criteria()
    criteria = view.weighted_criteria(description, state, localizer)
    used = view.used_criteria(criteria)
    table = view.build_rank_table(ranked.ranking, criteria, state, localizer)

    return RankPage(
        state=state,
        criteria=criteria,
        used=used,
        shares_text=view.describe_shares(used, localizer),
        ranking=table,
        narrow_column_class=view.narrow_column_class(used),
        criteria_width=view.CRITERIA_WIDTH,
        profiles=description["profiles"],
        groups=filter_groups(state, facets, localizer) if with_filters else (),
        chips=filter_chips(state, localizer),
        shape=shape_digest(state, used, table, localizer),
        announcement="" if ranked.problem else view.describe_result(table, state, localizer),
        filter_problem=ranked.problem,
        field_problems={name: invalid_filter_message(name, localizer) for name in ranked.invalid_filters},
        too_many_pins=len(set(ctx.request.query_params.getlist("pin"))) > MAX_PINS,
    )


async def _rank(ctx: PageContext, state: RankState) -> RankedState:
    """Return the ranking of a state, moved to the last page if it is on a later one."""
    invalid = state.invalid_filters
    if invalid:
        problem = " ".join(invalid_filter_message(name, ctx.localizer) for name in invalid)
        return RankedState(state, EMPTY_RANKING, invalid, problem)

    try:
        ranking = await fetch_ranking(ctx, state)
    except TouchstoneError as error:
        if error.status != Invalid.status:
            raise
        named = {str(part) for entry in error.errors for part in entry.get("loc", ())}
        return RankedState(state, EMPTY_RANKING, tuple(name for name in state.filters if name in named), error.detail)

    if ranking.total_count and not ranking.datasets:
        state = state.change(page=view.count_pages(ranking))
        ranking = await fetch_ranking(ctx, state)
    return RankedState(state, ranking)


async def _existing_pins(ctx: PageContext, rank: RankPage) -> tuple[int, ...]:
    """Return the pins whose datasets still exist; those in the ranking certainly do."""
    pins = rank.state.pins
    unconfirmed = [pin for pin in pins if pin not in rank.ranking.ids]
    existing = {dataset.id for dataset in await find_datasets(ctx, unconfirmed)}
    return tuple(pin for pin in pins if pin in rank.ranking.ids or pin in existing)


async def _fetch_facets(ctx: PageContext, state: RankState, invalid: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the numbers of records behind each choice, ignoring the invalid filters."""
    valid = state.with_filters_only(name for name in state.filters if name not in invalid)
    return await ctx.api.get_facets(**valid.filter_body())


async def _fetch_facets_leniently(ctx: PageContext, state: RankState) -> Mapping[str, Any]:
    """Return the facets, of the whole catalog if the API refuses one of the filters."""
    try:
        return await _fetch_facets(ctx, state, state.invalid_filters)
    except TouchstoneError as error:
        if error.status != Invalid.status:
            raise
        return await ctx.api.get_facets()


ROUTES: Final = (
    Route(HOME, page(rank_page)),
    Route("/app/parts/ranking", page(live_ranking)),
    Route("/app/values/{name:str}", page(filter_values_page)),
)
