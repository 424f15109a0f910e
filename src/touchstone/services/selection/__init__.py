"""The selection backend: the catalog of dataset records, scores and recommendations, projects, and uploads."""
