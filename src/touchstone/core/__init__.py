"""The shared vocabulary of every room; imports nothing of ours but itself."""
