"""The index over a large catalog: how it is built, stored, and how queries are translated for it."""
