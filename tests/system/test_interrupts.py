"""Interrupts are raised as KeyboardInterrupt, held back where asked for, and never lost."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from manyview.system.interrupts import interrupted_code, interrupts_deferred, interrupts_raised

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")


def handlers():
    return [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_is_raised_and_gives_the_exit_code(number):
    before = handlers()
    with pytest.raises(KeyboardInterrupt), interrupts_raised():
        signal.raise_signal(number)
    assert interrupted_code() == 128 + number
    assert handlers() == before


def test_interrupt_without_a_signal_counts_as_ctrl_c():
    with pytest.raises(KeyboardInterrupt), interrupts_raised():
        raise KeyboardInterrupt
    assert interrupted_code() == 130


def test_deferred_interrupt_comes_after_the_block():
    done = []

    def work():
        signal.raise_signal(signal.SIGTERM)
        done.append("the rest")

    with interrupts_raised(), pytest.raises(KeyboardInterrupt), interrupts_deferred():
        work()
    assert done == ["the rest"]


def test_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupts_raised(), interrupts_deferred():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_set_no_handlers():
    done = []

    def work():
        with interrupts_raised(), interrupts_deferred():
            done.append("work")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["work"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_before_and_after_the_work_of_a_process(number):
    code = f"""
import signal, sys
from manyview.system.interrupts import exit_on_interrupt, interrupts_raised
exit_on_interrupt()
if sys.argv[1] == "before":
    signal.raise_signal({int(number)})
with interrupts_raised():
    print("worked", flush=True)
signal.raise_signal({int(number)})
"""
    ends = {}
    for moment in ("before", "after"):
        command = [sys.executable, "-c", code, moment]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        ends[moment] = (ended.returncode, ended.stdout, ended.stderr)
    assert ends == {
        "before": (128 + number, "", "Interrupted; nothing was written.\n"),
        "after": (0, "worked\n", ""),
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_that_python_drops_in_a_destructor_comes_again(number, capfd):
    class Interrupted:
        def __del__(self):
            signal.raise_signal(number)

    def clean_up():
        Interrupted()
        time.sleep(5)

    hook = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), interrupts_raised():
        clean_up()
    assert interrupted_code() == 128 + number
    assert capfd.readouterr().err == ""
    assert sys.unraisablehook is hook
