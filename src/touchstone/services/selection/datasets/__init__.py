"""The `services.selection.datasets` package."""
