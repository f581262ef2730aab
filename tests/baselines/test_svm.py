import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from manyview.baselines.bases.concatenated import concatenate_views
from manyview.baselines.solvers.ridge import inner_products
from manyview.baselines.svm import SoftmaxSVC, SVMClassifier, gaussian, table_variance
from manyview.data.views import MultiView
from manyview.errors import DataFileError
from manyview.methods import METHODS
from manyview.numerics import softmax


def labeled_table(tiny_views, scaling="unit"):
    _, table = concatenate_views(MultiView(tiny_views.views), scaling)
    known = tiny_views.known_labels >= 0
    return table, table[known], tiny_views.known_labels[known]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("gamma", ["scale", 0.3])
def test_decision_equals_that_of_scikit_learn(tiny_views, kernel, gamma):
    table, known, y_encoded = labeled_table(tiny_views)
    reference = SVC(kernel=kernel, gamma=gamma, break_ties=True, tol=1e-6).fit(known, y_encoded)
    model = SVMClassifier(kernel=kernel, gamma=gamma)
    model.fit(tiny_views.views, tiny_views.known_labels)
    np.testing.assert_allclose(
        model.label_distributions_, softmax(reference.decision_function(table)), atol=1e-3
    )
    np.testing.assert_array_equal(model.transduction_, reference.predict(table))


def test_decision_equals_that_of_scikit_learn_between_two_classes(tiny_views):
    table, known, y_encoded = labeled_table(tiny_views)
    is_first = y_encoded == 0
    reference = SVC().fit(known, is_first)
    machine = SoftmaxSVC().fit(known, is_first.astype(int))
    expected = 1 / (1 + np.exp(-reference.decision_function(table)))
    np.testing.assert_allclose(machine.predict_proba(table)[:, 1], expected, atol=1e-3)
    np.testing.assert_array_equal(machine.predict(table), reference.predict(table))


def test_sparse_table_gives_the_predictions_of_the_dense_one(tiny_views):
    table, known, y_encoded = labeled_table(tiny_views)
    dense = SoftmaxSVC().fit(known, y_encoded).predict_proba(table)
    thin = (
        SoftmaxSVC().fit(sparse.csr_array(known), y_encoded).predict_proba(sparse.csr_array(table))
    )
    np.testing.assert_allclose(thin, dense, atol=1e-3)


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_kernels_equal_those_of_scikit_learn(rng, as_given):
    left, right = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    np.testing.assert_allclose(
        gaussian(as_given(left), as_given(right), gamma=0.3), rbf_kernel(left, right, gamma=0.3)
    )
    np.testing.assert_allclose(inner_products(as_given(left), as_given(right)), left @ right.T)


def test_predictions_in_small_blocks_are_the_same(tiny_views, monkeypatch):
    table, known, y_encoded = labeled_table(tiny_views)
    machine = SoftmaxSVC().fit(known, y_encoded)
    whole = machine.predict_proba(table)
    monkeypatch.setattr("manyview.baselines.svm.BLOCK_BYTES", 1000)
    np.testing.assert_allclose(machine.predict_proba(table), whole, rtol=1e-5)


def test_variance_counts_the_zeros_of_a_sparse_table(rng):
    table = np.where(rng.random((20, 9)) < 0.3, rng.normal(size=(20, 9)), 0.0)
    assert table_variance(sparse.csr_array(table)) == pytest.approx(table.var())
    assert table_variance(table) == pytest.approx(table.var())


def test_class_weight_moves_the_border_towards_the_other_class(rng):
    views = [rng.normal(size=(60, 2)) + np.repeat([[0.0], [1.0]], 30, axis=0)]
    labels = np.repeat([0, 1], 30)
    fractions = [
        np.mean(SVMClassifier(class_weight=weight).fit(views, labels).transduction_)
        for weight in ({0: 9.0}, None, {1: 9.0})
    ]
    assert fractions[0] < fractions[1] < fractions[2]


def test_one_label_per_class_is_enough(tiny_views):
    labels = np.full(60, -1)
    for number in range(3):
        labels[np.flatnonzero(tiny_views.labels == number)[0]] = number
    model = SVMClassifier().fit(tiny_views.views, labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.8


def test_more_than_twenty_classes_of_one_label_raise_no_warning(rng):
    SVMClassifier().fit([rng.normal(size=(50, 4))], np.where(np.arange(50) < 30, np.arange(50), -1))


def test_planted_classes_are_found(tiny_views):
    model = SVMClassifier().fit(tiny_views.views, tiny_views.known_labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.95


@pytest.mark.parametrize("name", ["svm", "self-training"])
def test_loading_trains_on_few_samples(name, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 4
    views = {"a": rng.normal(size=(400, 3)) + labels[:, None]}
    model = METHODS[name]().fit(views, np.where(np.arange(400) < 200, labels, -1))
    model.save(tmp_path)
    sizes, fit = [], SoftmaxSVC.fit

    def counted(self, features, y_encoded):
        sizes.append(len(y_encoded))
        return fit(self, features, y_encoded)

    monkeypatch.setattr(SoftmaxSVC, "fit", counted)
    loaded = METHODS[name].load(tmp_path)
    assert sizes
    assert max(sizes) == 20
    np.testing.assert_array_equal(loaded.predict_proba(views), model.predict_proba(views))


@pytest.mark.parametrize(
    ("attribute", "change"),
    [
        ("labeled_features_", lambda values: np.where(np.arange(3) == 1, np.nan, values)),
        ("labeled_features_", lambda values: values.astype(np.float64) * 1e150),
        ("labeled_features_", lambda values: values[:-1]),
        ("labeled_y_", lambda numbers: np.minimum(numbers, 2)),
        ("labeled_y_", lambda numbers: numbers + 1),
        ("labeled_y_", lambda numbers: numbers.astype(float)),
    ],
)
def test_training_data_that_cannot_be_trained_on_is_refused(attribute, change, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 4
    model = METHODS["svm"]().fit({"a": rng.normal(size=(60, 3))}, labels)
    setattr(model, attribute, change(getattr(model, attribute)))
    model.save(tmp_path)
    with pytest.raises(DataFileError, match="is damaged"):
        METHODS["svm"].load(tmp_path)
