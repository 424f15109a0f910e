"""Machine learning on tables, from reading a file to a trained and explained model: no web, no SQL."""
