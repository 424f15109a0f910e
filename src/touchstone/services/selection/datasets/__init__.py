"""Dataset records: their rows, requests about them, and their answers."""
