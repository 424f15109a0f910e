"""The command line of the product: `touchstone`."""

from touchstone.cli.main import main

__all__ = ["main"]
