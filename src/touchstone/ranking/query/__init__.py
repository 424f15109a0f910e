"""Queries to a catalog: predicates, sort orders and facets, and their evaluation over a segment."""
