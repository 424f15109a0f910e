"""Why a dataset has its rank: comparisons, what would raise it, and how stable the first places are."""
