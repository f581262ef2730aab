"""Calibration: limits of the temperature, errors against a loop, predictions unchanged."""

import numpy as np
import pytest
from models import manyview, mgcn_dns
from sklearn.exceptions import ConvergenceWarning

from manyview.cross_fitting.folds import held_out_parts
from manyview.data.views import MultiView
from manyview.errors import CalibrationWarning, InputError
from manyview.estimators.calibration import (
    BOUNDS,
    Calibration,
    InterruptedFitError,
    calibrate,
    calibrate_or_warn,
    choose_n_folds,
    coverage_curve,
    expected_calibration_error,
    fit_temperature,
    reliability,
)
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import CalibrationConfig
from manyview.numerics import softmax
from manyview.self_training.pseudo_labels import PseudoLabeler


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_temperature_that_made_the_labels_is_found(rng, temperature):
    logits = 3 * rng.normal(size=(20_000, 4))
    chances = softmax(logits / temperature)
    y_encoded = (chances.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    assert fit_temperature(logits, y_encoded) == pytest.approx(temperature, rel=0.05)


def test_temperature_has_the_least_cost_of_a_fine_grid(rng):
    logits, y_encoded = 2 * rng.normal(size=(15, 3)), rng.integers(0, 3, 15)

    def cost(temperature):
        total = 0.0
        for row, code in zip(logits, y_encoded, strict=True):
            total -= np.log(np.exp(row[code] / temperature) / np.exp(row / temperature).sum())
        return total + np.log(temperature) ** 2 / (2 * 0.5**2)

    grid = np.exp(np.linspace(np.log(0.05), np.log(20), 4001))
    wanted = grid[np.argmin([cost(one) for one in grid])]
    assert fit_temperature(logits, y_encoded) == pytest.approx(wanted, rel=2e-3)


def test_labels_that_are_all_right_do_not_ask_for_certainty():
    logits = np.tile([2.0, 0.0], (3, 1))
    found = fit_temperature(logits, np.zeros(3, dtype=int))
    assert 0.5 < found < 1
    more = fit_temperature(np.tile(logits, (30, 1)), np.zeros(90, dtype=int))
    assert BOUNDS[0] < more < found
    free = fit_temperature(logits, np.zeros(3, dtype=int), prior_spread=1e6)
    assert BOUNDS[0] <= free < 0.1


def test_labels_that_are_all_wrong_end_at_a_bound_at_most(rng):
    logits = np.tile([50.0, 0.0], (200, 1))
    found = fit_temperature(logits, np.ones(200, dtype=int))
    assert found == pytest.approx(BOUNDS[1], rel=1e-3)


def test_no_label_and_equal_logits_leave_the_temperature_at_one():
    assert fit_temperature(np.zeros((0, 3)), np.zeros(0, dtype=int)) == pytest.approx(1, abs=1e-6)
    assert fit_temperature(np.zeros((9, 3)), np.arange(9) % 3) == pytest.approx(1, abs=1e-6)


def test_huge_logits_do_not_overflow():
    logits = np.array([[1e4, 0.0], [0.0, 1e4]])
    assert np.isfinite(fit_temperature(logits, np.array([0, 0])))


def test_every_class_keeps_a_label_in_every_fold(rng):
    for _ in range(20):
        y_encoded = np.where(rng.random(80) < 0.6, -1, rng.integers(0, 6, 80))
        for n_parts in (3, 5):
            parts = held_out_parts(y_encoded, n_parts, rng)
            assert (parts[y_encoded < 0] == -1).all()
            counts = np.bincount(y_encoded[y_encoded >= 0], minlength=6)
            for code in np.flatnonzero(counts):
                members = parts[y_encoded == code]
                if len(members) == 1:
                    assert members[0] == -1
                    continue
                assert members.min() >= 0
                for part in range(n_parts):
                    assert (members != part).any()


def test_folds_hide_a_third_and_together_everything(rng):
    y_encoded = np.repeat([0, 1, 2], 10)
    parts = held_out_parts(y_encoded, 3, rng)
    assert np.bincount(parts).tolist() == [10, 10, 10]


def test_calibrate_never_shows_what_it_scores(rng):
    y_encoded = np.array([0, 0, 0, 1, 1, 1, 1, -1, 2])
    seen = []

    def logits_of(shown, fold):
        seen.append(shown)
        return np.eye(3)[np.maximum(y_encoded, 0)] + fold

    found = calibrate(y_encoded, 3, rng, logits_of)
    assert len(seen) == found.n_folds == 3
    assert sorted(found.samples.tolist()) == [0, 1, 2, 3, 4, 5, 6]
    for shown in seen:
        hidden = np.flatnonzero((shown == -1) & (y_encoded != -1))
        assert len(hidden) in (2, 3)
        assert set(shown[shown >= 0]) == {0, 1, 2}
    np.testing.assert_array_equal(found.y_encoded, y_encoded[found.samples])
    one = calibrate(y_encoded, 1, rng, logits_of)
    assert one.n_held_out in (2, 3)


def test_single_labels_cannot_be_held_out(rng):
    assert calibrate(np.array([0, 1, -1]), 3, rng, lambda shown, fold: np.zeros((3, 2))) is None


@pytest.mark.parametrize("equal_mass", [False, True])
def test_calibration_error_is_that_of_a_literal_loop(rng, equal_mass):
    chances = softmax(2 * rng.normal(size=(200, 3)))
    truth = rng.integers(0, 3, 200)
    surest, predictions = chances.max(axis=1), chances.argmax(axis=1)
    if equal_mass:
        bins = np.array_split(np.argsort(surest, kind="stable"), 10)
    else:
        bins = [
            [row for row in range(200) if number / 10 < surest[row] <= (number + 1) / 10]
            for number in range(10)
        ]
    wanted = 0.0
    for rows in bins:
        if len(rows):
            right = sum(predictions[row] == truth[row] for row in rows) / len(rows)
            sure = sum(surest[row] for row in rows) / len(rows)
            wanted += len(rows) / 200 * abs(right - sure)
    found = expected_calibration_error(chances, truth, 10, equal_mass=equal_mass)
    assert found == pytest.approx(wanted)


def test_calibration_error_at_its_limits():
    sure = np.array([[1.0, 0.0]] * 5)
    assert expected_calibration_error(sure, np.zeros(5)) == 0
    assert expected_calibration_error(sure, np.ones(5)) == 1
    assert expected_calibration_error(np.zeros((0, 2)), np.zeros(0)) == 0


def test_bins_count_every_sample_once(rng):
    chances = softmax(rng.normal(size=(100, 4)))
    for equal_mass in (False, True):
        bins = reliability(chances, rng.integers(0, 4, 100), equal_mass=equal_mass)
        assert sum(one.n_samples for one in bins) == 100
        assert all(one.low <= one.probability <= one.high for one in bins)


def test_coverage_curve_counts_what_each_threshold_predictions(rng):
    chances = softmax(2 * rng.normal(size=(50, 3))).round(2)
    truth = rng.integers(0, 3, 50)
    curve = coverage_curve(chances, truth)
    right = chances.argmax(axis=1) == truth
    for point in curve:
        predicted = chances.max(axis=1) >= point.min_probability
        assert point.coverage == pytest.approx(predicted.mean())
        assert point.accuracy == pytest.approx(right[predicted].mean())
    assert curve[-1].coverage == 1
    assert coverage_curve(np.zeros((0, 2)), np.zeros(0)) == []


def fit(tiny_views, method=mgcn_dns, **params):
    model = method(max_epochs=15, random_state=0, **params)
    return model.fit(tiny_views.views, tiny_views.known_labels)


@pytest.fixture(scope="module")
def plain(shared_views):
    return fit(shared_views)


@pytest.fixture(scope="module")
def calibrated(shared_views):
    return fit(shared_views, calibration="temperature")


def test_few_labels_are_all_held_out_and_called_weak(calibrated):
    found = calibrated.calibration_
    assert (found.n_folds, found.n_held_out, found.is_weak) == (3, 12, True)
    assert choose_n_folds(np.repeat([0, 1, 2, -1], [45, 44, 1, 9])) == 3
    assert choose_n_folds(np.repeat([0, 1, 2, -1], [45, 45, 1, 9])) == 1


@pytest.mark.parametrize("n_folds", [1, 3])
def test_calibration_changes_probabilities_and_no_prediction(tiny_views, plain, n_folds):
    model = fit(tiny_views, calibration=CalibrationConfig(n_folds=n_folds))
    assert (plain.temperature_, plain.calibration_) == (1.0, None)
    assert model.transduction_.tolist() == plain.transduction_.tolist()
    assert model.calibration_.temperature != 1.0
    assert model.temperature_ == model.calibration_.temperature
    powers = plain.label_distributions_ ** (1 / model.calibration_.temperature)
    wanted = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distributions_, wanted, rtol=1e-4)
    found = model.calibration_
    assert found.n_folds == n_folds
    assert found.n_held_out == 4 * n_folds
    known = tiny_views.known_labels
    assert (known[found.samples] == model.classes_[found.y_encoded]).all()
    assert found.temperature == fit_temperature(found.logits, found.y_encoded)


def test_new_samples_and_loaded_models_share_the_temperature(
    tmp_path, tiny_views, plain, calibrated
):
    new = {name: view[:9] + 0.1 for name, view in tiny_views.views.items()}
    powers = plain.predict_proba(new) ** (1 / calibrated.calibration_.temperature)
    wanted = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(calibrated.predict_proba(new), wanted, rtol=1e-4)
    assert calibrated.predict(new).tolist() == plain.predict(new).tolist()
    calibrated.save(tmp_path)
    loaded = MGCNDNSClassifier.load(tmp_path)
    assert loaded.temperature_ == calibrated.temperature_
    assert isinstance(loaded.calibration_, Calibration)
    np.testing.assert_array_equal(
        loaded.calibration_.probabilities(), calibrated.calibration_.probabilities()
    )
    np.testing.assert_array_equal(loaded.predict_proba(new), calibrated.predict_proba(new))


def test_explanation_is_of_the_calibrated_probabilities(calibrated):
    why = calibrated.explain(3)
    first, second = np.sort(calibrated.label_distributions_[3])[::-1][:2]
    assert why.temperature == calibrated.temperature_
    assert why.margin == pytest.approx(np.log(first / second), abs=1e-4)


def test_auto_folds_are_those_that_would_be_chosen(rng):
    y_encoded = np.repeat([0, 1], 6)
    logits = rng.normal(size=(12, 2))
    auto, three = (
        calibrate_or_warn(y_encoded, n_folds, np.random.default_rng(0), lambda shown, fold: logits)
        for n_folds in ("auto", 3)
    )
    assert auto.n_folds == 3
    assert auto.temperature == three.temperature


def test_no_fold_is_fitted_after_an_interrupted_one():
    y_encoded, folds = np.repeat([0, 1], 6), []

    def logits_of(shown, fold):
        folds.append(fold)
        raise InterruptedFitError

    for was_interrupted, wanted in ((True, []), (False, [0])):
        with pytest.warns(CalibrationWarning, match="the fit was interrupted") as caught:
            found = calibrate_or_warn(
                y_encoded, 3, np.random.default_rng(0), logits_of, was_interrupted=was_interrupted
            )
        assert found is None
        assert folds == wanted
        assert caught[0].filename == __file__


def test_one_label_per_class_is_not_calibrated_and_warns(tiny_views):
    rows = [np.flatnonzero(tiny_views.labels == code)[0] for code in range(3)]
    labels = np.full(60, -1)
    labels[rows] = [0, 1, 2]
    model = mgcn_dns(max_epochs=5, calibration="temperature", random_state=0)
    with pytest.warns(CalibrationWarning, match="no class has two labels") as caught:
        model.fit(tiny_views.views, labels)
    assert caught[0].filename == __file__
    assert (model.temperature_, model.calibration_) == (1.0, None)


def test_held_out_logits_are_as_confident_as_those_of_the_fit(tiny_views):
    """Folds are trained as the fit is, and their logits divided by the same temperature."""
    model = fit(tiny_views, calibration=CalibrationConfig(n_folds=1))
    shown = tiny_views.known_labels.copy()
    shown[model.calibration_.samples] = -1
    folds = mgcn_dns(max_epochs=15, random_state=1).fit(tiny_views.views, shown)
    np.testing.assert_allclose(
        folds.label_distributions_[model.calibration_.samples],
        softmax(model.calibration_.logits),
        rtol=1e-4,
    )


def test_a_network_trained_on_labels_alone_keeps_its_logits(tiny_views):
    assert fit(tiny_views).temperature_ == 1.0
    assert fit(tiny_views, manyview, max_iter=0, cross_fit=False).temperature_ == 1.0
    assert fit(tiny_views, manyview, cross_fit=False).temperature_ == PseudoLabeler().temperature


def test_interrupted_calibration_keeps_the_fit(tiny_views, monkeypatch):
    model = MGCNDNSClassifier(max_epochs=5, calibration="temperature", random_state=0)
    build, calls = MGCNDNSClassifier._build, []

    def build_and_interrupt(self, *args):
        network = build(self, *args)
        calls.append(network)
        if len(calls) == 2:
            forward, epochs = network.forward, []

            def interrupt(*args, **kwargs):
                epochs.append(1)
                if network.training and len(epochs) == 3:
                    raise KeyboardInterrupt
                return forward(*args, **kwargs)

            network.forward = interrupt
        return network

    monkeypatch.setattr(MGCNDNSClassifier, "_build", build_and_interrupt)
    with pytest.warns(CalibrationWarning, match="the fit was interrupted") as caught:
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert not [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    assert model.training_curve_.stopped == "max_epochs"
    assert (model.temperature_, model.calibration_) == (1.0, None)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"calibration": "platt"}, r"calibration must be one of 'temperature', None; got 'platt'"),
        ({"n_folds": "all"}, r"n_folds must be one of 'auto'; got 'all'"),
        ({"n_folds": 0}, r"n_folds must be a whole number of at least 1"),
    ],
)
def test_wrong_parameters_are_refused(tiny_views, params, message):
    with pytest.raises(InputError, match=message):
        fit(tiny_views, **params)


@pytest.mark.parametrize("method", [mgcn_dns, manyview])
def test_predictions_below_the_wanted_probability_are_unknown(tiny_views, method):
    plain = fit(tiny_views, method)
    surest = plain.label_distributions_.max(axis=1)
    middle = float(np.median(surest))
    predictions = plain.predictions(min_probability=middle)
    assert ((predictions == -1) == (surest < middle)).all()
    assert (predictions[surest >= middle] == plain.transduction_[surest >= middle]).all()
    assert plain.predictions().tolist() == plain.transduction_.tolist()
    assert (plain.predictions(min_probability=1) == -1).sum() == (surest < 1).sum()


def test_predictions_of_texts_are_none_where_unknown(tiny_views):
    words = np.array(["ant", "bee", "cow"])
    labels = np.where(tiny_views.known_labels < 0, None, words[tiny_views.known_labels])
    model = manyview(max_epochs=5, random_state=0)
    model.fit(MultiView(tiny_views.views), labels)
    predictions = model.predictions(min_probability=0.9)
    assert {type(one) for one in predictions} <= {str, type(None)}
    assert None in predictions.tolist()


@pytest.mark.parametrize("wrong", [-0.1, 1.5, 80, float("nan"), "0.8", True, None])
def test_probability_outside_0_to_1_is_refused(plain, wrong):
    with pytest.raises(InputError, match=r"min_probability must be a number from 0 to 1; got"):
        plain.predictions(min_probability=wrong)
