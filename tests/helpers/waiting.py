"""Wait for what happens in another process or thread."""

import time


def until(condition, seconds=300):
    """Wait until a condition holds; fail if it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
