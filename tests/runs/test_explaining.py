"""Explanations from a run's folder: those of the model, by sample id, or one clear sentence."""

import json

import pytest

from manyview.errors import DataFileError, InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.runs.explaining import explain_run
from manyview.runs.fitting import fit_run


@pytest.fixture
def run(quick):
    return fit_run(quick())


def test_explanations_are_those_of_the_model(run):
    reasons = explain_run(run.folder, "17")
    model = ManyviewClassifier.load(run.folder)
    assert reasons.explanation == model.explain(17)
    assert reasons.view_effects == model.view_effects()
    document = json.loads(json.dumps(reasons.document()))
    assert document["format"] == "manyview reasons"
    assert document["explanation"]["name"] == "17"
    assert [one["view"] for one in document["view_effects"]] == ["shape", "color"]


def test_without_a_sample_only_views_are_explained(run):
    reasons = explain_run(run.folder)
    assert reasons.explanation is None
    assert len(reasons.view_effects) == 2
    assert reasons.document()["explanation"] is None


def test_sample_without_a_prediction_is_explained(quick):
    run = fit_run(quick(abstain_below=1.0))
    assert explain_run(run.folder, "3").explanation.prediction in {0, 1, 2}


def test_unknown_id_is_refused_with_near_ones(run):
    with pytest.raises(InputError) as error:
        explain_run(run.folder, "177")
    assert str(error.value) == "No sample has the id '177'. Did you mean '17'?"


def test_method_without_explanations_is_refused(quick):
    run = fit_run(quick(method="knn", params={}))
    with pytest.raises(InputError) as error:
        explain_run(run.folder, "3")
    assert str(error.value) == (
        f"KNN, the method of {run.folder}, cannot explain its predictions. Methods that can: "
        "manyview, mgcn-dns."
    )


def test_missing_run_is_refused(tmp_path):
    with pytest.raises(DataFileError, match="There is no run"):
        explain_run(tmp_path / "nothing", "3")


@pytest.mark.parametrize("change", ["sorted", "cut", "damaged", "removed"])
def test_predictions_csv_is_output_only(run, change):
    before = explain_run(run.folder, "3")
    file = run.folder / "predictions.csv"
    header, *rows = file.read_text().splitlines(keepends=True)
    if change == "sorted":
        rows.sort(key=lambda row: row.split(",")[2])
        file.write_text("".join([header, *rows]))
    elif change == "cut":
        file.write_text("".join([header, *rows[:40]]))
    elif change == "damaged":
        file.write_bytes(b"\xff\xfe\x00")
    else:
        file.unlink()
    assert explain_run(run.folder, "3") == before


def test_model_without_ids_is_refused(run):
    model = ManyviewClassifier.load(run.folder)
    model.sample_ids_ = None
    model.save(run.folder)
    with pytest.raises(DataFileError) as error:
        explain_run(run.folder, "3")
    assert str(error.value) == (
        f"The model of {run.folder} holds no sample ids, so an earlier manyview wrote it. Fit the "
        "model again."
    )


def test_truncated_model_is_refused(run):
    file = run.folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(DataFileError, match=r"cut short\. Fit the model again\."):
        explain_run(run.folder, "3")
