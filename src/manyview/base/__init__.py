"""The contract of every method."""
