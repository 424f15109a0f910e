"""The `ranking.columns` package."""
