"""The map: neighbors come together, classes separate, and the map does not turn."""

import numpy as np
import pytest
from scipy import sparse

from manyview.labeling.embedding import first_places, move_places, turn_like


@pytest.fixture
def graph():
    return sparse.csr_array(sparse.block_diag([np.ones((20, 20)), np.ones((20, 20))]))


def spread(places, groups):
    centers = np.array([places[groups == one].mean(axis=0) for one in (0, 1)])
    inside = np.linalg.norm(places - centers[groups], axis=1).mean()
    return np.linalg.norm(centers[0] - centers[1]) / inside


def test_neighbors_come_together(graph, rng):
    groups = np.repeat([0, 1], 20)
    start = rng.normal(size=(40, 2)).astype(np.float32)
    moved = move_places(start, graph, rng, n_epochs=100)
    assert spread(moved, groups) > 3 * spread(start, groups)


def test_predicted_classes_separate(rng):
    graph = sparse.csr_array(np.ones((40, 40)))
    groups = np.repeat([0, 1], 20)
    start = rng.normal(size=(40, 2)).astype(np.float32)
    before = move_places(start, graph, rng, n_epochs=60)
    after = move_places(before, graph, rng, n_epochs=200, predictions=groups)
    assert spread(after, groups) > 2 * spread(before, groups)


def test_first_places_are_spread_and_finite(rng):
    features = np.column_stack([np.arange(50.0), np.zeros(50)])
    places = first_places(features, rng)
    assert places.shape == (50, 2)
    assert np.isfinite(places).all()
    assert abs(np.corrcoef(places[:, 0], np.arange(50))[0, 1]) > 0.99
    assert first_places(np.ones((5, 1)), rng).shape == (5, 2)


def test_a_turned_map_is_turned_back(rng):
    before = rng.normal(size=(30, 2))
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(turn_like(before @ turn + 5, before), before, atol=1e-5)
