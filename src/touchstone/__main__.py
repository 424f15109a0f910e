"""Entry point of `python -m touchstone`, which runs the command line."""

from touchstone.cli import main

if __name__ == "__main__":
    main()
