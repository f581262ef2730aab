"""Every method that labels new samples compares them with those of the fit."""

import warnings

import numpy as np
import pytest
from models import build

from manyview.base.persistence import load_tree, save_tree
from manyview.baselines.amgl import AMGLClassifier
from manyview.baselines.knn import KNNClassifier
from manyview.data.cross_validation import TransductiveViews
from manyview.data.fitted_range import FittedRange
from manyview.data.views import MultiView
from manyview.errors import DataWarning, InputError
from manyview.methods import METHODS

QUICK = {name: {"max_epochs": 5} for name in ("manyview", "mgcn-dns", "gcn-fusion", "ssgcn")}
INDUCTIVE = [name for name, method in METHODS.items() if method.is_inductive()]


@pytest.fixture
def model(tiny_views):
    return KNNClassifier().fit(tiny_views.views, tiny_views.known_labels)


@pytest.fixture
def shifted(tiny_views):
    """The fitted samples, their color two standard deviations higher."""
    color = tiny_views.views["color"]
    return tiny_views.views | {"color": color + 2 * color.std(axis=0)}


@pytest.mark.parametrize("name", INDUCTIVE)
def test_every_method_warns_of_a_batch_effect_and_not_of_the_fitted_samples(
    name, tiny_views, shifted
):
    model = build(METHODS[name], random_state=0, **QUICK.get(name, {}))
    model.fit(tiny_views.views, tiny_views.known_labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(tiny_views.views)
        model.predict_proba({name: view[:1] for name, view in tiny_views.views.items()})
    with pytest.warns(DataWarning, match=r"^view 'color' of the new samples is unlike the fit: "):
        model.predict(shifted)


def test_warning_points_at_the_line_of_the_user(model, shifted):
    with pytest.warns(DataWarning) as caught:
        model.predict_proba(shifted)
    assert [warning.filename for warning in caught] == [__file__]


def test_report_names_the_columns_of_frames(tiny_views, shifted):
    pd = pytest.importorskip("pandas")

    def frames(views):
        return {name: pd.DataFrame(view).add_prefix(name) for name, view in views.items()}

    model = KNNClassifier().fit(frames(tiny_views.views), tiny_views.known_labels)
    report = model.shift_report(frames(shifted))
    assert len(report) == 13
    assert report[0].view == "color"
    assert report[0].column.startswith("color")
    assert report[0].fraction > report[0].expected + 0.2
    with pytest.warns(DataWarning, match=f"most of all '{report[0].column}', 'color"):
        model.predict(frames(shifted))


def test_rows_of_the_fit_are_not_compared(tiny_views):
    samples = TransductiveViews(MultiView(tiny_views.views))
    model = KNNClassifier().fit(samples, tiny_views.known_labels)
    assert model.predict(samples[:5]).shape == (5,)


def test_filled_values_and_graphs_are_compared_as_the_method_sees_them(tiny_views):
    views = {name: view.copy() for name, view in tiny_views.views.items()}
    views["color"][::7, 0] = np.nan
    graph = np.eye(60, k=1) + np.eye(60, k=-1)
    given = MultiView(views | {"links": graph}, graphs=["links"])
    model = build(METHODS["manyview"], max_epochs=3, missing="impute", random_state=0)
    model.fit(given, tiny_views.known_labels)
    assert sorted(model.fitted_ranges_) == ["color", "shape"]
    assert np.isfinite(model.fitted_ranges_["color"].largest).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(given)


def test_saved_model_compares_as_before(model, tmp_path, shifted):
    model.save(tmp_path)
    loaded = KNNClassifier.load(tmp_path)
    assert loaded.shift_report(shifted) == model.shift_report(shifted)
    for name, fitted in model.fitted_ranges_.items():
        for field, value in vars(fitted).items():
            got = getattr(loaded.fitted_ranges_[name], field)
            assert got.dtype == value.dtype
            np.testing.assert_array_equal(got, value)


def test_file_of_an_older_manyview_labels_new_samples_with_a_warning(model, tmp_path, tiny_views):
    model.save(tmp_path)
    tree = load_tree(tmp_path, "knn", (FittedRange, *KNNClassifier.record_types))
    del tree["learned"]["fitted_ranges_"]
    save_tree(tmp_path, "knn", tree)
    old = KNNClassifier.load(tmp_path)
    expected = model.predict(tiny_views.views)
    with pytest.warns(DataWarning) as caught:
        assert old.predict(tiny_views.views).tolist() == expected.tolist()
    assert str(caught[0].message) == (
        "new samples are not compared with the fitted ones: an older manyview saved this model, "
        "without the ranges of its columns. Fit the model again."
    )
    with pytest.raises(InputError, match="cannot be compared with the fitted ones: an older"):
        old.shift_report(tiny_views.views)


def test_methods_that_label_no_new_samples_have_no_ranges(tiny_views):
    model = AMGLClassifier().fit(tiny_views.views, tiny_views.known_labels)
    assert model.fitted_ranges_ is None
    with pytest.raises(InputError, match="labels only the samples it was fitted with"):
        model.shift_report(tiny_views.views)
