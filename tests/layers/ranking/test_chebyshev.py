"""Sixteen Chebyshev points represent an interval."""

import torch

from manyview.layers.ranking.chebyshev import (
    N_POINTS,
    chebyshev_coefficients,
    chebyshev_points,
    chebyshev_polynomials,
    halves_to_whole,
)

CPU = torch.device("cpu")


def test_polynomials_are_cosines_of_multiples(generator):
    places = 2 * torch.rand(50, generator=generator, dtype=torch.float64) - 1
    degrees = torch.arange(N_POINTS)
    expected = torch.cos(degrees * torch.acos(places)[:, None])
    torch.testing.assert_close(chebyshev_polynomials(places), expected)


def test_coefficients_of_a_polynomial_are_found_from_its_points():
    values = chebyshev_polynomials(chebyshev_points(CPU))  # [point, degree]
    found = values.T @ chebyshev_coefficients(CPU)
    torch.testing.assert_close(found, torch.eye(N_POINTS, dtype=torch.float64))


def test_weights_of_two_halves_sum_polynomials_as_the_whole_does(generator):
    weights = torch.rand(2, N_POINTS, generator=generator, dtype=torch.float64)
    points = chebyshev_points(CPU)
    whole = weights.flatten() @ halves_to_whole(CPU)
    halves = torch.stack([(points - 1) / 2, (points + 1) / 2])
    for degree in (0, 1, 7, N_POINTS - 1):
        expected = (weights * halves**degree).sum()
        torch.testing.assert_close((whole * points**degree).sum(), expected)
