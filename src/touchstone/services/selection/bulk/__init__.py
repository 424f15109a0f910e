"""Bulk import: records as a stream of JSON Lines of any length, stored in transactions of a bounded size."""
