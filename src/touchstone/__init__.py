"""Touchstone: choose data for machine learning, and answer for the choice."""
