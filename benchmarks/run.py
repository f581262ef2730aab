"""Measure an epoch of MGCN-DNS beside a literal dense implementation of the paper.

    python benchmarks/run.py                       1,000, 2,000 and 5,000 samples
    python benchmarks/run.py --sizes 1000,2000     other sizes
    python benchmarks/run.py --full                10,000 too; the dense one then needs 11 GB

An epoch is forward, backward and one Adam step. Every measurement runs in a process of its own;
memory is its peak above what it held after its imports, so it counts data and graphs too.
Results go to benchmarks/results/epoch.json.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from dense_reference import DenseMGCNDNS
from rich.console import Console
from rich.table import Table

from manyview.data.catalog import load_dataset
from manyview.graphs.knn_graph import knn_graph
from manyview.graphs.normalization import renormalize
from manyview.graphs.support import GraphSupport
from manyview.layers.fusion import GraphFusion
from manyview.layers.graph_convolution import GraphConvolution
from manyview.layers.graph_learning import EdgeGraphLearning
from manyview.layers.node_selection import NodeSelection
from manyview.network import MGCNDNS

RESULTS = Path(__file__).parent / "results" / "epoch.json"
SIZES = [1000, 2000, 5000]
FULL_SIZE = 10_000
N_NEIGHBORS, N_HIDDEN, N_CLASSES = 20, 64, 10
DENSE_COPIES = 28  # m x m float32 matrices alive at the dense peak; 27 measured at 5,000


def make_views(n_samples):
    """Take the first rows of MNIST-10K where it is at hand, else clusters of the same shape."""
    if os.environ.get("MANYVIEW_DATA"):
        dataset = load_dataset("mnist-10k")
        return [view[:n_samples] for _, view in dataset.views.items()], dataset.name
    rng = np.random.default_rng(0)
    members = rng.integers(N_CLASSES, size=n_samples)
    views = [
        rng.normal(size=(N_CLASSES, width))[members] + rng.normal(size=(n_samples, width))
        for width in (30, 9, 9)
    ]
    return views, "random clusters"


def sparse_epoch(graphs, features):
    """Return the edge model and its pass."""
    support = GraphSupport.from_graphs(graphs)
    view_weights = torch.stack([support.weights_of(graph) for graph in graphs], dim=1).float()
    network = MGCNDNS(
        GraphFusion(len(graphs)),
        EdgeGraphLearning(support.n_undirected),
        NodeSelection(),
        [GraphConvolution(features.shape[1], N_HIDDEN), GraphConvolution(N_HIDDEN, N_CLASSES)],
    )
    return network, lambda: network(support, view_weights, features)


def dense_epoch(graphs, features):
    """Return the dense model and its pass."""
    view_graphs = torch.stack([torch.from_numpy(graph.toarray()).float() for graph in graphs])
    widths = [features.shape[1], N_HIDDEN, N_CLASSES]
    network = DenseMGCNDNS(len(features), len(graphs), widths)
    return network, lambda: network(view_graphs, features)


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(kind, n_samples, n_epochs):
    """Time epochs after one to warm up; with a single epoch, that one is timed cold."""
    baseline = peak_bytes()
    torch.manual_seed(0)
    views, data = make_views(n_samples)
    graphs = [renormalize(knn_graph(view, n_neighbors=N_NEIGHBORS)) for view in views]
    features = torch.from_numpy(np.concatenate(views, axis=1)).float()
    features = torch.nn.functional.normalize(features, dim=1)
    network, logits = (sparse_epoch if kind == "sparse" else dense_epoch)(graphs, features)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    labels = torch.arange(n_samples // 10) % N_CLASSES
    seconds = []
    for _ in range(n_epochs + (n_epochs > 1)):
        start = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits()[: len(labels)], labels).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    return {
        "data": data,
        "n_epochs": n_epochs,
        "seconds_per_epoch": float(np.median(seconds[n_epochs > 1 :])),
        "peak_bytes": peak_bytes() - baseline,
    }


def measure_apart(kind, n_samples, n_epochs):
    command = [sys.executable, __file__, "--measure", kind, str(n_samples), str(n_epochs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"Measuring {kind} at {n_samples} samples failed:\n{done.stderr}")
    return json.loads(done.stdout)


def available_bytes():
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def compare(n_samples):
    """Measure both at one size; leave the dense one out where it does not fit in memory."""
    few = n_samples >= FULL_SIZE
    row = {"n_samples": n_samples, "sparse": measure_apart("sparse", n_samples, 5)}
    needed = 4 * DENSE_COPIES * n_samples**2
    if needed > available_bytes():
        row["dense"] = None
        gigabytes = f"{needed / 1e9:.1f} GB, {available_bytes() / 1e9:.1f} GB are free"
        row["note"] = f"dense left out: needs {gigabytes}"
        return row
    row["dense"] = measure_apart("dense", n_samples, 1 if few else 3)
    row["speedup"] = row["dense"]["seconds_per_epoch"] / row["sparse"]["seconds_per_epoch"]
    row["memory_ratio"] = row["dense"]["peak_bytes"] / row["sparse"]["peak_bytes"]
    return row


def describe_machine():
    info = Path("/proc/cpuinfo")
    names = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in names if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def write_atomically(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(record, indent=2) + "\n")
    unfinished.replace(path)


def show(record):
    machine = record["machine"]
    table = Table(
        "samples", "edges, s", "dense, s", "times faster", "edges, MB", "dense, MB",
        title=f"One epoch, {machine['cpu']}, {machine['threads']} threads",
    )  # fmt: skip
    for row in record["sizes"]:
        ours, dense = row["sparse"], row["dense"]
        cells = [f"{row['n_samples']:,}", f"{ours['seconds_per_epoch']:.3f}"]
        cells += [f"{dense['seconds_per_epoch']:.3f}" if dense else "-"]
        cells += [f"{row['speedup']:.1f}" if dense else "-"]
        cells += [f"{ours['peak_bytes'] / 1e6:,.0f}"]
        cells += [f"{dense['peak_bytes'] / 1e6:,.0f}" if dense else row["note"]]
        table.add_row(*cells)
    Console().print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="samples, by commas")
    parser.add_argument("--full", action="store_true", help=f"also {FULL_SIZE:,} samples")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        kind, n_samples, n_epochs = options.measure
        print(json.dumps(measure(kind, int(n_samples), int(n_epochs))))
        return
    sizes = [int(size) for size in options.sizes.split(",")]
    sizes += [FULL_SIZE] if options.full and FULL_SIZE not in sizes else []
    record = {"machine": describe_machine(), "sizes": []}
    for size in sizes:
        record["sizes"].append(compare(size))
        write_atomically(RESULTS, record)
    show(record)


if __name__ == "__main__":
    main()
