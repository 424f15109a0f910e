"""The backend of the catalog, the scores and the projects."""
