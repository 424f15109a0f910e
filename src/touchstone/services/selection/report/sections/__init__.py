"""The sections of a report: each module puts one part of what the report states into words."""
