"""Run the benchmark with `python -m benchmarks.learning`."""

from benchmarks.learning.command import main

if __name__ == "__main__":
    main()
