"""One explanation method a file, one verb each."""
