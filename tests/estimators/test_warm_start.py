"""Warm start: a second fit continues from the first, on the same samples."""

import pickle

import numpy as np
import pytest
import torch
from models import manyview
from torch import nn

from manyview.data.cross_validation import TransductiveViews
from manyview.errors import InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.warm_start import interpolate_weights, weights_of


@pytest.fixture
def more_labels(tiny_views, rng):
    """The known labels, and eight more."""
    labels = tiny_views.known_labels.copy()
    added = rng.permutation(np.flatnonzero(labels < 0))[:8]
    labels[added] = tiny_views.labels[added]
    return labels


def begun(tiny_views, **parameters):
    model = manyview(random_state=0, warm_start=True, **parameters)
    return model.fit(tiny_views.views, tiny_views.known_labels)


def test_second_fit_takes_far_fewer_epochs_and_predicts_as_well(tiny_views, more_labels):
    model = begun(tiny_views)
    first = model.training_curve_.n_epochs
    model.fit(tiny_views.views, more_labels)
    cold = manyview(random_state=0).fit(tiny_views.views, more_labels)
    assert model.training_curve_.n_epochs * 2 < min(first, cold.training_curve_.n_epochs)
    accuracy = [(m.transduction_ == tiny_views.labels).mean() for m in (model, cold)]
    assert accuracy[0] >= accuracy[1] - 0.05
    assert model.is_labeled_.sum() == 20


def test_second_fit_starts_halfway_between_learned_and_fresh_weights(tiny_views, monkeypatch):
    model = begun(tiny_views, max_epochs=3)
    learned = model.learned_weights_.weights
    started = []

    def train(network, *_, **__):
        started.append(weights_of(network))
        raise KeyboardInterrupt

    monkeypatch.setattr("manyview.estimators.mgcn_dns.train_network", train)
    fresh = manyview(random_state=0, n_neighbors=model.n_neighbors_)
    for one in (model, fresh):
        with pytest.raises(KeyboardInterrupt):
            one.fit(tiny_views.views, tiny_views.labels)
    assert started[0].keys() == learned.keys()
    for name, value in learned.items():
        np.testing.assert_allclose(started[0][name], (value + started[1][name]) / 2, atol=1e-7)


def test_graphs_are_built_once_and_k_stays(tiny_views, monkeypatch):
    model = begun(tiny_views, max_epochs=2)
    k = model.n_neighbors_
    monkeypatch.setattr("manyview.network.prepared.prepare_views", None)  # called, it would fail
    monkeypatch.setattr("manyview.estimators.network_classifier.pick_n_neighbors", None)
    model.fit(tiny_views.views, tiny_views.labels)
    assert model.n_neighbors_ == k


def test_fits_on_the_same_transductive_views_share_their_graphs(tiny_views, monkeypatch):
    samples = TransductiveViews(tiny_views.views)
    one = manyview(random_state=0, max_epochs=2, n_neighbors=5)
    one.fit(samples, tiny_views.known_labels)
    plain = manyview(random_state=1, max_epochs=2, n_neighbors=5)
    plain.fit(tiny_views.views, tiny_views.known_labels)
    monkeypatch.setattr("manyview.network.prepared.prepare_views", None)
    two = manyview(random_state=1, max_epochs=2, n_neighbors=5)
    two.fit(samples[:50], tiny_views.known_labels[:50]).fit(samples, tiny_views.known_labels)
    np.testing.assert_array_equal(two.label_distributions_, plain.label_distributions_)


def test_without_warm_start_every_fit_is_the_first(tiny_views):
    model = manyview(random_state=0, max_epochs=4)
    once = model.fit(tiny_views.views, tiny_views.known_labels).label_distributions_
    twice = model.fit(tiny_views.views, tiny_views.known_labels).label_distributions_
    np.testing.assert_array_equal(once, twice)
    assert model.learned_weights_ is None


def test_first_fit_with_warm_start_is_a_plain_fit(tiny_views):
    plain = manyview(random_state=0, max_epochs=4)
    plain.fit(tiny_views.views, tiny_views.known_labels)
    warm = begun(tiny_views, max_epochs=4)
    np.testing.assert_array_equal(warm.label_distributions_, plain.label_distributions_)


def test_new_classes_get_columns_of_their_own(tiny_views):
    labels = np.array(["hen", "pig", "ape"], dtype=object)[tiny_views.labels]
    two = np.where((tiny_views.known_labels >= 0) & (labels != "ape"), labels, None)
    three = np.where(tiny_views.known_labels >= 0, labels, None)
    model = manyview(random_state=0, warm_start=True).fit(tiny_views.views, two)
    assert model.classes_.tolist() == ["hen", "pig"]
    model.fit(tiny_views.views, three)
    assert model.classes_.tolist() == ["ape", "hen", "pig"]
    assert (model.transduction_ == labels).mean() > 0.85


def test_columns_move_with_their_classes():
    old, new = nn.Linear(3, 2, bias=False), nn.Linear(4, 2, bias=False)
    old.weight, new.weight = (nn.Parameter(one.weight.detach().T) for one in (old, new))
    old.weight = nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    new.weight = nn.Parameter(torch.full((2, 3), -1.0))
    interpolate_weights(
        new, new.weight, weights_of(old),
        known_classes=np.array([5, 9]), classes=np.array([4, 9, 5]), fraction=1.0,
    )  # fmt: skip
    assert new.weight.tolist() == [[-1, 2, 1], [-1, 4, 3]]


@pytest.mark.parametrize("send", ["pickle", "file"])
def test_stored_model_continues(tiny_views, more_labels, tmp_path, send):
    model = begun(tiny_views, max_epochs=5)
    if send == "pickle":
        assert "_input_cache" not in model.__getstate__()
        other = pickle.loads(pickle.dumps(model))
    else:
        model.save(tmp_path)
        other = ManyviewClassifier.load(tmp_path)
    np.testing.assert_array_equal(
        model.fit(tiny_views.views, more_labels).label_distributions_,
        other.fit(tiny_views.views, more_labels).label_distributions_,
    )


@pytest.mark.parametrize("change", ["values", "order", "fewer"])
def test_other_samples_are_refused_and_the_way_out_works(tiny_views, change):
    model = begun(tiny_views, max_epochs=2)
    labels = tiny_views.known_labels
    changes = {
        "values": lambda view: view + 1e-6,
        "order": lambda view: view[::-1],
        "fewer": lambda view: view[:-1],
    }
    views = {name: changes[change](view) for name, view in tiny_views.views.items()}
    labels = labels[: len(views["shape"])]
    with pytest.raises(InputError, match=r"needs its samples: .* Set warm_start=False"):
        model.fit(views, labels)
    model.set_params(warm_start=False).fit(views, labels)
    assert len(model.transduction_) == len(labels)


def test_other_shapes_are_refused_by_name(tiny_views):
    model = begun(tiny_views, max_epochs=2).set_params(estimator__hidden=8)
    with pytest.raises(InputError, match="which had hidden=64; got hidden=8"):
        model.fit(tiny_views.views, tiny_views.known_labels)


def test_another_scaling_cannot_continue(tiny_views):
    given = tiny_views.views, tiny_views.known_labels
    model = manyview(random_state=0, max_epochs=3, warm_start=True).fit(*given)
    with pytest.raises(InputError, match="which had scaling='auto'; got scaling='unit'"):
        model.set_params(scaling="unit").fit(*given)
