import json

import numpy as np
import pytest

from manyview.base.persistence import load_tree, save_tree
from manyview.data.fitted_range import FittedRange
from manyview.errors import DataFileError, InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.runs.fitting import fit_run
from manyview.runs.predicting import predict_run, write_predictions
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource


@pytest.fixture
def run(quick):
    return fit_run(quick())


@pytest.fixture
def new(tmp_path, tiny_views):
    """Ten samples that no run has seen, their views in another order."""
    file = tmp_path / "new.npz"
    views = {name: view[:10] + 0.01 for name, view in tiny_views.views.items()}
    np.savez(file, color=views["color"], shape=views["shape"])
    return file


def test_new_samples_get_the_labels_the_model_gives(run, new):
    prediction = predict_run(run.folder, DataSource((str(new),)))
    with np.load(new) as views:
        model = ManyviewClassifier.load(run.folder)
        given = {name: views[name] for name in ("shape", "color")}
    assert prediction.labels.tolist() == model.predict(given).tolist()
    np.testing.assert_array_equal(prediction.probabilities, model.predict_proba(given).max(axis=1))
    assert prediction.method == "manyview"
    assert prediction.scores is None
    assert prediction.notes == ()


@pytest.mark.parametrize("name", ["table.csv", "other.csv"])
def test_numbered_ids_that_the_labels_decided_are_ids_of_new_tables(tmp_path, name):
    rng = np.random.default_rng(0)
    for file, ids in {"table.csv": range(100, 400, 10), f"new/{name}": (7, 7001, 35)}.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        lines = [f"{one},{2 * (one % 20):.1f},{rng.random():.4f}" for one in ids]
        (tmp_path / file).write_text("\n".join(["patient,a,b", *lines]) + "\n")
    labels = [f"{one},{'x' if one % 20 else 'y'}" for one in range(100, 300, 10)]
    (tmp_path / "labels.csv").write_text("\n".join(["patient,label", *labels]) + "\n")
    source = DataSource((str(tmp_path / "table.csv"),), labels=str(tmp_path / "labels.csv"))
    run = fit_run(RunSettings(source, method="knn", out=tmp_path / "run"))
    assert run.data.id_columns == {"table": "patient"}
    prediction = predict_run(run.folder, DataSource((str(tmp_path / "new" / name),)))
    assert prediction.sample_ids.tolist() == ["7", "7001", "35"]
    record = json.loads((run.folder / "run.json").read_text())
    del record["data"]["id_columns"]  # as an earlier version wrote it
    (run.folder / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError) as caught:
        predict_run(run.folder, DataSource((str(tmp_path / "new" / name),)))
    assert str(caught.value) == (
        "X has 3 features, but KNNClassifier is expecting 2 features as input. Columns to leave "
        "out: patient."
    )


def test_predictions_are_written_as_csv(run, new, tmp_path):
    prediction = predict_run(run.folder, DataSource((str(new),)))
    file = tmp_path / "out.csv"
    file.write_text("old")
    write_predictions(prediction, file)
    lines = file.read_text().splitlines()
    assert lines[0] == "sample_id,label,probability"
    assert lines[1] == f"0,{prediction.labels[0]},{prediction.probabilities[0]:.6f}"
    assert len(lines) == 11


def test_document_has_the_labels_unless_they_are_in_a_file(run, new, tmp_path):
    prediction = predict_run(run.folder, DataSource((str(new),)))
    document = json.loads(json.dumps(prediction.document(None)))
    assert len(document["predictions"]) == 10
    assert document["predictions"][3] == {
        "sample_id": "3",
        "label": prediction.labels[3],
        "probability": prediction.probabilities[3],
    }
    with_file = prediction.document(tmp_path / "out.csv")
    assert with_file["file"] == str(tmp_path / "out.csv")
    assert "predictions" not in with_file


def test_labels_of_the_new_data_are_scored(run, tmp_path, tiny_views):
    labels = tiny_views.labels[:10].copy()
    labels[0] = -1
    views = {name: view[:10] for name, view in tiny_views.views.items()}
    np.savez(tmp_path / "new.npz", **views, y=labels)
    prediction = predict_run(run.folder, DataSource((str(tmp_path / "new.npz"),)))
    assert prediction.scores.n_scored == 9
    assert prediction.scores.accuracy == (prediction.labels[1:] == labels[1:]).mean()


def test_data_of_the_fit_are_noticed(run, shapes):
    prediction = predict_run(run.folder, DataSource((str(shapes),)))
    assert prediction.notes[0].startswith(
        "These are the data of the fit, labeled as if they were new"
    )


def test_single_view_may_have_another_name(quick, tmp_path, tiny_views):
    np.savetxt(tmp_path / "train.csv", tiny_views.views["shape"], delimiter=",", header="a,b,c,d,e",
               comments="")  # fmt: skip
    np.savetxt(tmp_path / "y.txt", tiny_views.known_labels, fmt="%d")
    source = DataSource((str(tmp_path / "train.csv"),), labels=str(tmp_path / "y.txt"))
    run = fit_run(quick(source=source, label_ratio=None))
    (tmp_path / "train.csv").rename(tmp_path / "new.csv")
    prediction = predict_run(run.folder, DataSource((str(tmp_path / "new.csv"),)))
    assert prediction.notes == ("View new is used as the run's only view, train.",)
    assert len(prediction.labels) == 60


def test_other_views_are_refused_by_name(run, tmp_path, tiny_views):
    np.savez(tmp_path / "new.npz", shape=tiny_views.views["shape"], sound=np.ones((60, 8)))
    with pytest.raises(InputError) as error:
        predict_run(run.folder, DataSource((str(tmp_path / "new.npz"),)))
    assert str(error.value) == (
        "new must have the views of the run (shape, color); it has shape, sound. "
        "A table's view is named after its file."
    )


def test_view_of_another_size_is_refused(run, tmp_path, tiny_views):
    np.savez(tmp_path / "new.npz", shape=tiny_views.views["shape"], color=np.ones((60, 7)))
    with pytest.raises(InputError) as error:
        predict_run(run.folder, DataSource((str(tmp_path / "new.npz"),)))
    assert str(error.value) == "view 'color' has 7 features, but was fitted with 8."


def test_missing_run_is_refused_with_the_nearest(run, new):
    with pytest.raises(DataFileError, match=r"There is no run .*runn\. Did you mean 'run'\?"):
        predict_run(run.folder.with_name("runn"), DataSource((str(new),)))


def test_other_folder_is_no_run(tmp_path, new):
    with pytest.raises(DataFileError, match=r"is not the folder of a run: it has no run\.json\."):
        predict_run(tmp_path, DataSource((str(new),)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"run\.json cannot be read: it is damaged or cut short\."),
        ('{"format": "manyv', r"run\.json cannot be read: it is damaged or cut short\."),
        ("[]", r"run\.json is not the record of a manyview run\."),
        ("{}", r"run\.json is not the record of a manyview run\."),
        (
            '{"format": "manyview run", "format_version": 9, "versions": {"manyview": "9.1"}}',
            r"has format version 9, this manyview reads version 2\. Fit the model again, or use "
            r"manyview 9\.1\.",
        ),
    ],
)
def test_damaged_record_is_refused(run, new, content, message):
    (run.folder / "run.json").write_text(content)
    with pytest.raises(DataFileError, match=message):
        predict_run(run.folder, DataSource((str(new),)))


def test_truncated_model_is_refused(run, new):
    file = run.folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(DataFileError, match=r"it was changed or cut short\. Fit the model again"):
        predict_run(run.folder, DataSource((str(new),)))


@pytest.mark.parametrize("part", ["params", "learned"])
def test_model_without_one_of_its_parts_is_refused(run, new, part):
    tree = load_tree(run.folder, "manyview", (FittedRange, *ManyviewClassifier.record_types))
    save_tree(run.folder, "manyview", {name: value for name, value in tree.items() if name != part})
    with pytest.raises(DataFileError, match=r"holds no whole model\. Fit the model again"):
        predict_run(run.folder, DataSource((str(new),)))


def test_columns_of_new_tables_may_come_in_another_order(tmp_path, tiny_views):
    def write(folder, *, is_reversed):
        folder.mkdir()
        for name, view in tiny_views.views.items():
            step = -1 if is_reversed else 1
            header = [f"{name}{i}" for i in range(view.shape[1])][::step]
            lines = [",".join(["id", *header])]
            lines += [
                ",".join([f"s{row}", *map(repr, values[::step].tolist())])
                for row, values in enumerate(view)
            ]
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        return DataSource((str(folder),))

    source = write(tmp_path / "fitted", is_reversed=False)
    labels = "id,label\n" + "".join(f"s{i},{v}\n" for i, v in enumerate(tiny_views.known_labels))
    (tmp_path / "fitted" / "labels.csv").write_text(labels)
    settings = RunSettings(source, params={"max_epochs": 5}, out=tmp_path / "run")
    folder = fit_run(settings).folder
    same = predict_run(folder, source)
    other = predict_run(folder, write(tmp_path / "reversed", is_reversed=True))
    np.testing.assert_array_equal(other.probabilities, same.probabilities)


def test_method_that_cannot_label_new_samples_is_refused_before_they_are_read(quick, tmp_path):
    run = fit_run(quick(method="mlan", params={}, out=tmp_path / "mlan"))
    with pytest.raises(InputError, match="MLAN labels only the samples it was fitted with"):
        predict_run(run.folder, DataSource((str(tmp_path / "no such file.npz"),)))


def test_new_samples_that_are_unlike_the_fit_are_noted(run, tmp_path, tiny_views):
    views = dict(tiny_views.views)
    views["color"] = views["color"] + 3 * views["color"].std(axis=0)
    np.savez(tmp_path / "new.npz", **views)
    prediction = predict_run(run.folder, DataSource((str(tmp_path / "new.npz"),)))
    (note,) = prediction.notes
    assert note.startswith("View 'color' of the new samples is unlike the fit: 8 of 8 columns")
    assert prediction.document(None)["notes"] == [note]
