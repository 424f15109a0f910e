"""The benchmark of the search: information needs, judgements, and measurements at scale."""
