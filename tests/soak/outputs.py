"""Kill, starve and hinder commands while they write: nothing half written, nothing in the way.

Each case ends a `fit`, `predict`, `propose` or `explain` at a random moment (SIGKILL, SIGTERM or
SIGINT, once or twice), lets it run out of disk, or takes a permission away. Afterwards the same
command must succeed, finished work must be there, and no leftover of ours.
"""

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.soak.campaign import Limits, Violation, count, main, shared_folder
from tests.soak.commands import (
    Ended,
    fit_command,
    is_complete,
    leftovers,
    limit_files,
    load_times,
    obey_modes,
    preload,
    run,
    start,
    write_data,
)

INTERRUPTED = {signal.SIGTERM: 143, signal.SIGINT: 130}
OLD = "sample_id,label,probability\nold,0,1.0\n"
UNFILLED = "sample_id,label\nold,\n"
# Fraction of the cases of each part.
PARTS = {"kill": 0.8, "two at once": 0.06, "disk": 0.07, "permissions": 0.07}


def prepare(shared: Path) -> None:
    """Fit one run, and note how long each command takes."""
    write_data(shared)
    data = shared / "data.npz"
    commands = {
        "fit": fit_command("run", data),
        "predict": ("predict", "run", data, "--out", "predicted.csv"),
        "propose": ("propose", "run", "-n", "5", "--out", "proposed.csv"),
        "explain": ("explain", "run"),
    }
    ended = {name: run(shared, *command).check(0) for name, command in commands.items()}
    times = {name: one.seconds for name, one in ended.items()}
    (shared / "times.json").write_text(json.dumps(times))


def case(rng: np.random.Generator, folder: Path) -> str:
    """Run one case of a random part."""
    part = rng.choice(list(PARTS), p=list(PARTS.values()))
    if part == "kill":
        return _killed(rng, folder)
    parts = {"two at once": _two_at_once, "disk": _full_disk, "permissions": _no_permission}
    return parts[part](rng, folder)


def _killed(rng: np.random.Generator, folder: Path) -> str:
    verb = str(rng.choice(["fit", "fit", "predict", "propose", "explain"]))
    kind = signal.Signals(int(rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])))
    moment = float(rng.uniform(0, 1.1) * load_times(shared_folder())[verb])
    if verb == "fit":
        _kill_fit(rng, folder, kind, moment)
    else:
        _kill_writer(folder, verb, kind, moment)
    return f"{verb} after {kind.name}"


def _kill_fit(rng: np.random.Generator, folder: Path, kind: signal.Signals, moment: float) -> None:
    out = str(rng.choice(["run", "deep/run", "empty", "."]))
    (folder / "empty").mkdir()
    work = folder / "empty" if out == "." else folder
    command = fit_command(out, shared_folder() / "data.npz")
    place = work / out
    n_killed = int(rng.integers(1, 3))
    for _ in range(n_killed):
        ended = run(work, *command, kill=(kind, moment))
        count("kills")
        if _check_end(ended, kind) == "written" and not is_complete(place):
            raise Violation("lost", f"{out} is not complete: {ended}")
        if ended.code == 2:  # the one before had finished it
            break
    again = run(work, *command).check(0, 2)
    if not is_complete(place):
        raise Violation("not repeatable", f"{out}: {ended}, then {again}")
    if again.code == 2 and "exists and is not empty" not in again.err:
        raise Violation("not repeatable", again.err)
    _check_leftovers(folder)


def _kill_writer(folder: Path, verb: str, kind: signal.Signals, moment: float) -> None:
    shared = shared_folder()
    file, old, words = {
        "predict": ("predicted.csv", OLD, (shared / "data.npz", "--out", "predicted.csv")),
        "propose": ("proposed.csv", UNFILLED, ("-n", "5", "--out", "proposed.csv")),
        "explain": ("nothing", "", ()),
    }[verb]
    (folder / file).write_text(old)
    new = (shared / file).read_text() if verb != "explain" else ""
    ended = run(folder, verb, shared / "run", *words, kill=(kind, moment))
    count("kills")
    found = (folder / file).read_text()
    is_written = _check_end(ended, kind) == "written"
    if found not in (old, new) or (is_written and found != new):
        raise Violation("half written", f"{ended}: {found!r}")
    run(folder, verb, shared / "run", *words).check(0)
    if (folder / file).read_text() != new:
        raise Violation("not repeatable", (folder / file).read_text())
    _check_leftovers(folder)


def _check_end(ended: Ended, kind: signal.Signals) -> str:
    """Check how a command ended that was sent a signal; return what it said to have done."""
    if kind == signal.SIGKILL:
        ended.check(0, 2, -kind)
    else:
        ended.check(0, 2, INTERRUPTED[kind])
    if ended.code == 2 and "exists and is not empty" not in ended.err:
        raise Violation("wrong end", ended.err)
    if ended.code > 2 and not ended.err.startswith("Interrupted"):
        raise Violation("wrong end", ended.err)
    return "written" if ended.code == 0 or "is written and complete" in ended.err else "nothing"


def _two_at_once(rng: np.random.Generator, folder: Path) -> str:
    out = str(rng.choice(["run", "empty"]))
    (folder / "empty").mkdir()
    command = fit_command(out, shared_folder() / "data.npz")
    started = [start(folder, *command) for _ in range(2)]
    ended = [one.wait().check(0, 2) for one in started]
    if not is_complete(folder / out) or min(one.code for one in ended) != 0:
        raise Violation("lost", f"{ended}")
    _check_leftovers(folder)
    return "two at once"


def _full_disk(rng: np.random.Generator, folder: Path) -> str:
    shared, n_bytes = shared_folder(), int(rng.integers(1_000, 400_000))
    disk = folder / "disk"
    disk.mkdir()
    verb = str(rng.choice(["fit", "predict", "device"]))
    if verb == "device":
        if Path("/dev/full").exists():
            words = ("predict", shared / "run", shared / "data.npz", "--out", "/dev/full")
            run(folder, *words).check(2)
        return "full device"
    file = disk / "predicted.csv"
    words = fit_command(disk / "run", shared / "data.npz")
    if verb == "predict":
        words = ("predict", shared / "run", shared / "data.npz", "--out", file)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", str(disk)]
    is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        file.write_text(OLD)
        ended = run(folder, *words, before=None if is_mounted else lambda: limit_files(n_bytes))
        ended.check(0, 2)
        if verb == "fit" and is_complete(disk / "run") != (ended.code == 0):
            raise Violation("half written", f"{ended}")
        if (file.read_text() == OLD) != (verb == "fit" or ended.code == 2):
            raise Violation("half written", f"{ended}: {file.read_text()!r}")
        if ended.code == 2 and sorted(one.name for one in disk.iterdir()) != [file.name]:
            raise Violation("leftover", f"{sorted(disk.rglob('*'))}")
    finally:
        if is_mounted:
            subprocess.run(["umount", str(disk)], check=True)
    return f"{verb} on a {'full' if ended.code else 'small'} disk"


def _no_permission(rng: np.random.Generator, folder: Path) -> str:
    shared = shared_folder()
    what = str(rng.choice(["folder", "file", "record", "data"]))
    data = folder / "data.npz"
    data.write_bytes((shared / "data.npz").read_bytes())
    words = fit_command("locked/run", data)
    if what == "folder":
        (folder / "locked").mkdir(mode=0o500)
    elif what == "file":
        (folder / "mine.csv").write_text(OLD)
        (folder / "mine.csv").chmod(0o400)
        words = ("predict", shared / "run", data, "--out", "mine.csv")
    elif what == "record":
        subprocess.run(["cp", "-r", shared / "run", folder / "run"], check=True)
        (folder / "run" / "run.json").chmod(0)
        words = ("predict", "run", data, "--out", "a.csv")
    else:
        data.chmod(0)
    ended = run(folder, *words, before=obey_modes).check(2)
    if "ermission" not in ended.err or "damaged" in ended.err:
        raise Violation("wrong reason", ended.err)
    if what == "file" and (folder / "mine.csv").read_text() != OLD:
        raise Violation("overwritten", "mine.csv")
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IRWXU)
    _check_leftovers(folder)
    return f"no permission for a {what}"


def _check_leftovers(folder: Path) -> None:
    left = leftovers(folder)
    if left:
        raise Violation("leftover", f"{left}")


if __name__ == "__main__":
    preload()
    sys.exit(main("outputs", case, n_cases=500, limits=Limits(seconds=180), prepare=prepare))
