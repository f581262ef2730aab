"""A slow process of a shared fit is named once; small fits and even ones stay silent."""

import socket

import pytest

from manyview.distributed.slow_process import slowest


def test_the_first_process_names_a_slow_one_once(ranks):
    first, *others = ranks.run("wait_for_slow", 3, 1)
    line, rest = first.split("\n", 1)
    assert line.startswith(f"Process 1 of 3, on {socket.gethostname()}, is slow: it computes ")
    assert line.endswith(" times as long as the others, which wait for it.")
    assert (rest, others) == ("", ["", ""])


def test_processes_that_compute_equally_long_are_not_named(ranks):
    assert ranks.run("wait_for_slow", 3, None) == ["", "", ""]


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        ([20.0, 10.0], (0, 2.0)),
        ([15.0, 10.0], None),
        ([10.0, 12.0, 11.0, 33.0], (3, 3.0)),
        ([10.0, 30.0, 30.0], None),  # one is fast
    ],
)
def test_a_process_is_slow_compared_with_the_median_of_the_others(seconds, found):
    assert slowest(seconds) == found
