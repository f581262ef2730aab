"""Which views both ends of a pair have."""

import numpy as np
import pytest
import torch

from manyview.graphs.view_masks import MAX_BITS, find_view_masks


@pytest.mark.parametrize("n_views", [1, 3, MAX_BITS, MAX_BITS + 1])
def test_total_equals_a_literal_loop(n_views, rng):
    present = rng.random((12, n_views)) < 0.6
    present[:, 0] |= ~present.any(axis=1)
    present[0, 0] = False
    lower, higher = rng.integers(12, size=(2, 40))
    coefficients = rng.random(n_views)
    expected = [
        sum(
            c
            for c, one, other in zip(coefficients, present[i], present[j], strict=True)
            if one and other
        )
        for i, j in zip(lower, higher, strict=True)
    ]
    found = find_view_masks(present, lower, higher)
    total = found.total(torch.from_numpy(coefficients))
    np.testing.assert_allclose(total.numpy(), expected)


def test_many_pairs_have_few_masks(rng):
    present = np.ones((50, 3), dtype=bool)
    present[::5, 1] = False
    found = find_view_masks(present, *rng.integers(50, size=(2, 1000)))
    assert found.masks.tolist() == [[True, False, True], [True, True, True]]


def test_there_are_no_masks_where_all_samples_have_all_views():
    assert find_view_masks(np.ones((3, 2), dtype=bool), np.arange(3), np.arange(3)) is None
