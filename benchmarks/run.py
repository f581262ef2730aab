"""Measure speed, memory and growth; results go to results/performance, one JSON file a benchmark.

    python benchmarks/run.py all                   everything but the million, in a good order
    python benchmarks/run.py growth --million      growth up to one million samples
    python benchmarks/run.py epoch --sizes 10000   one benchmark, other sizes
    python benchmarks/run.py page                  docs/performance.md and its figures anew

Nothing else should run on the machine. A run that was stopped goes on where it stopped, as long as
the code is the same; --again measures anew. --out keeps a trial run away from the results.
"""

import argparse
import signal
import sys
from pathlib import Path

from performance import dense, epoch, growth, imports, page, ranking, small, whole_job
from performance.stored import FOLDER

BY_SIZE = {"epoch": epoch, "dense": dense, "whole-job": whole_job, "growth": growth}
OTHERS = {"imports": imports, "small": small, "ranking": ranking}
ORDER = ("imports", "small", "epoch", "dense", "whole-job", "growth", "ranking")


def read_sizes(text):
    try:
        return tuple(int(size.replace("_", "")) for size in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"sizes are written as 1000,2000; got {text!r}") from None


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+", choices=[*ORDER, "all", "page"], metavar="NAME",
                        help=f"{', '.join(ORDER)}, all, or page")  # fmt: skip
    parser.add_argument("--sizes", type=read_sizes, metavar="N,N", help="numbers of samples")
    parser.add_argument("--million", action="store_true", help="growth: one million samples too")
    parser.add_argument("--before", default=small.BEFORE, metavar="COMMIT|DIR",
                        help=f"small: what to compare with [default: {small.BEFORE}]")  # fmt: skip
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="other results")
    parser.add_argument("--again", action="store_true", help="measure anew what is stored")
    return parser.parse_args()


def main():
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that measuring processes end too
    names = ORDER if "all" in options.names else options.names
    for name in names:
        settings = {"folder": options.out, "again": options.again}
        if name in BY_SIZE:
            sizes = options.sizes or BY_SIZE[name].SIZES
            sizes += (growth.MILLION,) if name == "growth" and options.million else ()
            BY_SIZE[name].run(sizes, **settings)
        elif name == "small":
            small.run(options.before, **settings)
        elif name in OTHERS:
            OTHERS[name].run(**settings)
    if options.out == FOLDER:
        page.write()


if __name__ == "__main__":
    main()
