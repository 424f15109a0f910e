"""The `ranking.kernels` package."""
