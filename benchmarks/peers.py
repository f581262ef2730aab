"""Two published methods, run from the code of their authors on our views and our splits.

    git clone https://github.com/ZhihaoWu99/IMvGCN PEERS/IMvGCN
    git clone https://github.com/huangsuj/MvI-GCN PEERS/MvI-GCN
    pip install texttable tqdm              # both import them
    MANYVIEW_PEERS=PEERS python benchmarks/peers.py [DATA ...]

Neither repository has a license, so their code is not part of this one. It runs as shipped, on the
CPU with one thread (see `peer_fit.py`), and scales the features itself. Parameters are the ones
that it ships: IMvGCN has a configuration per data set, and every data set of ours takes the one of
the most similar (`SECTIONS`); MvI-GCN has one set of defaults. Nothing is tuned. Both train for a
fixed number of epochs; the predictions are those after the last one. The seed of a split is also
the seed of the fit. Every fit is one line of `results/peers.jsonl`; a study that was stopped
continues where it stopped.
"""

import os
import subprocess
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from formatting import and_list, cell, table
from peer_fit import DATA_FOLDER, PREDICTIONS
from scipy import sparse
from scipy.io import savemat
from stored_records import RESULTS, add_missing, read, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.report.study.results import dataset_title

RECORDS = RESULTS / "peers.jsonl"
OWN_RECORDS = RESULTS / "records.jsonl"
FOLDER_VARIABLE = "MANYVIEW_PEERS"
CLONES = {"imvgcn": "ZhihaoWu99/IMvGCN", "mvi-gcn": "huangsuj/MvI-GCN"}
TITLES = {"imvgcn": "IMvGCN", "mvi-gcn": "MvI-GCN", "manyview": "manyview"}
SECTIONS = {  # data set -> section of IMvGCN's config.ini
    "rosmap": "3Sources",  # three views of a few hundred samples; no section is of omics data
    "3sources": "3Sources",
    "bbcsports": "NGs",  # about 500 texts of five classes
    "digits": "MNIST",
    "mnist": "MNIST",
    "caltech101-7": "Caltech101",
}
LABEL_RATIOS = (0.01, 0.1)
SEEDS = range(5)
NOTHING = "No published method has been run yet."


def clone_of(method):
    """Return the folder of the authors' code; stop with the command that fetches it."""
    repository = CLONES[method]
    parent = os.environ.get(FOLDER_VARIABLE)
    if not parent:
        sys.exit(f"Set {FOLDER_VARIABLE} to the folder with the clones of {', '.join(CLONES)}.")
    folder = Path(parent, repository.partition("/")[2]).resolve()
    if not (folder / "utils.py").exists():
        sys.exit(
            f"{folder} has no code of {TITLES[method]}; fetch it by: "
            f"git clone https://github.com/{repository} {folder}"
        )
    return folder


def write_inputs(folder, name, views, codes, known, label_ratio):
    """Write one split in the format of both repositories: views, classes and two sets of rows."""
    dense = [view.toarray() if sparse.issparse(view) else view for view in views]
    cells = np.empty((1, len(dense)), dtype=object)  # a row of MATLAB cells
    cells[0] = [view.astype(float) for view in dense]
    (folder / DATA_FOLDER).mkdir(parents=True)
    savemat(
        folder / DATA_FOLDER / f"{name}.mat",
        {
            "X": cells,
            "Y": codes,
            f"train{label_ratio}": np.flatnonzero(known),
            f"test{label_ratio}": np.flatnonzero(~known),
        },
    )


def fit(method, name, folder, label_ratio, seed):
    """Run the authors' code on the inputs of a folder; return its predictions of unlabeled rows."""
    script = Path(__file__).with_name("peer_fit.py")
    setting = (method, clone_of(method), name, label_ratio, seed)
    ended = subprocess.run(
        [sys.executable, str(script), *map(str, setting)],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        sys.exit(f"{TITLES[method]} failed with seed {seed}:\n{ended.stderr[-2000:]}")
    return np.load(folder / PREDICTIONS)


def run(dataset, method, label_ratio, seed):
    """Fit one method on one split; the name of a data set is that of its section."""
    known = is_known(hide_labels(dataset.labels, label_ratio, random_state=seed))
    codes = np.unique(dataset.labels, return_inverse=True)[1]
    predictions = codes.copy()
    name = SECTIONS[dataset.name]
    with TemporaryDirectory() as folder:
        write_inputs(Path(folder), name, dataset.views, codes, known, label_ratio)
        predictions[~known] = fit(method, name, Path(folder), label_ratio, seed)
    return scores(predictions, codes, ~known)


def percentages(field):
    """Percentages of all seeds by (data set, label ratio), then by method, the default's too."""
    found = defaultdict(lambda: defaultdict(dict))
    own = [
        record
        for record in read(OWN_RECORDS)
        if record["method"] == "manyview"
        and record["params"] == {}
        and record["protocol"] == "stratified"
        and record["status"] == "done"
    ]
    for record in [*own, *read(RECORDS)]:
        if record["seed"] in SEEDS:
            place = record["dataset"], record["label_ratio"]
            found[place][record["method"]][record["seed"]] = 100 * record[field]
    return found


def peers_table(field="accuracy"):
    """Mean percentage (sd) by data set, label ratio and method; empty where there is no record."""
    found = percentages(field)
    rows = [
        [
            dataset_title(name),
            f"{ratio:.0%}",
            *(cell(list(found[name, ratio][one].values()), len(SEEDS)) for one in TITLES),
        ]
        for name, ratio in product(SECTIONS, LABEL_RATIOS)
        if any(one in found[name, ratio] for one in CLONES)
    ]
    return table(["data set", "labels", *TITLES.values()], rows, n_words=2) if rows else NOTHING


def sentence():
    """Say where the default is behind one of the methods, on the splits that both have."""
    behind, n_rows = [], 0
    for (name, ratio), by_method in percentages("accuracy").items():
        own = by_method.get("manyview", {})
        gaps = {}
        for one in CLONES:
            seeds = sorted(set(own) & set(by_method.get(one, {})))
            if seeds:
                gaps[one] = float(np.mean([by_method[one][seed] - own[seed] for seed in seeds]))
        n_rows += bool(gaps)
        behind += [
            f"{dataset_title(name)} with {ratio:.0%} labels ({TITLES[one]} has {gap:.1f} points "
            "more)"
            for one, gap in gaps.items()
            if gap > 0
        ]
    if not n_rows:
        return ""
    where = f", and behind on {and_list(behind)}" if behind else ""
    n_ahead = n_rows - len({text.partition(" (")[0] for text in behind})
    return (
        f"Split by split, manyview is ahead of those that have run in {n_ahead} of {n_rows} "
        f"rows{where}."
    )


if __name__ == "__main__":
    for method in CLONES:
        clone_of(method)
    settings = [(*place, seed) for seed in SEEDS for place in product(CLONES, LABEL_RATIOS)]
    key = ("method", "label_ratio", "seed")
    add_missing(RECORDS, sys.argv[1:] or SECTIONS, key, settings, run)
    print(peers_table())
