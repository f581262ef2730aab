"""TransductiveViews keep all samples; LabelHidingSplit hides labels and leaks nothing."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate

from manyview.baselines.amgl import AMGLClassifier
from manyview.baselines.knn import KNNClassifier
from manyview.data.cross_validation import LabelHidingSplit, TransductiveViews, labels_by_class
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS
from manyview.tuning.scorers import SCORERS


def test_rows_of_rows_keep_all_samples(tiny_views):
    some = TransductiveViews(tiny_views.views)[np.arange(60) % 2 == 0][[3, 4]]
    assert some.rows.tolist() == [6, 8]
    assert len(some.views) == 60
    assert some.shape == (2, 13)
    assert some[0].rows.tolist() == [6]


@pytest.mark.parametrize(
    ("labels", "expanded"),
    [
        (np.array([5, 7]), [-1, 5, -1, 7]),
        (np.array([5, 7], dtype=np.uint8), [-1, 5, -1, 7]),
        (np.array([0.0, np.nan]), [-1.0, 0.0, -1.0, np.nan]),
        (np.array(["a", "longer"]), [None, "a", None, "longer"]),
        (np.array(["a", None], dtype=object), [None, "a", None, None]),
        (np.array([True, False]), [None, True, None, False]),
    ],
)
def test_labels_are_expanded_and_unknown_elsewhere(labels, expanded):
    np.testing.assert_array_equal(
        TransductiveViews(np.eye(4))[[1, 3]].expand_labels(labels), expanded
    )


def test_labels_of_another_length_are_refused():
    with pytest.raises(InputError, match="got 3 labels for 2 rows"):
        TransductiveViews(np.eye(4))[[1, 3]].expand_labels([1, 2, 3])
    with pytest.raises(InputError, match="got no rows"):
        TransductiveViews(np.eye(4))[[]].expand_labels([])


def test_checksum_is_of_all_samples_and_survives_a_pickle_without_what_is_shared(tiny_views):
    samples = TransductiveViews(tiny_views.views)
    sent = pickle.loads(pickle.dumps(samples[[1, 2]]))
    assert samples[[0]].checksum() == samples.checksum() == sent.checksum()
    assert samples.shared is samples[[0]].shared
    assert samples.checksum() != TransductiveViews(tiny_views.views["shape"]).checksum()


def splits_of(labels, *args, **kwargs):
    labels = np.asarray(labels)
    return list(LabelHidingSplit(*args, random_state=3, **kwargs).split(labels, labels))


def test_a_repeat_hides_every_label_once_and_trains_on_all_others(tiny_views):
    labels = tiny_views.known_labels
    splits = splits_of(labels, 4, n_repeats=2)
    assert len(splits) == 8
    for some in (splits[:4], splits[4:]):
        hidden = np.concatenate([test for _, test in some])
        np.testing.assert_array_equal(np.sort(hidden), np.flatnonzero(labels >= 0))
    for train, test in splits:
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(60))
        assert len(test) == 3
        assert sorted(labels[test]) == [0, 1, 2]
    assert any((a != b).any() for (_, a), (_, b) in zip(splits[:4], splits[4:], strict=True))


@pytest.mark.parametrize("hidden", [None, 0.01, 0.5, 0.99])
@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_every_class_keeps_a_label(n_splits, hidden):
    labels = np.array(["a"] * 1 + ["b"] * 2 + ["c"] * 3 + ["d"] * 9 + [None] * 5, dtype=object)
    for train, test in splits_of(labels, n_splits, hidden=hidden):
        assert {"a", "b", "c", "d"} <= set(labels[train])
        assert "a" not in labels[test]
        assert None not in labels[test]
        assert len(test) >= 1


def test_a_fraction_is_hidden_in_every_class():
    labels = np.repeat([0, 1, -1], [10, 20, 5])
    for _, test in splits_of(labels, 3, hidden=0.3):
        assert np.bincount(labels[test]).tolist() == [3, 6]


def test_same_seed_gives_the_same_splits(tiny_views):
    def tests(seed):
        split = LabelHidingSplit(3, random_state=seed)
        return [test.tolist() for _, test in split.split(tiny_views.labels, tiny_views.labels)]

    assert tests(1) == tests(1) != tests(2)


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        ([0, 1, 2, -1], {}, "every class has one label at most"),
        ([0, 0, 1, -1], {"n_splits": 3}, "at most the number of labels .* 2; got 3"),
        ([0, 0, 1, 1], {"n_splits": 1}, "n_splits must be a whole number of at least 2"),
        ([0, 0, 1, 1], {"n_repeats": 0}, "n_repeats must be"),
        ([0, 0, 1, 1], {"hidden": 1.0}, "hidden must be above 0 and below 1"),
    ],
)
def test_splits_that_cannot_be_are_refused(labels, settings, message):
    with pytest.raises(InputError, match=message):
        list(LabelHidingSplit(**settings).split(labels, labels))
    with pytest.raises(InputError, match="y is None"):
        list(LabelHidingSplit().split(labels))


def test_classes_may_have_any_names():
    labels = np.array([2.0, np.nan, 10.0, 2.0])
    assert [rows.tolist() for rows in labels_by_class(labels).values()] == [[2], [0, 3]]


@pytest.mark.parametrize("name", ["mgcn-dns", "amgl", "knn", "svm"])
def test_predictions_for_hidden_samples_do_not_depend_on_their_labels(tiny_views, name):
    """Whatever the hidden labels are, scikit-learn's own fit gives the same predictions."""
    labels, samples = tiny_views.known_labels, TransductiveViews(tiny_views.views)
    model = METHODS[name]()
    quick = {"random_state": 0, "max_epochs": 5}
    model.set_params(**{key: v for key, v in quick.items() if key in model.get_params()})
    train, test = splits_of(labels, 4)[0]
    altered = labels.copy()
    altered[test] = (altered[test] + 1) % 3
    predictions = [
        cross_val_predict(
            model, samples, some, cv=[(train, test), (train, train)], method="predict_proba"
        )
        for some in (labels, altered)
    ]
    np.testing.assert_array_equal(*predictions)


def test_cross_validate_scores_the_predictions_of_a_fit_on_all_samples(tiny_views):
    labels, samples = tiny_views.known_labels, TransductiveViews(tiny_views.views)
    model = AMGLClassifier(n_neighbors=5)  # labels no new samples: all must be in the fit
    split = LabelHidingSplit(4, random_state=0)
    found = cross_validate(model, samples, labels, cv=split, scoring=SCORERS, error_score="raise")
    for number, (_, test) in enumerate(split.split(samples, labels)):
        shown = labels.copy()
        shown[test] = -1
        fitted = AMGLClassifier(n_neighbors=5).fit(tiny_views.views, shown)
        right = fitted.transduction_[test] == labels[test]
        assert found["test_accuracy"][number] == right.mean()
        column = np.searchsorted(fitted.classes_, labels[test])
        given = fitted.label_distributions_[test, column]
        np.testing.assert_allclose(found["test_neg_log_loss"][number], np.log(given).mean())


def test_cross_validate_of_plain_views_scores_new_samples(tiny_views):
    labels, views = tiny_views.known_labels, MultiView(tiny_views.views)
    split = LabelHidingSplit(3, random_state=0)
    found = cross_validate(
        KNNClassifier(n_neighbors=3), views, labels, cv=split, scoring=SCORERS["accuracy"],
        error_score="raise",
    )  # fmt: skip
    for number, (train, test) in enumerate(split.split(views, labels)):
        fitted = KNNClassifier(n_neighbors=3).fit(views[train], labels[train])
        right = fitted.predict(views[test]) == labels[test]
        assert found["test_score"][number] == right.mean()


def test_grid_search_refits_the_best_on_all_labels(tiny_views):
    labels = np.where(tiny_views.known_labels < 0, None, tiny_views.known_labels.astype(object))
    search = GridSearchCV(
        MGCNDNSClassifier(random_state=0),
        {"max_epochs": [1, 15]},
        cv=LabelHidingSplit(2, random_state=0),
        scoring=SCORERS["neg_log_loss"],
        error_score="raise",
    ).fit(TransductiveViews(tiny_views.views), labels)
    plain = MGCNDNSClassifier(random_state=0, max_epochs=15).fit(tiny_views.views, labels)
    assert search.best_params_ == {"max_epochs": 15}
    np.testing.assert_array_equal(
        search.best_estimator_.label_distributions_, plain.label_distributions_
    )
    assert search.best_estimator_.is_labeled_.sum() == 12


def test_rows_of_other_samples_are_refused(tiny_views):
    samples = TransductiveViews(tiny_views.views)
    model = KNNClassifier(n_neighbors=3).fit(samples, tiny_views.known_labels)
    assert (model.predict(samples[[4, 5]]) == model.transduction_[[4, 5]]).all()
    with pytest.raises(InputError, match="must be samples of the fit"):
        model.predict(TransductiveViews({name: 2 * v for name, v in tiny_views.views.items()}))
    with pytest.raises(InputError, match="must be samples of the fit"):
        model.fit(tiny_views.views, tiny_views.known_labels).predict(samples)
