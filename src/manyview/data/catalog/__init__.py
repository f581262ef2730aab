"""Data sets by name, and synthetic data."""
