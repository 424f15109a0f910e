"""The sections of a report. Each module puts one part of the facts into words."""
