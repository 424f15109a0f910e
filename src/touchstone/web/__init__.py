"""The pages under /app/, which speak to the public API only."""
