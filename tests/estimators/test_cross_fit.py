"""Cross-fitting: a product of experts by labels that were hidden in turn, and what it leaves."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from interrupts import TRAIN_NETWORK, train_interrupted
from models import manyview
from scipy import sparse

from manyview.baselines.logistic_regression import LogisticRegressionClassifier
from manyview.baselines.random_forest import ForestClassifier
from manyview.cross_fitting.mixing import MixingPrior, log_probabilities
from manyview.cross_fitting.performance import MIN_LABELS, Estimate
from manyview.data.views import MultiView
from manyview.errors import CalibrationWarning, DataFileError, InputError
from manyview.estimators.cross_fit import N_TREES, NETWORK, cross_fit, feature_views
from manyview.estimators.manyview import ManyviewClassifier
from manyview.numerics import softmax
from manyview.self_training.pseudo_labels import PseudoLabeler

WITHOUT_DROPOUT = {"dropout": 0.0}


def fit(views, labels, **parameters):
    return manyview(**{"max_epochs": 15, "random_state": 0} | parameters).fit(views, labels)


def half_of(labels):
    """Return 30 of 60 labels, ten per class, -1 for the others."""
    kept = np.concatenate([np.flatnonzero(labels == number)[:10] for number in range(3)])
    known = np.full(len(labels), -1)
    known[kept] = labels[kept]
    return known


@pytest.fixture(scope="module")
def known(shared_views):
    return half_of(shared_views.labels)


@pytest.fixture(scope="module")
def model(shared_views, known):
    return fit(shared_views.views, known)


@pytest.fixture(scope="module")
def alone(shared_views, known):
    return fit(shared_views.views, known, cross_fit=False)


def fitted_baselines(views, labels, **settings):
    """Fit the baselines that the table learners are, by the names of these."""
    baselines = {
        "linear": LogisticRegressionClassifier(random_state=0, **settings),
        "forest": ForestClassifier(n_estimators=N_TREES, random_state=0, **settings),
    }
    return {name: baseline.fit(views, labels) for name, baseline in baselines.items()}


def assert_same_cross_fit(one, other):
    assert one.weights == other.weights
    assert one.seed == other.seed
    for name in ("samples", "y_encoded", "label_weights", "probabilities"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_same_seed_gives_the_same_bits(shared_views, known, model):
    again = fit(shared_views.views, known)
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
    assert_same_cross_fit(again.cross_fit_, model.cross_fit_)
    assert again.performance_ == model.performance_
    assert list(again.table_logits_) == list(model.table_logits_)
    other = fit(shared_views.views, known, random_state=1)
    assert other.cross_fit_.samples.tolist() == model.cross_fit_.samples.tolist()
    assert (other.cross_fit_.probabilities != model.cross_fit_.probabilities).any()


def test_predictions_are_the_product_of_the_network_and_the_table_learners(
    shared_views, known, model, alone
):
    """Each table learner is the baseline of its name, fitted to all labels."""
    weights = model.cross_fit_.weights
    assert list(weights) == [NETWORK, "linear", "forest"]
    logits = weights[NETWORK] * np.log(alone.label_distributions_.astype(float))
    for name, baseline in fitted_baselines(shared_views.views, known).items():
        own = weights[name] * log_probabilities(baseline.label_distributions_)
        np.testing.assert_allclose(model.table_logits_[name], own, atol=1e-5)
        logits += own
    np.testing.assert_allclose(model.label_distributions_, softmax(logits), atol=1e-5)
    assert model.temperature_ == pytest.approx(alone.temperature_ / weights[NETWORK])
    np.testing.assert_array_equal(
        model.transduction_, model.classes_[model.label_distributions_.argmax(axis=1)]
    )


def test_every_label_is_hidden_once_and_no_fit_sees_what_it_predicts(shared_views, known):
    views = MultiView(shared_views.views)
    shown = []

    def network_logits(y_shown, fold):
        shown.append(y_shown)
        return np.full((60, 3), float(fold))

    even = np.full((60, 3), 1 / 3)
    found, learners = cross_fit(
        views, known, np.arange(3), even, network_logits, label_weights=np.ones(60), seed=0
    )
    hidden = [np.flatnonzero((one < 0) & (known >= 0)) for one in shown]
    assert sorted(np.concatenate(hidden).tolist()) == np.flatnonzero(known >= 0).tolist()
    for one in shown:
        np.testing.assert_array_equal(one[one >= 0], known[one >= 0])
        assert set(one[one >= 0]) == {0, 1, 2}
    np.testing.assert_array_equal(found.samples, np.flatnonzero(known >= 0))
    np.testing.assert_array_equal(found.y_encoded, known[found.samples])
    assert [one.name for one in learners] == ["linear", "forest"]


def test_the_fit_is_as_sure_as_those_without_some_labels_and_predicts_the_same(
    shared_views, known, rng
):
    views = MultiView(shared_views.views)
    logits = rng.normal(size=(60, 3))

    def cross_fit_of(factor):
        fitted = softmax(factor * 2 * logits)
        found, _ = cross_fit(
            views, known, np.arange(3), fitted, lambda *_: logits, label_weights=np.ones(60), seed=0
        )
        return found.weights, softmax(found.weights[NETWORK] * np.log(fitted))[known < 0]

    (weights, alone), (surer_weights, surer) = cross_fit_of(1.0), cross_fit_of(1.5)
    for name, weight in weights.items():  # logits that are larger, and so less weight
        assert surer_weights[name] == pytest.approx(weight / 1.5, rel=0.05)
    assert surer.max(axis=1).mean() == pytest.approx(alone.max(axis=1).mean(), abs=0.01)
    np.testing.assert_array_equal(surer.argmax(axis=1), alone.argmax(axis=1))


@pytest.mark.parametrize(
    "learner", [LogisticRegressionClassifier(), ForestClassifier(n_estimators=40, random_state=0)]
)
def test_a_label_does_not_change_the_held_out_prediction_of_its_own_sample(
    shared_views, known, learner
):
    views = MultiView(shared_views.views)
    rows = np.flatnonzero(known >= 0)
    parts = np.full(60, -1)
    parts[rows] = np.arange(30) % 3
    held_out = learner.fit_held_out(views, known, np.arange(3), parts)
    assert np.isfinite(held_out[rows]).all()
    assert np.isnan(held_out[known < 0]).all()
    for row in rows[[0, 11, 29]]:
        changed = known.copy()
        changed[row] = (known[row] + 1) % 3
        again = learner.fit_held_out(views, changed, np.arange(3), parts)
        np.testing.assert_array_equal(again[row], held_out[row])
        assert (again[rows] != held_out[rows]).any()


def test_predictions_follow_the_samples_when_they_are_renumbered(shared_views, known, rng):
    """Up to which labels share a fold, which is drawn by row."""
    order = rng.permutation(60)
    shuffled = {name: view[order] for name, view in shared_views.views.items()}
    before = fit(shared_views.views, known, **WITHOUT_DROPOUT)
    after = fit(shuffled, known[order], **WITHOUT_DROPOUT)
    assert (after.transduction_ == before.transduction_[order]).all()
    np.testing.assert_allclose(
        after.label_distributions_, before.label_distributions_[order], atol=0.01
    )
    assert after.performance_.accuracy.value == pytest.approx(
        before.performance_.accuracy.value, abs=0.01
    )


def test_fitted_samples_that_come_again_get_about_their_own_predictions(shared_views, model, alone):
    differences = []
    for one in (model, alone):
        again = one.predict_proba(shared_views.views)
        differences.append(np.abs(again - one.label_distributions_).mean())
        assert (again.argmax(axis=1) == one.label_distributions_.argmax(axis=1)).mean() > 0.95
    assert differences[0] <= differences[1] + 0.01
    for learner in model.table_learners_:
        np.testing.assert_allclose(
            learner.logits(MultiView(shared_views.views)),
            model.table_logits_[learner.name],
            atol=1e-5,
        )


def test_new_samples_are_predicted_by_all_models(shared_views, known, model):
    new = MultiView({name: view[::-1] + 0.1 for name, view in shared_views.views.items()})
    logits = model.inductive_state_.logits(new) / model.temperature_
    for name, baseline in fitted_baselines(shared_views.views, known).items():
        own = log_probabilities(baseline.predict_proba(new))
        logits = logits + model.cross_fit_.weights[name] * own
    np.testing.assert_allclose(model.predict_proba(new), softmax(logits), atol=1e-5)


def test_performance_comes_from_the_held_out_labels(shared_views, known, model):
    found = model.performance_
    assert found.n_labels == 30
    for one in (found.accuracy, found.balanced_accuracy, found.macro_f1):
        assert isinstance(one, Estimate)
        assert 0 <= one.low <= one.value <= one.high <= 1
    right = (model.transduction_ == shared_views.labels)[known < 0].mean()
    assert found.accuracy.low <= right <= found.accuracy.high
    unlabeled = model.label_distributions_[known < 0]
    assert model.cross_fit_.performance(unlabeled) == found
    summary = model.fit_summary()
    assert summary.cross_fit is model.cross_fit_
    assert summary.performance is found


def test_where_every_label_is_known_scores_are_those_of_all_samples(tiny_views):
    model = fit(tiny_views.views, tiny_views.labels, max_epochs=5)
    assert model.performance_.n_labels == 60
    assert model.performance_ == model.cross_fit_.performance(model.label_distributions_)


def test_held_out_probabilities_are_those_of_labels_and_add_up_to_1(known, model):
    found = model.cross_fit_
    np.testing.assert_array_equal(found.samples, np.flatnonzero(known >= 0))
    np.testing.assert_array_equal(model.classes_[found.y_encoded], known[found.samples])
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    assert ((found.label_weights >= 0) & (found.label_weights <= 1)).all()


def test_one_label_per_class_takes_the_priors_weights_and_estimates_nothing(tiny_views):
    rows = [int(np.flatnonzero(tiny_views.labels == number)[0]) for number in range(3)]
    labels = np.full(60, -1)
    labels[rows] = [0, 1, 2]
    model = fit(tiny_views.views, labels)
    assert list(model.cross_fit_.weights.values()) == MixingPrior().means(3).tolist()
    assert len(model.cross_fit_.samples) == 0
    assert model.performance_ is None
    assert np.isfinite(model.label_distributions_).all()
    assert (model.transduction_ == tiny_views.labels).mean() > 0.9


def test_few_labels_are_mixed_but_estimate_nothing(tiny_views):
    model = fit(tiny_views.views, tiny_views.known_labels)
    assert len(model.cross_fit_.samples) == 12 < MIN_LABELS
    assert model.performance_ is None
    assert list(model.cross_fit_.weights.values()) != MixingPrior().means(3).tolist()


def test_graphs_alone_have_no_table_learners(tiny_views, rng, tmp_path):
    same = tiny_views.labels[:, None] == tiny_views.labels
    links = sparse.csr_array((same & (rng.random((60, 60)) < 0.4)).astype(float))
    views = MultiView({"links": links + links.T}, graphs=["links"])
    model = fit(views, half_of(tiny_views.labels))
    assert (model.table_learners_, dict(model.table_logits_)) == ((), {})
    assert list(model.cross_fit_.weights) == [NETWORK]
    assert model.performance_.n_labels == 30
    assert model.explain(0).tables == ()
    model.save(tmp_path)
    loaded = ManyviewClassifier.load(tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(views[:9]), model.predict_proba(views[:9]))


def test_graphs_beside_features_are_left_out_of_the_tables(tiny_views, rng):
    links = sparse.csr_array((rng.random((60, 60)) < 0.1).astype(float))
    present = rng.random((60, 3)) < 0.8
    present[~present.any(axis=1)] = True
    views = MultiView(
        {"shape": tiny_views.views["shape"], "links": links + links.T,
         "color": tiny_views.views["color"]},
        graphs=["links"], present=present,
    )  # fmt: skip
    columns = feature_views(views)
    assert columns.names == ("shape", "color")
    np.testing.assert_array_equal(columns.present, present[:, [0, 2]])
    model = fit(views, half_of(tiny_views.labels))
    for learner in model.table_learners_:
        np.testing.assert_allclose(
            learner.logits(views), model.table_logits_[learner.name], atol=1e-5
        )


@pytest.fixture
def incomplete(tiny_views):
    present = np.ones((60, 2), dtype=bool)
    present[::3, 1] = False
    present[1::6, 0] = False
    return MultiView(tiny_views.views, present=present)


def test_samples_that_lack_views_are_cross_fitted_too(tiny_views, incomplete):
    model = fit(incomplete, half_of(tiny_views.labels))
    assert model.performance_.n_labels == 30
    assert np.isfinite(model.cross_fit_.probabilities).all()
    for learner in model.table_learners_:
        np.testing.assert_allclose(
            learner.logits(incomplete), model.table_logits_[learner.name], atol=1e-5
        )
    filled = MultiView(
        {
            name: np.where(incomplete.present[:, [place]], view, 1e6)
            for place, (name, view) in enumerate(tiny_views.views.items())
        },
        present=incomplete.present,
    )
    again = fit(filled, half_of(tiny_views.labels))
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 50.0, 1: 1.0, 2: 1.0}])
def test_class_weights_reach_the_table_learners(tiny_views, class_weight):
    labels = half_of(tiny_views.labels)
    labels[np.flatnonzero(labels == 2)[3:]] = -1
    model = fit(tiny_views.views, labels, class_weight=class_weight)
    assert model.table_learners_
    weighted = fitted_baselines(tiny_views.views, labels, class_weight=class_weight)
    for learner in model.table_learners_:
        np.testing.assert_allclose(
            model.table_logits_[learner.name],
            learner.weight * log_probabilities(weighted[learner.name].label_distributions_),
            atol=1e-5,
        )


def test_a_warm_start_is_cross_fitted_anew_by_cold_fits(tiny_views, known):
    settings = {"n_neighbors": 5}
    model = fit(tiny_views.views, tiny_views.known_labels, warm_start=True, **settings)
    assert model.performance_ is None
    model.fit(tiny_views.views, known)
    cold = fit(tiny_views.views, known, **settings)
    # The warm fit may be surer than the cold one; all weights have this one factor.
    sharpness = model.cross_fit_.weights[NETWORK] / cold.cross_fit_.weights[NETWORK]
    weights = {name: sharpness * own for name, own in cold.cross_fit_.weights.items()}
    assert model.cross_fit_.weights == pytest.approx(weights)
    assert_same_cross_fit(
        replace(model.cross_fit_, weights=cold.cross_fit_.weights), cold.cross_fit_
    )
    assert model.performance_.n_labels == 30


def test_the_network_alone_has_nothing_of_cross_fitting(shared_views, known, alone):
    assert (alone.cross_fit_, alone.performance_, alone.table_learners_) == (None, None, ())
    assert dict(alone.table_logits_) == {}
    assert alone.temperature_ == PseudoLabeler().temperature
    logits = alone.explainer().logits
    np.testing.assert_allclose(alone.label_distributions_, softmax(logits), atol=1e-5)
    state = alone.inductive_state_.logits(MultiView(shared_views.views)) / alone.temperature_
    np.testing.assert_array_equal(alone.predict_proba(shared_views.views), softmax(state))
    again = fit(shared_views.views, known).set_params(cross_fit=False)
    again.fit(shared_views.views, known)
    assert (again.cross_fit_, again.performance_, again.table_learners_) == (None, None, ())
    np.testing.assert_array_equal(again.label_distributions_, alone.label_distributions_)


def test_only_true_and_false_are_taken(tiny_views):
    with pytest.raises(InputError, match="cross_fit must be one of True, False; got 'yes'"):
        fit(tiny_views.views, tiny_views.known_labels, cross_fit="yes")


def interrupt_fold(number, monkeypatch):
    """Raise KeyboardInterrupt in the third epoch of a fold."""
    held_out_logits = ManyviewClassifier._held_out_logits

    def interrupted(self, prepared, generator, y_shown, fold):
        with monkeypatch.context() as patch:
            if fold == number:
                patch.setattr(TRAIN_NETWORK, train_interrupted)
            return held_out_logits(self, prepared, generator, y_shown, fold)

    monkeypatch.setattr(ManyviewClassifier, "_held_out_logits", interrupted)


def fit_or_fail(views, labels):
    """Fit; fail where Ctrl-C ends the fit, which would end the whole test session."""
    try:
        return fit(views, labels)
    except KeyboardInterrupt:
        pytest.fail("the fit that was complete is lost")


def interrupt_learner(learner, monkeypatch):
    """Raise KeyboardInterrupt while a table learner is fitted."""

    def interrupted(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(learner, "fit_held_out", interrupted)


@pytest.mark.parametrize(
    ("interrupt", "place"),
    [
        (interrupt_fold, 0),
        (interrupt_fold, 2),
        (interrupt_learner, LogisticRegressionClassifier),
        (interrupt_learner, ForestClassifier),
    ],
)
def test_ctrl_c_in_cross_fitting_keeps_the_networks_predictions(
    shared_views, known, alone, monkeypatch, interrupt, place
):
    interrupt(place, monkeypatch)
    with pytest.warns(CalibrationWarning, match="cross-fitting was interrupted") as caught:
        model = fit_or_fail(shared_views.views, known)
    assert [one.filename for one in caught] == [__file__]
    assert model.training_curve_.stopped == alone.training_curve_.stopped
    assert (model.cross_fit_, model.performance_, model.table_learners_) == (None, None, ())
    assert model.temperature_ == alone.temperature_
    np.testing.assert_array_equal(model.label_distributions_, alone.label_distributions_)
    np.testing.assert_array_equal(
        model.predict_proba(shared_views.views), alone.predict_proba(shared_views.views)
    )


def test_a_saved_model_comes_back_bit_for_bit(shared_views, model, tmp_path):
    new = {name: view[:9] + 0.1 for name, view in shared_views.views.items()}
    model.save(tmp_path)
    for again in (ManyviewClassifier.load(tmp_path), pickle.loads(pickle.dumps(model))):
        assert_same_cross_fit(again.cross_fit_, model.cross_fit_)
        assert again.performance_ == model.performance_
        assert again.temperature_ == model.temperature_
        np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
        for name, logits in model.table_logits_.items():
            np.testing.assert_array_equal(again.table_logits_[name], logits)
        for one, other in zip(again.table_learners_, model.table_learners_, strict=True):
            assert (one.name, one.weight, type(one.model)) == (
                other.name, other.weight, type(other.model)
            )  # fmt: skip
            assert one.model.get_params() == other.model.get_params()
        assert again.explain(4).document() == model.explain(4).document()


def changed_cross_fit(**changes):
    def change(model):
        found = model.cross_fit_
        model.cross_fit_ = replace(found, **{key: new(found) for key, new in changes.items()})

    return change


def changed_weights(**weights):
    return changed_cross_fit(weights=lambda one: {**one.weights, **weights})


def changed_learner(change_model=None, **changes):
    def change(model):
        first, *others = model.table_learners_
        if change_model is not None:
            change_model(first.model)
        model.table_learners_ = (replace(first, **changes), *others)

    return change


def changed_logits(change_logits):
    def change(model):
        model.table_logits_ = change_logits(dict(model.table_logits_))

    return change


DAMAGE = {
    "sample of another model": changed_cross_fit(samples=lambda one: one.samples + 60),
    "negative sample": changed_cross_fit(samples=lambda one: one.samples - 60),
    "class of another model": changed_cross_fit(y_encoded=lambda one: one.y_encoded + 1),
    "negative class": changed_cross_fit(y_encoded=lambda one: one.y_encoded - 1),
    "too few label weights": changed_cross_fit(label_weights=lambda one: one.label_weights[1:]),
    "too few probabilities": changed_cross_fit(probabilities=lambda one: one.probabilities[1:]),
    "too few classes": changed_cross_fit(probabilities=lambda one: one.probabilities[:, 1:]),
    "no weight of the network": changed_cross_fit(weights=lambda one: {"linear": 1.0}),
    "network without weight": changed_weights(network=0.0),
    "negative weight": changed_weights(forest=-0.1),
    "learner without weight": changed_learner(weight=0.0),
    "learner of negative weight": changed_learner(weight=-1.0),
    "learner of other classes": changed_learner(
        lambda learner: setattr(learner, "classes_", np.array([0, 1, 3]))
    ),
    "learner of too few columns": changed_learner(
        lambda learner: setattr(learner, "coef_", learner.coef_[1:])
    ),
    "logits of no learner": changed_logits(lambda logits: {**logits, "oak": logits["linear"]}),
    "logits by another name": changed_logits(
        lambda logits: dict(zip("ab", logits.values(), strict=True))
    ),
    "learner without logits": changed_logits(lambda logits: {"linear": logits["linear"]}),
    "logits of too few samples": changed_logits(
        lambda logits: {name: one[1:] for name, one in logits.items()}
    ),
    "logits of too few classes": changed_logits(
        lambda logits: {name: one[:, 1:] for name, one in logits.items()}
    ),
}
NUMBERS_THAT_ARE_NONE = {
    "weight of the network": changed_weights(network=float("nan")),
    "held-out probabilities": changed_cross_fit(
        probabilities=lambda one: np.full_like(one.probabilities, np.nan)
    ),
    "weight of a learner": changed_learner(weight=float("nan")),
    "logits of samples": changed_logits(
        lambda logits: {name: np.full_like(one, np.nan) for name, one in logits.items()}
    ),
}


@pytest.mark.parametrize("damage", [*DAMAGE, *NUMBERS_THAT_ARE_NONE])
def test_damaged_model_files_are_refused(shared_views, model, tmp_path, damage):
    broken = pickle.loads(pickle.dumps(model))
    (DAMAGE | NUMBERS_THAT_ARE_NONE)[damage](broken)
    broken.save(tmp_path)
    with pytest.raises(DataFileError, match="damaged"):
        ManyviewClassifier.load(tmp_path)
