"""Published methods run from a clone on our splits, and stand beside the default in a table."""

import json

import numpy as np
import peers
import pytest
from scipy import sparse
from scipy.io import loadmat

from manyview import load_dataset
from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels

UTILS = """
def get_evaluation_results(truth, predictions):
    return (truth == predictions).mean()
"""
# Stands in for a script of a clone: two "epochs", of which only the last one is right.
NEAREST = """
import sys
import numpy as np
import utils
from scipy.io import loadmat


def train(labeled, unlabeled, file):
    data = loadmat(file)
    features, codes = np.hstack(data["X"][0]), data["Y"].ravel()
    gaps = features[unlabeled][:, None] - features[labeled][None]
    nearest = codes[labeled][(gaps**2).sum(axis=2).argmin(axis=1)]
    assert codes.max() == 9
    for predictions in (np.full(len(unlabeled), -1), nearest):
        utils.get_evaluation_results(codes[unlabeled], predictions)
"""
IMVGCN_MAIN = """
import argparse
from configparser import ConfigParser
from pathlib import Path
from scipy.io import loadmat
from nearest import train

parser = argparse.ArgumentParser()
for name in ("device", "dataset", "n_repeated", "ratio", "seed"):
    parser.add_argument(f"--{name}")
args = parser.parse_args()
config = ConfigParser()
config.read("config.ini")
assert config.getint(args.dataset, "epoch") == 2
assert (args.device, args.n_repeated, args.seed) == ("cpu", "1", "3")
assert Path(f"data/lp_matrix/{args.dataset}/v0").exists()
file = f"data/datasets/{args.dataset}.mat"
data = loadmat(file)
train(data["train" + args.ratio].squeeze(0), data["test" + args.ratio].squeeze(0), file)
"""
IMVGCN_GRAPHS = """
import sys
from pathlib import Path

assert sys.argv[1] == "--dataset"
Path(f"data/lp_matrix/{sys.argv[2]}/v0").touch()
"""
MVI_LOADER = """
def generate_partition(labels, ratio, seed, r):
    raise AssertionError("the clone drew labels itself")
"""
MVI_TRAIN = """
import argparse
import Dataloader
from nearest import train

parser = argparse.ArgumentParser()
for name in ("device", "dataset", "path", "seed"):
    parser.add_argument(f"--{name}")
args = parser.parse_args()
assert (args.device, args.seed) == ("cpu", "3")
labeled, unlabeled = Dataloader.generate_partition(labels=None, ratio=None, seed=42, r=0)
train(labeled, unlabeled, args.path + args.dataset + ".mat")
"""
FILES = {
    "IMvGCN/main.py": IMVGCN_MAIN,
    "IMvGCN/construct_lp.py": IMVGCN_GRAPHS,
    "IMvGCN/config.ini": "[MNIST]\nepoch = 2\n",
    "MvI-GCN/train.py": MVI_TRAIN,
    "MvI-GCN/Dataloader.py": MVI_LOADER,
} | {
    f"{folder}/{name}.py": text
    for folder in ("IMvGCN", "MvI-GCN")
    for name, text in (("utils", UTILS), ("nearest", NEAREST))
}


class Few:
    name = "digits"
    data = load_dataset("digits")
    views, labels = data.views[:200], np.array([f"digit {one}" for one in data.labels[:200]])


@pytest.fixture
def clones(tmp_path, monkeypatch):
    """Lay out stand-ins for both clones."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv(peers.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("method", peers.CLONES)
def test_a_clone_is_scored_on_our_split_after_its_last_epoch(method, clones):
    found = peers.run(Few, method, 0.1, 3)
    known = is_known(hide_labels(Few.labels, 0.1, random_state=3))
    features = np.hstack([np.asarray(view, dtype=float) for view in Few.views])
    gaps = ((features[~known][:, None] - features[known][None]) ** 2).sum(axis=2)
    hits = Few.labels[known][gaps.argmin(axis=1)] == Few.labels[~known]
    assert found["accuracy"] == pytest.approx(hits.mean(), abs=1e-6)
    assert 0.4 < found["macro_f1"] < 1
    assert set(found) == {"accuracy", "balanced_accuracy", "macro_f1"}


def test_a_failing_clone_stops_the_study_with_its_error(clones):
    (clones / "MvI-GCN" / "train.py").write_text("raise ArithmeticError('no inverse')\n")
    with pytest.raises(SystemExit, match=r"MvI-GCN failed with seed 0:(.|\n)*no inverse"):
        peers.run(Few, "mvi-gcn", 0.1, 0)


def test_a_missing_clone_is_told_how_to_fetch_it(tmp_path, monkeypatch):
    monkeypatch.delenv(peers.FOLDER_VARIABLE, raising=False)
    with pytest.raises(SystemExit, match=r"Set MANYVIEW_PEERS to the folder"):
        peers.clone_of("imvgcn")
    monkeypatch.setenv(peers.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(SystemExit, match=r"git clone https://github.com/huangsuj/MvI-GCN /"):
        peers.clone_of("mvi-gcn")


def test_inputs_have_the_format_of_both_repositories(tmp_path):
    views = [np.eye(3, dtype=np.uint8), sparse.csr_array(2 * np.eye(3))]
    peers.write_inputs(tmp_path, "a", views, np.arange(3), np.array([True, False, True]), 0.01)
    data = loadmat(tmp_path / "data" / "datasets" / "a.mat")
    assert data["X"].shape == (1, 2)
    assert [view.dtype for view in data["X"][0]] == [float, float]
    np.testing.assert_array_equal(data["X"][0][1], 2 * np.eye(3))
    assert data["train0.01"].tolist() == [[0, 2]]
    assert data["test0.01"].tolist() == [[1]]


def test_table_shows_the_default_where_both_have_records(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "RECORDS", tmp_path / "peers.jsonl")
    monkeypatch.setattr(peers, "OWN_RECORDS", tmp_path / "records.jsonl")
    assert peers.peers_table() == peers.NOTHING
    fits = [
        {"dataset": "digits", "method": "imvgcn", "label_ratio": 0.01, "seed": seed}
        | {"accuracy": 0.5 + seed / 10}
        for seed in range(5)
    ]
    fits.append(fits[0] | {"method": "mvi-gcn", "label_ratio": 0.1, "accuracy": 0.25})
    peers.RECORDS.write_text("".join(f"{json.dumps(one)}\n" for one in fits))
    own = {"dataset": "digits", "method": "manyview", "label_ratio": 0.01, "seed": 0}
    own |= {"params": {}, "protocol": "stratified", "status": "done", "accuracy": 0.9}
    others = [
        own | {"params": {"scaling": "unit"}, "accuracy": 0.1},
        own | {"protocol": "random", "accuracy": 0.1},
        own | {"method": "knn", "accuracy": 0.1},
        own | {"seed": 5, "accuracy": 0.1},
        own | {"dataset": "mnist"},
    ]
    peers.OWN_RECORDS.write_text("".join(f"{json.dumps(one)}\n" for one in [own, *others]))
    assert peers.peers_table().splitlines() == [
        "| data set | labels | IMvGCN | MvI-GCN | manyview |",
        "| --- | --- | ---: | ---: | ---: |",
        "| digits | 1% | 70.0 (15.8) |  | 90.0, n = 1 |",
        "| digits | 10% |  | 25.0, n = 1 |  |",
    ]
    assert (
        peers.sentence()
        == "Split by split, manyview is ahead of those that have run in 1 of 1 rows."
    )
    peers.OWN_RECORDS.write_text(json.dumps(own | {"accuracy": 0.4}) + "\n")
    assert peers.sentence() == (
        "Split by split, manyview is ahead of those that have run in 0 of 1 rows, and behind on "
        "digits with 1% labels (IMvGCN has 10.0 points more)."
    )
