"""The `services.selection.files` package."""
