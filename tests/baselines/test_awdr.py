import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from manyview.baselines.awdr import AWDRClassifier


def test_predictions_are_votes_in_the_space_of_the_classes(tiny_views):
    model = AWDRClassifier(scaling="none").fit(tiny_views.views, tiny_views.known_labels)
    table = np.hstack(list(tiny_views.views.values()))
    scores = table @ np.vstack(model.coefficients_) + model.intercept_
    known = tiny_views.known_labels >= 0
    voters = KNeighborsClassifier(3).fit(scores[known], tiny_views.known_labels[known])
    assert model.n_neighbors_ == 3
    np.testing.assert_allclose(model.label_distributions_, voters.predict_proba(scores))


def test_wide_views_and_narrow_ones_give_the_same_predictions(tiny_views):
    """Columns of zeros change nothing but the form of the systems."""
    wide = {name: np.hstack([v, np.zeros((60, 20))]) for name, v in tiny_views.views.items()}
    labels = np.where(np.arange(60) % 2 == 0, tiny_views.labels, -1)
    narrow_model = AWDRClassifier(scaling="none").fit(tiny_views.views, labels)
    wide_model = AWDRClassifier(scaling="none").fit(wide, labels)
    np.testing.assert_allclose(wide_model.view_weights_, narrow_model.view_weights_, atol=1e-9)
    np.testing.assert_array_equal(wide_model.transduction_, narrow_model.transduction_)


def test_class_with_the_last_name_may_be_without_labels(tiny_views):
    labels = np.where(tiny_views.known_labels == 2, -1, tiny_views.known_labels)
    model = AWDRClassifier().fit(tiny_views.views, labels)
    assert model.classes_.tolist() == [0, 1]
