"""Runs: data in, a fitted model, its answers and its record out, in a folder."""
