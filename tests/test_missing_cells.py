"""Single missing cells: one rule for all methods, and one for all verbs."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from models import build

from manyview import MethodCard, MultiViewClassifier, read_views
from manyview.data.cross_validation import TransductiveViews
from manyview.errors import DataFileError, InputError, MissingValuesError
from manyview.experiments.trial import Trial
from manyview.experiments.worker import attempt
from manyview.methods import METHODS
from manyview.tuning.search import tune


def make(name, **parameters):
    has_epochs = any(key.endswith("max_epochs") for key in METHODS[name]().get_params())
    quick = {"max_epochs": 5} if has_epochs else {}
    return build(METHODS[name], random_state=0, **quick, **parameters)


@pytest.fixture
def gap(tiny_views):
    """Two views with one missing cell, in row 7 of the first."""
    views = {name: np.array(view, dtype=np.float64) for name, view in tiny_views.views.items()}
    views["shape"][7, 2] = np.nan
    return views


@pytest.fixture
def filled(gap):
    """The same views, the cell filled with the mean of its column by hand."""
    shape = gap["shape"].copy()
    shape[7, 2] = np.nanmean(shape, axis=0)[2]
    return {**gap, "shape": shape}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", METHODS)
def test_every_method_refuses_a_missing_cell_or_fills_it(name, tiny_views, gap, filled, tmp_path):
    labels = tiny_views.known_labels
    assert METHODS[name]().get_params()["missing"] == "error"
    with pytest.raises(InputError, match="or fit with missing='impute' to fill single cells"):
        make(name).fit(gap, labels)
    model = make(name, missing="impute").fit(gap, labels)
    expected = make(name).fit(filled, labels)
    np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)
    with pytest.raises(InputError, match="missing must be one of 'error', 'impute'; got 'mean'"):
        make(name, missing="mean").fit(filled, labels)
    model.save(tmp_path)
    loaded = METHODS[name].load(tmp_path)
    assert loaded.missing == "impute"
    if METHODS[name].is_inductive():
        new = {view: values[5:9] for view, values in gap.items()}
        plain = {view: values[5:9] for view, values in filled.items()}
        wanted = expected.predict_proba(plain)
        np.testing.assert_array_equal(loaded.predict_proba(new), wanted)
        with pytest.raises(InputError, match="or fit with missing='impute'"):
            expected.predict(new)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", METHODS)
def test_every_method_fills_cells_in_cross_validation_over_labels(name, tiny_views, gap):
    model = make(name, missing="impute")
    samples = TransductiveViews(gap)
    assert model.fit(samples, tiny_views.known_labels).predict(samples[[7]]).shape == (1,)


def test_method_without_the_parameter_does_not_advise_it(tiny_views, gap):
    class Constant(MultiViewClassifier):
        card = MethodCard("constant", "Constant", "none", 2026, "nothing")

        def __init__(self, *, random_state=None):
            self.random_state = random_state

        def _fit(self, views, y_encoded, context):
            self.label_distributions_ = np.ones((len(views), len(self.classes_)))

    with pytest.raises(InputError, match="these rows; Constant does not fill single cells") as told:
        Constant().fit(gap, tiny_views.known_labels)
    assert "impute" not in str(told.value)


def test_infinity_is_refused_whatever_the_rule(tiny_views, filled):
    filled["shape"][3, 1] = np.inf
    for missing in ("error", "impute"):
        with pytest.raises(InputError, match="view 'shape' holds infinity") as told:
            make("knn", missing=missing).fit(filled, tiny_views.known_labels)
        assert "impute" not in str(told.value)


def test_error_is_one_of_input_and_of_files_and_keeps_its_text_in_other_processes():
    error = MissingValuesError("view 'a' has blank cells.", way_out="Fill them.")
    assert isinstance(error, InputError)
    assert isinstance(error, DataFileError)
    assert str(pickle.loads(pickle.dumps(error))) == "view 'a' has blank cells. Fill them."
    assert str(error.advising("Drop them.")) == "view 'a' has blank cells. Drop them."


@pytest.mark.parametrize("form", ["npz", "csv"])
def test_what_is_read_can_be_fitted_by_the_same_rule(form, tiny_views, gap, tmp_path):
    if form == "npz":
        file = tmp_path / "gap.npz"
        np.savez(file, **gap, y=tiny_views.known_labels)
    else:
        file = tmp_path / "shape.csv"
        np.savetxt(file, gap["shape"], delimiter=",", header="a,b,c,d,e", comments="")
    with pytest.raises(InputError, match="or read and fit with missing='impute'"):
        read_views(file)
    with pytest.raises(InputError, match="or read and fit with missing='impute'"):
        read_views(file, missing="error")
    data = read_views(file, missing="impute")
    model = make("knn", missing="impute").fit(data.views, tiny_views.known_labels)
    assert len(model.transduction_) == 60


def test_tune_fills_cells_for_a_method_that_does(tiny_views, gap):
    pytest.importorskip("optuna")
    settings = {"n_candidates": 2, "n_splits": 2, "n_repeats": 1, "force": True, "random_state": 0}
    settings["space"] = {"n_neighbors": [1, 3]}
    with pytest.raises(InputError, match="or fit with missing='impute'"):
        tune(gap, tiny_views.known_labels, method="knn", **settings)
    tuned = tune(gap, tiny_views.known_labels, method=make("knn", missing="impute"), **settings)
    assert tuned.best_estimator_.missing == "impute"


def test_plan_says_where_to_ask_for_filling(tiny_views, gap, tmp_path):
    file = tmp_path / "gap.npz"
    np.savez(file, **gap, y=tiny_views.labels)
    outcome = attempt(Trial(str(file), "knn", {}, 0.2), None, None)
    assert outcome["status"] == "failed"
    way_out = ', or set params = { missing = "impute" } of the method in the plan.'
    assert outcome["reason"].endswith(way_out)
    outcome = attempt(Trial(str(file), "knn", {"missing": "impute"}, 0.2), None, None)
    assert outcome["status"] == "done"


@pytest.fixture
def tables_with_gap(tmp_path, monkeypatch, tiny_views, gap):
    """A folder of tables with one blank cell, and a file of labels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "tables").mkdir()
    for name, view in gap.items():
        rows = [",".join(["id", *(f"{name}{column}" for column in range(view.shape[1]))])]
        rows += [",".join([f"s{row}", *map(str, values)]) for row, values in enumerate(view)]
        (tmp_path / "tables" / f"{name}.csv").write_text("\n".join(rows).replace("nan", ""))
    rows = [f"s{row},{label}" for row, label in enumerate(tiny_views.known_labels)]
    (tmp_path / "y.csv").write_text("\n".join(["id,y", *rows]))


COMMON = ("tables", "--labels", "y.csv")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("tables_with_gap")
@pytest.mark.parametrize("name", METHODS)
def test_fit_fills_cells_by_option_and_by_parameter(name, manyview):
    epochs = any(key.endswith("max_epochs") for key in METHODS[name]().get_params())
    command = ("fit", *COMMON, "--method", name, "--no-report")
    command += ("-p", "max_epochs=3") if epochs else ()
    code, out, err = manyview(*command)
    assert (code, out) == (2, "")
    assert re.search(r"'s7'\. Fill or remove these rows, or fit with --missing 'impute' to", err)
    code, _, _ = manyview(*command, "--missing", "impute", "--out", "one", "--quiet")
    assert code == 0
    code, out, _ = manyview(*command, "-p", "missing=impute", "--out", "two", "--json")
    assert (code, json.loads(out)["params"]["missing"]) == (0, "impute")


@pytest.mark.usefixtures("tables_with_gap")
def test_new_rows_follow_the_rule_of_the_run(manyview):
    command = ("fit", *COMMON, "--method", "knn", "--no-report", "--quiet")
    assert manyview(*command, "--missing", "impute", "--out", "filled")[0] == 0
    code, out, _ = manyview("predict", "filled", "tables", "--quiet")
    assert (code, out.count("\n")) == (0, 61)
    Path("whole").mkdir()
    for file in Path("tables").iterdir():
        (Path("whole") / file.name).write_text(file.read_text().replace(",,", ",0,"))
    assert manyview("fit", "whole", *command[2:], "--out", "plain")[0] == 0
    code, out, err = manyview("predict", "plain", "tables")
    assert (code, out) == (2, "")
    assert "or fit plain again with `--missing impute`" in err


@pytest.mark.usefixtures("tables_with_gap")
@pytest.mark.parametrize("name", ["label-spreading", "knn", "svm"])
@pytest.mark.parametrize("asked", [("--missing", "impute"), ("-p", "missing=impute")])
def test_tune_verb_fills_cells(name, asked, manyview):
    pytest.importorskip("optuna")
    command = ("tune", *COMMON, "--method", name, "--candidates", 2, "--force", "--out", "tuned")
    code, out, err = manyview(*command)
    assert (code, out) == (2, "")
    assert "or fit with --missing 'impute' to fill single cells" in err
    code, out, err = manyview(*command, *asked, "--json")
    assert code == 0, err
    assert json.loads(out)["params"] == {"missing": "impute"}
    code, _, _ = manyview(
        "fit", *COMMON, "--method", name, "--params", "tuned/tuning.json", "--no-report", "--quiet"
    )
    assert code == 0


def test_method_of_ones_own_fills_cells_if_it_stores_the_parameter(tiny_views, gap):
    class Mean(MultiViewClassifier):
        card = MethodCard("mean", "Mean", "none", 2026, "nothing")

        def __init__(self, *, missing="error", random_state=None):
            self.missing = missing
            self.random_state = random_state

        def _fit(self, views, y_encoded, context):
            assert np.isfinite(views["shape"]).all()
            self.label_distributions_ = np.ones((len(views), len(self.classes_)))

    with pytest.raises(InputError, match="or fit with missing='impute'"):
        Mean().fit(gap, tiny_views.known_labels)
    assert len(Mean(missing="impute").fit(gap, tiny_views.known_labels).transduction_) == 60
