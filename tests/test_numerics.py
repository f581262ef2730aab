"""Scores made into probabilities keep their order and sum to 1."""

import numpy as np

from manyview.numerics import normalize_rows, softmax


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
