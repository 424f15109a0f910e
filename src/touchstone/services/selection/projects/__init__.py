"""Projects: the requirements of a user for datasets, the chosen dataset, and snapshots of the recommendations."""
