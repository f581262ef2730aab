"""Rows of the paper's main table that ours differ from: what brings us nearer to them.

Records come from the plans `accuracy`, `raw-features`, `protocols` and `as-printed`, and from
`python benchmarks/replication.py`.
"""

from collections import defaultdict

import as_printed
import numpy as np
from formatting import and_list, table
from stored_records import RESULTS, read

from manyview.experiments.plan import load_plan
from manyview.methods import METHODS

FAR = 10.0  # points
REPLICATION = RESULTS / "replication.jsonl"
KERNELS = {
    "svm": "linear, rows of length 1",
    "svm-raw": "linear, raw",
    "svm-rbf": "RBF, rows of length 1",
    "svm-rbf-raw": "RBF, raw",
}
RAW, GENERATED, DRAW, PRINTED = (
    "raw features",
    "generated labels",
    "labels drawn at random",
    "as printed",
)
# What may explain a row, and whose choice it is where it does.
TRIED = {
    "knn": RAW,
    "amgl": GENERATED,
    "mvar": RAW,
    "mlan": GENERATED,
    "awdr": RAW,
    "hlr-m2vs": DRAW,
    "erl-mvsc": DRAW,
    "dsrl": DRAW,
    "gcn-fusion": PRINTED,
    "co-gcn": DRAW,
    "ssgcn": DRAW,
    "mgcn-dns": PRINTED,
}


def means(plan, protocol="stratified"):
    """Return the mean percentages of a plan by entry, data set and label ratio."""
    return {
        (entry, dataset, ratio): float(np.mean(list(by_seed.values())))
        for (dataset, entry, ratio, drawn, _), by_seed in as_printed.accuracies(plan).items()
        if drawn == protocol
    }


def alternative(method):
    """Return the means of a method with what was tried, by data set and label ratio."""
    kind = TRIED[method]
    if kind == GENERATED:
        found = defaultdict(list)
        for record in read(REPLICATION):
            if (record["method"], record["labels"]) == (method, "generated"):
                found[record["dataset"], record["label_ratio"]].append(100 * record["accuracy"])
        return {place: float(np.mean(values)) for place, values in found.items()}
    if kind == PRINTED:
        variant = "both" if method == "mgcn-dns" else method
        places = [
            (name, ratio) for name in load_plan("as-printed").datasets for ratio in (0.01, 0.1)
        ]
        own = {place: as_printed.printed(*place, variant=variant)[0] for place in places}
        return {place: float(np.mean(list(one.values()))) for place, one in own.items() if one}
    entry, plan, protocol = (
        (f"{method}-raw", "raw-features", "stratified")
        if kind == RAW
        else (method, "protocols", "random")
    )
    return {(d, r): mean for (e, d, r), mean in means(plan, protocol).items() if e == entry}


def distance(own, paper):
    """Return the mean absolute difference over the cells that both have, in points."""
    return float(np.mean([abs(own[place] - paper[place]) for place in own.keys() & paper.keys()]))


def of_method(found, method):
    """Return the means of one method by data set and label ratio."""
    return {(dataset, ratio): mean for (e, dataset, ratio), mean in found.items() if e == method}


def paper_of(method):
    """Return the paper's means of one method by data set and label ratio."""
    return {
        (dataset, ratio): pair[0]
        for dataset, rows in load_plan("accuracy").paper.items()
        for ratio, pair in rows.get(method, {}).items()
    }


def rows_table():
    """One row per method with numbers that differ by more than ten points."""
    found, rows = means("accuracy"), []
    for method, kind in TRIED.items():
        paper, own = paper_of(method), of_method(found, method)
        far = [place for place in own.keys() & paper.keys() if abs(own[place] - paper[place]) > FAR]
        other = alternative(method)
        other = {place: other[place] for place in other.keys() & own.keys() & paper.keys()}
        if not far or not other:
            continue
        same = {place: own[place] for place in other}
        rows.append(
            [
                METHODS[method].card.title, kind, f"{len(far)} of {len(own.keys() & paper.keys())}",
                str(len(other)), f"{distance(same, paper):.1f}", f"{distance(other, paper):.1f}",
            ]
        )  # fmt: skip
    heads = [
        "method", "tried", "numbers more than ten points off", "numbers tried",
        "mean difference by default", "as tried",
    ]  # fmt: skip
    return table(heads, rows, n_words=2)


def kernel_distances():
    """Return the mean difference of each SVM from the paper's row, over the cells all have."""
    found, paper = means("raw-features"), paper_of("svm")
    by_kernel = {entry: of_method(found, entry) for entry in KERNELS}
    common = set(paper).intersection(*by_kernel.values())
    return {
        entry: distance({place: own[place] for place in common}, paper)
        for entry, own in by_kernel.items()
    }, len(common)


def kernel_sentence():
    """Write how far each SVM is from the paper's row."""
    distances, n_cells = kernel_distances()
    written = and_list([f"{distances[entry]:.1f} points ({KERNELS[entry]})" for entry in KERNELS])
    place = "bbcsports", 0.1
    unit, raw = (of_method(means("raw-features"), entry)[place] for entry in ("svm", "svm-raw"))
    return (
        f"Mean difference from the paper's row over its {n_cells} numbers at hand: {written}. On "
        f"BBCsports with 10% labels the linear kernel has {unit:.1f}, on raw features {raw:.1f}, "
        f"the paper {paper_of('svm')[place]}."
    )
