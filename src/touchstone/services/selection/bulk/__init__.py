"""Bulk import of records from JSON Lines or a Parquet file, in transactions of bounded size."""
