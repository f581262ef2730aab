"""Runs: one fit, with its model, predictions and record in a folder."""
