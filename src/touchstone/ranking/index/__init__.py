"""The `ranking.index` package."""
