"""The `database` package."""
