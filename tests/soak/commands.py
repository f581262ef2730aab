"""Commands in processes of their own, forked after the imports, for campaigns that end them."""

import ctypes
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from tests.soak.campaign import Violation

CAPABILITIES_VERSION = 0x20080522
HELD = {signal.SIGINT, signal.SIGTERM}
OVERRIDES = 0b111  # chown, and reading and writing what the mode forbids


def preload() -> None:
    """Import what commands import, so that their processes share it."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in (
        "manyview.cli.app",
        "manyview.report.run.page",
        "manyview.report.run.text",
        "manyview.report.tuning_text",
        "manyview.runs.explaining",
        "manyview.runs.fitting",
        "torch._dynamo",  # torch imports it with the first optimizer, for seconds
    ):
        import_module(name)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or minus the number of the signal that killed it."""

    code: int
    out: str
    err: str
    seconds: float

    def check(self, *codes: int) -> "Ended":
        """Check that it ended with one of these codes, and an error or interrupt with one line."""
        if "Traceback" in self.err or "Exception ignored" in self.err:
            raise Violation("traceback", self.err)
        if self.code not in codes:
            raise Violation("wrong end", f"{self.code}, not one of {codes}: {self.err}")
        if self.code > 0 and self.err.count("\n") != (self.code != 141):
            raise Violation("not one line", f"{self.code}: {self.err!r}")
        return self


def run(
    folder: Path,
    *arguments: object,
    kill: tuple[int, float] | None = None,
    before: Callable[[], None] | None = None,
) -> Ended:
    """Run a command in a folder; `kill` is a signal and the seconds after which it is sent."""
    return start(folder, *arguments, before=before).wait(kill)


@dataclass(frozen=True)
class Started:
    """A command that runs."""

    pid: int
    files: tuple[Path, Path]
    began: float

    def wait(self, kill: tuple[int, float] | None = None) -> Ended:
        """Wait for its end, after sending it a signal if asked to."""
        if kill is not None:
            time.sleep(kill[1])
            os.kill(self.pid, kill[0])  # the id is ours until it is waited for
        _, status = os.waitpid(self.pid, 0)
        seconds = time.monotonic() - self.began
        out, err = (file.read_text(errors="replace") for file in self.files)
        for file in self.files:
            file.unlink()
        return Ended(os.waitstatus_to_exitcode(status), out, err, seconds)


def start(folder: Path, *arguments: object, before: Callable[[], None] | None = None) -> Started:
    """Start a command in a folder, as `python -m manyview` would after the imports."""
    number = f"{time.monotonic_ns()}"
    files = (folder.parent / f"out-{number}", folder.parent / f"err-{number}")
    for file in files:
        file.touch()
    began = time.monotonic()
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD)  # until the new process handles them
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
        return Started(pid, files, began)
    code = 70
    try:
        from manyview.cli.app import main
        from manyview.system.interrupts import exit_on_interrupt

        exit_on_interrupt()
        for descriptor, file in enumerate(files, start=1):
            os.dup2(os.open(file, os.O_WRONLY), descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
        os.chdir(folder)
        if before is not None:
            before()
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def limit_files(n_bytes: int) -> None:
    """Let no file of this process grow beyond a size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def obey_modes() -> None:
    """Make root obey the modes of files, as every other user does."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    if libc.capget(header, sets) or os.geteuid() != 0:
        return
    sets[0] &= ~OVERRIDES
    sets[1] &= ~OVERRIDES
    libc.capset(header, sets)


def write_data(folder: Path, n_samples: int = 60) -> None:
    """Write two views of a few samples as data.npz."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_samples)
    a, b = (rng.normal(size=(n_samples, width)) + y[:, None] for width in (5, 8))
    np.savez(folder / "data.npz", a=a, b=b, y=y)


def fit_command(out: object, data: Path) -> tuple[object, ...]:
    """Return the words of a fit that takes a fraction of a second."""
    return ("fit", data, "--label-ratio", "0.2", "-p", "max_epochs=3", "--out", out)


def is_complete(run_folder: Path) -> bool:
    """Whether a folder holds a whole run, whose model can be read."""
    from manyview.errors import ManyviewError
    from manyview.methods import find_method
    from manyview.runs.reading import read_record

    names = ("report.html", "predictions.csv", "history.csv", "run.json", "model.json")
    try:
        record = read_record(run_folder)
        model = find_method(record["method"]).load(run_folder)
    except ManyviewError:
        return False
    n_rows = len((run_folder / names[1]).read_text().splitlines()) - 1
    return n_rows == len(model.transduction_) and all((run_folder / n).is_file() for n in names)


def leftovers(folder: Path) -> list[str]:
    """Return what commands left behind under hidden names."""
    return [str(path.relative_to(folder)) for path in folder.rglob(".*")]


def load_times(shared: Path) -> dict[str, float]:
    """Return the seconds that each command takes without an interrupt."""
    times: dict[str, float] = json.loads((shared / "times.json").read_text())
    return times
