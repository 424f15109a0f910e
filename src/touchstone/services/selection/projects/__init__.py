"""The `services.selection.projects` package."""
