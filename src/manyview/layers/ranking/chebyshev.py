"""Sixteen Chebyshev points, which represent a smooth function on a whole interval.

A polynomial of degree 15 is determined by its values at the points, so a sum over many places
is a sum over the points: sum_i w_i f(x_i) = sum_k W_k f(x_k) for such a polynomial f.
"""

from functools import cache
from math import pi

import torch
from torch import Tensor

N_POINTS = 16


@cache
def chebyshev_points(device: torch.device) -> Tensor:
    """Return the points, in (-1, 1): [point]."""
    order = torch.arange(N_POINTS, dtype=torch.float64, device=device)
    return -torch.cos((2 * order + 1) * (pi / (2 * N_POINTS)))


def chebyshev_polynomials(places: Tensor, dim: int = -1) -> Tensor:
    """Evaluate the polynomials of degree 0 to 15 at places in [-1, 1]; `dim` is the degree."""
    shape = list(places.shape)
    shape.insert(dim % (places.ndim + 1), N_POINTS)
    values = places.new_empty(shape)
    by_degree = values.unbind(dim)
    by_degree[0].fill_(1.0)
    by_degree[1].copy_(places)
    twice = 2 * places
    for degree in range(2, N_POINTS):
        torch.mul(twice, by_degree[degree - 1], out=by_degree[degree]).sub_(by_degree[degree - 2])
    return values


@cache
def chebyshev_coefficients(device: torch.device) -> Tensor:
    """Return the matrix from values at the points to Chebyshev coefficients: [point, degree].

    The polynomials are orthogonal on the points, so these are their values, scaled.
    """
    polynomials = chebyshev_polynomials(chebyshev_points(device)) * (2 / N_POINTS)
    polynomials[:, 0] /= 2
    return polynomials


@cache
def halves_to_whole(device: torch.device) -> Tensor:
    """Return the matrix from weights at the points of two halves to those of the whole.

    Shapes
    ------
    returns : [point of the first half, then of the second; point of the whole]
    """
    points = chebyshev_points(device)
    places = torch.cat([points - 1, points + 1]) / 2
    return chebyshev_polynomials(places) @ chebyshev_coefficients(device).T
