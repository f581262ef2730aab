"""The verbs `fit`, `predict` and `explain`: what they print and write, and how they end."""

import csv
import errno
import html
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from pages import parts_of

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
Estimate  too few labels to estimate the accuracy: 12 could be hidden in turn, 20 are needed

Data      shapes: 60 samples, 2 views, 3 classes
          shape, color: 2 views of 60 samples (5, 8 features); labels in y: 3 classes from 0 to 2.
Labels    12 shown, 48 hidden (stratified, ratio 0.2, seed 0)
Method    manyview, 6 neighbors in each view, n_neighbors=6, max_epochs=5
Scaling   shape standardized; color unit
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
        "protocol": "random", "label_ratio": 0.3, "seed": 5, "n_labeled": 18, "n_hidden": 42,
        "n_unlabeled": 42,
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
        assert (row["known"] == "yes") == bool(row["given"])
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


def test_repeated_labels_are_merged_and_recorded(manyview, refused, tables):
    lines = Path("animals.csv").read_text().splitlines()
    Path("first.csv").write_text("\n".join(lines[:25]) + "\n")
    Path("second.csv").write_text("\n".join([lines[0], *lines[20:]]) + "\n")
    both = ("--labels", "first.csv", "--labels", "second.csv")
    assert manyview("fit", "old", *both, "--out", "run", *QUICK)[0] == 0
    assert manyview("fit", "old", "--labels", "animals.csv", "--out", "one", *QUICK)[0] == 0
    assert Path("run/predictions.csv").read_text() == Path("one/predictions.csv").read_text()
    record = json.loads(Path("run/run.json").read_text())
    assert record["settings"]["labels"] == ["first.csv", "second.csv"]
    assert json.loads(Path("one/run.json").read_text())["settings"]["labels"] == "animals.csv"

    def label(folder, rows):
        text = "".join(f"s{row},{tables[row]}\n" for row in rows)
        Path(folder).write_text("id,animal\n" + text)

    label("even.csv", range(50, 60, 2))
    label("odd.csv", range(51, 60, 2))
    command = ("predict", "run", "new", "--labels", "even.csv", "--labels", "odd.csv", "--json")
    assert json.loads(manyview(*command)[1])["scores"]["n_scored"] == 10
    Path("odd.csv").write_text("id,animal\ns50,dodo\n")
    assert refused(*command) == (
        f"sample 's50' has label '{tables[50]}' in even.csv column animal and 'dodo' in odd.csv "
        "column animal. Remove or correct one of them."
    )
    command = ("tune", "old", *both, "--candidates", "1", *QUICK)
    Path("second.csv").write_text(f"id,animal\n{lines[1].split(',')[0]},dodo\n")
    Path("first.csv").write_text(f"id,animal\n{lines[1].split(',')[0]},emu\n")
    assert refused(*command).startswith(f"sample '{lines[1].split(',')[0]}' has label 'emu' in fir")


def own_tables(**files):
    Path("own").mkdir()
    for name, text in files.items():
        Path("own", name.replace("_", ".")).write_text(text)


MEAN = "patient,x,z\n" + "".join(f"p{row},{row / 8},{row % 3}\n" for row in range(30))


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        (
            {"mean_csv": MEAN + "p7,1,2\n", "labels_csv": "patient,label\np1,a\np2,b\n"},
            (),
            "mean.csv names sample 'p7' twice (rows 9 and 32); every sample must have one row. "
            "Remove or merge rows, or pass --id-column if another column holds the ids.",
        ),
        (
            {"mean_csv": MEAN, "labels_csv": "who,what\np1,a\np2,b\np1,b\n"},
            (),
            "labels.csv column what gives sample 'p1' two labels: 'a' (row 2) and 'b' (row 4). "
            "Remove or correct one of the rows.",
        ),
        (
            {"mean_csv": MEAN, "labels_csv": "who,age,what\np1,40,a\np2,50,b\n"},
            (),
            "labels.csv must have one column of labels; it has 'who', 'age' and 'what'. Pass "
            "--label-column to name it.",
        ),
        (
            {"mean_csv": MEAN, "error_xls": "", "labels_csv": "who,what\np1,a\np2,b\n"},
            (),
            "own has 1 file(s) that cannot be read: error.xls. Save tables as CSV, .xlsx or "
            "Parquet (read are .mat, .npz, .h5mu, .h5ad, .npy, .csv, .tsv, .tab, .parquet, .pq, "
            ".feather, .arrow, .xlsx, .xlsm, .zip; tables also with .gz, .bz2, .xz, .zst), or "
            "leave a file out: pass --ignore 'error.xls'.",
        ),
        (
            {"mean_csv": "patient;x\np1;1,234\np2;5,678\n", "y_csv": "a,b\np1,1\np2,2\n"},
            (),
            "mean.csv column 'x' is ambiguous: '1,234' may be 1.234 or 1234. Write its numbers "
            "with a decimal point and without separators of thousands.",
        ),
        (
            {"mean_csv": MEAN, "notes_csv": "remark\nfine\nok\n"},
            (),
            "notes.csv has no column of features or labels; it has 'remark'. Leave it out; in a "
            "folder, pass --ignore 'notes.csv'.",
        ),
        (
            {"mean_csv": "x,z\n1.5,2\n2,3\n2.5,1\n", "labels_csv": "who,what\np1,a\np2,b\n"},
            (),
            "labels.csv column what names samples, such as 'p1', but the views have no sample ids "
            "to join them on. Add a column of sample ids to the tables, or pass --id-column to "
            "name it.",
        ),
        (
            {"mean_csv": MEAN, "labels_csv": "who,what\nq1,a\nq2,b\n"},
            (),
            "labels.csv column what names none of the 30 samples of the views: it has ids such as "
            "'q1', the views have 'p0'.",
        ),
        (
            {"mean_csv": MEAN, "other_csv": MEAN},
            ("--ignore", "othr.csv"),
            "own has no file 'othr.csv' to ignore. Did you mean 'other.csv'?",
        ),
    ],
)
def test_mistakes_in_own_tables_are_named(refused, here, files, options, message):
    own_tables(**files)
    assert refused("fit", "own", *options) == message


def test_own_tables_are_fitted_whatever_their_kind(manyview, tables, here):
    pd = pytest.importorskip("pandas")
    Path("mixed").mkdir()
    pd.read_csv("old/shape.csv").to_excel("mixed/shape.xlsx", index=False)
    color = pd.read_csv("old/color.csv")
    color.to_csv("mixed/color.csv.gz", sep=";", decimal=",", encoding="utf-16")
    Path("mixed/labels.csv").write_text(Path("animals.csv").read_text())
    Path("mixed/notes.txt").write_text("hello")
    code, out, err = manyview("fit", "mixed", "--ignore", "notes.txt", "--out", "run", *QUICK)
    assert (code, err) == (0, "")
    out = " ".join(out.split())
    assert "column '' is an index of the rows and is left out." in out
    assert "color.csv.gz: decimal commas in 'color0', 'color1', 'color2', 'color3'" in out
    assert "Ignored: notes.txt." in out
    assert len(rows_of(Path("run/predictions.csv").read_text())) == 50


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


def test_predict_notes_new_samples_that_are_unlike_the_fit(manyview, shapes, here, tiny_views):
    manyview("fit", shapes, "-p", "max_epochs=5", "--label-ratio", 0.2, "--out", "run")
    color = tiny_views.views["color"] * 1000
    np.savez(here / "new.npz", shape=tiny_views.views["shape"], color=color)
    code, _, err = manyview("predict", "run", "new.npz", "--out", "new.csv")
    assert code == 0
    assert "Warning" not in err
    code, out, err = manyview("predict", "run", "new.npz", "--json")
    assert (code, err) == (0, "")
    (note,) = json.loads(out)["notes"]
    assert note.startswith("View 'color' of the new samples is unlike the fit: ")
    assert "labeled -1." in note
    _, out, err = manyview("predict", "run", "new.npz")
    printed = " ".join(err.split())
    assert printed.count("is unlike the fit") == 1
    assert note in printed


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
    why = document["explanation"]
    parts = [why["itself"], *why["neighbors"], *why["tables"]]
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
    total = sum(part["margin"] for part in [why["itself"], *why["neighbors"], *why["tables"]])
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
    options = ("--label-ratio", "0.2", "--calibrate", "--abstain-below", "0.6", "--out", "run")
    code, out, err = manyview("fit", shapes, "--method", "mgcn-dns", *options, *QUICK)
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    assert "probabilities calibrated on 12 held-out labels: temperature " in text
    assert "predictions with a probability of 0.6 or more" in text
    assert ",unknown,0.5" in (here / "run" / "predictions.csv").read_text()
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
        env=os.environ | {"OMP_NUM_THREADS": "1", "TERM": "xterm", "NO_COLOR": "1"},
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


def test_scaling_is_told_after_the_fit_and_not_again_at_predict(manyview, tables, here):
    for folder in ("old", "new"):
        file = here / folder / "shape.csv"
        head, *rows = [line.split(",") for line in file.read_text().splitlines()]
        rows = [[row[0], *(str(float(cell) * 1e3) for cell in row[1:2]), *row[2:]] for row in rows]
        file.write_text("\n".join(map(",".join, [head, *rows])) + "\n")
    command = ("fit", "old", "--labels", "animals.csv")
    code, out, _ = manyview(*command, *QUICK, "--out", "run")
    assert code == 0
    assert re.search(r"^Scaling   .*shape standardized", out, re.MULTILINE)
    assert "try scaling" not in out
    record = json.loads(Path("run/run.json").read_text())
    assert record["training"]["scaling"]["shape"] == "standard"
    assert record["training"]["scaling_advice"] == []
    assert "shape standardized" in Path("run/report.html").read_text()
    code, out, _ = manyview(*command, "--method", "knn", "--out", "knn")
    assert "\nScaling  color, shape unit\n" in out
    assert " ".join(out.split()).count("try scaling 'standard'") == 1
    assert "try scaling &#39;standard&#39;" in Path("knn/report.html").read_text()
    code, out, err = manyview("predict", "knn", "new")
    assert code == 0
    assert "scaling" not in out + err


def test_label_ratio_of_few_labels_tells_what_it_hides_and_scores(manyview, tables):
    command = ("fit", "old", "--labels", "animals.csv", "--method", "knn", "--label-ratio", 0.5)
    code, out, _ = manyview(*command, "--out", "run")
    assert code == 0
    record = json.loads(Path("run/run.json").read_text())
    split, n_scored = record["split"], record["scores"]["n_scored"]
    n_known = split["n_labeled"] + split["n_hidden"]
    assert split["n_hidden"] == n_scored
    assert (n_known, split["n_labeled"] + split["n_unlabeled"]) == (12, 50)
    line = (
        f"{n_scored} of the 12 known labels are hidden and used to score, {split['n_labeled']} are "
        "shown (stratified, ratio 0.5, seed 0); 38 samples without a label"
    )
    assert line in " ".join(out.split())
    assert f"on the {n_scored} hidden labels" in out
    page = Path("run/report.html").read_text()
    assert line in page
    assert f"Compared with the {n_scored} of 12 known labels that were hidden" in page


def test_column_known_says_yes_or_no(manyview, shapes, here):
    assert manyview("fit", shapes, "--label-ratio", "0.2", "--method", "knn", "--out", "r")[0] == 0
    with (here / "r" / "predictions.csv").open(newline="") as file:
        counts = Counter(row["known"] for row in csv.DictReader(file))
    assert counts == {"yes": 12, "no": 48}


def test_overwrite_replaces_a_run_and_nothing_else(manyview, refused, shapes, here):
    fit = ("fit", shapes, "--label-ratio", "0.2", "--method", "knn", "--out", "mine")
    assert manyview(*fit)[0] == 0
    assert refused(*fit).endswith("Replace it with --overwrite, or name another with --out.")
    assert manyview(*fit, "--overwrite", "--seed", "1", "--no-report", "-q") == (0, "", "")
    assert json.loads((here / "mine" / "run.json").read_text())["settings"]["seed"] == 1
    assert not (here / "mine" / "report.html").exists()
    (here / "mine" / "to_label.csv").write_text("sample_id,label\n7,cow\n")
    before = {file: file.read_bytes() for file in (here / "mine").iterdir()}
    assert refused(*fit, "--overwrite").startswith(
        "mine is not replaced: it holds a file that no fit wrote: to_label.csv."
    )
    assert {file: file.read_bytes() for file in (here / "mine").iterdir()} == before
    (here / "photos").mkdir()
    (here / "photos" / "cow.jpg").touch()
    line = refused(*fit[:-1], "photos", "--overwrite")
    assert line.startswith("--overwrite replaces only folders of runs; photos has no run.json")


def test_overwrite_replaces_the_default_folder_and_every_file_of_a_fit(manyview, shapes, here):
    fit = ("fit", shapes, "--label-ratio", "0.2", "-p", "max_epochs=3", "-q")
    assert manyview(*fit)[0] == 0
    (folder,) = (here / "runs").iterdir()
    before = sorted(file.name for file in folder.iterdir())
    assert manyview(*fit, "--overwrite")[0] == 0
    assert sorted(file.name for file in folder.iterdir()) == before
    assert list((here / "runs").iterdir()) == [folder]


def test_interrupted_overwrite_keeps_the_old_run(manyview, shapes, here, monkeypatch):
    fit = ("fit", shapes, "--label-ratio", "0.2", "--method", "knn", "--out", "mine", "-q")
    assert manyview(*fit)[0] == 0
    before = {file: file.read_bytes() for file in here.rglob("*") if file.is_file()}

    def interrupt(self, views, labels):
        raise KeyboardInterrupt

    monkeypatch.setattr("manyview.baselines.knn.KNNClassifier.fit", interrupt)
    code, _, err = manyview(*fit, "--overwrite")
    assert (code, err) == (130, "Interrupted; nothing was written.\n")
    assert {file: file.read_bytes() for file in here.rglob("*") if file.is_file()} == before


def test_verbose_tells_settings_on_standard_error(manyview, shapes, here):
    code, out, err = manyview(
        "fit", shapes, "--label-ratio", "0.2", "--method", "knn", "-p", "n_neighbors=3", "-v", "-q"
    )
    assert (code, out) == (0, "")
    lines = err.splitlines()
    assert lines[:3] == [
        "No configuration file was found.",
        f"Data: {here.resolve() / shapes}",
        "Method: knn, with n_neighbors=3; seed 0",
    ]
    assert lines[3].startswith("Fitted in ")
    code, out, err = manyview("predict", "runs/shapes-knn-seed0", shapes, "-v", "--json")
    assert json.loads(out)
    assert f"Model: runs/shapes-knn-seed0; data: {here.resolve() / shapes}" in err


@pytest.mark.parametrize("method", ["manyview", "knn"])
def test_report_links_files_that_lie_beside_it(manyview, shapes, here, method):
    options = QUICK if method == "manyview" else ()
    fit = ("fit", shapes, "--label-ratio", 0.2, "--method", method, "--out", "r", *options)
    assert manyview(*fit)[0] == 0
    parts = parts_of((here / "r" / "report.html").read_text(encoding="utf-8"))
    links = {one["href"] for one in parts.all("a") if not one["href"].startswith("#")}
    assert links == {"predictions.csv", "run.json", "history.csv"}
    assert all((here / "r" / name).is_file() for name in links)
    anchors = {one["href"][1:] for one in parts.all("a") if one["href"].startswith("#")}
    assert anchors <= {found["id"] for _, found in parts.elements if "id" in found}


@pytest.mark.parametrize("in_folder", [False, True])
def test_next_steps_of_a_report_run_as_printed(manyview, tables, here, in_folder):
    if in_folder:
        (here / "animals.csv").rename(here / "old" / "labels.csv")
    labels = () if in_folder else ("--labels", "animals.csv")
    fit = ("fit", "old", *labels, "--out", "mine", "-p", "max_epochs=2", "--missing", "impute")
    assert manyview(*fit)[0] == 0
    page = (here / "mine" / "report.html").read_text(encoding="utf-8")
    codes = [
        html.unescape(re.sub("<[^>]*>", "", one)) for one in re.findall("<code>(.*?)</code>", page)
    ]
    propose, again = (shlex.split(one) for one in codes if not one.startswith("manyview audit"))
    assert propose[:3] == ["manyview", "propose", "mine"]
    code, printed, _ = manyview(*propose[1:])
    assert code == 0
    own = here / "old" / "labels.csv" if in_folder else "animals.csv"
    assert f"--labels {own} --labels mine/next.csv" in " ".join(printed.split())
    proposed = rows_of((here / "mine" / "next.csv").read_text())
    assert len(proposed) == 10
    filled = [f"{row['id']},{tables[int(row['id'][1:])]}" for row in proposed]
    (here / "mine" / "next.csv").write_text("\n".join(["id,animal", *filled]))
    assert manyview(*again[1:])[0] == 0
    before, after = (
        json.loads((here / folder / "run.json").read_text())["split"]
        for folder in ("mine", "mine-2")
    )
    assert after["n_labeled"] == before["n_labeled"] + 10


def test_labels_inside_the_data_are_not_replaced_by_the_next_step(manyview, here, tiny_views):
    np.savez(here / "few.npz", **tiny_views.views, y=tiny_views.known_labels)
    assert manyview("fit", "few.npz", "--out", "mine", "--method", "knn")[0] == 0
    page = (here / "mine" / "report.html").read_text(encoding="utf-8")
    assert "add its labels to those of your data, and fit again." in page
    assert "manyview fit" not in re.sub("<[^>]*>", "", page)
