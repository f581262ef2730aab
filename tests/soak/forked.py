"""Runners and workers forked from this process, which has imported everything.

They run the same code as the commands do; a fork takes milliseconds where the imports take seconds,
so that a storm can kill hundreds of them. As after `subprocess.Popen`, no file is inherited.
"""

import os
import signal
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from manyview.experiments import worker as worker_module


class ForkedProcess:
    """A worker; has what `Worker` uses of `subprocess.Popen`."""

    def __init__(self, *_: Any, **__: Any) -> None:
        request_end, requests = os.pipe()
        replies, reply_end = os.pipe()
        self.pid = _fork()
        if self.pid == 0:
            try:
                os.setsid()
                os.dup2(request_end, 0)
                os.dup2(reply_end, 1)
                _close_all()
                sys.stdin = os.fdopen(0)
                worker_module.main()
            finally:
                os._exit(1)
        os.close(request_end)
        os.close(reply_end)
        self.stdin, self.stdout = os.fdopen(requests, "wb"), os.fdopen(replies, "rb")
        self._code: int | None = None

    def kill(self) -> None:
        """Kill it, if it was not waited for."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Return the exit code, or minus the signal that ended it."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code


def start_command(arguments: list[str], log: Path) -> int:
    """Run a command in a fork; returns its process id."""
    from manyview.cli.app import main

    log.touch()
    pid = _fork()
    if pid:
        return pid
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        output = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        _close_all()
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        warnings.simplefilter("ignore")
        fork_workers()
        main(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:  # before `main` listens, which a command's entry does earlier
        code = 130
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 99
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def fork_workers() -> None:
    """Let this process fork its workers instead of starting them."""
    worker_module.subprocess.Popen = ForkedProcess  # type: ignore[misc, assignment]


def end_of(pid: int) -> int:
    """Wait for a command; returns its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def children_of(pid: int) -> list[int]:
    """List the child processes of a process."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += [int(one) for one in (task / "children").read_text().split()]
    return found


def _fork() -> int:
    """Fork, and raise interrupts afterwards.

    Python swallows an interrupt within its hooks of a fork, which `subprocess.Popen` does not run.
    """
    late: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda late_number, _: late.append(late_number))
    pid = os.fork()
    for number, handler in before.items():
        signal.signal(number, handler)
    for late_number in late:
        signal.raise_signal(late_number)
    return pid


def _close_all() -> None:
    os.closerange(3, 4096)
