"""The verbs `fit`, `predict` and `explain`: what they print and write, and how they end."""

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from manyview.data.catalog.cards import CATALOG
from manyview.estimators.manyview import ManyviewClassifier

QUICK = ("-p", "max_epochs=5")


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def test_fit_prints_a_summary_and_writes_a_folder(manyview, shapes):
    command = ("fit", shapes, "--label-ratio", 0.2, "--out", "runs/demo", "-p", "n_neighbors=6")
    code, out, err = manyview(*command, *QUICK)
    assert (code, err) == (0, "")
    out = re.sub(r"\s+\d+\.\d+\s+s\n", " # s\n", out)  # a slow fit's seconds may be wrapped
    out = re.sub(r" *\d+\.\d+(%|\))", r" #\1", out)
    start = """\
Data      shapes: 60 samples, 2 views, 3 classes
          shape, color: 2 views of 60 samples (5, 8 features); labels in y: 3 classes from 0 to 2.
Labels    12 shown, 48 hidden (stratified, ratio 0.2, seed 0)
Method    manyview, 6 neighbors in each view, columns standardized in shape, n_neighbors=6,
          max_epochs=5
Training  2 networks, the last 5 epochs, the maximum; the loss has not converged yet; # s

Result    accuracy #% on the 48 hidden labels (balanced #%, macro-F1 #%)

          view   features  importance
          shape         5 #%
          color         8 #%

          class  labeled  found
"""
    assert out[: len(start)] == start
    assert out.endswith("""\

Files     runs/demo
            report.html      the whole report, to open in a browser
            predictions.csv  label, probability and confidence of every sample
            run.json         settings, versions, checksum, scores
            history.csv      loss and accuracy on the labeled samples by epoch
            model.*          the model, for: manyview predict runs/demo NEW_DATA
""")
    assert Path("runs/demo/predictions.csv").is_file()
    assert "<h1>shapes</h1>" in Path("runs/demo/report.html").read_text(encoding="utf-8")


def test_fit_without_a_report(manyview, shapes):
    command = ("fit", shapes, "--label-ratio", 0.2, "--no-report", "--out", "run")
    code, out, err = manyview(*command, *QUICK)
    assert (code, err) == (0, "")
    assert "report.html" not in out
    assert not Path("run/report.html").exists()
    assert Path("run/predictions.csv").is_file()


def test_fit_prints_the_json_document_of_the_folder(manyview, shapes):
    code, out, err = manyview("fit", shapes, "--label-ratio", 0.2, "--json", *QUICK)
    assert (code, err) == (0, "")
    document = json.loads(out)
    folder = Path("runs/shapes-manyview-seed0")
    assert document["settings"]["out"] == str(folder)
    assert document == json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_quiet_fit_prints_nothing(manyview, shapes):
    assert manyview("fit", shapes, "--label-ratio", 0.2, "--quiet", *QUICK) == (0, "", "")


def test_fit_passes_every_option_on(manyview, here, tiny_views):
    np.savez(
        here / "a.npz",
        one=tiny_views.views["shape"],
        two=tiny_views.views["color"],
        three=np.ones((60, 2)),
        kind=tiny_views.labels,
        other=tiny_views.labels[::-1],
    )
    code, out, _ = manyview(
        "fit", "a.npz", "--views-key", "one", "--views-key", "two", "--labels-key", "kind",
        "--label-ratio", 0.3, "--protocol", "random", "--seed", 5, "--method", "mgcn-dns",
        "-p", "hidden=8", "--param", "node_selection=none", "-p", "max_epochs=2",
        "--out", "run", "--json",
    )  # fmt: skip
    assert code == 0
    document = json.loads(out)
    assert document["data"]["views"] == {"one": 5, "two": 8}
    assert document["split"] == {
        "protocol": "random", "label_ratio": 0.3, "seed": 5, "n_labeled": 18, "n_unlabeled": 42,
    }  # fmt: skip
    params = document["params"]
    assert (params["hidden"], params["node_selection__form"]) == (8, None)
    assert params["random_state"] == 5


def test_fit_loads_data_of_the_catalog(manyview):
    code, out, _ = manyview(
        "fit", "digits", "--label-ratio", 0.05, "--json",
        "-p", "max_epochs=1", "-p", "node_selection=none",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["data"]["sha256"] == CATALOG["digits"].sha256
    assert Path("runs/digits-manyview-seed0/run.json").is_file()


def test_tables_are_fitted_and_new_samples_labeled(manyview, tables):
    code, out, err = manyview(
        "fit", "old", "--labels", "animals.csv", "--out", "run", "-p", "max_epochs=40"
    )
    assert (code, err) == (0, "")
    assert "3 classes (cow, hen, pig), " in out
    rows = rows_of(Path("run/predictions.csv").read_text())
    assert {row["sample_id"] for row in rows} == {f"s{row}" for row in range(50)}
    by_id = {f"s{row}": animal for row, animal in enumerate(tables)}
    right = [row["label"] == by_id[row["sample_id"]] for row in rows]
    assert np.mean(right) > 0.9
    for row in rows:
        assert (row["known"] == "known") == bool(row["given"])
        assert row["given"] in {"", by_id[row["sample_id"]]}

    code, out, err = manyview("predict", "run", "new")
    assert code == 0
    found = rows_of(out)
    assert {row["sample_id"] for row in found} == {f"s{row}" for row in range(50, 60)}
    assert np.mean([row["label"] == by_id[row["sample_id"]] for row in found]) > 0.7
    assert "Result  10 samples labeled" in err

    with_files = manyview("predict", "run", "new/color.csv", "new/shape.csv", "--quiet")
    assert with_files[0] == 0
    assert with_files[2] == ""
    assert sorted(with_files[1].splitlines()) == sorted(out.splitlines())


def test_samples_missing_from_a_table_are_kept_and_labeled(manyview, refused, tables, here):
    for folder in ("old", "new"):
        lines = (here / folder / "shape.csv").read_text().splitlines()
        (here / folder / "shape.csv").write_text("\n".join([lines[0], *lines[3:]]) + "\n")
    command = ("fit", "old", "--labels", "animals.csv", "-p", "max_epochs=40")
    code, out, err = manyview(*command, "--out", "run")
    assert (code, err) == (0, "")
    assert "2 of 50 samples lack view shape; they are kept and use their other views." in " ".join(
        out.split()
    )
    rows = rows_of(Path("run/predictions.csv").read_text())
    assert np.mean([row["label"] == tables[int(row["sample_id"][1:])] for row in rows]) > 0.9
    assert "lack view shape" in Path("run/report.html").read_text()
    code, out, _ = manyview("predict", "run", "new", "--quiet")
    assert (code, len(rows_of(out))) == (0, 10)
    assert "needs every sample in every view" in refused(*command[:4], "--method", "knn")


def test_single_blank_cells_are_filled_on_request(manyview, refused, tables, here):
    file = here / "old" / "shape.csv"
    lines = file.read_text().splitlines()
    lines[7] = re.sub(",[^,]*$", ",", lines[7])
    file.write_text("\n".join(lines) + "\n")
    command = ("fit", "old", "--labels", "animals.csv", *QUICK)
    assert "fit with --missing 'impute'" in refused(*command)
    assert "--missing must be one of 'error', 'impute'" in refused(*command, "--missing", "no")
    code, out, _ = manyview(*command, "--missing", "impute", "--out", "run", "--json")
    assert (code, json.loads(out)["params"]["missing"]) == (0, "impute")
    code, out, _ = manyview("predict", "run", "old", "--quiet")
    assert (code, len(rows_of(out))) == (0, 50)


@pytest.mark.parametrize("weight", ["balanced", "{cow = 1000, hen = 0.001}"])
def test_classes_are_weighted_by_name(manyview, tables, weight):
    command = ("fit", "old", "--labels", "animals.csv", "--json", "-p", "max_epochs=40")
    _, plain, _ = manyview(*command, "--out", "plain")
    code, out, err = manyview(*command, "--out", "run", "-p", f"class_weight={weight}")
    assert (code, err) == (0, "")
    n_found, n_plain = (
        {one["label"]: one["n_found"] for one in json.loads(text)["classes"]}
        for text in (out, plain)
    )
    if weight == "balanced":
        assert sum(n_found.values()) == sum(n_plain.values())
    else:
        assert n_found["cow"] > n_plain["cow"]


def test_predict_writes_a_file_and_scores_labels(manyview, tables, here):
    manyview("fit", "old", "--labels", "animals.csv", "--out", "run", *QUICK)
    lines = [f"s{row},{tables[row]}" for row in range(50, 60)]
    (here / "truth.csv").write_text("\n".join(["id,animal", *lines]))
    command = ("predict", "run", "new", "--labels", "truth.csv", "--out", "found.csv")
    code, out, err = manyview(*command)
    assert (code, err) == (0, "")
    assert "Result  10 samples labeled\n        accuracy " in out
    assert " on the 10 samples with a label (" in out
    assert out.endswith("File    found.csv\n")
    assert len(rows_of(Path("found.csv").read_text())) == 10

    code, out, err = manyview(*command, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["file"] == "found.csv"
    assert document["scores"]["n_scored"] == 10


def test_predict_prints_one_json_document_with_the_labels(manyview, shapes):
    manyview("fit", shapes, "--label-ratio", 0.2, "--out", "run", *QUICK)
    code, out, err = manyview("predict", "run", shapes, "--json")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["predictions"]) == 60


def test_explain_splits_the_prediction_of_a_sample(manyview, tables):
    assert manyview("fit", "old", "--labels", "animals.csv", "--out", "run", *QUICK)[0] == 0
    code, out, err = manyview("explain", "run", "--sample", "s7")
    assert (code, err) == (0, "")
    assert out.startswith("Run      manyview of run, 50 samples\nSample   s7, came with")
    assert "\nReasons  The log-odds of " in out
    assert "\n         itself " in out
    code, out, err = manyview("explain", "run", "--sample", "s7", "--json")
    document = json.loads(out)
    assert document["explanation"]["name"] == "s7"
    parts = [document["explanation"]["itself"], *document["explanation"]["neighbors"]]
    total = sum(part["margin"] for part in parts)
    assert total == pytest.approx(document["explanation"]["margin"])
    code, out, err = manyview("explain", "run")
    assert "changed predictions" in out


def test_explain_agrees_with_predict_on_a_new_sample(manyview, refused, tables):
    assert manyview("fit", "old", "--labels", "animals.csv", "--out", "run", *QUICK)[0] == 0
    _, out, _ = manyview("predict", "run", "new", "--json")
    predicted = json.loads(out)["predictions"][3]
    name = predicted["sample_id"]
    code, out, err = manyview("explain", "run", "--data", "new", "--sample", name, "--json")
    assert (code, err) == (0, "")
    why = json.loads(out)["explanation"]
    assert (why["name"], why["prediction"]) == (name, predicted["label"])
    total = sum(part["margin"] for part in [why["itself"], *why["neighbors"]])
    assert total == pytest.approx(why["margin"])
    code, out, err = manyview("explain", "run", "--data", "new", "--sample", name)
    assert (code, err) == (0, "")
    assert f"\nSample   {name}, came after the fit\n" in out
    assert refused("explain", "run", "--data", "new") == (
        "--data needs --sample, the id of one of the new samples."
    )
    assert refused("explain", "run", "--data", "new", "--sample", "zebra").startswith(
        "No sample has the id 'zebra'. The ids go from "
    )


def test_explain_suggests_the_nearest_sample_and_run(manyview, refused, tables):
    assert manyview("fit", "old", "--labels", "animals.csv", "--out", "run", *QUICK)[0] == 0
    assert refused("explain", "run", "--sample", "s777") == (
        "No sample has the id 's777'. Did you mean 's7'?"
    )
    assert refused("explain", "rum", "--sample", "s1") == (
        "There is no run rum. Did you mean 'run'?"
    )


def test_fit_calibrates_and_abstains_on_request(manyview, shapes, here):
    options = ("--label-ratio", "0.2", "--calibrate", "--abstain-below", "0.4", "--out", "run")
    code, out, err = manyview("fit", shapes, *options, *QUICK)
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    assert "probabilities calibrated on 12 held-out labels: temperature " in text
    assert "predictions with a probability of 0.4 or more" in text
    assert ",unknown,0.3" in (here / "run" / "predictions.csv").read_text()
    report = (here / "run" / "report.html").read_text(encoding="utf-8")
    assert "left unknown" in report
    code, out, err = manyview("predict", "run", shapes, "--abstain-below", "1", "-q")
    assert {line.split(",")[1] for line in out.splitlines()[1:]} == {"unknown"}


def test_full_disk_is_one_line(refused, shapes, here, monkeypatch):
    def fail(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fail)
    assert refused("fit", shapes, "--label-ratio", 0.2, "--out", "run", *QUICK) == (
        "run could not be written: No space left on device. Nothing is left there."
    )
    assert [path.name for path in here.iterdir()] == [shapes]


def test_nothing_left_to_label_is_a_warning(manyview, shapes):
    code, out, err = manyview("fit", shapes, *QUICK)
    assert code == 0
    assert err == "Warning: every sample has a label, so none was left to label.\n"
    assert "Result    no sample was left to label\n" in out


def test_interrupt_before_training_writes_nothing(manyview, shapes, here, monkeypatch):
    def interrupt(self, views, labels):
        raise KeyboardInterrupt

    monkeypatch.setattr(ManyviewClassifier, "fit", interrupt)
    code, out, err = manyview("fit", shapes, "--label-ratio", 0.2, "--out", "run")
    assert (code, out, err) == (130, "", "Interrupted; nothing was written.\n")
    assert [path.name for path in here.iterdir()] == [shapes]


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_real_interrupt_while_training_keeps_the_best_so_far(here, rng):
    import pty

    labels = rng.integers(0, 3, 900)
    np.savez(here / "noise.npz", view1=rng.random((900, 30)) + labels[:, None], y=labels)
    controller, terminal = pty.openpty()
    command = "fit noise.npz --label-ratio 0.5 --out run -p max_epochs=1000000 -p tol=0"
    run = subprocess.Popen(
        [sys.executable, "-m", "manyview", *command.split()],
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=os.environ | {"OMP_NUM_THREADS": "1", "TERM": "xterm"},
        text=True,
    )
    os.close(terminal)
    shown = b""
    end = time.monotonic() + 60
    while not re.search(rb"loss [0-9]", shown):  # the first epoch is done
        assert time.monotonic() < end, shown
        shown += os.read(controller, 1024)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    while chunk := _read(controller):
        shown += chunk
    os.close(controller)
    assert run.returncode == 0, shown
    warning = re.search(rb"Warning: fit was interrupted after (\d+) epochs; [^\r\n]*kept\.", shown)
    assert warning, shown
    assert b"Traceback" not in shown
    assert b"ConvergenceWarning" not in shown
    assert "epochs, then interrupted; the best network so far is kept" in out
    record = json.loads(Path("run/run.json").read_text())
    assert record["training"]["stopped"] == "interrupted"
    assert record["training"]["n_epochs"] == int(warning[1])
    assert ManyviewClassifier.load("run").verbose is False


def _read(controller):
    try:
        return os.read(controller, 1024)
    except OSError:  # the other end is closed
        return b""
