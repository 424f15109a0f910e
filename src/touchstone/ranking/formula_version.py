"""The version of the formulas by which criteria and scores are computed."""

from typing import Final

FORMULA_VERSION: Final = "1"
"""Changes whenever the same records and weights would have other criteria, scores or places than before.

Choices and snapshots keep it, so that a replay can tell a change of the formulas from a change of the data.
"""
