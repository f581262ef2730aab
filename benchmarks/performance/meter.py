"""The process of one measurement: its memory, and the command that runs it.

    python -m performance.meter MODULE:FUNCTION ARGUMENTS

imports the function, calls it as `function(meter, **arguments)` with a meter that starts after the
imports, and prints what it returns as one line of JSON. It also measures older versions of
manyview, so it imports nothing of it. Linux only.
"""

import importlib
import json
import sys
from pathlib import Path


class Meter:
    """Memory of this process above its level at the last `start`, in MB."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Measure from the current memory on."""
        self._level = _memory("VmRSS")
        self._earlier_peak = 0.0
        _reset_peak()

    def restart(self) -> None:
        """Begin a new stretch; `peak` still covers the earlier ones."""
        self._earlier_peak = self.peak()
        _reset_peak()

    def peak_of_stretch(self) -> float:
        """Peak since the last `restart`."""
        return max(_memory("VmHWM") - self._level, 0.0)

    def peak(self) -> float:
        """Peak since the start."""
        return max(self._earlier_peak, self.peak_of_stretch())


def _memory(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1024


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def main() -> None:
    path, arguments = sys.argv[1:]
    module, name = path.split(":")
    function = getattr(importlib.import_module(module), name)
    print(json.dumps(function(Meter(), **json.loads(arguments))))


if __name__ == "__main__":
    main()
