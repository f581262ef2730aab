"""The verb `compare`."""

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

QUICK = ("--methods", "knn,svm", "--splits", "3", "--jobs", "1")


def records(folder):
    lines = (Path(folder) / "records.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_methods_are_compared_on_the_users_own_labels(manyview, tables, here):
    code, out, _ = manyview("compare", "old", "--labels", "animals.csv", *QUICK)
    assert code == 0
    head, first, second, *_ = out.splitlines()
    assert head.split()[:3] == ["method", "accuracy", "sd"]
    assert {first.split()[0], second.split()[0]} == {"knn", "svm"}
    command = out.splitlines()[-1].split()
    assert command[:5] == ["manyview", "fit", "old", "--labels", "animals.csv"]
    assert command[-2:] == ["--method", first.split()[0]]
    assert (here / "compare" / "old" / "compare.html").is_file()
    # Ten samples have a label: fewer than a fit sees, and all that is scored.
    known = sum(line.split(",")[1] != "" for line in (here / "animals.csv").read_text().split()[1:])
    assert {one["n_labeled"] < known for one in records("compare/old")} == {True}


def test_the_printed_command_runs(manyview, tables):
    out = manyview("compare", "old", "--labels", "animals.csv", *QUICK, "--json")[1]
    program, *arguments = shlex.split(json.loads(out)["command"])
    assert program == "manyview"
    assert manyview(*arguments, "-q", "--no-report")[0] == 0


def test_document_has_all_numbers(manyview, shapes, here):
    arguments = ("compare", shapes, "--label-ratio", "0.2", *QUICK, "--json", "--out", "mine")
    code, out, err = manyview(*arguments)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["n_known"], found["n_kept"], found["n_hidden"]) == (60, 12, 48)
    assert (found["n_splits"], found["n_left"], found["test"]) == (3, 0, "paired")
    for one in found["methods"]:
        stored = [100 * r["accuracy"] for r in records("mine") if r["method"] == one["method"]]
        assert sorted(one["by_seed"].values()) == pytest.approx(sorted(stored))
        assert one["mean"] == pytest.approx(sum(stored) / 3)
    assert (here / "mine" / "compare.html").is_file()


def test_comparison_goes_on_where_it_stopped(manyview, shapes):
    arguments = ("compare", shapes, "--label-ratio", "0.2", "--jobs", "1", "--out", "mine", "-q")
    assert manyview(*arguments, "--methods", "knn", "--splits", "2") == (0, "", "")
    before = records("mine")
    assert len(before) == 2
    assert manyview(*arguments, "--methods", "knn,svm", "--splits", "3")[0] == 0
    after = records("mine")
    assert after[:2] == before
    assert len(after) == 6
    assert manyview(*arguments, "--methods", "knn,svm", "--splits", "3")[0] == 0
    assert records("mine") == after


def test_failed_method_is_told_and_retried_on_request(manyview, shapes, here):
    """A time limit that no fit meets."""
    arguments = ("compare", shapes, "--label-ratio", "0.2", *QUICK, "--out", "mine")
    code, out, _ = manyview(*arguments, "--minutes", "0.0001")
    assert code == 0
    assert "No method has a result yet." in out
    assert "it took more than 0.0001 minutes" in out
    assert "No method has a result yet." in manyview(*arguments)[1]
    out = manyview(*arguments, "--retry-failed")[1]
    assert "has the highest mean accuracy" in out
    assert "Missing" not in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--methods", "knn,smv"), "No method is named 'smv'. Did you mean 'svm'?"),
        (("--methods", "knn,knn"), "methods must differ; 'knn' is there twice."),
        (("--splits", "1"), "--splits must be a whole number of at least 2; got 1."),
        (("--metric", "acuracy"), "--metric must be one of 'accuracy'"),
        (("--metric", "seconds"), "--metric must be one of 'accuracy'"),
        (("--jobs", "-1"), "--jobs must be a whole number of at least 0; got -1."),
        (("--minutes", "0"), "--minutes must be"),
        (("--label-ratio", "1"), "--label-ratio must be below 1"),
        (("--labels", "none.csv"), "There is no file or folder none.csv."),
    ],
)
def test_mistake_is_one_line_and_writes_nothing(refused, shapes, here, options, message):
    before = sorted(here.rglob("*"))
    assert refused("compare", shapes, *options).startswith(message)
    assert sorted(here.rglob("*")) == before


def test_verbose_tells_what_is_left(manyview, shapes):
    arguments = ("compare", shapes, "--label-ratio", "0.2", *QUICK, "-v")
    assert "6 of 6 fits are left; 1 processes; records in compare/shapes" in manyview(*arguments)[2]
    assert "0 of 6 fits are left" in manyview(*arguments)[2]


def test_interrupt_keeps_what_was_recorded_and_has_no_traceback(manyview, shapes, here):
    options = ["--label-ratio", "0.2", "--methods", "knn,manyview", "--splits", "40"]
    arguments = ["compare", shapes, *options, "--jobs", "1", "--out", "mine"]
    process = subprocess.Popen(
        [sys.executable, "-m", "manyview", *arguments],
        env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not (here / "mine" / "records.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert err.splitlines()[-1].endswith("which are recorded; the same command continues.")
    n_done = len(records("mine"))
    assert 1 <= n_done < 80
    assert (here / "mine" / "compare.html").is_file()
    assert f"{80 - n_done} trials; the same command continues." in out


def processor_seconds():
    """Time that this process and its finished children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.mark.slow
def test_digits_take_less_than_a_minute_on_two_cores(manyview):
    start = processor_seconds()  # of a shared machine, the time on the clock says little
    methods = "manyview,ssgcn,random-forest"
    command = ("compare", "digits", "--label-ratio", "0.05", "--methods", methods, "--jobs", "2")
    code, out, _ = manyview(*command)
    assert code == 0
    assert (processor_seconds() - start) / 2 < 60
    assert out.splitlines()[1].split()[0] == "manyview"
