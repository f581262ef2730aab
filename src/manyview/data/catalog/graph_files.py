"""Read a data set of the catalog that holds graphs only, as the parts of sparse matrices."""

import re
from pathlib import Path

import numpy as np
from scipy import sparse

from manyview.data.dataset import Dataset
from manyview.data.io.numpy_files import load_arrays
from manyview.data.io.paths import files_checksum
from manyview.data.label_values import describe_labels, parse_labels
from manyview.data.views import MultiView
from manyview.errors import DataFileError

LABELS = "y_inferred"
PARTS = ("data", "indices", "indptr")


def read_graphs(path: Path) -> Dataset:
    """Read an `.npz` archive of graphs, each in three CSR parts such as `graph1_indices`."""
    arrays = load_arrays(path)
    names = sorted(
        (match[1] for key in arrays if (match := re.fullmatch(r"(graph\d+)_indptr", key))),
        key=lambda name: int(name[5:]),
    )
    wanted = [LABELS, *(f"{name}_{part}" for name in names for part in PARTS)]
    absent = [key for key in wanted if key not in arrays]
    if absent or not names:
        raise DataFileError(
            f"{path.name} must hold graph1_data, graph1_indices, graph1_indptr and so on, and "
            f"{LABELS}; it lacks {', '.join(absent) or 'every graph'}."
        )
    labels = parse_labels(arrays[LABELS], LABELS)
    n_samples = len(labels)
    graphs = {}
    for name in names:
        parts = tuple(arrays[f"{name}_{part}"] for part in PARTS)
        try:
            graphs[name] = sparse.csr_array(parts, shape=(n_samples, n_samples))
        except ValueError as error:
            raise DataFileError(
                f"{path.name}: the parts of {name} must form a graph of {n_samples} x "
                f"{n_samples}; {error}."
            ) from error
    return Dataset(
        name=path.stem,
        views=MultiView(graphs, graphs=names),
        labels=labels,
        sample_ids=np.array([str(row) for row in range(n_samples)]),
        notes=(
            f"{names[0]} to {names[-1]}: {len(names)} precomputed graphs of {n_samples} samples; "
            f"{describe_labels(labels, LABELS)}.",
        ),
        sha256=files_checksum([path]),
    )
