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


def test_folder_without_its_predictions_is_refused(run):
    (run.folder / "predictions.csv").unlink()
    with pytest.raises(DataFileError, match=r"has no predictions\.csv, which holds the sample ids"):
        explain_run(run.folder, "3")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"id,label\n3,1\n"])
def test_damaged_predictions_are_refused(run, content):
    (run.folder / "predictions.csv").write_bytes(content)
    with pytest.raises(DataFileError, match=r"predictions\.csv cannot be read: it is damaged"):
        explain_run(run.folder, "3")


def test_predictions_of_another_run_are_refused(run):
    file = run.folder / "predictions.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:40]))
    with pytest.raises(DataFileError, match=r"has 39 samples, but the model was fitted with 60"):
        explain_run(run.folder, "3")


def test_truncated_model_is_refused(run):
    file = run.folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(DataFileError, match=r"cut short\. Fit the model again\."):
        explain_run(run.folder, "3")
