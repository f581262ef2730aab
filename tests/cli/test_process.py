"""The command line as a process: signals, closed and full outputs, devices, odd paths."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from manyview.estimators.manyview import ManyviewClassifier

QUICK = ("--label-ratio", "0.2", "-p", "max_epochs=3")
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals, pipes and devices")
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def command(*arguments):
    return [sys.executable, "-m", "manyview", *map(str, arguments)]


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_before_training_ends_with_one_line(manyview, shapes, here, monkeypatch, name):
    number = getattr(signal, name)
    monkeypatch.setattr(ManyviewClassifier, "fit", lambda *_: signal.raise_signal(number))
    code, out, err = manyview("fit", shapes, *QUICK, "--out", "run")
    assert (code, out, err) == (128 + number, "", "Interrupted; nothing was written.\n")
    assert [path.name for path in here.iterdir()] == [shapes]


@posix
def test_interrupt_after_writing_says_what_is_written(manyview, shapes, monkeypatch):
    from manyview.report.run import text

    monkeypatch.setattr(text, "run_text", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    code, out, err = manyview("fit", shapes, *QUICK, "--out", "run")
    assert (code, out, err) == (143, "", "Interrupted, but run is written and complete.\n")
    assert manyview("predict", "run", shapes)[0] == 0


@posix
def test_interrupt_while_printing_the_report_leaves_nothing(manyview, shapes, here, monkeypatch):
    from manyview.report.run import page

    monkeypatch.setattr(page, "report_files", lambda *_: signal.raise_signal(signal.SIGINT))
    code, _, err = manyview("fit", shapes, *QUICK, "--out", "runs/run")
    assert (code, err) == (130, "Interrupted; nothing was written.\n")
    assert [path.name for path in here.iterdir()] == [shapes]


@posix
def test_interrupt_of_code_in_a_string_ends_with_our_exit_code(here):
    Path("interrupted.py").write_text("""
import signal
from manyview import __main__
from manyview.cli import app

def interrupt(*args, **kwargs):
    exec("signal.raise_signal(signal.SIGTERM)")

app.app = interrupt
__main__.run()
""")
    ended = subprocess.run(
        [sys.executable, "-m", "interrupted"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (143, "Interrupted; nothing was written.\n")


def test_interrupted_study_does_not_claim_that_nothing_was_written(manyview, monkeypatch):
    from manyview.experiments import plan

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "load_plan", interrupt)
    assert manyview("bench", "status", "quick") == (
        130,
        "",
        "Interrupted; what was recorded is kept, and the same command continues.\n",
    )


@posix
def test_reader_that_goes_away_is_no_error():
    with subprocess.Popen(
        command("methods", "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait() == 141


@full
@pytest.mark.parametrize("verb", [("datasets",), ("methods", "--json")])
def test_full_standard_output_is_one_line(verb):
    with Path("/dev/full").open("w") as output:
        ended = subprocess.run(
            command(*verb), stdout=output, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (
        2,
        "Error: The output could not be written: No space left on device.\n",
    )


@posix
def test_predictions_go_to_devices_pipes_and_open_files(manyview, refused, shapes, here):
    assert manyview("fit", shapes, *QUICK, "--out", "run")[0] == 0
    plain = manyview("predict", "run", shapes, "-q")[1]
    with Path("log.csv").open("w") as output:
        subprocess.run(
            command("predict", "run", shapes, "--out", "/dev/stdout"),
            stdout=output,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    assert Path("log.csv").read_text() == plain
    shell = f"{sys.executable} -m manyview predict run {shapes} -q --out >(cat > piped.csv); wait"
    subprocess.run(["bash", "-c", shell], check=True)
    assert Path("piped.csv").read_text() == plain
    if Path("/dev/full").exists():
        assert refused("predict", "run", shapes, "--out", "/dev/full") == (
            "/dev/full could not be written: No space left on device."
        )
    assert not list(here.rglob(".manyview*"))


def test_predict_never_replaces_what_it_reads(manyview, refused, shapes, here):
    assert manyview("fit", shapes, *QUICK, "--out", "run")[0] == 0
    before = Path(shapes).read_bytes()
    for out in (shapes, "run/run.json", "run/model.json", "run/predictions.csv"):
        assert refused("predict", "run", shapes, "--out", out) == (
            f"The output {out} is a file that this command reads. Name another with --out."
        )
    assert Path(shapes).read_bytes() == before
    assert manyview("predict", "run", shapes, "--out", "a.csv")[1].endswith("File    a.csv\n")
    out = manyview("predict", "run", shapes, "--out", "a.csv")[1]
    assert out.endswith("File    a.csv (replaced)\n")


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "shapes.npz", "--out", "x" * 300),
        ("fit", "x" * 300),
        ("predict", "x" * 300, "shapes.npz"),
        ("fit", "shapes.npz", "--params", "x" * 300),
    ],
)
def test_name_that_is_too_long_is_one_line(refused, shapes, words):
    assert "File name too long" in refused(*words)


def test_cache_folder_of_an_unknown_user_is_one_line(refused, shapes):
    message = refused("fit", shapes, "--cache-dir", "~nosuchuser/cache")
    assert message.startswith("'~nosuchuser/cache' starts with the home folder of a user who")


@posix
def test_locale_of_ascii_takes_other_paths(manyview, shapes, here):
    Path(shapes).rename("größe.npz")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        command("fit", "größe.npz", *QUICK, "--out", "läufe/eins", "--json"),
        env=os.environ | plain | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert json.loads(ended.stdout)["data"]["n_samples"] == 60
    assert Path("läufe/eins/run.json").is_file()
    assert manyview("predict", "läufe/eins", "größe.npz", "-q")[0] == 0


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("~nosuchuser/a", "starts with the home folder of a user who does not exist"),
        ("", "a path must name a file or a folder; got an empty text"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("fit", "shapes.npz", *QUICK, "--out"),
        ("fit", "shapes.npz", *QUICK, "--params"),
        ("tune", "shapes.npz", "--out"),
        ("predict",),
        ("propose", "run", "--out"),
        ("bench", "run", "quick", "--out"),
        ("bench", "table", "quick", "--file"),
        ("bench", "figures", "quick", "--to"),
        ("bench", "check"),
    ],
)
def test_path_that_names_nothing_is_one_line(refused, here, command, path, words):
    more = ["shapes.npz"] if command == ("predict",) else []
    assert words in refused(*command, path, *more)
    assert list(here.iterdir()) == []


def test_home_folder_is_found_for_outputs_too(manyview, shapes, here, monkeypatch):
    monkeypatch.setenv("HOME", str(here / "home"))
    monkeypatch.setenv("USERPROFILE", str(here / "home"))
    assert manyview("fit", shapes, *QUICK, "--method", "ssgcn", "--out=~/run")[0] == 0
    assert (here / "home" / "run" / "run.json").is_file()
    assert manyview("predict", "~/run", shapes, "--out", "~/p.csv")[0] == 0
    assert (here / "home" / "p.csv").is_file()


@posix
def test_parameters_are_not_read_from_a_pipe_or_device(refused, shapes, here):
    os.mkfifo(here / "pipe")
    for place, kind in {"pipe": "pipe", "/dev/zero": "device"}.items():
        line = refused("fit", shapes, *QUICK, "--params", place)
        assert line == f"{place} must be a file; got a {kind}. Save the data to a file first."


@full
def test_full_standard_error_keeps_the_exit_code(here):
    with Path("/dev/full").open("w") as stream:
        ended = subprocess.run(command("fit", "nothing"), stderr=stream, check=False)
    assert ended.returncode == 2


@pytest.mark.parametrize(
    "error", [MemoryError(), ImportError("x.so: failed to map segment from shared object")]
)
def test_too_little_memory_is_one_line(refused, shapes, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(ManyviewClassifier, "fit", fail)
    line = refused("fit", shapes, *QUICK, "--out", "run")
    assert line.startswith("There is not enough memory for this command")
    assert not Path("run").exists()


@posix
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of address space")
def test_too_little_memory_to_import_is_one_line(here):
    # Enough for Python and numpy; scipy's linear algebra, loaded with little more, waits for ever.
    limited = f"ulimit -v 625000; exec {sys.executable} -m manyview fit digits --label-ratio 0.1"
    ended = subprocess.run(
        ["sh", "-c", limited],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("Error: There is not enough memory")
    assert ended.stderr.count("\n") == 1


@posix
def test_view_whose_file_name_the_locale_does_not_have_is_named_in_utf_8(here, tables):
    Path("old/shape.csv").rename("old/sh\u00e4pe.csv")
    words = ("fit", "old", "--labels", "animals.csv", "-p", "max_epochs=2", "--out", "run")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        command(*words), env=os.environ | ascii_only, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    record = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    assert "sh\u00e4pe" in record["data"]["views"]
