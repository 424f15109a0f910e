"""`python -m touchstone`: the command line."""

from touchstone.cli import main

if __name__ == "__main__":
    main()
