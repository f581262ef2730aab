"""Check an HDF5 file in a child process before it is read here.

The HDF5 library trusts its files: on a damaged one it may never end, or end the interpreter. So a
child process walks the file first, with a limit on its time and memory (see `hdf5_probe`). It
visits every object and reads attributes, texts and the places of chunks, which is where the
library goes astray, and all values of files below 64 MB. That takes about 0.3 seconds, and little
more for a large file. Ctrl-C ends the child, too.

A file that leads to other files (external and soft links, external storage, virtual data sets) is
refused: to read it would be to read whatever the links name.
"""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from manyview.data.io.reading import import_extra, unreadable
from manyview.errors import DataFileError
from manyview.system.memory import GB, check_memory, memory_limit

PROBE = Path(__file__).with_name("hdf5_probe.py")
ALL_VALUES_BELOW = 2**26  # bytes of a file whose values are read twice
START_SECONDS = 120.0  # for Python and h5py to start, on a slow disk
SECONDS, SECONDS_PER_GB = 15.0, 10.0  # for the walk


def check_hdf5(path: Path, kind: str) -> None:
    """Refuse an HDF5 file that hangs or crashes, leads to other files, or needs too much memory."""
    import_extra("h5py", path.name)
    size = path.stat().st_size
    seconds = SECONDS + SECONDS_PER_GB * size / GB
    limit = min(memory_limit() * GB, 2.0**62)
    found = _walk(path, kind, int(limit), seconds, all_values=size < ALL_VALUES_BELOW)
    if found["refused"]:
        raise DataFileError(
            f"{path.name} leads outside of itself: {found['refused']}. manyview reads nothing "
            "but the file it is given: copy the data into it."
        )
    if found["error"]:
        raise unreadable(path, kind, ValueError(found["error"]))
    check_memory(
        found["n_bytes"] / GB,
        f"{path.name} ({size / GB:.3f} GB, {found['n_bytes'] / GB:.3f} GB unpacked)",
        "Save fewer views",
    )


def _walk(path: Path, kind: str, limit: int, seconds: float, *, all_values: bool) -> dict[str, Any]:
    words = [PROBE, path.resolve(), "all" if all_values else "structure", limit]
    with subprocess.Popen(
        [sys.executable, "-P", *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as child:
        try:
            assert child.stdout is not None
            started, _, _ = select.select([child.stdout], [], [], START_SECONDS)
            if not started or child.stdout.readline() != b"ready\n":
                raise DataFileError(
                    f"{path.name} could not be checked: no Python with h5py could be started to "
                    "walk it."
                )
            answer, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            reason = f"the HDF5 library did not end within {seconds:.0f} s"
            raise unreadable(path, kind, ValueError(reason)) from None
        finally:
            child.kill()
    try:
        found: dict[str, Any] = json.loads(answer)
    except ValueError:
        reason = f"the HDF5 library ended with code {child.returncode}"
        raise unreadable(path, kind, ValueError(reason)) from None
    return found
