"""The catalog as its callers see it: writes, immutable views, and the parts that a view merges."""
