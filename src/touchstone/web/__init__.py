"""The web pages under /app/, which use only the public API."""
