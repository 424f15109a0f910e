"""View models for the templates, computed from responses of the API. No view calls the API."""
