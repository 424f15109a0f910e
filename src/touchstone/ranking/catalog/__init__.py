"""The catalog in memory: writes, immutable views, and the parts that a view combines."""
