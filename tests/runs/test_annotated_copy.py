"""`manyview fit` on an `.h5mu` file, and the copy that it annotates."""

import hashlib

import numpy as np
import pytest

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:From 0.4:FutureWarning")

FAST = ("-p", "max_epochs=20", "--no-report")


def checksum(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def file(unlabeled_cohort, tiny_views, tmp_path):
    """60 samples named p0 to p59; the last five lack `color`, twelve have a diagnosis."""
    known = tiny_views.known_labels
    unlabeled_cohort.obs["diagnosis"] = np.where(
        known == -1, None, np.array(["a", "b", "c"])[known]
    )
    unlabeled_cohort.obs["age"] = np.arange(60.0)
    unlabeled_cohort.write(tmp_path / "cohort.h5mu")
    return tmp_path / "cohort.h5mu"


def test_fit_leaves_an_annotated_copy_and_the_input_alone(file, tmp_path, manyview, tiny_views):
    before, out = checksum(file), tmp_path / "run"
    code, text, err = manyview(
        "fit", file, "--label-column", "diagnosis", "--annotate", "--out", out, *FAST
    )
    assert (code, err) == (0, "")
    assert "5 of 60 samples lack view color; they are kept" in " ".join(text.split())
    assert "results.h5mu" in text
    assert checksum(file) == before
    assert sorted(one.name for one in out.iterdir()) == [
        "history.csv", "model.json", "model.safetensors", "predictions.csv", "results.h5mu",
        "run.json",
    ]  # fmt: skip
    results = mudata.read_h5mu(out / "results.h5mu")
    table = pd.read_csv(out / "predictions.csv").set_index("sample_id")
    labels = results.obs["manyview_label"]
    assert labels.astype(str).to_dict() == table["label"].to_dict()
    truth = dict(zip([f"p{number}" for number in range(60)], tiny_views.labels, strict=True))
    right = [truth[name] == "abc".index(label) for name, label in labels.items()]
    assert np.mean(right) > 0.9
    np.testing.assert_array_equal(results["shape"].X, mudata.read_h5mu(file)["shape"].X)
    assert results.obs["age"].tolist() == mudata.read_h5mu(file).obs["age"].tolist()


def test_abstentions_are_blank_in_the_copy(file, tmp_path, manyview):
    out = tmp_path / "run"
    code, _, err = manyview(
        "fit", file, "--label-column", "diagnosis", "--annotate", "--abstain-below", "0.8",
        "--out", out, *FAST,
    )  # fmt: skip
    assert (code, err) == (0, "")
    table = pd.read_csv(out / "predictions.csv").set_index("sample_id")
    blank = mudata.read_h5mu(out / "results.h5mu").obs["manyview_label"].isna()
    assert blank.to_dict() == (table["label"] == "unknown").to_dict()
    assert blank.any()


def test_a_run_labels_new_observations(file, tmp_path, manyview):
    out = tmp_path / "run"
    manyview("fit", file, "--label-column", "diagnosis", "--out", out, *FAST)
    code, text, err = manyview("predict", out, file, "-q")
    assert (code, err) == (0, "")
    assert len(text.splitlines()) == 61


def test_annotate_is_refused_for_other_files_before_any_work(shapes, tmp_path, manyview):
    code, _, err = manyview("fit", shapes, "--annotate", "--out", tmp_path / "run")
    assert code == 2
    assert err.startswith("Error: --annotate is for one .h5mu or .h5ad file; got ")
    assert not (tmp_path / "run").exists()


def test_missing_label_column_is_one_line(file, manyview, tmp_path):
    code, _, err = manyview("fit", file, "--label-column", "diagnose", "--out", tmp_path / "run")
    assert (code, err) == (
        2,
        "Error: cohort.h5mu has no column 'diagnose' in .obs; it has 'diagnosis', 'age'. "
        "Did you mean 'diagnosis'?\n",
    )
    code, _, err = manyview("fit", file, "--out", tmp_path / "run")
    assert code == 2
    assert "--label-column" in err
