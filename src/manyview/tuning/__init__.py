"""Tuning: choose parameters by cross-validation on the known labels."""
