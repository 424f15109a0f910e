"""The `services` package."""
