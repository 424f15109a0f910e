"""The version of the formulas for criteria and scores."""

from typing import Final

FORMULA_VERSION: Final = "1"
"""The version, which changes whenever the same records and weights would get different criteria, scores or ranks.

Choices and snapshots store it, so that a replay can distinguish a change of the formulas from a change of the data.
"""
