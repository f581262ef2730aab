import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from manyview.baselines.bases.concatenated import concatenate_views
from manyview.baselines.knn import KNNClassifier, choose_n_voters, vote_fractions
from manyview.data.views import MultiView


@pytest.mark.parametrize("n_neighbors", [1, 3, 5])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_vote_fractions_equal_those_of_scikit_learn(rng, n_neighbors, as_given):
    voters, queries = rng.normal(size=(30, 6)), rng.normal(size=(50, 6))
    y_encoded = np.arange(30) % 4
    reference = KNeighborsClassifier(n_neighbors).fit(voters, y_encoded).predict_proba(queries)
    votes = vote_fractions(as_given(queries), as_given(voters), y_encoded, n_neighbors, 4)
    np.testing.assert_allclose(votes, reference)


@pytest.mark.parametrize("unit", [1e-25, 1e25])
def test_vote_fractions_do_not_depend_on_the_unit_of_length(rng, unit):
    voters, queries, y_encoded = rng.normal(size=(9, 2)), rng.normal(size=(9, 2)), np.arange(9) % 3
    plain = vote_fractions(queries, voters, y_encoded, 3, 3)
    scaled = vote_fractions(unit * queries, unit * voters, y_encoded, 3, 3)
    np.testing.assert_array_equal(scaled, plain)


def test_classifier_equals_scikit_learn_on_the_views_side_by_side(tiny_views):
    model = KNNClassifier(n_neighbors=3).fit(tiny_views.views, tiny_views.known_labels)
    _, table = concatenate_views(MultiView(tiny_views.views), "unit")
    known = tiny_views.known_labels >= 0
    reference = KNeighborsClassifier(3).fit(table[known], tiny_views.known_labels[known])
    np.testing.assert_allclose(model.label_distributions_, reference.predict_proba(table))


def test_tie_goes_to_the_first_class():
    views = [np.array([[0.0], [2.0], [1.1]])]
    model = KNNClassifier(n_neighbors=2, scaling="none").fit(views, ["b", "a", None])
    assert model.transduction_[2] == "a"


def test_voters_are_never_more_than_the_labels_of_a_class():
    assert [choose_n_voters(n, 5) for n in (5, 9, 10, 15, 24, 25, 900)] == [1, 1, 1, 3, 3, 5, 5]


def test_all_labeled_samples_vote_when_more_are_asked_for(tiny_views):
    model = KNNClassifier(n_neighbors=50).fit(tiny_views.views, tiny_views.known_labels)
    assert model.n_neighbors_ == 12
    np.testing.assert_allclose(model.label_distributions_, 1 / 3)


def test_planted_classes_are_found(tiny_views):
    model = KNNClassifier().fit(tiny_views.views, tiny_views.known_labels)
    assert model.n_neighbors_ == 3
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.95


def test_new_samples_are_labeled_as_if_they_had_been_in_the_fit(tiny_views):
    views, rows = MultiView(tiny_views.views), np.arange(60)[tiny_views.known_labels < 0][:20]
    rest = np.setdiff1d(np.arange(60), rows)
    whole = KNNClassifier(scaling="none").fit(views, tiny_views.known_labels)
    part = KNNClassifier(scaling="none").fit(views[rest], tiny_views.known_labels[rest])
    np.testing.assert_array_equal(part.predict_proba(views[rows]), whole.label_distributions_[rows])
