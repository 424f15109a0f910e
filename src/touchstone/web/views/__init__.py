"""View models: what the templates show, computed from the API's answers. Nothing in here calls the API."""
