"""Interrupts of a command: Ctrl-C, SIGTERM and SIGHUP all end it in the same orderly way."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
AGAIN_SECONDS = 0.01
_received: list[int] = []
_has_started: list[bool] = []


def interrupted_code() -> int:
    """Return the exit code of an interrupted command: 128 + the signal, 130 for Ctrl-C."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """Raise KeyboardInterrupt on each of the signals, as Python does on Ctrl-C alone.

    A signal that the process was started to ignore (`nohup`) stays ignored. One that comes while
    Python cleans up, where it would be dropped with a traceback, is sent again.
    """
    _has_started.append(True)
    _received.clear()
    hook = sys.unraisablehook
    sys.unraisablehook = lambda dropped: _send_again(dropped, hook)
    try:
        with _handled(_raise_interrupt):
            yield
    finally:
        sys.unraisablehook = hook


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold interrupts back until the block has ended, for steps that must not stop halfway."""
    late: list[int] = []
    try:
        with _handled(lambda number, _frame: late.append(number)):
            yield
    finally:
        for number in late:
            signal.raise_signal(number)


def exit_on_interrupt() -> None:
    """End the process with one line on an interrupt, until `interrupts_raised` is entered.

    After that has been left, interrupts are ignored: the work is done, and the process is ending.
    """

    def leave(number: int, _frame: Any) -> None:
        if not _has_started:
            os.write(2, b"Interrupted; nothing was written.\n")
            os._exit(128 + number)

    _set_all(leave)


def _raise_interrupt(number: int, _frame: Any) -> None:
    _received.append(number)
    raise KeyboardInterrupt


def _send_again(dropped: Any, hook: Any) -> None:
    """Send an interrupt again that a destructor or a callback of Python's has dropped."""
    if dropped.exc_type is KeyboardInterrupt and _received:
        threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), _received[-1])).start()
    else:
        hook(dropped)


def _set_all(handler: Any) -> dict[int, Any]:
    """Set a handler for every signal that is not ignored; return the handlers before."""
    before = {number: signal.getsignal(number) for number in INTERRUPTS}
    # None: a handler that was not set by Python cannot be put back.
    changed = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in changed:
        signal.signal(number, handler)
    return changed


@contextmanager
def _handled(handler: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals, and only it may set handlers
        return
    before = _set_all(handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
