"""The handlers of the pages, grouped by the address they serve."""
