"""Run a campaign: many cases, each in a process of its own with limits, and one summary line.

A case is a function of a random generator and an empty folder. Its process is forked from one that
has imported everything, so a case costs milliseconds, and whatever it does to its interpreter is
seen from outside: a signal, a hang, its peak memory. The generator depends only on the seed of
the campaign and the number of the case, so `--seed 0 --only 17` runs case 17 again.

    def case(rng, folder):
        ...                                  # a ManyviewError counts as refused
        return "read"                        # any other word is counted under its name

    if __name__ == "__main__":
        sys.exit(main("fuzz_inputs", case))
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Case = Callable[[np.random.Generator, Path], str]
ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "results" / "soak.jsonl"
GB = 2**30
_BASE: list[int] = []  # resident bytes of this process when its case started
_COUNTS: Counter[str] = Counter()  # of this case
_STOPPED: list[int] = []  # signals that ask for the summary of what has run
_RUNNING: dict[int, list[int]] = {}  # process of each batch, and the numbers of its cases
_KILLED: set[int] = set()  # processes that a second Ctrl-C ended: no result, no violation
FENCE_GB = 8.0  # address space beyond the limit: past it the system refuses, and the machine lives


class Violation(Exception):  # noqa: N818
    """Something that must never happen; `kind` is counted, the text is kept for replay."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(detail)
        self.kind = kind


@dataclass(frozen=True)
class Limits:
    """What one case may use."""

    seconds: int = 30
    memory_gb: float = 2.0  # resident memory beyond that of the process it was forked from


@dataclass
class Summary:
    """Counts of a campaign by outcome, of what its cases counted, and of its violations."""

    name: str
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def n_cases(self) -> int:
        """Cases that ended, in whatever way."""
        return self.outcomes.total() + self.violations.total()

    @property
    def line(self) -> str:
        """All counts in one line."""
        held, counted, broken = (
            ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
            for counts in (self.outcomes, self.counts, self.violations)
        )
        return (
            f"{self.name}: seed {self.seed}, {self.n_cases} cases in {self.seconds:.0f} s: "
            f"{held or 'none held'}{counted and f' ({counted})'}; violations: {broken or 0}"
        )


def count(what: str, number: int = 1) -> None:
    """Count something within a case, such as the kills it sent; the summary has the sums."""
    _COUNTS[what] += number


def run_campaign(
    name: str,
    case: Case,
    numbers: range,
    *,
    seed: int = 0,
    limits: Limits | None = None,
    n_workers: int = 1,
    keep: Path | None = None,
    batch: int = 1,
) -> Summary:
    """Run the cases of these numbers; the folder of each that breaks a promise goes to `keep`.

    A process runs `batch` cases one after the other; those behind one that ends it run again.
    """
    limits = limits or Limits()
    summary, started = Summary(name, seed), time.monotonic()
    waiting = [list(numbers[start : start + batch]) for start in range(0, len(numbers), batch)]
    waiting.reverse()
    running = _RUNNING
    with tempfile.TemporaryDirectory(
        prefix="manyview-soak-", ignore_cleanup_errors=True
    ) as scratch:
        while waiting or running:
            if _STOPPED and not running:
                break
            if _STOPPED:
                waiting.clear()
            while waiting and len(running) < n_workers:
                chosen = waiting.pop()
                running[_start(case, chosen, seed, Path(scratch), limits)] = chosen
            pid, status, usage = os.wait3(0)
            if pid not in running:
                continue
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # whatever the case started and left behind
            chosen = running.pop(pid)
            if pid in _KILLED:
                continue
            for number in chosen:
                folder = Path(scratch) / str(number)
                if not folder.exists():  # the case before it ended the process
                    waiting.append([number])
                    continue
                kind, is_violation, detail = _outcome(folder, status, usage.ru_maxrss, limits)
                if is_violation and kind == "memory" and len(chosen) > 1:
                    waiting.append([number])  # alone, to see which one it is
                elif is_violation:
                    summary.violations[kind] += 1
                    _keep(folder, keep, number, f"{kind}\n{detail}")
                else:
                    summary.outcomes[kind] += 1
                if [number] not in waiting:
                    summary.counts += _counts_of(folder)
                shutil.rmtree(folder, ignore_errors=True)
    summary.seconds = time.monotonic() - started
    return summary


def main(
    name: str,
    case: Case,
    *,
    n_cases: int = 1000,
    limits: Limits | None = None,
    prepare: Callable[[Path], None] | None = None,
    arguments: list[str] | None = None,
    batch: int = 1,
) -> int:
    """Run a campaign from the command line; return 1 if a promise was broken.

    SIGTERM and Ctrl-C end it after the cases that are running, with the summary of what has run; a
    second Ctrl-C kills those cases. It then returns 128 + the signal, and 1 for a broken promise.

    `prepare` writes healthy files that all cases share into a folder, in a process of its own
    (some libraries must not be used before a fork); cases find it with `shared_folder`.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tests.soak.{name}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=n_cases)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, help="run one case again, by its number")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=Path("soak-failures") / name)
    parser.add_argument(
        "--record", type=Path, nargs="?", const=RECORDS, metavar="FILE",
        help="add the summary to this file of records, results/soak.jsonl if not given",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    if _STOPPED:  # while the campaign before this one ran, in the same process
        return 128 + _STOPPED[0]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    first, n_cases = (options.first, options.cases) if options.only is None else (options.only, 1)
    with tempfile.TemporaryDirectory(prefix="manyview-soak-shared-") as shared:
        os.environ["MANYVIEW_SOAK_SHARED"] = shared
        if prepare is not None and not _prepared(prepare, Path(shared)):
            return 1
        summary = run_campaign(
            name,
            case,
            range(first, first + n_cases),
            seed=options.seed,
            limits=limits,
            n_workers=options.workers,
            keep=options.keep,
            batch=batch,
        )
    ended = f" (stopped by {signal.Signals(_STOPPED[0]).name})" if _STOPPED else ""
    sys.stdout.write(f"{summary.line}{ended}\n")
    sys.stdout.flush()
    if options.record is not None and summary.n_cases:
        add_record(summary, first, options.record)
    if summary.violations:
        sys.stdout.write(f"{name}: failing cases are in {options.keep}\n")
    if summary.violations or not _STOPPED:
        return int(bool(summary.violations))
    return 128 + _STOPPED[0]


def _stop(number: int, _: object) -> None:
    """Ask for the summary; kill the cases that are running at the second Ctrl-C."""
    if _STOPPED and number == signal.SIGINT:
        for pid in _RUNNING:
            _KILLED.add(pid)
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
    _STOPPED.append(number)


def add_record(summary: Summary, first: int, file: Path) -> None:
    """Append the summary as one line with a checksum, as the records of studies."""
    from manyview.experiments.records import with_checksum

    n_cases = summary.n_cases
    command = f"python -m tests.soak.{summary.name} --seed {summary.seed} --cases {n_cases}"
    record = {
        "campaign": summary.name,
        "seed": summary.seed,
        "first": first,
        "cases": n_cases,
        "outcomes": dict(sorted(summary.outcomes.items())),
        "counts": dict(sorted(summary.counts.items())),
        "violations": dict(sorted(summary.violations.items())),
        "seconds": round(summary.seconds),
        "code": code_version(),
        "command": command + (f" --first {first}" if first else ""),
    }
    with file.open("a") as stream:
        stream.write(json.dumps(with_checksum(record)) + "\n")


def code_version() -> str:
    """Return the commit of the code that runs, with a plus sign if the code differs from it."""
    words = {
        "commit": ["rev-parse", "--short", "HEAD"],
        "changes": ["status", "--porcelain", "src"],
    }
    found = {
        name: subprocess.run(
            ["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=False
        ).stdout.strip()
        for name, command in words.items()
    }
    return f"{found['commit']}{'+' if found['changes'] else ''}" if found["commit"] else "unknown"


def shared_folder() -> Path:
    """Return the folder that `prepare` filled."""
    return Path(os.environ["MANYVIEW_SOAK_SHARED"])


def _prepared(prepare: Callable[[Path], None], shared: Path) -> bool:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            prepare(shared)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def _start(case: Case, numbers: list[int], seed: int, scratch: Path, limits: Limits) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        with suppress(OSError):
            os.setpgid(pid, pid)
        return pid
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends a hang in C code, too
        _set_fence(limits)
        for number in numbers:
            folder = scratch / str(number)
            inner = folder / "case"
            inner.mkdir(parents=True)
            signal.alarm(limits.seconds)
            log = os.open(folder / "stderr.txt", os.O_CREAT | os.O_WRONLY)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(log)
            result = _result(case, np.random.default_rng([seed, number]), inner)
            (folder / "result.json").write_text(json.dumps(result))
    finally:
        os._exit(0)
    return 0


def _set_fence(limits: Limits) -> None:
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return
    resident, virtual = _memory_of(pages)
    _BASE.append(resident)
    fence = int(virtual + (limits.memory_gb + FENCE_GB) * GB)
    resource.setrlimit(resource.RLIMIT_AS, (fence, fence))


def _memory_of(pages: Path) -> tuple[int, int]:
    virtual, resident = (int(word) for word in pages.read_text().split()[:2])
    return resident * resource.getpagesize(), virtual * resource.getpagesize()


def _result(case: Case, rng: np.random.Generator, folder: Path) -> dict[str, object]:
    from manyview.errors import ManyviewError

    _COUNTS.clear()
    try:
        kind, is_violation, detail = case(rng, folder), False, ""
    except ManyviewError:
        kind, is_violation, detail = "refused", False, ""
    except Violation as broken:
        kind, is_violation, detail = broken.kind, True, str(broken)
    except BaseException:
        kind, is_violation, detail = "foreign exception", True, traceback.format_exc()
    base = _BASE[0] if _BASE else 0
    return {
        "kind": kind,
        "is_violation": is_violation,
        "detail": detail,
        "base": base,
        "counts": dict(_COUNTS),
    }


def _counts_of(folder: Path) -> Counter[str]:
    try:
        return Counter(json.loads((folder / "result.json").read_text())["counts"])
    except (OSError, ValueError):  # the case crashed
        return Counter()


def _outcome(folder: Path, status: int, peak_kb: int, limits: Limits) -> tuple[str, bool, str]:
    if os.WIFSIGNALED(status) and not (folder / "result.json").exists():
        number = os.WTERMSIG(status)
        if number == signal.SIGALRM:
            return "hang", True, f"did not end within {limits.seconds} s"
        return "crash", True, f"ended by {signal.Signals(number).name}"
    try:
        result = json.loads((folder / "result.json").read_text())
    except (OSError, ValueError):
        return "crash", True, f"left no result; exit status {status}"
    used = (peak_kb * 1024 - result["base"]) / GB
    if result["base"] and used > limits.memory_gb:
        return "memory", True, f"used {used:.2f} GB, and {limits.memory_gb} GB are allowed"
    return result["kind"], result["is_violation"], result["detail"]


def _keep(folder: Path, keep: Path | None, number: int, text: str) -> None:
    if keep is None:
        return
    kept = keep / str(number)
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept, symlinks=True, ignore=_special_files)
    (kept / "violation.txt").write_text(text)


def _special_files(folder: str, names: list[str]) -> list[str]:
    """Leave out pipes and devices, which a copy would wait for."""
    paths = {name: Path(folder) / name for name in names}
    return [
        name
        for name, path in paths.items()
        if not (path.is_file() or path.is_dir() or path.is_symlink())
    ]
