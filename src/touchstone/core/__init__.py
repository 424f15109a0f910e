"""The vocabulary that every package shares. It imports no other package of Touchstone."""
