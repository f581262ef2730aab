"""Runs: data in, a fitted model, its predictions and its record out, in a folder."""
