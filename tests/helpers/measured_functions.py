"""Functions for `performance.isolated` to run in processes of their own."""

import time


def allocate(meter, megabytes):
    block = b"x" * (megabytes * 2**20)
    first = meter.peak()
    n_bytes = len(block)
    del block
    meter.restart()
    return {
        "first": first,
        "after": meter.peak_of_stretch(),
        "over_all": meter.peak(),
        "n": n_bytes,
    }


def sleep(meter, seconds):
    time.sleep(seconds)
    return {}


def fail(meter):
    raise ValueError("no such luck")
