"""Fuzz model files, plain and re-signed.

A plain case damages the bytes of a saved model: it must be refused, or predict exactly as the
original. A re-signed case changes the tree or the arrays and computes the checksums anew, as
someone with intent would: the model must be refused, or label samples with probabilities, whatever
they are, since other weights are another model. In neither case may the interpreter crash or hang,
memory grow beyond the limit, another exception come out, or anything in the file run.
"""

import hashlib
import json
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.soak.campaign import Limits, Violation, count, main, shared_folder
from tests.soak.mutations import WIDE_EDGES, mutate

LIMITS = Limits(seconds=30, memory_gb=2.0)
MAX_MEMORY_GB = 0.5
METHODS = {  # name of the folder -> method and its parameters
    "manyview": ("manyview", {}),
    "mgcn-dns": ("mgcn-dns", {"max_epochs": 5}),
    "graph-views": ("mgcn-dns", {"max_epochs": 5}),
    "ssgcn": ("ssgcn", {"max_epochs": 5}),
    "knn": ("knn", {}),
    "svm": ("svm", {}),
    "mvar": ("mvar", {}),
    "label-spreading": ("label-spreading", {}),
    "mlan": ("mlan", {}),
    "grand": ("grand", {"max_epochs": 5}),
    "logistic-regression": ("logistic-regression", {}),
    "random-forest": ("random-forest", {"n_estimators": 5}),
    "hist-gradient-boosting": ("hist-gradient-boosting", {"max_iter": 5}),
}
N_SAMPLES = 40


def prepare(shared: Path) -> None:
    """Fit and save a model of every kind, and what it predicts."""
    from scipy import sparse

    from manyview import methods

    rng = np.random.default_rng(0)
    labels = np.arange(N_SAMPLES) % 3
    centers = rng.normal(size=(3, 6))
    one = centers[labels] + rng.normal(size=(N_SAMPLES, 6))
    two = np.where(rng.random((N_SAMPLES, 5)) < 0.5, 0.0, rng.random((N_SAMPLES, 5)))
    known = np.where(np.arange(N_SAMPLES) < 15, labels, -1)
    np.savez(shared / "views.npz", one=one, two=two)
    for folder, (name, params) in METHODS.items():
        model = methods.METHODS[name](random_state=0, **params)
        model.fit(_views(one, two, folder, sparse), known).save(shared / folder)
        np.save(shared / folder / "answers.npy", _answers(model, shared, folder))


def _views(one: np.ndarray, two: np.ndarray, folder: str, sparse: Any) -> Any:
    from manyview import MultiView

    if folder == "graph-views":
        links = sparse.csr_array((one @ one.T > 1).astype(float))
        return MultiView({"one": one, "links": links}, graphs=["links"])
    return MultiView({"one": one, "two": sparse.csr_array(two)})


def _answers(model: Any, shared: Path, folder: str) -> np.ndarray:
    """Return the probabilities of the fitted samples and, where it has them, of new ones."""
    from scipy import sparse

    views = np.load(shared / "views.npz")
    opened = _views(views["one"], views["two"], folder, sparse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [model.label_distributions_]
        if model.is_inductive():
            found.append(model.predict_proba(opened[:7]))
            model.predict(opened[:7])
        model.predictions(min_probability=0.5)
        model.fit_summary()
        if hasattr(model, "explain"):
            model.explain(3)
            model.view_effects()
            found.append(model.embedding_[:, : found[0].shape[1]])
    return np.vstack(found)


def case(rng: np.random.Generator, folder: Path) -> str:
    """Change one model, load it, and predict."""
    from manyview import methods
    from manyview.system.config import config_context

    name = list(METHODS)[rng.integers(len(METHODS))]
    saved = folder / "model"
    shutil.copytree(shared_folder() / name, saved)
    is_plain = rng.random() < 0.4
    count("plain" if is_plain else "re-signed")
    if is_plain:
        file = saved / ("model.json", "model.safetensors")[rng.integers(2)]
        file.write_bytes(mutate(file.read_bytes(), rng))
    else:
        _change(saved, rng)
        _sign(saved)
    with config_context(max_memory=MAX_MEMORY_GB), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = methods.METHODS[METHODS[name][0]].load(saved)
        answers = _answers(model, shared_folder(), name)
    if not np.isfinite(answers).all():
        raise Violation("not finite", "the model gives no probabilities")
    is_same = np.array_equal(answers, np.load(shared_folder() / name / "answers.npy"))
    if is_plain and not is_same:
        raise Violation("silent other answer", "a damaged model predicts otherwise")
    return "read alike" if is_same else "another model"


def _change(saved: Path, rng: np.random.Generator) -> None:
    """Change the tree, an array, or both."""
    import safetensors.numpy

    document = json.loads((saved / "model.json").read_text())
    tensors = (saved / "model.safetensors").read_bytes()
    kind = rng.integers(10)
    if kind <= 3:
        arrays = safetensors.numpy.load(tensors)
        for _ in range(int(rng.integers(1, 3))):
            _change_array(arrays, rng)
        (saved / "model.safetensors").write_bytes(safetensors.numpy.save(arrays))
    elif kind == 4:
        (saved / "model.safetensors").write_bytes(mutate(tensors, rng))
    if kind >= 4:
        for _ in range(int(rng.integers(1, 4))):
            _change_tree(document["model"], rng)
        (saved / "model.json").write_text(json.dumps(document))


def _change_array(arrays: dict[str, np.ndarray], rng: np.random.Generator) -> None:
    names = list(arrays)
    inner = [name for name in names if name.endswith(("indices", "indptr", "positions", "y_"))]
    name = inner[rng.integers(len(inner))] if inner and rng.random() < 0.5 else None
    name = name or names[rng.integers(len(names))]
    array = np.array(arrays[name])
    kind = rng.integers(6)
    flat = array.reshape(-1)
    if kind <= 2 and flat.size:
        place = rng.integers(flat.size)
        if array.dtype.kind == "f":
            flat[place] = rng.choice([np.nan, np.inf, 1e30, -1.0, 0.0, 1e-30])
        elif array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            number = WIDE_EDGES[rng.integers(len(WIDE_EDGES))] * (-1 if rng.random() < 0.3 else 1)
            flat[place] = min(max(number, limits.min), limits.max)
        else:
            flat[place] = ~flat[place]
    elif kind == 3:
        array = array[: rng.integers(len(array) + 1)] if array.ndim else array
    elif kind == 4:
        array = array.astype(rng.choice(["f4", "f8", "i4", "i8", "u1", "?"]))
    else:
        array = array.T if rng.random() < 0.5 else np.atleast_1d(array)[None]
    arrays[name] = np.ascontiguousarray(array)
    if rng.random() < 0.05:
        del arrays[name]


ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1, 3, 2**31, 2**63, 10**30, 0.5, -1.0, 1e300, float("nan"), float("inf"), "",
    "one", "links", "x" * 1000, "__class__", "predict", [], [[]], [1, 2], {}, {"dict": []},
    {"array": "nowhere"}, {"record": "Popen", "fields": {}}, {"values": ["a"], "dtype": "str"},
    {"csr": {}, "shape": [2, 2]}, {"estimator": "SVC", "params": {}},
)  # fmt: skip


def _change_tree(tree: Any, rng: np.random.Generator) -> None:
    """Replace, remove or repeat one node of the tree, at any depth."""
    places: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                waiting.append(node[key])
    if rng.random() < 0.5:  # a value, not the structure around it
        plain = [place for place in places if not isinstance(place[0][place[1]], (dict, list))]
        places = plain or places
    holder, key = places[rng.integers(len(places))]
    kind = rng.integers(5)
    if kind <= 2:
        holder[key] = ODD[rng.integers(len(ODD))]
    elif kind == 3:
        other, place = places[rng.integers(len(places))]
        holder[key] = json.loads(json.dumps(other[place]))
    elif isinstance(holder, list) or rng.random() < 0.5:
        del holder[key]
    else:
        holder["more"] = json.loads(json.dumps(holder[key]))
    if rng.random() < 0.02:
        deep: Any = []
        for _ in range(500):
            deep = [deep]
        holder_key = key if isinstance(holder, dict) else 0
        if isinstance(holder, dict) or holder:
            holder[holder_key] = deep


def _sign(saved: Path) -> None:
    """Compute the checksums of a changed model anew."""
    document = json.loads((saved / "model.json").read_text())
    tensors = (saved / "model.safetensors").read_bytes()
    packed = json.dumps(document["model"], sort_keys=True)
    document["tensors_sha256"] = hashlib.sha256(tensors).hexdigest()
    document["model_sha256"] = hashlib.sha256(packed.encode()).hexdigest()
    (saved / "model.json").write_text(json.dumps(document))


def import_libraries() -> None:
    """Import before the first fork what every case needs."""
    import safetensors.numpy

    import manyview
    import manyview.methods

    assert safetensors.numpy
    assert manyview.MultiView
    assert manyview.methods.METHODS["manyview"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import_libraries()
    sys.exit(main("fuzz_models", case, n_cases=5000, limits=LIMITS, prepare=prepare, batch=20))
