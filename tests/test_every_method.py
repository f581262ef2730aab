"""One contract for all methods."""

import numpy as np
import pandas as pd
import pytest
from models import build
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from manyview.base.classifier import MultiViewClassifier
from manyview.baselines.bases.table import TableClassifier
from manyview.data.views import MultiView
from manyview.errors import DataFileError, InputError
from manyview.methods import METHODS

# Long trainings are cut short, so that the whole suite takes seconds.
QUICK = {
    "manyview": {"max_epochs": 60},
    "mgcn-dns": {"max_epochs": 60},
    "gcn-fusion": {"max_epochs": 60},
    "grand": {"max_epochs": 60},
    "random-forest": {"n_estimators": 60},
    "hist-gradient-boosting": {"max_iter": 30},
}
# scikit-learn's checks fit hundreds of times, and hardly ask how well.
FEW_EPOCHS = {
    "manyview": {"max_epochs": 8},
    "mgcn-dns": {"max_epochs": 20},
    "grand": {"max_epochs": 20},
    "random-forest": {"n_estimators": 20},
    "hist-gradient-boosting": {"max_iter": 10},
}
# Dropout hits nodes by their row, so renumbering them is another draw.
WITHOUT_DROPOUT = {
    **{name: {"dropout": 0.0} for name in ("manyview", "mgcn-dns", "gcn-fusion", "co-gcn")},
    "grand": {"dropout": 0.0, "node_dropout": 0.0},
}
CAN_LABEL_NEW = [name for name, method in METHODS.items() if method.is_inductive()]
CANNOT_LABEL_NEW = [name for name in METHODS if name not in CAN_LABEL_NEW]

every_method = pytest.mark.parametrize("name", METHODS)


def make(name, **parameters):
    return build(METHODS[name], random_state=0, **(QUICK.get(name, {}) | parameters))


@pytest.fixture(scope="module")
def fitted_once():
    return {}


@pytest.fixture
def fitted(name, shared_views, fitted_once):
    """The method, fitted to the tiny views: one fit for all tests, which only read it."""
    if name not in fitted_once:
        fitted_once[name] = make(name).fit(shared_views.views, shared_views.known_labels)
    return fitted_once[name]


def accuracy(model, tiny_views):
    hidden = tiny_views.known_labels == -1
    return np.mean(model.transduction_[hidden] == tiny_views.labels[hidden])


WEIGHS_LABELS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data",
     "check_sample_weight_equivalence_on_sparse_data"),
    "weights are those of labels; scaling, and the size of leaves, count every sample once",
)  # fmt: skip


@parametrize_with_checks(
    [make(name, **FEW_EPOCHS.get(name, {})) for name in CAN_LABEL_NEW],
    expected_failed_checks=lambda estimator: {
        "check_classifiers_classes": "-1 marks unknown samples, so it cannot also name a class",
        **(WEIGHS_LABELS if isinstance(estimator, TableClassifier) else {}),
    },
)
def test_methods_that_label_new_samples_pass_scikit_learns_own_checks(estimator, check):
    check(estimator)


@every_method
def test_method_labels_every_sample_well(fitted, tiny_views):
    assert accuracy(fitted, tiny_views) > 0.85
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.transduction_.shape == tiny_views.labels.shape
    assert fitted.n_features_in_ == 13
    assert fitted.view_names_ == ["shape", "color"]


@every_method
def test_distributions_are_probabilities_and_agree_with_the_labels(fitted):
    shares = fitted.label_distributions_
    assert shares.shape == (60, 3)
    assert shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.transduction_)


@every_method
def test_same_seed_gives_the_same_bits_and_global_state_is_left_alone(name, fitted, tiny_views):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    again = make(name).fit(tiny_views.views, tiny_views.known_labels)
    np.testing.assert_array_equal(again.label_distributions_, fitted.label_distributions_)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@every_method
def test_hidden_labels_change_nothing(name, fitted, tiny_views):
    """The method sees the labels it is given, and -1, None or NaN for the others."""
    texts = np.array(["a", "b", "c"], dtype=object)[tiny_views.labels]
    known = tiny_views.known_labels != -1
    with_none = np.where(known, texts, None)
    model = make(name).fit(tiny_views.views, with_none)
    np.testing.assert_array_equal(model.label_distributions_, fitted.label_distributions_)
    assert set(model.transduction_) <= {"a", "b", "c"}


@every_method
def test_one_view_is_enough(name, tiny_views):
    model = make(name).fit(tiny_views.views["color"], tiny_views.known_labels)
    # Twelve labels give boosting one split per class.
    assert accuracy(model, tiny_views) > (0.65 if name == "hist-gradient-boosting" else 0.7)


@every_method
def test_many_views_may_be_dense_sparse_and_of_different_width(name, tiny_views, rng):
    views = {
        **tiny_views.views,
        "flags": sparse.csr_array((tiny_views.labels[:, None] == [0, 1, 2]).astype(float)),
        "wide": rng.normal(size=(60, 200)) + 2 * tiny_views.labels[:, None],
        "constant": np.ones((60, 4)),
        "one column": tiny_views.labels[:, None] + rng.normal(size=(60, 1)),
    }
    model = make(name).fit(views, tiny_views.known_labels)
    assert accuracy(model, tiny_views) > 0.7


@every_method
def test_samples_may_be_duplicates(name, tiny_views):
    twice = np.repeat(np.arange(60), 2)
    views = {key: view[twice] for key, view in tiny_views.views.items()}
    labels = tiny_views.known_labels[twice]
    labels[1::2] = -1
    model = make(name).fit(views, labels)
    truth = tiny_views.labels[twice]
    assert np.mean(model.transduction_[labels == -1] == truth[labels == -1]) > 0.85
    assert np.isfinite(model.label_distributions_).all()


@every_method
def test_a_class_may_have_one_label(name, tiny_views):
    labels = tiny_views.known_labels.copy()
    labels[np.flatnonzero(labels == 2)[1:]] = -1
    model = make(name).fit(tiny_views.views, labels)
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(model.label_distributions_).all()
    every_label_once = tiny_views.known_labels.copy()
    for label in range(3):
        every_label_once[np.flatnonzero(every_label_once == label)[1:]] = -1
    model = make(name).fit(tiny_views.views, every_label_once)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.5


@every_method
def test_classes_may_differ_in_size(name, tiny_views):
    kept = np.flatnonzero((tiny_views.labels != 2) | (np.cumsum(tiny_views.labels == 2) <= 6))
    views = {key: view[kept] for key, view in tiny_views.views.items()}
    truth = tiny_views.labels[kept]
    labels = np.where(tiny_views.known_labels[kept] != -1, truth, -1)
    first_of_2 = np.flatnonzero(truth == 2)[0]
    labels[first_of_2] = 2
    model = make(name).fit(views, labels)
    assert np.mean(model.transduction_ == truth) > 0.75


@every_method
def test_all_samples_may_be_labeled(name, tiny_views):
    model = make(name).fit(tiny_views.views, tiny_views.labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.9


@every_method
def test_predictions_follow_the_samples_when_they_are_renumbered(name, fitted, tiny_views, rng):
    order = rng.permutation(60)
    shuffled = {key: view[order] for key, view in tiny_views.views.items()}
    before, after = fitted, make(name)
    if name in WITHOUT_DROPOUT:
        before = make(name, **WITHOUT_DROPOUT[name])
        before.fit(tiny_views.views, tiny_views.known_labels)
        after = make(name, **WITHOUT_DROPOUT[name])
    after.fit(shuffled, tiny_views.known_labels[order])
    np.testing.assert_allclose(
        after.label_distributions_, before.label_distributions_[order], atol=2e-3
    )


@every_method
def test_a_class_without_a_label_is_never_predicted(name, tiny_views):
    """One rule for all: it is not in `classes_`, and nobody is given it."""
    labels = np.where(tiny_views.known_labels == 2, -1, tiny_views.known_labels)
    model = make(name).fit(tiny_views.views, labels)
    assert model.classes_.tolist() == [0, 1]
    assert set(model.transduction_) <= {0, 1}
    assert model.label_distributions_.shape == (60, 2)


@every_method
def test_parameters_round_trip_and_clone_is_not_fitted(name, fitted, tiny_views):
    copy = clone(fitted)
    given, copied = (
        {key: repr(value) for key, value in model.get_params().items()} for model in (fitted, copy)
    )
    assert copied == given
    with pytest.raises(NotFittedError):
        copy.predict(tiny_views.views)
    assert METHODS[name]().set_params(random_state=3).random_state == 3


@every_method
def test_saved_model_predicts_the_same(name, fitted, tiny_views, tmp_path):
    fitted.save(tmp_path)
    loaded = METHODS[name].load(tmp_path)
    np.testing.assert_array_equal(loaded.transduction_, fitted.transduction_)
    np.testing.assert_array_equal(loaded.label_distributions_, fitted.label_distributions_)
    if name in CAN_LABEL_NEW:
        np.testing.assert_allclose(
            loaded.predict_proba(tiny_views.views), fitted.predict_proba(tiny_views.views)
        )
    other = next(method for method in METHODS.values() if method.card.name != name)
    with pytest.raises(DataFileError, match=f"holds a model of {name}"):
        other.load(tmp_path)


@pytest.mark.parametrize("name", CAN_LABEL_NEW)
def test_new_samples_are_labeled_well(name, tiny_views):
    is_new = np.arange(60) % 5 == 0
    views = MultiView(tiny_views.views)
    labels = np.where(np.arange(60) % 3 == 1, tiny_views.labels, -1)
    model = make(name).fit(views[~is_new], labels[~is_new])
    shares = model.predict_proba(views[is_new])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)
    assert np.mean(model.predict(views[is_new]) == tiny_views.labels[is_new]) > 0.75
    one_by_one = [model.predict(views[[row]])[0] for row in np.flatnonzero(is_new)]
    np.testing.assert_array_equal(one_by_one, model.predict(views[is_new]))


@pytest.mark.parametrize("name", CANNOT_LABEL_NEW)
def test_methods_that_cannot_label_new_samples_say_so(fitted, tiny_views):
    with pytest.raises(InputError) as error:
        fitted.predict(tiny_views.views)
    assert str(error.value) == (
        f"{fitted.card.title} labels only the samples it was fitted with: read transduction_, or "
        "fit again with the new samples among the others, labeled -1."
    )


@every_method
def test_given_graphs_are_taken_or_refused_in_one_sentence(name, tiny_views, rng):
    same = (tiny_views.labels[:, None] == tiny_views.labels) & (rng.random((60, 60)) < 0.3)
    graph = np.triu(same, 1).astype(float)
    views = MultiView(
        {**tiny_views.views, "links": sparse.csr_array(graph + graph.T)}, graphs=["links"]
    )
    if METHODS[name].takes_graphs:
        model = make(name).fit(views, tiny_views.known_labels)
        assert accuracy(model, tiny_views) > 0.85
    else:
        with pytest.raises(InputError, match="needs features in every view, and view 'links' is"):
            make(name).fit(views, tiny_views.known_labels)


@every_method
def test_bad_labels_and_views_are_refused(name, tiny_views):
    with pytest.raises(InputError, match="at least two classes"):
        make(name).fit(tiny_views.views, np.where(tiny_views.known_labels == 0, 0, -1))
    with pytest.raises(InputError, match="one label per sample"):
        make(name).fit(tiny_views.views, tiny_views.known_labels[:-1])


@every_method
def test_card_is_complete(name):
    method = METHODS[name]
    assert issubclass(method, MultiViewClassifier)
    assert method.card.name == name
    assert 1950 < method.card.year < 2030
    assert method.card.paper
    assert method.card.cost
    assert "random_state" in method().get_params()


@every_method
def test_wrong_numbers_are_refused_by_name(name, tiny_views):
    """Every number a method takes is checked: a text in its place is refused by its name."""
    defaults = METHODS[name]().get_params()
    # Of the inner estimator of a classifier only the network and its training count.
    unused = ("estimator__graph__", "estimator__calibration__")
    numbers = [
        key
        for key, value in defaults.items()
        if type(value) in (int, float) and not key.startswith(unused)
    ]
    for parameter in numbers:
        with pytest.raises(InputError, match=parameter.split("__")[-1]):
            make(name, **{parameter: "much"}).fit(tiny_views.views, tiny_views.known_labels)


@every_method
def test_columns_of_every_kind_are_encoded(name, tiny_views):
    frame = pd.DataFrame(
        {
            "length": tiny_views.views["shape"][:, 0],
            "color": np.array(["red", "green", "blue"])[tiny_views.labels],
            "seen": pd.date_range("2020-01-01", periods=60, freq="9D"),
            "note": [f"found {'near' if label else 'far'} away no {row}"
                     for row, label in enumerate(tiny_views.labels)],
            "wild": np.arange(60) % 2 == 0,
        }
    )  # fmt: skip
    views = {"shape": tiny_views.views["shape"], "field": frame}
    model = make(name).fit(views, tiny_views.known_labels)
    assert (model.transduction_ == tiny_views.labels).mean() > 0.8
    assert model.column_kinds_ == {
        "field": {"length": "number", "color": "category", "seen": "date", "note": "text",
                  "wild": "boolean"}
    }  # fmt: skip
