"""scikit-learn's own displays and inspection with manyview's classifiers."""

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay, permutation_importance
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manyview import ManyviewClassifier, PerView
from manyview.errors import DataWarning


@pytest.fixture(scope="module")
def moons():
    """200 points of two half circles, and one label in ten."""
    points, truth = make_moons(200, noise=0.15, random_state=0)
    return points, truth, np.where(np.arange(200) % 10 == 0, truth, -1)


@pytest.fixture(scope="module")
def fitted(moons):
    points, _, labels = moons
    return ManyviewClassifier(random_state=0).fit(points, labels)


def test_calibration_display(fitted, moons):
    points, truth, _ = moons
    display = CalibrationDisplay.from_estimator(fitted, points, truth, n_bins=5)
    np.testing.assert_allclose(display.y_prob, fitted.predict_proba(points)[:, 1])


def test_calibration_display_with_labels_that_are_texts(moons):
    points, truth, labels = moons
    names = np.array(["no", "yes"], dtype=object)
    given = np.where(labels == -1, None, names[labels])
    model = ManyviewClassifier(random_state=0).fit(points, given)
    display = CalibrationDisplay.from_estimator(model, points, names[truth], n_bins=5)
    assert display.pos_label == "yes"


def test_permutation_importance_tells_a_column_of_noise(moons, rng):
    points, truth, labels = moons
    columns = np.column_stack([points, 0.01 * rng.normal(size=200)])
    model = ManyviewClassifier(random_state=0).fit(columns, labels)
    found = permutation_importance(model, columns, truth, n_repeats=3, random_state=0)
    assert found.importances_mean[:2].min() > found.importances_mean[2] + 0.03


def test_permutation_importance_of_a_frame(moons):
    pd = pytest.importorskip("pandas")
    points, truth, labels = moons
    frame = pd.DataFrame(points, columns=["x", "y"])
    model = ManyviewClassifier(random_state=0).fit(frame, labels)
    found = permutation_importance(model, frame, truth, n_repeats=2, random_state=0)
    assert found.importances_mean.min() > 0


@pytest.mark.parametrize("response", ["predict", "predict_proba"])
def test_decision_boundary_display(fitted, moons, response):
    points, _, _ = moons
    display = DecisionBoundaryDisplay.from_estimator(
        fitted, points, response_method=response, grid_resolution=15, eps=0
    )
    assert display.response.shape == (15, 15)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    expected = fitted.predict(grid) if response == "predict" else fitted.predict_proba(grid)[:, 1]
    np.testing.assert_allclose(display.response.ravel(), expected, atol=1e-6)


def test_decision_boundary_beyond_the_data_warns_that_it_is(fitted, moons):
    points, _, _ = moons
    with pytest.warns(DataWarning, match="outside the fitted range"):
        DecisionBoundaryDisplay.from_estimator(fitted, points, grid_resolution=15)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_makes_frames(fitted, moons, library):
    frames = pytest.importorskip(library)
    points, _, _ = moons
    model = ManyviewClassifier(random_state=0).set_output(transform=library)
    vars(model).update({name: value for name, value in vars(fitted).items() if name[-1] == "_"})
    found = model.transform(points[:5])
    assert isinstance(found, frames.DataFrame)
    assert list(found.columns) == list(model.get_feature_names_out())


def test_sample_weight_is_routed_to_the_score(moons):
    points, truth, _ = moons
    weights = np.where(truth == 0, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = ManyviewClassifier(random_state=0).set_score_request(sample_weight=True)
        weighted = cross_validate(
            model, points, truth, cv=2, params={"sample_weight": weights}, return_estimator=True,
            return_indices=True,
        )  # fmt: skip
    for score, one, rows in zip(
        weighted["test_score"], weighted["estimator"], weighted["indices"]["test"], strict=True
    ):
        first = rows[truth[rows] == 0]
        assert score == pytest.approx(
            (one.predict(points[rows]) == truth[rows])[np.isin(rows, first)].mean()
        )


def test_sample_weight_of_a_fit_is_refused_and_not_ignored(moons):
    points, _, labels = moons
    weights = np.ones(200)
    model = ManyviewClassifier(random_state=0)
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(points, labels, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(PerView(StandardScaler()), model)
        with pytest.raises(TypeError, match="sample_weight"):
            pipeline.fit(points, labels, sample_weight=weights)
        assert not hasattr(model, "set_fit_request")
