"""Nearest neighbors in exact fractions."""

from fractions import Fraction

import numpy as np


def exact_neighbors(queries, points, n_neighbors, metric, among_themselves):
    """Rows of the nearest points in exact fractions; equal distances by row number."""
    found = []
    for i, query in enumerate(queries):
        candidates = []
        for j, point in enumerate(points):
            if among_themselves and i == j:
                continue
            product = sum(Fraction(a) * Fraction(b) for a, b in zip(query, point, strict=True))
            if metric == "cosine":
                if product == 0:
                    continue
                lengths = sum(Fraction(a) ** 2 for a in query) * sum(
                    Fraction(b) ** 2 for b in point
                )
                nearness = product * abs(product) / lengths  # sign(cos) cos^2 orders as cos does
            else:
                nearness = -sum(
                    (Fraction(a) - Fraction(b)) ** 2 for a, b in zip(query, point, strict=True)
                )
            candidates.append((-nearness, j))
        chosen = [j for _, j in sorted(candidates)[:n_neighbors]]
        found.append(chosen + [-1] * (n_neighbors - len(chosen)))
    return np.array(found).reshape(len(queries), n_neighbors)
