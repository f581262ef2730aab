"""Stored measurements: one JSON file per benchmark, written after every row."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from manyview.system.files import write_whole
from performance.machine import code_checksum, describe_machine

FOLDER = Path(__file__).parent.parent.parent / "results" / "performance"


class Rows:
    """The rows of one benchmark: a request each, and its measurements.

    Rows of the same code on the same machine stay, so a run that was stopped continues where it
    stopped; failed rows and rows of other code or another machine are removed.
    """

    def __init__(self, name: str, folder: Path = FOLDER, *, again: bool = False) -> None:
        self.path = folder / f"{name}.json"
        self._console = Console(stderr=True)
        self._document: dict[str, Any] = {
            "benchmark": name,
            "command": " ".join(["python", "benchmarks/run.py", *sys.argv[1:]]),
            "code": code_checksum(),
            "machine": describe_machine(),
            "rows": [],
        }
        if self.path.exists() and not again:
            before = json.loads(self.path.read_text())
            if all(before[key] == self._document[key] for key in ("code", "machine")):
                self._document["rows"] = [
                    row for row in before["rows"] if row.get("status") != "failed"
                ]

    def measure(self, request: dict[str, Any], function: Callable[[], dict[str, Any]]) -> None:
        """Call the function and store what it returns, unless the request has a row already."""
        rows = self._document["rows"]
        title = ", ".join(f"{key} {_shown(value)}" for key, value in request.items())
        if any(row["request"] == request for row in rows):
            self._console.print(f"{self.path.stem}: {title}: measured before")
            return
        self._console.print(f"{self.path.stem}: {title} ...")
        start = time.monotonic()
        row = {"request": request, **function()}
        rows.append(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, json.dumps(self._document, indent=1) + "\n")
        seconds = time.monotonic() - start
        self._console.print(
            f"{self.path.stem}: {title}: {row.get('reason', 'done')} ({seconds:,.0f} s)"
        )


def summary(values: Sequence[float]) -> dict[str, float]:
    """Return the median and the quartiles."""
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return {"median": float(median), "low": float(low), "high": float(high), "n": len(values)}


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
