"""The optimization problems of the compared methods."""
