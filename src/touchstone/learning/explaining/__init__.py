"""Explanations of trained models and of tables; one method per module."""
