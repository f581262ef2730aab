"""Callbacks: what a fit tells while it runs, and who may listen."""
