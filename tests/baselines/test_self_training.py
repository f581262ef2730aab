import numpy as np
from sklearn.semi_supervised import SelfTrainingClassifier

from manyview.baselines.bases.concatenated import concatenate_views
from manyview.baselines.self_training import (
    SelfTrainingSVMClassifier,
    class_quotas,
    most_confident,
    most_confident_by_class,
)
from manyview.baselines.svm import SoftmaxSVC
from manyview.data.views import MultiView


def test_most_confident_selection_equals_scikit_learn(tiny_views):
    model = SelfTrainingSVMClassifier(selection="most-confident")
    model.fit(tiny_views.views, tiny_views.known_labels)
    _, table = concatenate_views(MultiView(tiny_views.views), "unit")
    reference = SelfTrainingClassifier(SoftmaxSVC(), criterion="k_best", k_best=5, max_iter=None)
    reference.fit(table, tiny_views.known_labels)
    np.testing.assert_array_equal(model.pseudo_labels_, reference.transduction_)
    np.testing.assert_array_equal(model.labeled_iter_, reference.labeled_iter_)
    np.testing.assert_allclose(model.label_distributions_, reference.predict_proba(table))


def test_most_confident_takes_the_largest_probabilities():
    probabilities = np.array([[0.3, 0.7], [0.9, 0.1], [0.45, 0.55], [0.2, 0.8]])
    assert most_confident(probabilities, 2).tolist() == [-1, 0, -1, 1]


def test_by_class_a_class_that_never_wins_gets_its_best_samples():
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
    assert most_confident_by_class(probabilities, np.array([2, 1])).tolist() == [0, 0, -1, 1]


def test_by_class_takes_no_more_than_there_are_samples():
    assert most_confident_by_class(np.array([[0.6, 0.4]]), np.array([5, 5])).tolist() == [0]


def test_class_quotas_leave_no_class_out():
    assert class_quotas(np.array([0.98, 0.01, 0.01]), 10).tolist() == [10, 1, 1]
    assert class_quotas(np.full(10, 0.1), 10).tolist() == [1] * 10


def test_each_iteration_keeps_the_class_frequencies_of_the_labels(tiny_views):
    model = SelfTrainingSVMClassifier(fraction_per_iter=0.25)
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert model.n_iter_ == 4
    for number in (1, 2, 3):
        chosen = model.pseudo_labels_[model.labeled_iter_ == number]
        assert np.bincount(chosen).tolist() == [4, 4, 4]


def test_given_labels_are_never_changed(tiny_views):
    model = SelfTrainingSVMClassifier().fit(tiny_views.views, tiny_views.known_labels)
    known = tiny_views.known_labels >= 0
    np.testing.assert_array_equal(model.pseudo_labels_[known], tiny_views.known_labels[known])
    np.testing.assert_array_equal(model.labeled_iter_ == 0, known)


def test_no_iterations_run_when_all_samples_are_labeled(tiny_views):
    model = SelfTrainingSVMClassifier().fit(tiny_views.views, tiny_views.labels)
    assert model.n_iter_ == 0


def test_a_large_class_does_not_absorb_the_others(rng):
    truth = np.repeat([0, 1, 2], [60, 30, 30])  # nearly orthogonal, as text is
    topics = rng.random((3, 400)) < 0.04
    words = (rng.random((120, 400)) < 0.01 + 0.12 * topics[truth]).astype(float)
    labels = np.where(np.arange(120) % 6 == 0, truth, -1)
    absorbed = SelfTrainingSVMClassifier(selection="most-confident").fit([words], labels)
    assert np.mean(absorbed.transduction_ == 0) > 0.8
    model = SelfTrainingSVMClassifier().fit([words], labels)
    assert np.mean(model.transduction_ == truth) > 0.75
