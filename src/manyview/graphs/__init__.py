"""Graphs of views: neighbors, normalization, and one sparse support for all graphs."""
