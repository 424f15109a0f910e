"""The `ranking.catalog` package."""
