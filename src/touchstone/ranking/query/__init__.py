"""The `ranking.query` package."""
