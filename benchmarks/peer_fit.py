"""Run the code of a published method once, as its authors ship it; `peers.py` starts this script.

It runs in a folder with the inputs of one fit, and in a process of its own: the code of the
authors sets the random state of the process and has modules with names such as `utils`. Their
files are not changed. Two of their functions are replaced in memory: the one that scores every
epoch also stores the predictions, and the one of MvI-GCN that draws labeled samples returns ours.

    python benchmarks/peer_fit.py METHOD CLONE NAME LABEL_RATIO SEED
"""

import shutil
import sys
from importlib import import_module
from pathlib import Path
from runpy import run_path

import numpy as np
from scipy.io import loadmat

DATA_FOLDER = Path("data", "datasets")  # of IMvGCN by default; the other takes it as an option
PREDICTIONS = Path("predictions.npy")  # of the unlabeled samples after the last epoch


def store_predictions(utils):
    """Let the scoring function of the authors store what it scores; the last epoch stays."""
    evaluate = utils.get_evaluation_results

    def evaluate_and_store(truth, predictions):
        np.save(PREDICTIONS, predictions)
        return evaluate(truth, predictions)

    utils.get_evaluation_results = evaluate_and_store


def run_script(file, *options):
    """Run a script as the command line does."""
    sys.argv = [str(file), *options]
    run_path(str(file), run_name="__main__")


def run_imvgcn(clone, name, label_ratio, seed):
    """Build the graphs, then train with the section `name` of their configuration."""
    shutil.copy(clone / "config.ini", "config.ini")
    Path("data", "lp_matrix", name).mkdir(parents=True)
    run_script(clone / "construct_lp.py", "--dataset", name)
    run_script(
        clone / "main.py",
        *("--device", "cpu", "--dataset", name, "--n_repeated", "1"),
        *("--ratio", label_ratio, "--seed", seed),
    )


def run_mvi_gcn(clone, name, label_ratio, seed):
    """Train with the default parameters on our labeled samples."""
    data = loadmat(DATA_FOLDER / f"{name}.mat")
    parts = [data[f"{part}{label_ratio}"].ravel().tolist() for part in ("train", "test")]
    import_module("Dataloader").generate_partition = lambda **_: parts
    run_script(
        clone / "train.py",
        *("--device", "cpu", "--dataset", name, "--path", f"{DATA_FOLDER}/", "--seed", seed),
    )


RUNNERS = {"imvgcn": run_imvgcn, "mvi-gcn": run_mvi_gcn}


if __name__ == "__main__":
    method, clone, *setting = sys.argv[1:]
    sys.path.insert(0, clone)
    store_predictions(import_module("utils"))
    RUNNERS[method](Path(clone), *setting)
