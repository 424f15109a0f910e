"""The `ranking.reasons` package."""
