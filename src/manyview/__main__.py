"""The command line as a process: `python -m manyview`, and the command `manyview`."""

import sys
from typing import NoReturn

from manyview.errors import is_out_of_memory
from manyview.system.interrupts import exit_on_interrupt


def run() -> NoReturn:
    """Run the command line; an interrupt is one line, also while modules are imported."""
    exit_on_interrupt()
    try:
        from manyview.cli.app import main
    except (MemoryError, ImportError, RuntimeError) as error:
        sys.exit(_not_imported(error))
    try:
        main()
    finally:
        # Code in a string that was interrupted (namedtuples are made so) leaves a mark in CPython,
        # by which it would kill itself instead of ending with our exit code. Other such code
        # removes the mark.
        exec("")


def _not_imported(error: Exception) -> int:
    """Print why the command line cannot be imported, if that is for want of memory."""
    if not is_out_of_memory(error):
        raise error
    sys.stderr.write(
        "Error: There is not enough memory to start. Close other programs, or raise the limits of "
        "this shell (ulimit -v).\n"
    )
    return 2


if __name__ == "__main__":
    run()
