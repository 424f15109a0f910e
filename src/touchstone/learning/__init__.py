"""Pure machine learning on tables; no web, no SQL."""
