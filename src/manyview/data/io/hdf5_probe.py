"""Walk an HDF5 file in a process of its own; `hdf5_files` starts this file as a script.

Prints "ready", then one line of JSON: the bytes that all values take, and the first thing that is
refused. It imports h5py and nothing of manyview, so it starts in a fraction of a second. Objects
that cannot be opened are passed over: whoever reads the file meets the same error.
"""

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py


class RefusedError(Exception):
    """A part of the file that is never read."""


def probe(path: str, *, all_values: bool, max_bytes: int) -> int:
    """Visit all objects, and read what is read through HDF5's own structures.

    These are attributes, texts and the places of chunks; with `all_values`, all values. Returns the
    bytes of all values.
    """
    with h5py.File(path, "r") as file:
        datasets = list(_datasets(file))
        n_bytes = sum(int(dataset.size or 0) * int(dataset.dtype.itemsize) for dataset in datasets)
        if n_bytes <= max_bytes:
            for dataset in datasets:
                with suppress(OSError, RuntimeError, TypeError, ValueError, KeyError):
                    _read(dataset, all_values)
    return n_bytes


def _datasets(file: Any) -> Any:
    """Yield the data sets of a file, and read all attributes; refuse what leads elsewhere."""
    waiting, seen = [file], {h5py.h5o.get_info(file.id).addr}
    while waiting:
        group = waiting.pop()
        _read_attributes(group)
        for name in group:
            where = f"{group.name.rstrip('/')}/{name}"
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise RefusedError(f"{where} is a link to the file {link.filename!r}")
            if isinstance(link, h5py.SoftLink):
                raise RefusedError(f"{where} is a soft link to {link.path!r}")
            with suppress(OSError, RuntimeError, TypeError, ValueError, KeyError):
                node = group[name]
                if isinstance(node, h5py.Group):
                    address = h5py.h5o.get_info(node.id).addr
                    if address in seen:
                        raise RefusedError(f"{where} is a second link to a group")
                    seen.add(address)
                    waiting.append(node)
                elif isinstance(node, h5py.Dataset):
                    if node.external:
                        raise RefusedError(f"{where} is stored in {node.external[0][0]!r}")
                    if node.is_virtual:
                        raise RefusedError(f"{where} is a virtual data set of other files")
                    _read_attributes(node)
                    yield node


def _read_attributes(node: Any) -> None:
    for name in list(node.attrs):
        with suppress(OSError, RuntimeError, TypeError, ValueError, KeyError):
            node.attrs[name]


def _read(dataset: Any, all_values: bool) -> None:
    if all_values or dataset.dtype.hasobject:
        dataset[()]
    elif dataset.chunks is not None:
        dataset.id.chunk_iter(lambda chunk: None)


def main(path: str, all_values: str, max_bytes: str) -> None:
    """Print what the walk found."""
    with suppress(OSError, ValueError):  # where the system has no such limit
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + int(max_bytes), resource.RLIM_INFINITY))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    found: dict[str, Any] = {"refused": None, "n_bytes": 0, "error": None}
    try:
        found["n_bytes"] = probe(path, all_values=all_values == "all", max_bytes=int(max_bytes))
    except RefusedError as error:
        found["refused"] = str(error)
    except MemoryError:
        found["n_bytes"] = int(max_bytes) + 1
    except Exception as error:
        found["error"] = " ".join(str(error).split())[:160] or type(error).__name__
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
