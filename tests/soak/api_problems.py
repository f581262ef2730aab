"""Random problems through every method: odd shapes, scales, types, gaps and labels.

    python -m tests.soak.api_problems --cases 500

A fit gives finite probabilities that sum to 1, the same ones twice, or one of our errors. The
views of the caller are never changed.
"""

import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyview.base.parameters import parameter_path
from manyview.data.views import MultiView
from manyview.errors import InputError, ManyviewError
from manyview.methods import METHODS
from tests.soak.campaign import Limits, Violation, main

LIMITS = Limits(seconds=120, memory_gb=2.0)
DTYPES = (np.float64, np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8, bool)
QUICK = {"max_epochs": 8, "n_epochs": 8}


def case(rng: np.random.Generator, folder: Path) -> str:
    """Fit one random method twice on one random problem."""
    warnings.simplefilter("ignore")
    name = sorted(METHODS)[rng.integers(len(METHODS))]
    views, labels = random_problem(rng)
    before = _content(views)
    seed = int(rng.integers(2**31))
    models = [_build(name, seed).fit(views, labels) for _ in range(2)]
    first, second = (model.label_distributions_ for model in models)
    where = f"{name} on {_shapes(views)}"
    if not np.isfinite(first).all():
        raise Violation("NaN", where)
    if np.abs(first.sum(axis=1) - 1).max() > 1e-4 or first.min() < -1e-9:
        raise Violation("rows do not sum to 1", f"{where}: {first.sum(axis=1)}")
    if not np.array_equal(first, second):
        raise Violation("nondeterminism", where)
    if set(models[0].transduction_.tolist()) - set(np.asarray(labels).tolist()):
        raise Violation("unknown label", where)
    if before != _content(views):
        raise Violation("views changed", where)
    if models[0].is_inductive() and rng.random() < 0.5:
        found = models[0].predict_proba(views)
        if not np.isfinite(found).all() or np.abs(found.sum(axis=1) - 1).max() > 1e-4:
            raise Violation("NaN for new samples", where)
    return f"fitted {name}"


def random_problem(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Draw views and labels: a dictionary, a list or a MultiView with missing views."""
    n_samples, n_classes = int(rng.integers(4, 70)), int(rng.integers(2, 6))
    truth = rng.integers(n_classes, size=n_samples)
    truth[:n_classes] = np.arange(n_classes)[: len(truth[:n_classes])]
    views = {
        f"view {number}": _random_view(rng, truth, n_classes)
        for number in range(rng.integers(1, 5))
    }
    labels = _random_labels(rng, truth)
    kind = rng.integers(4)
    if kind == 0:
        return list(views.values()), labels
    if kind == 1 and len(views) > 1:
        present = rng.random((n_samples, len(views))) > rng.uniform(0, 0.6)
        present[np.arange(n_samples), rng.integers(len(views), size=n_samples)] = True
        return MultiView(views, present=present), labels
    return views, labels


def _random_view(rng: np.random.Generator, truth: np.ndarray, n_classes: int) -> Any:
    n_samples, width = len(truth), int(rng.choice([1, 2, 5, 20, 90]))
    view = rng.normal(size=(n_classes, width))[truth] * rng.uniform(0, 4)
    view = (view + rng.normal(size=view.shape)) * 10.0 ** rng.uniform(-12, 12)
    for change in rng.choice(8, size=2, replace=False):
        if change == 0:
            view[:, rng.integers(width)] = rng.choice([0.0, 1.0, -5.0])
        elif change == 1:
            view[rng.integers(n_samples, size=n_samples // 2)] = view[0]
        elif change == 2:
            view[rng.integers(n_samples)] = 0.0
        elif change == 3:
            view[:] = view[0]
        elif change == 4:
            view[rng.integers(n_samples), rng.integers(width)] *= 1e6
        elif change == 5:
            view = np.abs(view)
    if rng.random() < 0.3:
        view = view / max(np.abs(view).max(), 1e-300) * 100
        return np.asfortranarray(view.astype(DTYPES[rng.integers(len(DTYPES))]))
    if rng.random() < 0.3:
        view[rng.random(view.shape) < 0.8] = 0.0
        kind = (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix)
        return kind[rng.integers(4)](view)
    return view


def _random_labels(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    labels = truth.copy()
    labels[rng.random(len(labels)) < rng.uniform(0.2, 0.98)] = -1
    if rng.random() < 0.7:  # one of each class at least, often exactly one
        labels[: truth.max() + 1] = truth[: truth.max() + 1]
    kind = rng.integers(4)
    if kind == 0:
        names = np.array(["ant", "bee", "cow", "dog", "elk", "-1"], dtype=object)
        return np.array([-1 if one == -1 else names[one] for one in labels], dtype=object)
    if kind == 1:
        return np.where(labels == -1, -1, labels * 7 + 3).astype(np.int32)
    return labels


def _build(name: str, seed: int) -> Any:
    model = METHODS[name]()
    for parameter, value in QUICK.items():
        try:
            model.set_params(**{parameter_path(model, parameter): value})
        except InputError:  # it has no such parameter
            continue
    return model.set_params(random_state=seed)


def _content(views: Any) -> list[tuple[Any, ...]]:
    if isinstance(views, MultiView):
        views = [views[name] for name in views.names]
    listed = views.values() if isinstance(views, dict) else views
    return [
        (one.shape, str(one.dtype), (one.tocoo().data if sparse.issparse(one) else one).tobytes())
        for one in listed
    ]


def _shapes(views: Any) -> str:
    return str([shape for shape, *_ in _content(views)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm = random_problem(np.random.default_rng(3))
    for warmed in METHODS:  # imports and compiles before the first fork
        with suppress(ManyviewError):
            _build(warmed, 0).fit(*warm)
    sys.exit(main("api_problems", case, n_cases=2000, limits=LIMITS))
