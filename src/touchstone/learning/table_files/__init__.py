"""Readers of table files, with one module per format."""
