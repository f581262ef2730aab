"""Neighbor search against scikit-learn's brute force and pynndescent, and the smallest whole job.

CPU seconds on one thread. Both sides of a ratio take turns in the same process, and each counts
with its fastest round, so that another process on the machine affects both alike.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from manyview.experiments.limits import Limits
from performance.isolated import ROOT, run_isolated
from performance.meter import Meter
from performance.stored import Rows, summary

EXACT = ((10_000, 32), (20_000, 32), (10_000, 512))  # samples and features
TEXT = (10_000, 20_000)  # documents and words
APPROXIMATE = 100_000
N_NEIGHBORS = 20
N_ROUNDS = 5
ONE_THREAD = Limits(n_threads=1)
FIT = ("-m", "manyview", "fit", "digits", "--label-ratio", "0.02", "--out")
STARTED = ("-c", "import torch, sklearn")
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


def run(rows: Rows, n_rounds: int = N_ROUNDS) -> None:
    for n_samples, n_features in EXACT:
        for metric in ("euclidean", "cosine"):
            request = {"n_samples": n_samples, "n_features": n_features, "metric": metric}
            _measure(rows, "exact", exact, n_rounds, **request)
    _measure(rows, "text", text, n_rounds, n_samples=TEXT[0], n_words=TEXT[1])
    _measure(rows, "approximate", approximate, n_rounds, n_samples=APPROXIMATE)
    rows.measure({"what": "startup"}, lambda: startup(n_rounds))


def _measure(
    rows: Rows, what: str, function: Callable[..., Any], n_rounds: int, **arguments: Any
) -> None:
    rows.measure(
        {"what": what, **arguments},
        lambda: run_isolated(function, limits=ONE_THREAD, n_rounds=n_rounds, **arguments),
    )


def exact(
    meter: Meter, n_samples: int, n_features: int, metric: str, n_rounds: int
) -> dict[str, Any]:
    """Compare with scikit-learn's fastest form: Euclidean, of unit rows under cosine."""
    features = np.random.default_rng(0).normal(size=(n_samples, n_features)).astype(np.float32)
    if metric == "cosine":
        features /= np.linalg.norm(features, axis=1, keepdims=True)
    return _against_brute_force(features, "euclidean", metric, n_rounds)


def text(meter: Meter, n_samples: int, n_words: int, n_rounds: int) -> dict[str, Any]:
    """Compare on documents of 100 words drawn by Zipf's law, both by cosine."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, size=100 * n_samples, p=frequency / frequency.sum())
    places = (np.repeat(np.arange(n_samples), 100), words)
    counts = sparse.csr_array((np.ones(len(words)), places), shape=(n_samples, n_words))
    return _against_brute_force(counts, "cosine", "cosine", n_rounds)


def approximate(meter: Meter, n_samples: int, n_rounds: int) -> dict[str, Any]:
    """Compare with pynndescent's defaults on three views, once both are compiled."""
    import pynndescent

    from manyview.graphs.approximate import approximate_neighbors
    from performance.synthetic_data import synthetic_views

    def library(features: np.ndarray) -> None:
        pynndescent.NNDescent(features, metric="cosine", random_state=0)

    views = [view for _, view in synthetic_views(n_samples)[0].items()]
    recalls: list[float] = []

    def own(features: np.ndarray) -> None:
        recalls.append(approximate_neighbors(features, n_neighbors=N_NEIGHBORS).recall)

    for search in (library, own):
        search(views[0][:3000])
    return {
        **_in_turns(
            {
                "manyview": lambda: [own(view) for view in views],
                "pynndescent": lambda: [library(view) for view in views],
            },
            n_rounds,
        ),
        "recall": min(recalls[1:]),
    }


def startup(n_rounds: int) -> dict[str, Any]:
    """Compare a fit from the shell to its files with importing torch and scikit-learn."""
    with tempfile.TemporaryDirectory() as folder:
        bytecode = f"{folder}/bytecode"
        commands = {
            "manyview fit": lambda: _cpu_of(bytecode, *FIT, tempfile.mkdtemp(dir=folder) + "/run"),
            "imports": lambda: _cpu_of(bytecode, *STARTED),
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(n_rounds + 1):  # the first round warms up the disk and the bytecode
            for name, command in commands.items():
                taken = command()
                if number:
                    seconds[name].append(taken)
    return _compared(seconds)


def _against_brute_force(features: Any, theirs: str, metric: str, n_rounds: int) -> dict[str, Any]:
    from sklearn.neighbors import NearestNeighbors

    from manyview.graphs.neighbors import nearest_neighbors

    brute = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute", metric=theirs)
    return _in_turns(
        {
            "manyview": lambda: nearest_neighbors(features, n_neighbors=N_NEIGHBORS, metric=metric),
            "scikit-learn": lambda: brute.fit(features).kneighbors(),
        },
        n_rounds,
    )


def _in_turns(cases: dict[str, Callable[[], Any]], n_rounds: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(n_rounds):
        for name, function in cases.items():
            start = time.process_time()
            function()
            seconds[name].append(time.process_time() - start)
    return _compared(seconds)


def _compared(seconds: dict[str, list[float]]) -> dict[str, Any]:
    """Return all seconds, and the ratio of the first case's fastest round to the second's."""
    own, other = (min(values) for values in seconds.values())
    return {
        "cpu_seconds": {name: summary(values) for name, values in seconds.items()},
        "fastest": {name: min(values) for name, values in seconds.items()},
        "ratio": own / other,
    }


def _cpu_of(bytecode: str, *arguments: str) -> float:
    """Return the user and system seconds of a Python process on one thread.

    Compiled modules are kept in the folder `bytecode`, as an installation has them, even where the
    environment forbids to write them beside the source.
    """
    environment = {name: os.environ[name] for name in os.environ.keys() - {NO_BYTECODE}}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=environment | {"OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": bytecode},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
