"""The command line as a process: `python -m manyview`, and the command `manyview`."""

from typing import NoReturn

from manyview.system.interrupts import exit_on_interrupt


def run() -> NoReturn:
    """Run the command line; an interrupt is one line, also while modules are imported."""
    exit_on_interrupt()
    from manyview.cli.app import main

    try:
        main()
    finally:
        # Code in a string that was interrupted (namedtuples are made so) leaves a mark in CPython,
        # by which it would kill itself instead of ending with our exit code. Other such code
        # removes the mark.
        exec("")


if __name__ == "__main__":
    run()
