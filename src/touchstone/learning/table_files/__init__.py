"""Readers of tables: one module per format, and what they share."""
