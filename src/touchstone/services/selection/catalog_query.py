"""Building of queries to the catalog from the values of filters and from search criteria."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from touchstone.ranking.query.predicates import Contains, FlagEquals, FullText, Predicate, Query, Range, Visible
from touchstone.services.selection.datasets.schemas import SearchCriteria
from touchstone.services.selection.datasets.scoring_request import RankingOptions, ScoringRequest
from touchstone.services.selection.filters import FILTER_PARAMETERS, FILTERS
from touchstone.services.selection.gates import gate_predicates
from touchstone.services.selection.parameters import ParameterValue

_PREDICATES: Final = {catalog_filter.parameter.name: catalog_filter.predicate for catalog_filter in FILTERS}


def build_query(values: Mapping[str, ParameterValue], viewer: UUID | None) -> Query:
    """Return the query for the records that satisfy all given filters and that the viewer may see.

    `values` are parsed parameters by name; those that are not filters, such as `page`, are ignored. `viewer` is the id
    of the user, or None for an anonymous one.
    """
    predicates = [_PREDICATES[name](value) for name, value in values.items() if name in _PREDICATES]
    return (Visible(viewer), *predicates)


def build_ranking_query(scoring: ScoringRequest, options: RankingOptions, viewer: UUID | None) -> Query:
    """Return the query for the records that a scoring request ranks and that the viewer may see.

    They satisfy all of its filters and, if the options say so, pass all of its gates.
    """
    query = build_query(scoring.filters, viewer)
    return (*query, *gate_predicates(scoring.gates)) if options.only_passing else query


def build_search_query(criteria: SearchCriteria, viewer: UUID | None) -> Query:
    """Return the query for the records that satisfy all criteria of a search and that the viewer may see.

    A criterion that is left out restricts nothing. `viewer` is the id of the user, or None for an anonymous one.

    Raises:
        UnknownName: a tag does not exist.
        InvalidValue: a filter has a value that does not fit.
    """
    predicates: list[Predicate] = [Visible(viewer)]
    predicates += [FlagEquals(attribute, value=True) for attribute in criteria.tag_attributes()]
    if criteria.q:
        predicates.append(FullText(criteria.q))
    if criteria.name_contains:
        predicates.append(Contains("dataset_name", criteria.name_contains))
    if criteria.min_rows is not None:
        predicates.append(Range("instances_number", low=criteria.min_rows))

    filters = FILTER_PARAMETERS.parse_json(criteria.filters(), "body")
    predicates += [_PREDICATES[name](value) for name, value in filters.items()]
    return tuple(predicates)
