"""The index of a large catalog: its construction, its storage, and the translation of queries."""
