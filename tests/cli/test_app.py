"""The command line, verb by verb: what it prints, where, and how it ends."""

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from manyview.cli.app import main
from manyview.data.catalog.cards import CATALOG
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS

QUICK = ("-p", "max_epochs=5")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test works in its own folder, on a terminal of 100 columns, without real data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    return tmp_path


@pytest.fixture
def refused(manyview):
    """Run a command that must end with 2 and one line; returns that line."""

    def run(*arguments):
        code, out, err = manyview(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("Error: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        return err[len("Error: ") : -1]

    return run


@pytest.fixture
def shapes(here, tiny_views):
    np.savez(here / "shapes.npz", **tiny_views.views, y=tiny_views.labels)
    return "shapes.npz"


@pytest.fixture
def tables(here, tiny_views):
    """Two folders of tables: `old`, where a few samples have a label, and `new`, without."""
    animals = np.array(["cow", "hen", "pig"])[tiny_views.labels]
    for folder, rows in {"old": range(50), "new": range(50, 60)}.items():
        (here / folder).mkdir()
        for name, view in tiny_views.views.items():
            order = rows if name == "shape" else reversed(rows)
            with (here / folder / f"{name}.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", *[f"{name}{column}" for column in range(view.shape[1])]])
                writer.writerows([f"s{row}", *view[row]] for row in order)
    with (here / "animals.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "animal"])
        known = tiny_views.known_labels >= 0
        writer.writerows([f"s{row}", animals[row] if known[row] else ""] for row in range(50))
    return animals


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def test_fit_says_what_it_did_and_leaves_a_folder(manyview, shapes):
    command = ("fit", shapes, "--label-ratio", 0.2, "--out", "runs/demo", "-p", "n_neighbors=6")
    code, out, err = manyview(*command, *QUICK)
    assert (code, err) == (0, "")
    out = re.sub(r" *\d+\.\d+( s|%|\))", r" #\1", out)
    start = """\
Data      shapes: 60 samples, 2 views, 3 classes
          shape, color: 2 views of 60 samples (5, 8 features); labels in y: 3 classes from 0 to 2.
Labels    12 shown, 48 hidden (stratified, ratio 0.2, seed 0)
Method    mgcn-dns, 6 neighbors in each view, columns standardized in shape, n_neighbors=6,
          max_epochs=5
Training  2 networks, the last 5 epochs, the most it may take; the loss had not converged yet; # s

Result    accuracy #% on the 48 hidden labels (balanced #%, macro-F1 #%)

          view    features  importance
          shape          5 #%
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


def test_fit_leaves_the_report_out_where_asked_to(manyview, shapes):
    command = ("fit", shapes, "--label-ratio", 0.2, "--no-report", "--out", "run")
    code, out, err = manyview(*command, *QUICK)
    assert (code, err) == (0, "")
    assert "report.html" not in out
    assert not Path("run/report.html").exists()
    assert Path("run/predictions.csv").is_file()


def test_fit_prints_one_json_document_which_is_that_of_the_folder(manyview, shapes):
    code, out, err = manyview("fit", shapes, "--label-ratio", 0.2, "--json", *QUICK)
    assert (code, err) == (0, "")
    document = json.loads(out)
    folder = Path("runs/shapes-mgcn-dns-seed0")
    assert document["settings"]["out"] == str(folder)
    assert document == json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_quiet_fit_prints_nothing(manyview, shapes):
    assert manyview("fit", shapes, "--label-ratio", 0.2, "--quiet", *QUICK) == (0, "", "")


def test_fit_hands_every_option_on(manyview, here, tiny_views):
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
    assert (params["hidden"], params["node_selection"], params["random_state"]) == (8, None, 5)


def test_fit_loads_data_of_the_catalog(manyview):
    code, out, _ = manyview(
        "fit", "digits", "--label-ratio", 0.05, "--json",
        "-p", "max_epochs=1", "-p", "node_selection=none",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["data"]["sha256"] == CATALOG["digits"].sha256
    assert Path("runs/digits-mgcn-dns-seed0/run.json").is_file()


def test_tables_go_from_files_to_labels_of_new_samples(manyview, tables):
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


def test_samples_that_a_table_does_not_name_are_kept_and_labeled(manyview, refused, tables, here):
    for folder in ("old", "new"):
        lines = (here / folder / "shape.csv").read_text().splitlines()
        (here / folder / "shape.csv").write_text("\n".join([lines[0], *lines[3:]]) + "\n")
    command = ("fit", "old", "--labels", "animals.csv", "-p", "max_epochs=40")
    code, out, err = manyview(*command, "--out", "run")
    assert (code, err) == (0, "")
    assert "2 of 50 samples lack view shape; they are kept" in " ".join(out.split())
    rows = rows_of(Path("run/predictions.csv").read_text())
    assert np.mean([row["label"] == tables[int(row["sample_id"][1:])] for row in rows]) > 0.9
    assert "lack shape" in Path("run/report.html").read_text()
    code, out, _ = manyview("predict", "run", "new", "--quiet")
    assert (code, len(rows_of(out))) == (0, 10)
    assert "needs every sample in every view" in refused(*command[:4], "--method", "knn")


def test_single_blank_cells_are_filled_where_asked_to(manyview, refused, tables, here):
    file = here / "old" / "shape.csv"
    lines = file.read_text().splitlines()
    lines[7] = re.sub(",[^,]*$", ",", lines[7])
    file.write_text("\n".join(lines) + "\n")
    command = ("fit", "old", "--labels", "animals.csv", *QUICK)
    assert "or fit with --missing 'impute'" in refused(*command)
    assert "--missing must be one of 'error', 'impute'" in refused(*command, "--missing", "no")
    code, out, _ = manyview(*command, "--missing", "impute", "--out", "run", "--json")
    assert (code, json.loads(out)["params"]["missing"]) == (0, "impute")
    code, out, _ = manyview("predict", "run", "old", "--quiet")
    assert (code, len(rows_of(out))) == (0, 50)


@pytest.mark.parametrize("weight", ["balanced", "{cow = 1000, hen = 0.001}"])
def test_classes_are_weighed_by_their_names(manyview, tables, weight):
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


def test_explain_tells_why_a_sample_got_its_prediction(manyview, tables):
    assert manyview("fit", "old", "--labels", "animals.csv", "--out", "run", *QUICK)[0] == 0
    code, out, err = manyview("explain", "run", "--sample", "s7")
    assert (code, err) == (0, "")
    assert out.startswith("Run      mgcn-dns of run, 50 samples\nSample   s7, came with")
    assert "\nReasons  The log-odds of " in out
    assert "\n         itself " in out
    code, out, err = manyview("explain", "run", "--sample", "s7", "--json")
    document = json.loads(out)
    assert document["explanation"]["name"] == "s7"
    parts = [document["explanation"]["itself"], *document["explanation"]["neighbors"]]
    total = sum(part["margin"] for part in parts)
    assert total == pytest.approx(document["explanation"]["margin"])
    code, out, err = manyview("explain", "run")
    assert "predictions that change" in out


def test_explain_tells_of_a_new_sample_what_predict_predictions(manyview, refused, tables):
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
        "--data needs --sample, the id of one of the new samples; got none."
    )
    assert refused("explain", "run", "--data", "new", "--sample", "zebra").startswith(
        "No sample has the id 'zebra'. The ids go from "
    )


def test_explain_names_an_unknown_sample_and_the_near_ones(manyview, refused, tables):
    assert manyview("fit", "old", "--labels", "animals.csv", "--out", "run", *QUICK)[0] == 0
    assert refused("explain", "run", "--sample", "s777") == (
        "No sample has the id 's777'. Did you mean 's7'?"
    )
    assert refused("explain", "rum", "--sample", "s1") == (
        "There is no run rum. Did you mean 'run'?"
    )


def test_fit_calibrates_and_abstains_where_asked_to(manyview, shapes, here):
    options = ("--label-ratio", "0.2", "--calibrate", "--abstain-below", "0.4", "--out", "run")
    code, out, err = manyview("fit", shapes, *options, *QUICK)
    assert (code, err) == (0, "")
    told = " ".join(out.split())
    assert "probabilities calibrated on 12 held-out labels: temperature " in told
    assert "predictions of probability 0.4 or more" in told
    assert ",unknown,0.3" in (here / "run" / "predictions.csv").read_text()
    report = (here / "run" / "report.html").read_text(encoding="utf-8")
    assert "left unknown" in report
    code, out, err = manyview("predict", "run", shapes, "--abstain-below", "1", "-q")
    assert {line.split(",")[1] for line in out.splitlines()[1:]} == {"unknown"}


def test_datasets_lists_the_catalog(manyview, here):
    (here / "MNIST.mat").touch()
    code, out, err = manyview("datasets", "--data-dir", here)
    assert (code, err) == (0, "")
    here_by_name = {line.split()[0]: line.split()[-1] for line in out.splitlines()[1:]}
    assert here_by_name.keys() == CATALOG.keys()
    assert {name for name, is_here in here_by_name.items() if is_here == "yes"} == {
        "digits",
        "mnist",
    }


def test_datasets_tells_all_about_one(manyview):
    code, out, _ = manyview("datasets", "Caltech-all")
    assert code == 0
    assert out.startswith("Name          caltech101-all: Caltech101-all\n")
    assert CATALOG["caltech101-all"].sha256 in out


def test_datasets_prints_json(manyview):
    documents = json.loads(manyview("datasets", "--json")[1])
    assert [document["name"] for document in documents] == list(CATALOG)
    document = json.loads(manyview("datasets", "mnist", "--json")[1])
    assert (document["n_samples"], document["here"]) == (2000, False)
    assert document["defects"] == list(CATALOG["mnist"].defects)


def test_version_is_that_of_the_package(manyview):
    assert manyview("--version") == (0, f"manyview {version('manyview')}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_the_verbs(manyview, arguments):
    code, out, err = manyview(*arguments)
    assert (code, err) == (0, "")
    for verb in ("fit", "predict", "datasets"):
        assert f"\n  {verb} " in out


@pytest.mark.parametrize("verb", ["fit", "predict", "datasets"])
def test_help_of_a_verb_lists_its_options(manyview, verb):
    code, out, _ = manyview(verb, "--help")
    assert code == 0
    assert "--json" in out
    assert "completion" not in out


def test_help_does_not_wait_for_torch():
    script = (
        "import sys\n"
        "from manyview.cli.app import main\n"
        "try:\n    main(['fit', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "print({'torch', 'sklearn', 'scipy', 'numpy', 'rich'} & sys.modules.keys())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.endswith("set()\n")


ERRORS = {
    "unknown data": (
        ("fit", "bbcsport"),
        "There is no file or folder 'bbcsport', and no data set of that name in the catalog. "
        "Did you mean 'bbcsports'? `manyview datasets` lists the catalog.",
    ),
    "data not here": (
        ("fit", "mnist"),
        "Data set 'mnist' needs the file MNIST.mat. Set MANYVIEW_DATA, or pass data_dir= "
        "(--data-dir), to the folder that holds it.",
    ),
    "unknown method": (
        ("fit", "shapes.npz", "--method", "mgcndns"),
        "No method is named 'mgcndns'. Did you mean 'mgcn-dns'? The methods are: "
        + ", ".join(METHODS)
        + ".",
    ),
    "parameter without value": (
        ("fit", "shapes.npz", "-p", "gamma"),
        "a parameter must be written as name=value; got 'gamma'.",
    ),
    "wrong value": (
        ("fit", "shapes.npz", "-p", "gamma=-1"),
        "gamma must be above 0; got -1.",
    ),
    "too many neighbors": (
        ("fit", "shapes.npz", "-p", "n_neighbors=60"),
        "n_neighbors must be smaller than the number of samples; got 60 with 60 samples.",
    ),
    "wrong ratio": (
        ("fit", "shapes.npz", "--label-ratio", "1.5"),
        "--label-ratio must be above 0 and at most 1; got 1.5.",
    ),
    "wrong probability": (
        ("fit", "shapes.npz", "--abstain-below", "80"),
        "--abstain-below must be a number from 0 to 1; got 80.0.",
    ),
    "calibration of another method": (
        ("fit", "shapes.npz", "--method", "knn", "--calibrate"),
        None,
    ),
    "explain no run": (
        ("explain", "nothing"),
        "There is no run nothing. `manyview fit DATA --out FOLDER` makes one.",
    ),
    "wrong protocol": (
        ("fit", "shapes.npz", "--protocol", "randon"),
        "protocol must be one of 'stratified', 'random'; got 'randon'. Did you mean 'random'?",
    ),
    "negative seed": (
        ("fit", "shapes.npz", "--seed", "-1"),
        "seed must be a whole number of at least 0; got -1.",
    ),
    "wrong side": (
        ("fit", "shapes.npz", "--samples-in", "row"),
        "--samples-in must be one of 'rows', 'columns'; got 'row'. Did you mean 'rows'?",
    ),
    "option of another format": (
        ("fit", "shapes.npz", "--id-column", "id"),
        "--id-column is for tables; got 'id' with shapes.npz.",
    ),
    "option for the catalog": (
        ("fit", "digits", "--labels", "y.csv", "--id-column", "id"),
        "--labels, --id-column can only be passed for data read from files; 'digits' is in the "
        "catalog, which knows how to read it.",
    ),
    "missing labels": (
        ("fit", "shapes.npz", "--labels", "y.csv"),
        "There is no file or folder y.csv.",
    ),
    "no labels": (
        ("fit", "bare.npz"),
        "bare has no labels, and some are needed. Name them with --labels (a file of their own), "
        "--label-column (a column of the tables or of .obs) or --labels-key (a variable of a "
        ".mat or .npz file).",
    ),
    "other key": (
        ("fit", "shapes.npz", "--labels-key", "gt"),
        "shapes.npz has no array 'gt'; it has 'shape', 'color' and 'y'. Pass --labels-key 'y'.",
    ),
    "truncated data": (("fit", "half.npz"), None),
    "full folder": (
        ("fit", "shapes.npz", "--out", "full"),
        "The output folder full exists and is not empty. Remove it, or name another with --out.",
    ),
    "no run": (
        ("predict", "nothing", "shapes.npz"),
        "There is no run nothing. `manyview fit DATA --out FOLDER` makes one.",
    ),
    "not a run": (
        ("predict", "full", "shapes.npz"),
        "full is not the folder of a run: it has no run.json.",
    ),
    "output in no folder": (
        ("predict", "full", "shapes.npz", "--out", "none/a.csv"),
        "There is no folder none to write a.csv in.",
    ),
    "unknown card": (
        ("datasets", "minst"),
        "No data set is named 'minst'. Did you mean 'mnist'? `manyview datasets` lists them all.",
    ),
    "missing argument": (("fit",), "Missing argument 'DATA'. Try: manyview fit --help"),
    "unknown option": (("fit", "digits", "--lable-ratio", "1"), None),
    "unknown verb": (("fot",), None),
    "no number": (("fit", "digits", "--seed", "x"), None),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error_of_the_user_is_one_line(refused, shapes, here, tiny_views, case):
    np.savez(here / "bare.npz", **tiny_views.views)
    (here / "half.npz").write_bytes((here / shapes).read_bytes()[:500])
    (here / "full").mkdir()
    (here / "full" / "a.txt").touch()
    before = sorted(here.rglob("*"))
    arguments, message = ERRORS[case]
    line = refused(*arguments)
    assert message is None or line == message
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "digits", "--lable-ratio", "1"), "--label-ratio"),
        (("fot",), "fit"),
        (("fit", "digits", "--seed", "x"), "--seed"),
        (("fit", "shapes.npz", "-p", "n_neighbors=3"), "Did you mean 'n_neighbors'? It has: "),
    ],
)
def test_misspelling_is_predicted_with_the_right_word(refused, shapes, arguments, words):
    assert words in refused(*arguments)


def test_options_are_named_as_such_wherever_tables_are_unclear(refused, here):
    (here / "a.csv").write_text("name,x,label,class\nu,1,a,b\nv,2,b,b\n")
    assert refused("fit", "a.csv").endswith(
        "Pass --label-column 'label' or --label-column 'class'."
    )


def test_full_disk_is_one_line(refused, shapes, here, monkeypatch):
    def fail(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fail)
    assert refused("fit", shapes, "--label-ratio", 0.2, "--out", "run", *QUICK) == (
        "run could not be written: No space left on device. Nothing is left there."
    )
    assert [path.name for path in here.iterdir()] == [shapes]


def test_error_of_ours_keeps_its_traceback(shapes, monkeypatch):
    def fail(self, views, labels):
        raise RuntimeError("our mistake")

    monkeypatch.setattr(MGCNDNSClassifier, "fit", fail)
    with pytest.raises(RuntimeError, match="our mistake"):
        main(["fit", shapes, "--label-ratio", "0.2"])


def test_nothing_left_to_label_is_a_warning(manyview, shapes):
    code, out, err = manyview("fit", shapes, *QUICK)
    assert code == 0
    assert err == "Warning: every sample came with a label, so none was left to label.\n"
    assert "Result    no sample was left to label\n" in out


def test_interrupt_before_training_writes_nothing(manyview, shapes, here, monkeypatch):
    def interrupt(self, views, labels):
        raise KeyboardInterrupt

    monkeypatch.setattr(MGCNDNSClassifier, "fit", interrupt)
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
    assert "epochs, then interrupted; the best so far is kept" in out
    record = json.loads(Path("run/run.json").read_text())
    assert record["training"]["stopped"] == "interrupted"
    assert record["training"]["n_epochs"] == int(warning[1])
    assert MGCNDNSClassifier.load("run").verbose is False


def _read(controller):
    try:
        return os.read(controller, 1024)
    except OSError:  # the other end is closed
        return b""


def test_module_runs_as_the_command_does():
    run = subprocess.run(
        [sys.executable, "-m", "manyview", "fit"], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "Error: Missing argument 'DATA'. Try: manyview fit --help\n"
