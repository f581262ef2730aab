"""One table of all views, filled where samples lack some of them."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import cross_validate

from manyview.baselines.bases.concatenated import concatenate_views
from manyview.baselines.bases.table import fill_absent, present_means
from manyview.data.cross_validation import TransductiveViews
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.methods import METHODS


@pytest.fixture
def incomplete(rng):
    present = np.ones((12, 3), dtype=bool)
    present[2:5, 0] = present[7, 2] = False
    views = {name: rng.random((12, width)) for name, width in {"a": 2, "b": 3, "c": 1}.items()}
    return MultiView(views, present=present)


@pytest.mark.parametrize("as_table", [np.asarray, sparse.csr_array])
def test_only_cells_of_absent_views_are_filled(incomplete, as_table):
    concatenator, table = concatenate_views(incomplete, "none")
    expected = np.array(table)
    expected[2:5, :2], expected[7, 5] = [10, 11], 15
    values = np.arange(10.0, 16)
    filled = fill_absent(as_table(table), incomplete, concatenator.scalers, values)
    assert type(filled) is type(as_table(table))
    found = filled.toarray() if sparse.issparse(filled) else filled
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert not table[2:5, :2].any()


@pytest.mark.parametrize("as_table", [np.asarray, sparse.csr_array])
def test_means_are_of_the_samples_that_have_the_view(incomplete, as_table):
    concatenator, table = concatenate_views(incomplete, "none")
    expected = [
        incomplete[name][incomplete.present[:, number]].mean(axis=0)
        for number, name in enumerate("abc")
    ]
    means = present_means(as_table(table), incomplete, concatenator.scalers)
    np.testing.assert_allclose(means, np.concatenate(expected), rtol=1e-6)


def test_a_table_of_complete_samples_is_returned_as_it_is(rng):
    views = MultiView({"a": rng.random((4, 2))})
    concatenator, table = concatenate_views(views, "none")
    assert fill_absent(table, views, concatenator.scalers, np.zeros(2)) is table


WEIGHED = ["logistic-regression", "random-forest", "hist-gradient-boosting"]


@pytest.mark.parametrize("name", WEIGHED)
def test_of_two_labels_for_the_same_values_the_heavier_one_wins(name, rng):
    values = np.repeat(rng.normal(size=(40, 2)), 2, axis=0)  # each row twice, with two labels
    labels = np.tile([0, 1], 40)
    for heavy in (0, 1):
        weights = np.where(labels == heavy, 5.0, 1.0)
        model = METHODS[name]().fit(values, labels, sample_weight=weights)
        assert (model.transduction_ == heavy).all()


# A forest draws its rows by their weights, in other draws.
@pytest.mark.parametrize("name", ["logistic-regression", "hist-gradient-boosting"])
def test_equal_weights_are_no_weights(name, tiny_views):
    plain, weighed = (
        METHODS[name](random_state=0).fit(tiny_views.views, tiny_views.known_labels, **weights)
        for weights in ({}, {"sample_weight": np.ones(60)})
    )
    np.testing.assert_allclose(weighed.label_distributions_, plain.label_distributions_, atol=1e-6)


def test_label_of_weight_zero_counts_as_unknown(tiny_views):
    labels = tiny_views.known_labels.copy()
    dropped = np.flatnonzero(labels == 1)[:2]
    weights = np.ones(60)
    weights[dropped] = 0
    weighed = METHODS["logistic-regression"]().fit(tiny_views.views, labels, sample_weight=weights)
    labels[dropped] = -1
    without = METHODS["logistic-regression"]().fit(tiny_views.views, labels)
    np.testing.assert_allclose(
        weighed.label_distributions_, without.label_distributions_, atol=1e-4
    )


def test_weights_with_an_index_are_matched_to_the_samples(tiny_views, rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(tiny_views.views["shape"], index=[f"s{n}" for n in range(60)])
    labels = pd.Series(tiny_views.known_labels, index=frame.index)
    weights = pd.Series(rng.random(60) + 0.1, index=frame.index)
    first, second = (
        METHODS["logistic-regression"]().fit(frame, labels, sample_weight=one)
        for one in (weights, weights.sample(frac=1, random_state=0))
    )
    np.testing.assert_array_equal(first.label_distributions_, second.label_distributions_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), "one number of at least 0 per sample, 60 in all"),
        (np.full(60, -1.0), "at least 0"),
        (np.full(60, np.nan), "at least 0"),
        (["heavy"] * 60, "at least 0"),
        (np.zeros(60), "it is for 3 of 3 classes"),
    ],
)
def test_wrong_weights_are_refused(tiny_views, weights, message):
    model = METHODS["logistic-regression"]()
    with pytest.raises(InputError, match=message):
        model.fit(tiny_views.views, tiny_views.known_labels, sample_weight=weights)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("name", WEIGHED)
def test_weights_are_routed_to_the_fit(name, tiny_views):
    views, labels = MultiView(tiny_views.views), tiny_views.labels
    weights = np.where(labels == 0, 9.0, 0.1)
    with sklearn.config_context(enable_metadata_routing=True):
        model = METHODS[name](random_state=0).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        found = cross_validate(
            model, views, labels, cv=3, params={"sample_weight": weights}, return_estimator=True,
            return_indices=True,
        )  # fmt: skip
    for one, rows in zip(found["estimator"], found["indices"]["train"], strict=True):
        expected = METHODS[name](random_state=0)
        expected.fit(views[rows], labels[rows], sample_weight=weights[rows])
        np.testing.assert_array_equal(one.label_distributions_, expected.label_distributions_)


def test_rows_of_a_cross_validation_keep_their_weights(tiny_views):
    samples = TransductiveViews(tiny_views.views)[np.arange(0, 60, 2)]
    labels, weights = tiny_views.labels[::2], np.linspace(1, 5, 30)
    model = METHODS["logistic-regression"]().fit(samples, labels, sample_weight=weights)
    hidden = np.full(60, -1)
    hidden[::2] = labels
    everywhere = np.zeros(60)
    everywhere[::2] = weights
    expected = METHODS["logistic-regression"]()
    expected.fit(tiny_views.views, hidden, sample_weight=everywhere)
    np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)
