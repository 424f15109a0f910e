"""Bulk import: records as JSON Lines of any length or as a Parquet file, stored in transactions of a bounded size."""
