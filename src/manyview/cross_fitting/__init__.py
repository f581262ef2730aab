"""Predictions for labels that a model did not see, and what they are good for."""
