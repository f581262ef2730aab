import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelSpreading

from manyview.baselines.bases.concatenated import concatenate_views
from manyview.baselines.label_spreading import LabelSpreadingClassifier
from manyview.data.views import MultiView


def test_predictions_equal_those_of_scikit_learn(tiny_views):
    views = MultiView(tiny_views.views)
    rest = np.arange(60) % 5 != 0
    model = LabelSpreadingClassifier().fit(views[rest], tiny_views.known_labels[rest])
    concatenator, table = concatenate_views(views[rest], "unit")
    reference = LabelSpreading(kernel="knn").fit(table, tiny_views.known_labels[rest])
    np.testing.assert_allclose(model.label_distributions_, reference.label_distributions_)
    np.testing.assert_allclose(
        model.predict_proba(views[~rest]), reference.predict_proba(concatenator(views[~rest]))
    )
    assert model.is_reached_.all()


def test_predictions_solve_the_fixed_point(tiny_views):
    model = LabelSpreadingClassifier(tol=1e-12, max_iter=200, alpha=0.5)
    model.fit(tiny_views.views, tiny_views.known_labels)
    _, table = concatenate_views(MultiView(tiny_views.views), "unit")
    distances = ((table[:, None] - table) ** 2).sum(axis=2)
    graph = np.zeros((60, 60))
    for sample, row in enumerate(distances):
        graph[sample, np.argsort(row, kind="stable")[:7]] = 1.0  # itself first
    np.fill_diagonal(graph, 0)
    degrees = np.maximum(graph.sum(axis=0), 1)
    spread = graph / np.sqrt(degrees) / np.sqrt(degrees)[:, None]
    given = np.eye(3)[tiny_views.known_labels] * (tiny_views.known_labels >= 0)[:, None]
    fixed_point = np.linalg.solve(np.eye(60) - 0.5 * spread, 0.5 * given)
    expected = fixed_point / fixed_point.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distributions_, expected, atol=1e-8)


def two_islands():
    view = np.repeat([[0.0, 1.0], [5.0, 1.0]], 6, axis=0) + np.arange(12)[:, None] * 1e-3
    return [view], np.array([0, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1])


def test_samples_out_of_reach_get_the_class_frequencies():
    views, labels = two_islands()
    model = LabelSpreadingClassifier(n_neighbors=3, scaling="none").fit(views, labels)
    assert model.is_reached_[:6].all()
    assert not model.is_reached_[6:].any()
    np.testing.assert_allclose(model.label_distributions_[6:], np.tile([1 / 3, 2 / 3], (6, 1)))
    np.testing.assert_allclose(model.predict_proba([[[5.0, 1.0]]]), [[1 / 3, 2 / 3]])


def test_number_of_neighbors_is_at_most_all_samples(rng):
    model = LabelSpreadingClassifier().fit([rng.normal(size=(6, 2))], [0, 1, -1, -1, -1, -1])
    assert model.n_neighbors_ == 6


def test_fit_warns_when_labels_do_not_converge(tiny_views):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LabelSpreadingClassifier(max_iter=1).fit(tiny_views.views, tiny_views.known_labels)


def test_planted_classes_are_found(tiny_views):
    model = LabelSpreadingClassifier().fit(tiny_views.views, tiny_views.known_labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.95
    assert model.n_iter_ < 30
