"""Builders of catalog queries from filters and search criteria."""

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
    """Build the query for the records that satisfy all filters and are visible to the viewer.

    Args:
        values: the parsed parameters by name. Parameters other than filters, such as `page`, are ignored.
        viewer: the id of the user, or None for an anonymous user.
    """
    predicates = [_PREDICATES[name](value) for name, value in values.items() if name in _PREDICATES]
    return (Visible(viewer), *predicates)


def build_ranking_query(scoring: ScoringRequest, options: RankingOptions, viewer: UUID | None) -> Query:
    """Build the query for the records that a scoring request ranks.

    These are the records that satisfy all filters and are visible to the viewer. With `options.only_passing`, they must
    also pass all gates.
    """
    query = build_query(scoring.filters, viewer)
    if options.only_passing:
        return (*query, *gate_predicates(scoring.gates))
    return query


def build_search_query(criteria: SearchCriteria, viewer: UUID | None) -> Query:
    """Build the query for the records that satisfy all given search criteria and are visible to the viewer.

    Args:
        criteria: the search criteria. Criteria that are not given do not restrict the records.
        viewer: the id of the user, or None for an anonymous user.

    Raises:
        UnknownName: a tag does not exist.
        InvalidValue: the value of a filter is invalid.
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
