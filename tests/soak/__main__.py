"""Run all campaigns, or those named, and print one summary line each.

    python -m tests.soak [NAME ...] [--seed S] [--cases N] [--workers N] [--record]

Without --cases, each campaign runs its own number of cases. --record adds each summary to
results/soak.jsonl, from which `docs/promises.md` is written.
"""

import argparse
import signal
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def campaigns() -> list[str]:
    """Return the names of the campaigns: the modules of this folder that can be run."""
    return sorted(
        file.stem
        for file in FOLDER.glob("[a-z]*.py")
        if not file.stem.startswith("test_")
        and '\nif __name__ == "__main__":\n' in file.read_text()
    )


def main() -> int:
    """Run the campaigns one after the other; return 1 if one broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(campaigns()))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--record", action="store_true", help="add to results/soak.jsonl")
    options = vars(parser.parse_args())
    names, is_recorded = options.pop("names") or campaigns(), options.pop("record")
    unknown = sorted(set(names) - set(campaigns()))
    if unknown:
        parser.error(f"no campaign is named {unknown[0]}; choose from {', '.join(campaigns())}")
    given = [f"--{name}={value}" for name, value in options.items() if value is not None]
    given += ["--record"] * is_recorded
    codes = []
    stopped: list[int] = []
    # A campaign gets Ctrl-C, too; wait for its summary, which `subprocess.run` would not do.
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    for name in names:
        if not stopped:
            command = [sys.executable, "-m", f"tests.soak.{name}", *given]
            codes.append(subprocess.Popen(command, cwd=FOLDER.parents[1]).wait())
    if stopped and 1 not in codes:
        return 130
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
