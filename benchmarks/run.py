"""Measure speed, memory and growth; results go to results/performance, one file per benchmark.

    python benchmarks/run.py all                   everything but the million
    python benchmarks/run.py growth --million      growth up to one million samples
    python benchmarks/run.py five-million          five million samples in 20 GB, in about an hour
    python benchmarks/run.py epoch --sizes 10000   one benchmark, other sizes
    python benchmarks/run.py page                  write docs/performance.md and its figures

Nothing else should run on the machine. A run that was stopped continues where it stopped if the
code is the same; --again measures again. --out writes a trial run elsewhere.
"""

import argparse
import signal
import sys
from pathlib import Path

from performance import (
    busy,
    cross_fit,
    dense,
    epoch,
    five_million,
    growth,
    imports,
    large_data,
    neighbors,
    page,
    processes,
    ranking,
    small,
    small_jobs,
    whole_job,
)
from performance.stored import FOLDER, Rows

ORDER = page.BENCHMARKS
LONG = page.LONG


def read_sizes(text):
    try:
        return tuple(int(size.replace("_", "")) for size in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"sizes are written as 1000,2000; got {text!r}") from None


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", choices=[*ORDER, *LONG, "all", "page"], metavar="NAME",
                        help=f"{', '.join([*ORDER, *LONG])}, all, or page")  # fmt: skip
    parser.add_argument("--sizes", type=read_sizes, metavar="N,N", help="numbers of samples")
    parser.add_argument("--rounds", type=int, metavar="N", help="number of repetitions")
    parser.add_argument("--million", action="store_true", help="growth: one million samples too")
    parser.add_argument(
        "--before",
        metavar="COMMIT|DIR",
        help="small, small-jobs: what to compare with [default: "
        f"{small.BEFORE}, for small-jobs {small_jobs.BEFORE}]",
    )
    parser.add_argument(
        "--out", type=Path, default=FOLDER, metavar="DIR", help="folder of the results"
    )
    parser.add_argument("--again", action="store_true", help="measure stored rows again")
    return parser.parse_args()


def run(name, options):
    # The trials of the ranking are in the store of records; its rows only summarize them.
    rows = Rows(name, options.out, again=options.again or name == "ranking")
    rounds = {"n_rounds": options.rounds} if options.rounds else {}
    sizes = {"sizes": options.sizes} if options.sizes else {}
    match name:
        case "imports":
            imports.run(rows, **rounds)
        case "neighbors":
            neighbors.run(rows, **rounds)
        case "small":
            small.run(rows, options.before or small.BEFORE, **rounds)
        case "small-jobs":
            small_jobs.run(rows, options.before or small_jobs.BEFORE, **sizes, **rounds)
        case "cross-fit":
            cross_fit.run(rows, **sizes, **rounds)
        case "epoch":
            epoch.run(rows, **sizes, **rounds)
        case "dense":
            dense.run(rows, **sizes)
        case "whole-job":
            whole_job.run(rows, **sizes, **rounds)
        case "busy":
            busy.run(rows, **sizes, **rounds)
        case "large-data":
            large_data.run(rows)
        case "growth":
            growth.run(rows, **sizes)
            if options.million:
                growth.run(rows, [growth.MILLION])
        case "ranking":
            ranking.run(rows)
        case "processes":
            processes.run(rows, **sizes)
        case "five-million":
            five_million.run(rows, **sizes)


def main():
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that child processes end too
    for name in ORDER if "all" in options.names else options.names:
        run(name, options)
    if options.out == FOLDER:
        page.write()


if __name__ == "__main__":
    main()
