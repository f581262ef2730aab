"""The verbs `runs list` and `runs diff`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def two(manyview, shapes):
    """Two runs in the folder `runs`."""
    for method in ("knn", "svm"):
        arguments = ("fit", shapes, "--method", method, "--label-ratio", "0.2", "-q", "--no-report")
        assert manyview(*arguments)[0] == 0


def test_runs_are_listed_in_a_plain_table(manyview, two):
    code, out, err = manyview("runs")
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == [
        "run", "data", "method", "labels", "estimated", "measured", "time", "written",
    ]  # fmt: skip
    rows = {line.split()[0]: line.split() for line in lines}
    assert rows.keys() == {"runs/shapes-knn-seed0", "runs/shapes-svm-seed0"}
    knn = rows["runs/shapes-knn-seed0"]
    assert knn[1:7] == ["shapes", "knn", "12", "of", "60", "-"]
    record = json.loads(Path("runs/shapes-knn-seed0/run.json").read_text())
    assert knn[7] == f"{record['scores']['accuracy']:.1%}"


@pytest.mark.parametrize(
    "arguments", [("runs",), ("runs", "runs"), ("runs", "list"), ("runs", "list", "runs")]
)
def test_list_is_the_default(manyview, two, arguments):
    found = json.loads(manyview(*arguments, "--json")[1])
    assert {one["method"] for one in found} == {"knn", "svm"}
    assert {one["n_labeled"] for one in found} == {12}


def test_estimated_accuracy_is_shown_where_the_record_has_one(manyview, two, here):
    file = here / "runs" / "shapes-knn-seed0" / "run.json"
    record = json.loads(file.read_text())
    record["estimate"] = {"accuracy": {"value": 0.912, "low": 0.853, "high": 0.95}}
    file.write_text(json.dumps(record))
    assert "91.2% (85 to 95)" in manyview("runs")[1]


def test_damaged_record_is_a_warning(manyview, two, here):
    (here / "runs" / "shapes-knn-seed0" / "run.json").write_text("{")
    code, out, err = manyview("runs")
    assert code == 0
    assert "svm" in out
    assert "knn" not in out
    assert err.startswith("Warning: runs/shapes-knn-seed0/run.json cannot be read")


def test_folders_without_runs_and_none_are_told(manyview, refused, here):
    (here / "empty").mkdir()
    assert manyview("runs", "empty")[1].startswith("There is no run in empty.")
    assert json.loads(manyview("runs", "empty", "--json")[1]) == []
    assert refused("runs").startswith("The folder of runs must be a folder; runs does not exist.")
    assert refused("runs", "dif", "a", "b").startswith(
        "No such command 'dif'. Did you mean 'diff'?"
    )


def test_difference_shows_settings_and_samples(manyview, refused, two, here):
    first, second = "runs/shapes-knn-seed0", "runs/shapes-svm-seed0"
    table = here / second / "predictions.csv"
    lines = table.read_text().splitlines()
    cells = lines[3].split(",")
    cells[1] = "9"
    lines[3] = ",".join(cells)
    table.write_text("\n".join(lines) + "\n")
    found = json.loads(manyview("runs", "diff", first, second, "--json")[1])
    assert found["n_changed"] >= 1
    code, out, err = manyview("runs", "diff", first, second)
    assert (code, err) == (0, "")
    assert f"{found['n_changed']} of 60 differ" in out
    assert "method   knn    svm" in out
    row = next(line.split() for line in out.splitlines() if line.split()[:1] == [cells[0]])
    assert row[3] == "9"
    brief = manyview("runs", "diff", first, second, "--rows", "0")[1]
    assert f"{found['n_changed']} of 60 differ" in brief
    assert "below" not in brief
    assert "sample_id" not in brief
    assert refused("runs", "diff", first, second, "--rows", "-1").startswith("--rows must be")
    assert refused("runs", "diff", first, "runs/shapes-smv-seed0").endswith(
        "Did you mean 'shapes-svm-seed0'?"
    )


def test_listing_runs_does_not_wait_for_torch(here):
    (here / "runs").mkdir()
    script = (
        "import sys\nfrom manyview.cli.app import main\n"
        "try:\n    main(['runs'])\nexcept SystemExit:\n    pass\n"
        "print({'torch', 'sklearn', 'scipy'} & sys.modules.keys())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.endswith("set()\n")
