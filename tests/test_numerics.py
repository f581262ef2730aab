"""Scores become probabilities: softmax, normalized rows, projection onto the simplex."""

import hypothesis
import hypothesis.extra.numpy
import numpy as np
import pytest
from hypothesis import strategies

from manyview.numerics import normalize_rows, project_to_simplex, softmax


def test_softmax_equals_its_formula_and_survives_large_logits(rng):
    logits = rng.normal(size=(5, 4))
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(softmax(logits), expected)
    np.testing.assert_allclose(softmax(logits + 1e6), expected, rtol=1e-6)
    np.testing.assert_array_equal(softmax(np.array([[1000.0, -1000.0]])), [[1.0, 0.0]])


def test_evidence_is_shared_out_however_small_and_zeros_get_the_fallback():
    evidence = np.array([[1e-300, 3e-300], [0.0, 0.0], [5e-324, 0.0], [2.0, -1e-9]])
    shares = normalize_rows(evidence, fallback=np.array([0.3, 0.7]))
    np.testing.assert_allclose(shares, [[0.25, 0.75], [0.3, 0.7], [1.0, 0.0], [1.0, 0.0]])


def literal_projection(row):
    """Loop over rho = max{j : u_j + (1 - sum_{h<=j} u_h) / j > 0}, then shift and clip."""
    descending = sorted(row, reverse=True)
    shift = 0.0
    for j in range(1, len(row) + 1):
        candidate = (1 - sum(descending[:j])) / j
        if descending[j - 1] + candidate > 0:
            shift = candidate
    return [max(value + shift, 0.0) for value in row]


any_rows = hypothesis.extra.numpy.arrays(
    np.float64,
    strategies.tuples(strategies.integers(1, 4), strategies.integers(1, 7)),
    elements=strategies.floats(-5, 5, width=32),
)


@hypothesis.given(rows=any_rows)
def test_projection_equals_a_literal_loop(rows):
    expected = [literal_projection(row) for row in rows.tolist()]
    np.testing.assert_allclose(project_to_simplex(rows), expected, atol=1e-12)


@hypothesis.given(rows=any_rows)
def test_projection_meets_the_optimality_conditions(rows):
    projected = project_to_simplex(rows)
    assert (projected >= 0).all()
    np.testing.assert_allclose(projected.sum(axis=1), 1, atol=1e-12)
    for row, nearest in zip(rows, projected, strict=True):
        moved = nearest - row
        shift = moved[nearest > 0].mean()
        np.testing.assert_allclose(moved[nearest > 0], shift, atol=1e-12)
        assert (row[nearest == 0] + shift <= 1e-12).all()


@hypothesis.given(rows=any_rows)
def test_projection_keeps_the_order_of_entries(rows):
    order = np.argsort(rows, axis=1)
    projected = project_to_simplex(rows)
    assert (np.diff(np.take_along_axis(projected, order, axis=1), axis=1) >= 0).all()


def test_no_point_of_the_simplex_is_nearer(rng):
    row = rng.normal(size=4)
    others = rng.dirichlet(np.full(4, 0.5), size=2000)
    reach = np.linalg.norm(project_to_simplex(row[None])[0] - row)
    assert reach <= np.linalg.norm(others - row, axis=1).min()


def test_points_of_the_simplex_stay_where_they_are(rng):
    inside = rng.dirichlet(np.ones(5), size=20)
    corners = np.eye(5)
    rows = np.concatenate([inside, corners])
    np.testing.assert_allclose(project_to_simplex(rows), rows, atol=1e-15)


def test_projection_does_not_change_when_a_row_is_shifted(rng):
    rows = rng.normal(size=(10, 6))
    shifted = rows + rng.normal(size=(10, 1))
    np.testing.assert_allclose(project_to_simplex(shifted), project_to_simplex(rows), atol=1e-12)


@pytest.mark.parametrize("size", [1e8, -1e8, 1e12])
def test_large_rows_still_sum_to_one(rng, size):
    projected = project_to_simplex(size + rng.integers(0, 3, size=(20, 5)) / 4)
    np.testing.assert_allclose(projected.sum(axis=1), 1, rtol=1e-14)


def test_equal_entries_share_evenly():
    np.testing.assert_allclose(project_to_simplex(np.full((1, 4), 7)), 0.25)


def test_projection_leaves_its_input_alone(rng):
    rows = rng.normal(size=(3, 4))
    before = rows.copy()
    project_to_simplex(rows)
    np.testing.assert_array_equal(rows, before)
