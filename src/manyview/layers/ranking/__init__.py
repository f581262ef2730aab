"""Differentiable ranking: the exact sum over all ranks, and a fast one."""
