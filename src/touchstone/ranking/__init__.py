"""Pure columns: filter, score, order and explain datasets; no web, no SQL."""
