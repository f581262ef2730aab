"""Explanations: which neighbors and views contributed to a prediction."""
