"""The rank page, its live updates, and the page with all values of a filter."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Ranking, TouchstoneError
from touchstone.core.errors import IndexBuilding, Invalid, NotFound
from touchstone.core.evidence import Assurance
from touchstone.metadata.codebook import CODEBOOK, CriterionRule
from touchstone.web import cookies
from touchstone.web.addresses import HOME
from touchstone.web.api_queries import (
    EMPTY_RANKING,
    fetch_ranking,
    find_datasets,
    load_background,
    read_rank_page_state,
    read_rank_state,
)
from touchstone.web.ignored_parameters import describe_ignored_settings
from touchstone.web.localizer import Localizer
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.rank_filters import FILTERS, SEARCH, FilterInput
from touchstone.web.rank_gates import GATE_PREFIX
from touchstone.web.rank_state import (
    MAX_PINS,
    RankState,
    parse_small_integer,
)
from touchstone.web.readable_errors import localize_error
from touchstone.web.views import rank_table, weighted_criteria
from touchstone.web.views.filter_form import (
    FilterChip,
    FilterGroup,
    ValueSearch,
    filter_chips,
    filter_groups,
    invalid_filter_message,
    list_values,
)
from touchstone.web.views.gate_form import GateGroup, gate_chips, gate_groups, invalid_gate_message
from touchstone.web.views.ranking_patch import layout_digest, ranking_patch

_PANELS: Final = ("weights", "filters")
# The parameters of the page with all values of a filter, and those of the script of the rank page. They are not part of
# the state.
_VALUE_SEARCH: Final = ("values_search", "values_search_all", "values_page")
_PARAMETERS_OUTSIDE_STATE: Final = ("panel", "layout", *_VALUE_SEARCH)
_MAX_SEARCH_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class RankedState:
    """A state of the rank page together with its ranking.

    Attributes:
        state: the state, with the number of an existing page.
        ranking: the ranking; empty if a filter or a gate has an invalid value.
        invalid_filters: the names of the filters that the page or the API refuses.
        problem: a message about the refused filters and gates; empty if there are none.
    """

    state: RankState
    ranking: Ranking
    invalid_filters: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RankPage:
    """The variables of the templates of the rank page.

    Attributes:
        state: the state of the page.
        criteria: all criteria, with their weights.
        used: the criteria with a weight above zero.
        shares_text: the shares of the criteria, for screen readers.
        ranking: the rows of the ranking.
        heat_map_classes: the CSS classes of the heat map.
        criteria_width: the percentage of the heat map's width that the columns of the criteria share.
        profiles: the named profiles of weights.
        assurances: the levels of evidence that the reader can require.
        codebook: the rules of the ethical criteria, by the name of the attribute.
        groups: the filter form; empty if it was not requested.
        chips: the filters that are set.
        gate_groups: the form of the gates.
        gate_chips: the gates that are set.
        layout_digest: the digest of everything that a patch of the ranking cannot change.
        announcement: the sentence that announces the ranking to screen readers.
        filter_problem: a message about invalid filters and gates; empty if there are none.
        field_problems: the messages about invalid filters and gates, by field name.
        too_many_pins: whether the address has more pins than can be compared.
        ignored_parameters: a sentence about each unknown parameter in the address, which is ignored, and about each
            invalid value, which is replaced.
    """

    state: RankState
    criteria: tuple[weighted_criteria.WeightedCriterion, ...]
    used: tuple[weighted_criteria.WeightedCriterion, ...]
    shares_text: str
    ranking: rank_table.RankTable
    heat_map_classes: str
    criteria_width: int
    profiles: list[dict[str, Any]]
    assurances: tuple[Assurance, ...]
    codebook: Mapping[str, CriterionRule]
    groups: tuple[FilterGroup, ...]
    chips: tuple[FilterChip, ...]
    gate_groups: tuple[GateGroup, ...]
    gate_chips: tuple[FilterChip, ...]
    layout_digest: str
    announcement: str
    filter_problem: str
    field_problems: Mapping[str, str]
    too_many_pins: bool
    ignored_parameters: tuple[str, ...]

    def variables(self) -> dict[str, Any]:
        """Return the template variables by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


async def rank_page(ctx: PageContext) -> Response:
    """Show the ranking that the address describes.

    Every ranking has one canonical address, so that equal rankings have equal bookmarks and links. Requests with other
    addresses are redirected to it. The canonical address contains only those pinned datasets that still exist.
    """
    state = await read_rank_page_state(ctx)
    page = await load_rank_page(ctx, state, with_filters=True)

    existing_pins = await _existing_pins(ctx, page)
    canonical_query = page.state.query(pins=existing_pins)
    canonical_address = f"{HOME}{canonical_query}"
    requested_query = ctx.request.url.query
    is_canonical = not requested_query or f"?{requested_query}" == canonical_query

    # A redirect would lose the warnings about too many pins and about ignored parameters.
    warns_about_pins = page.too_many_pins and existing_pins == state.pins
    has_warnings = warns_about_pins or bool(page.ignored_parameters)
    if not (is_canonical or has_warnings):
        return ctx.redirect(canonical_address)

    response = await ctx.render(
        "rank.html",
        ranking_address=canonical_address,
        localized_label=weighted_criteria.localized_label,
        **page.variables(),
    )
    cookies.write_last_ranking(response, ctx.request, canonical_query)
    return response


async def live_ranking(ctx: PageContext) -> Response:
    """Return the new ranking for the script of the rank page.

    The script requests it after the reader has moved a slider or set a filter. If only the contents of the rows change,
    the response is a small JSON patch. Otherwise it is the HTML of the ranking and of the requested side panels
    (`weights`, `filters`). The header `x-address` contains the address of the ranking, and `x-profile` contains the
    name of its weight profile.
    """
    requested_panels = ctx.request.query_params.getlist("panel")
    panels = [panel for panel in _PANELS if panel in requested_panels]

    state = await read_rank_page_state(ctx)
    page = await load_rank_page(ctx, state, with_filters="filters" in panels)
    response = _render_update(ctx, page, panels)

    canonical_query = page.state.query(previous_ids=())
    cookies.write_last_ranking(response, ctx.request, canonical_query)
    response.headers["x-address"] = f"{HOME}{canonical_query}"
    response.headers["x-profile"] = page.state.profile or ""
    return response


def _render_update(ctx: PageContext, page: RankPage, panels: Sequence[str]) -> Response:
    """Return a ranking as a patch if the browser shows the same layout, or otherwise as HTML."""
    shown_layout = ctx.request.query_params.get("layout")
    if page.layout_digest and page.layout_digest == shown_layout:
        patch = ranking_patch(page.state, page.ranking, ctx.localizer)
        return Response(msgspec.json.encode(patch), media_type="application/json")

    return ctx.render_template(
        "rank_live.html", panels=panels, localized_label=weighted_criteria.localized_label, **page.variables()
    )


async def filter_values_page(ctx: PageContext) -> Response:
    """Show all values of a list filter; the filter form shows only the most frequent values.

    The page is a form that leads back to the ranking, with hidden fields for the rest of the state. Beside each value,
    it shows how many datasets have this value and pass all other filters.
    """
    name = ctx.path_params["name"]
    if FILTERS.get(name) is not FilterInput.WORDS:
        raise NotFound

    search = _read_value_search(ctx, name)
    state = await read_rank_state(ctx)
    other_names = [other_name for other_name in state.filters if other_name != name]
    state_without_filter = state.with_filters_only(other_names)
    facets = await _fetch_facets_leniently(ctx, state_without_filter)

    return await ctx.render(
        "values.html",
        address_notes=await describe_ignored_settings(ctx, _VALUE_SEARCH),
        values=list_values(search, state, facets, ctx.localizer),
        state=state,
        fields=state_without_filter.change(page=1).pairs,
    )


def _read_value_search(ctx: PageContext, name: str) -> ValueSearch:
    """Return the search in the address, or a search for all values if it has none."""
    query = ctx.request.query_params
    text = query.get("values_search", "").strip()[:_MAX_SEARCH_LENGTH]
    shows_all = "values_search_all" in query
    page = parse_small_integer(query.get("values_page", "")) or 1

    return ValueSearch(name=name, text="" if shows_all else text, page=page)


async def search_suggestions(ctx: PageContext) -> Response:
    """Return names, domains and tasks that complete the text in the search field."""
    text = ctx.request.query_params.get("q", "").strip()[:_MAX_SEARCH_LENGTH]
    suggestions = (await ctx.api.suggest(text)).suggestions if text else []

    completions = []
    for suggestion in suggestions:
        kind = ctx.text(f"suggestion_{suggestion.kind}")
        completions.append({"text": suggestion.text, "label": f"{suggestion.text} · {kind}"})
    return Response(msgspec.json.encode(completions), media_type="application/json")


async def load_rank_page(ctx: PageContext, state: RankState, *, with_filters: bool) -> RankPage:
    """Request a ranking from the API, and return the variables of the templates of the rank page.

    Args:
        ctx: the request.
        state: the state of the rank page.
        with_filters: whether to build the filter form, which takes a second request for the number of records for each
            choice.
    """
    localizer = ctx.localizer
    ranked = await _fetch_ranked_state(ctx, state)
    state = ranked.state  # on an existing page of the ranking

    groups: tuple[FilterGroup, ...] = ()
    if with_filters:
        facets = await _fetch_facets(ctx, state, ranked.invalid_filters)
        groups = filter_groups(state, facets, localizer)

    description = await ctx.criteria()
    criteria = weighted_criteria.weighted_criteria(description, state, localizer)
    used_criteria = weighted_criteria.criteria_with_weight(criteria)
    background = await load_background(ctx, state, ranked.ranking)
    table = rank_table.build_rank_table(ranked.ranking, criteria, state, localizer, background)
    announcement = "" if ranked.problem else rank_table.describe_result(table, state, localizer)

    # The state contains at most as many pins as can be compared, but the address may contain more.
    pin_count = len(set(ctx.request.query_params.getlist("pin")))

    return RankPage(
        state=state,
        criteria=criteria,
        used=used_criteria,
        shares_text=weighted_criteria.describe_shares(used_criteria, localizer),
        ranking=table,
        heat_map_classes=weighted_criteria.heat_map_classes(used_criteria),
        criteria_width=weighted_criteria.CRITERIA_WIDTH,
        profiles=description["profiles"],
        assurances=tuple(Assurance),
        codebook=CODEBOOK,
        groups=groups,
        chips=filter_chips(state, localizer),
        gate_groups=gate_groups(state, localizer),
        gate_chips=gate_chips(state, localizer),
        layout_digest=layout_digest(state, used_criteria, table, localizer),
        announcement=announcement,
        filter_problem=ranked.problem,
        field_problems=_field_problems(ranked.invalid_filters, state.invalid_gates, localizer),
        too_many_pins=pin_count > MAX_PINS,
        ignored_parameters=await describe_ignored_settings(ctx, _PARAMETERS_OUTSIDE_STATE),
    )


async def _fetch_ranked_state(ctx: PageContext, state: RankState) -> RankedState:
    """Request the ranking that a state of the rank page describes, and return both.

    If a filter or a gate is invalid, or the API cannot search by words yet, the ranking is empty and the result has a
    message. If the page number is beyond the last page, the result contains the last page, and its state has the number
    of that page.
    """
    invalid_filters = state.invalid_filters
    problems = _field_problems(invalid_filters, state.invalid_gates, ctx.localizer)
    if problems:
        return RankedState(state, EMPTY_RANKING, invalid_filters, problem=" ".join(problems.values()))

    try:
        ranking = await fetch_ranking(ctx, state)
    except TouchstoneError as error:
        # The API checks filters more strictly than the page, and cannot search by words while it builds its text index.
        is_filter_refused = error.status == Invalid.status
        is_index_building = error.code == IndexBuilding.code
        if not (is_filter_refused or is_index_building):
            raise
        refused_filters = _filters_named_by(error, state)
        problem = localize_error(error, ctx.localizer).detail
        return RankedState(state, EMPTY_RANKING, refused_filters, problem=problem)

    is_beyond_last_page = ranking.total_count > 0 and not ranking.datasets
    if is_beyond_last_page:
        state = state.change(page=rank_table.count_pages(ranking))
        ranking = await fetch_ranking(ctx, state)
    return RankedState(state, ranking)


def _field_problems(
    invalid_filters: Iterable[str], invalid_gates: Iterable[str], localizer: Localizer
) -> dict[str, str]:
    """Return the messages about invalid filters and gates, by field name."""
    problems = {name: invalid_filter_message(name, localizer) for name in invalid_filters}
    for name in invalid_gates:
        problems[GATE_PREFIX + name] = invalid_gate_message(name, localizer)
    return problems


def _filters_named_by(error: TouchstoneError, state: RankState) -> tuple[str, ...]:
    """Return the names of those filters in a state that an error of the API is about."""
    # Only the search by words needs the index that the API is still building.
    if error.code == IndexBuilding.code:
        return (SEARCH,)

    names_in_error = {str(name) for field_error in error.errors for name in field_error.get("loc", ())}
    return tuple(name for name in state.filters if name in names_in_error)


async def _existing_pins(ctx: PageContext, page: RankPage) -> tuple[int, ...]:
    """Return the pinned datasets that still exist.

    Datasets in the ranking exist, so only the others have to be requested.
    """
    pins = page.state.pins
    ranked_ids = page.ranking.ids
    other_pins = [pin for pin in pins if pin not in ranked_ids]
    other_datasets = await find_datasets(ctx, other_pins)

    existing_ids = {*ranked_ids, *(dataset.id for dataset in other_datasets)}
    return tuple(pin for pin in pins if pin in existing_ids)


async def _fetch_facets(ctx: PageContext, state: RankState, invalid_filters: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the number of records for each choice in the filter form, ignoring the invalid filters."""
    valid_names = [name for name in state.filters if name not in invalid_filters]
    valid_state = state.with_filters_only(valid_names)
    return await ctx.api.get_facets(assurance=state.assurance, **valid_state.filter_body())


async def _fetch_facets_leniently(ctx: PageContext, state: RankState) -> Mapping[str, Any]:
    """Return the number of records for each choice in the filter form.

    If the API refuses a filter, the records are counted in the whole catalog.
    """
    try:
        return await _fetch_facets(ctx, state, state.invalid_filters)
    except TouchstoneError as error:
        if error.status != Invalid.status:
            raise
        return await ctx.api.get_facets(assurance=state.assurance)


ROUTES: Final = (
    Route(HOME, page_endpoint(rank_page)),
    Route("/app/suggestions", page_endpoint(search_suggestions)),
    Route("/app/parts/ranking", page_endpoint(live_ranking)),
    Route("/app/values/{name:str}", page_endpoint(filter_values_page)),
)
