"""Storms on stores: runners, workers and tunings are killed, and records are damaged.

    python -m tests.soak.stores --cases 200 [kill|tune|damage]

Whatever happens, the same commands complete the study: no finished trial is lost or run twice, no
claim is left, and no damaged record changes a table without a word.
"""

import json
import os
import shutil
import signal
import sys
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import numpy as np

from manyview.experiments.claims import RUNNERS_NAME, RUNNING_NAME
from manyview.experiments.records import read_line
from manyview.experiments.store import RECORDS_NAME, Store
from tests.soak.campaign import Limits, Violation, count, main, shared_folder
from tests.soak.forked import children_of, end_of, start_command

LIMITS = Limits(seconds=240, memory_gb=4.0)
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
N_KILLS = 5  # per case
N_TRIALS = 9
PLAN = """
title = "Storm"
datasets = ["{data}"]
label_ratios = [0.2]
seeds = [0, 1, 2]

[methods.knn]
[methods.label-spreading]
[methods.ssgcn]
params = {{ max_epochs = 20 }}
"""
TUNE = ("--method", "knn", "--candidates", "4", "--label-ratio", "0.3", "--quiet")


def prepare(shared: Path) -> None:
    """Write the data, a plan, and a study and a tuning that nobody disturbed."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    views = {
        name: 2 * rng.normal(size=(3, width))[truth] + rng.normal(size=(60, width))
        for name, width in {"shape": 5, "color": 8}.items()
    }
    np.savez(shared / "shapes.npz", **views, y=truth)
    plan = shared / "storm.toml"
    plan.write_text(PLAN.format(data=shared / "shapes.npz"))
    log = shared / "log.txt"
    run = ["bench", "run", str(plan), "--out", str(shared / "store"), "--quiet", "--jobs", "1"]
    tune = ["tune", str(shared / "shapes.npz"), *TUNE, "--out", str(shared / "tuning")]
    for command in (run, tune):
        code = end_of(start_command(command, log))
        if code:
            raise RuntimeError(f"{command} ended with {code}: {log.read_text()}")
    store = Store(shared / "store")  # one trial has failed before, and was retried
    first = next(iter(store.records().values()))
    failed = {name: first[name] for name in first if name not in ("accuracy", "predictions")}
    lines = (shared / "store" / RECORDS_NAME).read_bytes().split(b"\n", 1)
    (shared / "store" / RECORDS_NAME).write_bytes(b"")
    store.add(failed | {"status": "failed", "reason": "bad luck"})
    store.add(first)
    with (shared / "store" / RECORDS_NAME).open("ab") as stream:
        stream.write(lines[1])


def kill_case(rng: np.random.Generator, folder: Path) -> str:
    """Kill runners and workers of a study, then let it complete."""
    plan, store, log = shared_folder() / "storm.toml", folder / "store", folder / "log.txt"
    command = ["bench", "run", str(plan), "--out", str(store), "--quiet"]
    n_kills, seen = 0, {}
    while n_kills < N_KILLS:
        runners = [
            start_command([*command, "--jobs", str(rng.integers(1, 3))], log)
            for _ in range(rng.integers(1, 4))
        ]
        time.sleep(float(rng.uniform(0.0, 0.8)))
        for runner in runners:
            workers = children_of(runner)
            target = int(rng.choice(workers)) if workers and rng.random() < 0.4 else runner
            number = signal.SIGKILL if target != runner else SIGNALS[rng.integers(len(SIGNALS))]
            with suppress(ProcessLookupError):
                os.kill(target, number)
                n_kills += 1
                count("kills")
        for runner in runners:
            _check_end(end_of(runner), log, (0, 130, 143, -signal.SIGKILL, -signal.SIGTERM))
        now = Store(store).records()
        for key, record in seen.items():
            if record["status"] == "done" and now.get(key) != record:
                raise Violation("finished trial lost", key)
        seen = dict(now)
    _check_end(end_of(start_command(command, log)), log)
    retry = ["bench", "retry", str(plan), "--failed", "--out", str(store), "--quiet"]
    _check_end(end_of(start_command(retry, log)), log)
    _check_complete(store)
    return f"completed after {N_KILLS} or more kills"


def tune_case(rng: np.random.Generator, folder: Path) -> str:
    """Kill a tuning at random moments, then let it complete."""
    out, log = folder / "tuning", folder / "log.txt"
    command = ["tune", str(shared_folder() / "shapes.npz"), *TUNE, "--out", str(out)]
    longest = 0.05 if rng.random() < 0.3 else 1.0  # often before its first file
    for _ in range(N_KILLS):
        pid = start_command(command, log)
        time.sleep(float(rng.uniform(0.0, longest)))
        with suppress(ProcessLookupError):
            os.kill(pid, SIGNALS[rng.integers(len(SIGNALS))])
            count("kills")
        _check_end(end_of(pid), log, (0, 130, 143, -signal.SIGKILL, -signal.SIGTERM, 1))
    _check_end(end_of(start_command(command, log)), log)
    found, whole = (
        json.loads((one / "tuning.json").read_text()) for one in (out, shared_folder() / "tuning")
    )
    for document in (found, whole):
        document.pop("seconds")
    if found != whole:
        raise Violation("another result", json.dumps([found, whole]))
    keys = [read_line(line)[0]["key"] for line in (out / RECORDS_NAME).read_bytes().splitlines()]
    if len(keys) != len(set(keys)):
        raise Violation("candidate scored twice", str(keys))
    _check_no_claims(out)
    return f"completed after {N_KILLS} kills"


def damage_case(rng: np.random.Generator, folder: Path) -> str:
    """Damage the records of a store; every verb must tell, and a run must repair it."""
    healthy, store = shared_folder() / "store", folder / "store"
    plan = str(shared_folder() / "storm.toml")
    shutil.copytree(healthy, store)
    file = store / RECORDS_NAME
    whole = file.read_bytes()
    kind, damaged = _damage(whole, rng)
    file.write_bytes(damaged)
    verbs = [["bench", "table", plan, "--format", "csv"], ["bench", "status", plan, "--json"]]
    if rng.random() < 0.2:
        verbs.append(["bench", "report", plan, "--file", str(folder / "page.html")])
    is_told = False
    is_same = Store(store).records() == Store(healthy).records()
    n_missing = len(Store(healthy).records()) - len(Store(store).records())
    written = [read_line(line)[0] for line in whole.splitlines()]
    for key, record in Store(store).records().items():
        if record not in written:  # each line counts: a note about another one does not excuse it
            raise Violation("damaged record read", f"{kind}: {key}")
    for verb in verbs:
        log = folder / f"{verb[1]}.txt"
        _check_end(_run_here([*verb, "--out", str(store)], log), log)
        told = "Note: " in log.read_text()
        is_told = is_told or told
        if not is_same and not told and not (kind == "cut" and n_missing > 0):
            raise Violation("silent other table", f"{kind}: {verb}")
    log = folder / "check.txt"
    is_damaged = bool(Store(store).line_counts().n_damaged) or Store(store).line_counts().is_cut
    _check_end(_run_here(["bench", "check", str(store)], log), log, (int(is_damaged),))
    if not is_same and rng.random() < 0.15:
        run = ["bench", "run", plan, "--out", str(store), "--quiet"]
        _check_end(end_of(start_command(run, log)), log)
        if any(one["status"] != "done" for one in Store(store).records().values()):
            if kind not in ("cut", "splice"):
                raise Violation("stale failure", f"{kind}: its retry was lost, and did not run")
            # The whole line of a retry is gone without a trace, so that its failure counts again.
            retry = ["bench", "retry", plan, "--failed", "--out", str(store), "--quiet"]
            _check_end(end_of(start_command(retry, log)), log)
        _check_end(end_of(start_command(["bench", "check", str(store)], log)), log)
        accuracy = {key: one["accuracy"] for key, one in Store(store).records().items()}
        if accuracy != {key: one["accuracy"] for key, one in Store(healthy).records().items()}:
            raise Violation("repaired to another table", kind)
        return "repaired"
    return "told" if is_told else "same table" if is_same else "cut at a line end"


def _run_here(arguments: list[str], log: Path) -> int:
    """Run a command in this process; returns its exit code."""
    from manyview.cli.app import main as command

    with log.open("w") as output, redirect_stdout(output), redirect_stderr(output):
        try:
            command(arguments)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0


def _damage(whole: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    lines = whole.splitlines(keepends=True)
    kind = ("flips", "flips", "digits", "retry", "cut", "swap", "double", "splice")[rng.integers(8)]
    if kind in ("digits", "retry"):  # damage that is still JSON; of the line of a retry
        number = 1 if kind == "retry" else int(rng.integers(len(lines)))
        line = bytearray(lines[number])
        places = [place for place, byte in enumerate(line) if chr(byte).isdigit()]
        place = int(rng.choice(places))
        line[place] = ord("0") + (line[place] - ord("0") + int(rng.integers(1, 10))) % 10
        return kind, b"".join([*lines[:number], bytes(line), *lines[number + 1 :]])
    if kind == "flips":
        changed = bytearray(whole)
        for _ in range(int(rng.integers(1, 12))):
            changed[rng.integers(len(changed))] = int(rng.integers(256))
        return kind, bytes(changed)
    if kind == "cut":
        return kind, whole[: int(rng.integers(1, len(whole)))]
    if kind == "swap":
        return kind, b"".join(lines[number] for number in rng.permutation(len(lines)))
    if kind == "double":
        again = [lines[number] for number in rng.integers(len(lines), size=5)]
        return kind, whole + b"".join(again)
    start, end = sorted(rng.integers(len(whole), size=2).tolist())
    return kind, whole[:start] + rng.bytes(int(rng.integers(40))) + whole[end:]


def _check_end(code: int, log: Path, allowed: tuple[int, ...] = (0,)) -> None:
    if code not in allowed or "Traceback" in log.read_text(errors="replace"):
        raise Violation("command failed", f"ended with {code}: {log.read_text()[-4000:]}")


def _check_complete(store: Path) -> None:
    records = Store(store).records()
    if len(records) != N_TRIALS or any(one["status"] != "done" for one in records.values()):
        raise Violation("study not complete", str({k: one["status"] for k, one in records.items()}))
    if Store(store).line_counts().n_skipped:
        raise Violation("damaged line", str(Store(store).line_counts()))
    lines = [read_line(line)[0] for line in (store / RECORDS_NAME).read_bytes().splitlines()]
    done = [line["key"] for line in lines if line["status"] == "done"]
    if len(done) != N_TRIALS:
        raise Violation("trial run twice", str(done))
    _check_no_claims(store)


def _check_no_claims(store: Path) -> None:
    left = [*(store / RUNNING_NAME).glob("*"), *(store / RUNNERS_NAME).glob("*")]
    if left:
        raise Violation("claim left", str(left))


CASES = {"kill": kill_case, "tune": tune_case, "damage": damage_case}


def import_libraries() -> None:
    """Import before the first fork what every case needs."""
    import matplotlib.pyplot  # noqa: F401
    import optuna.importance  # noqa: F401

    import manyview.cli.app
    import manyview.experiments.worker
    import manyview.report.figures.tuning
    import manyview.report.study.page
    import manyview.tuning.tuned_data

    assert manyview
    # What typer imports for its first command: an interrupt there is the entry's to handle.
    _run_here(["bench", "check", os.devnull], Path(os.devnull))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import_libraries()
    chosen = [word for word in sys.argv[1:] if word in CASES] or list(CASES)
    rest = [word for word in sys.argv[1:] if word not in CASES]
    sys.exit(
        max(
            main(f"stores {one}", CASES[one], n_cases=200, limits=LIMITS, prepare=prepare,
                 arguments=rest)
            for one in chosen
        )
    )  # fmt: skip
