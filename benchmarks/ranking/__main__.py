"""`python -m benchmarks.ranking [SIZE …]`."""

from benchmarks.ranking import main

main()
