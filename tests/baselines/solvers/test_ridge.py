import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.solvers.ridge import center_products, inner_products, solve_positive


def test_solution_solves_the_system(rng):
    table, right = rng.normal(size=(7, 4)), rng.normal(size=(7, 2))
    diagonal = rng.uniform(0.1, 1, size=7)
    solution = solve_positive(table @ table.T, diagonal, right)
    np.testing.assert_allclose((table @ table.T + np.diag(diagonal)) @ solution, right, atol=1e-10)


def test_solution_is_finite_when_the_diagonal_drowns_in_rounding(rng):
    duplicates = 1e8 * np.repeat(rng.normal(size=(3, 5)), 4, axis=0)
    right = np.repeat(rng.normal(size=(3, 2)), 4, axis=0)
    products = duplicates @ duplicates.T
    solution = solve_positive(products, 1e-12, right)
    np.testing.assert_allclose(products @ solution, right, rtol=1e-6)


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_centered_products_equal_products_of_centered_rows(rng, as_given):
    table = rng.normal(size=(6, 3)) + 2
    centered, with_mean = center_products(inner_products(as_given(table)))
    rows = table - table.mean(axis=0)
    np.testing.assert_allclose(centered, rows @ rows.T, atol=1e-12)
    np.testing.assert_allclose(with_mean, rows @ table.mean(axis=0), atol=1e-12)
